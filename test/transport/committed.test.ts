// A request is complete only when it is in the log: until then the end of its body is held back.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { defaultFetch } from '../../src/transport/http.ts'
import { readReply } from '../../src/transport/reply.ts'
import { callOf } from './calling.ts'

const long = JSON.stringify({ text: 'word '.repeat(20_000) })

/** A server that answers complete requests only, and how many bytes of the last one it has. */
async function counting(
  t: TestContext,
): Promise<{ url: string; arrived: Promise<IncomingMessage>; bytes: () => number }> {
  let bytes = 0
  const { promise: arrived, resolve } = Promise.withResolvers<IncomingMessage>()
  const server = createServer((request, response) => {
    resolve(request)
    request.on('data', (piece: Buffer) => (bytes += piece.length))
    request.on('end', () => response.end('answered'))
    request.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived, bytes: () => bytes }
}

const post = { method: 'POST', headers: { 'content-type': 'application/json' } }

for (const [form, body] of [
  ['text', long],
  ['bytes', Buffer.from(long)],
] as const) {
  test(`of a long body as ${form}, all but the last byte is sent while the commit is awaited`, async (t) => {
    const { url, arrived, bytes } = await counting(t)
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
    const answering = defaultFetch(url, { ...post, body }, committed)
    const request = await arrived
    while (bytes() < long.length - 1) await once(request, 'data')
    assert.equal(bytes(), long.length - 1)
    commit()
    assert.equal(await (await answering).text(), 'answered')
    assert.equal(bytes(), long.length)
  })
}

test('a short body is sent in one piece, after the commit', async (t) => {
  const { url, bytes } = await counting(t)
  const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
  const answering = defaultFetch(url, { ...post, body: '{"short":true}' }, committed)
  commit()
  assert.equal(await (await answering).text(), 'answered')
  assert.equal(bytes(), 14)
})

test('a request whose commit fails never gets its end, and the error is that of the commit', async (t) => {
  const { url, arrived, bytes } = await counting(t)
  const { promise: committed, reject } = Promise.withResolvers<void>()
  const events: unknown[] = []
  const reading = readReply(callOf(url, { body: long, committed }), (event) => void events.push(event))
  const request = await arrived
  const closed = new Promise((resolve) => request.on('close', resolve))
  const full = new Error('The disk is full.')
  reject(full)
  await assert.rejects(reading, full)
  await closed
  assert.ok(bytes() < long.length)
  assert.equal(request.complete, false)
  assert.deepEqual(events, [])
})

test('a server that cannot be reached is reported only after the commit', async () => {
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  gone.close()
  await once(gone, 'close')
  const order: string[] = []
  const url = `http://127.0.0.1:${port}`
  // As long as it takes to be refused, twice.
  const refused = () => defaultFetch(url, { ...post, body: long }).catch(() => {})
  const committed = refused()
    .then(refused)
    .then(() => void order.push('committed'))
  await readReply(callOf(url, { body: long, committed }), ({ type }) => void order.push(type))
  assert.deepEqual([order[0], order.at(-1)], ['committed', 'reply-end'])
})

test('a custom fetch is called after the commit', async () => {
  const order: string[] = []
  const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
  const call = callOf('http://toy.invalid', {
    committed: committed.then(() => void order.push('committed')),
    retry: { retries: 0 },
    fetch: async () => {
      order.push('sent')
      return new Response('no', { status: 400 })
    },
  })
  const reading = readReply(call, () => undefined)
  commit()
  await reading
  assert.deepEqual(order, ['committed', 'sent'])
})
