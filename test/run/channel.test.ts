// The queue between a run and its reader: order, merging, and readers that change.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channel } from '../../src/run/events/channel.ts'

describe('a queue of values', () => {
  const sum = (a: number, b: number) => (b > 0 ? a + b : undefined)

  test('merges only after a thousand, with the last one, and where it can', async () => {
    const queue = channel<number>(sum)
    for (let i = 0; i < 1001; i++) queue.push(1)
    queue.push(5)
    queue.push(-1)
    queue.push(2)
    queue.push(-2)
    queue.end()
    const all: number[] = []
    for await (const value of queue) {
      all.push(value)
      if (all.length === 1000) break
    }
    for await (const value of queue) all.push(value)
    assert.deepEqual(all.slice(999), [1, 6, 1, -2])
    assert.equal(all.length, 1003)
  })

  test('counts only those that wait', async () => {
    const queue = channel<number>(sum)
    const reader = queue[Symbol.asyncIterator]()
    for (let i = 0; i < 600; i++) queue.push(1)
    for (let i = 0; i < 500; i++) await reader.next()
    for (let i = 0; i < 600; i++) queue.push(1)
    queue.end()
    let waiting = 0
    while (!(await reader.next()).done) waiting++
    assert.equal(waiting, 700)
  })

  test('gives values in order, those from before the reader as well, until the end', async () => {
    const queue = channel<number>()
    queue.push(1)
    const seen: number[] = []
    const reading = (async () => {
      for await (const value of queue) seen.push(value)
    })()
    await new Promise(setImmediate)
    queue.push(2)
    await new Promise(setImmediate)
    assert.deepEqual(seen, [1, 2])
    queue.push(3)
    queue.end()
    await reading
    assert.deepEqual(seen, [1, 2, 3])
  })

  test('loses nothing when it is long, and when values arrive while it is read', async () => {
    const queue = channel<number>()
    const reader = queue[Symbol.asyncIterator]()
    const read: unknown[] = []
    for (let i = 0; i < 2500; i++) queue.push(i)
    for (let i = 0; i < 2400; i++) read.push((await reader.next()).value)
    for (let i = 2500; i < 4000; i++) queue.push(i)
    const rest = Promise.all(Array.from({ length: 1600 }, () => reader.next()))
    for (const { value } of await rest) read.push(value)
    assert.deepEqual(read, [...read.keys()])
    assert.equal(read.length, 4000)
    const late = reader.next()
    queue.push(7)
    assert.deepEqual(await late, { done: false, value: 7 })
    queue.end()
    assert.deepEqual(await reader.next(), { done: true, value: undefined })
  })

  test('gives an error to a reader whose place another has taken, waiting or not', async () => {
    const queue = channel<number>()
    const first = queue[Symbol.asyncIterator]()
    const waiting = first.next()
    const second = queue[Symbol.asyncIterator]()
    queue.push(1)
    await assert.rejects(async () => waiting, /another reader has started/)
    await assert.rejects(async () => first.next(), /another reader has started/)
    assert.deepEqual(await second.next(), { done: false, value: 1 })
    queue.end()
    await assert.rejects(async () => first.next(), /another reader has started/)
    assert.deepEqual(await second.next(), { done: true, value: undefined })
    const third = queue[Symbol.asyncIterator]()
    assert.deepEqual(await third.next(), { done: true, value: undefined })
    await assert.rejects(async () => second.next(), /another reader has started/)
  })
})
