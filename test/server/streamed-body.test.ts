// A body that is written while it is produced, over a connection and as a web stream.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { streamedResponse, writeStreamed, type BodySink } from '../../src/server/streamed-body.ts'

/** A body that the test writes, and what happened to it. */
function produced() {
  const started = Promise.withResolvers<BodySink>()
  const events: string[] = []
  const ended = Promise.withResolvers<void>()
  const note = (event: string) => () => {
    events.push(event)
    ended.resolve()
  }
  const source = { start: started.resolve, delivered: note('delivered'), cancel: note('cancelled') }
  const response = streamedResponse(source, { status: 201, headers: { 'content-type': 'text/plain', 'x-own': 'yes' } })
  return { response, started: started.promise, events, ended: ended.promise }
}

async function served(t: TestContext, response: Response): Promise<string> {
  const server = createServer((_, outgoing) => void writeStreamed(response, outgoing)).listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a response with any other body is not written', () => {
  const other = new Response('text')
  assert.equal(writeStreamed(other, {} as never), false)
})

test('over a connection: headers before the first piece, then each piece, and it is delivered at the end', async (t) => {
  const { response, started, events, ended } = produced()
  const answer = await fetch(await served(t, response))
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('x-own'), 'yes')
  const sink = await started
  const reader = answer.body?.getReader()
  const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
  sink.write('é')
  assert.equal(await next(), 'é')
  sink.write(new Uint8Array([65, 66]))
  assert.equal(await next(), 'AB')
  assert.deepEqual(events, [])
  sink.end()
  assert.equal((await reader?.read())?.done, true)
  await ended
  assert.deepEqual(events, ['delivered'])
})

test('over a connection: the first piece is sent before anything else is done', { timeout: 60_000 }, async (t) => {
  const received = new Int32Array(new SharedArrayBuffer(4))
  let outcome: string | undefined
  const source = {
    start(sink: BodySink) {
      sink.write('first')
      outcome = Atomics.wait(received, 0, 0, 30_000)
      sink.end()
    },
    delivered: () => {},
    cancel: () => {},
  }
  const url = await served(t, streamedResponse(source, { headers: {} }))
  // In a thread of its own: this one waits.
  const script = `
    const { get } = require('node:http')
    const { workerData: { url, received } } = require('node:worker_threads')
    get(url, (answer) => answer.once('data', () => {
      Atomics.store(received, 0, 1)
      Atomics.notify(received, 0)
    }))`
  const client = new Worker(script, { eval: true, workerData: { url, received } })
  await once(client, 'exit')
  assert.ok(outcome === 'ok' || outcome === 'not-equal', outcome)
})

test('over a connection: a body that fails is cut off, and not delivered', async (t) => {
  const { response, started, events, ended } = produced()
  const answer = await fetch(await served(t, response))
  const sink = await started
  sink.write('a part')
  sink.fail(new Error('broken'))
  await assert.rejects(answer.text())
  await ended
  assert.deepEqual(events, ['cancelled'])
})

test('over a connection: a client that leaves cancels it, and later pieces are ignored', async (t) => {
  const { response, started, events, ended } = produced()
  const leaving = new AbortController()
  const answer = await fetch(await served(t, response), { signal: leaving.signal })
  const sink = await started
  sink.write('a part')
  await answer.body?.getReader().read()
  leaving.abort()
  await ended
  sink.write('more')
  sink.end()
  assert.deepEqual(events, ['cancelled'])
})

test('as a web stream: it starts when it is read, and is delivered when its end is read', async () => {
  const { response, started, events } = produced()
  const reader = response.body?.getReader()
  const first = reader?.read()
  const sink = await started
  sink.write('text')
  sink.end()
  assert.equal(Buffer.from((await first)?.value ?? []).toString(), 'text')
  assert.deepEqual(events, [])
  assert.equal((await reader?.read())?.done, true)
  assert.deepEqual(events, ['delivered'])
})

test('as a web stream: a failure reaches the reader after what was written, and leaving cancels', async () => {
  const broken = produced()
  const text = broken.response.text()
  const sink = await broken.started
  sink.write('a part')
  sink.fail(new Error('broken'))
  await assert.rejects(text, /broken/)
  const left = produced()
  const reader = left.response.body?.getReader()
  void reader?.read()
  await left.started
  await reader?.cancel()
  assert.deepEqual([broken.events, left.events], [[], ['cancelled']])
})
