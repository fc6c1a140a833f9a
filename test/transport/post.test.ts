// Requests that generate no reply.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { post } from '../../src/transport/post.ts'
import { SendError } from '../../src/transport/send.ts'
import { callOf } from './calling.ts'
import { answers, scripted } from './scripted-server.ts'

const isStatus = (status: number) => (error: unknown) => error instanceof SendError && error.failure.status === status

test('the answer is what was sent, whole, although the wire would split it', async (t) => {
  const server = await scripted(t, answers(200, { tokens: 3, more: [1, 2] }))
  assert.deepEqual(await post(callOf(server.url)), { tokens: 3, more: [1, 2] })
})

test('a question that failed is asked twice more, after waiting twice as long each time', async (t) => {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const server = await scripted(t, answers(503, {}), answers(503, {}), answers(200, { tokens: 3 }))
  assert.deepEqual(await post(callOf(server.url, { sleep })), { tokens: 3 })
  assert.deepEqual(waits, [500, 1000])
  const busy = await scripted(t, answers(503, {}))
  await assert.rejects(post(callOf(busy.url)), isStatus(503))
  assert.equal(busy.requests.length, 3)
})

test('a question that was refused, or for whose retry no budget is left, is not asked again', async (t) => {
  const refused = await scripted(t, answers(400, {}))
  await assert.rejects(post(callOf(refused.url)), isStatus(400))
  assert.equal(refused.requests.length, 1)
  const busy = await scripted(t, answers(503, {}))
  let asked = 0
  const budget = { countRequest: () => void asked++, take: () => false }
  await assert.rejects(post(callOf(busy.url, { budget })), isStatus(503))
  assert.deepEqual([busy.requests.length, asked], [1, 1])
})

test('a question that was cancelled while it waits is not asked again', async (t) => {
  const server = await scripted(t, answers(503, {}))
  const stop = new AbortController()
  const sleep = async () => {
    stop.abort()
    throw new Error('woken')
  }
  await assert.rejects(post(callOf(server.url, { sleep, signal: stop.signal })), /cancelled/)
  assert.equal(server.requests.length, 1)
})

test('a mistake of the program is not retried', async () => {
  let sent = 0
  const fetch = async () => {
    sent++
    throw new RangeError('a bug')
  }
  await assert.rejects(post(callOf('http://toybox.example', { fetch })), /a bug/)
  assert.equal(sent, 1)
})
