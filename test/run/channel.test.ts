import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channel } from '../../src/run/channel.ts'
import { cooldown } from '../../src/run/cooldown.ts'

test('values are read in order, those from before the reader as well, until the end', async () => {
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

test('without a reader values are merged after the thousandth, and only those that can be', async () => {
  const queue = channel<number>((a, b) => (b % 2 === 0 ? a + b : undefined))
  for (let i = 0; i < 1001; i++) queue.push(0)
  for (const value of [1, 2, 4, 5, 6]) queue.push(value)
  queue.end()
  const all: number[] = []
  for await (const batch of queue.batches()) all.push(...batch)
  assert.deepEqual(all.slice(1000), [0, 7, 11])
})

test('a provider is skipped after three failures within a minute, for twice as long each time, and never over a minute', () => {
  let now = 1_000_000
  const { isOut, failed, succeeded } = cooldown(() => now)
  const outFor = () => {
    const began = now
    while (isOut('a')) now += 1000
    return now - began
  }
  failed('a', 2)
  assert.equal(isOut('a'), false)
  now += 60_000
  failed('a')
  assert.equal(isOut('a'), false, 'the first two are a minute old')
  failed('a', 2)
  assert.equal(isOut('b'), false)
  const lengths = [outFor()]
  for (let i = 0; i < 5; i++) {
    failed('a')
    lengths.push(outFor())
  }
  assert.deepEqual(lengths, [5000, 10_000, 20_000, 40_000, 60_000, 60_000])
  succeeded('a')
  failed('a', 2)
  assert.equal(isOut('a'), false)
})
