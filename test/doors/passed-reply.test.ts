// A reply that passes through while its provider is silent: the client hears something, and it can still be retried.

import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { noUsage } from '../../src/core/usage.ts'
import { passedStream } from '../../src/server/doors/passed-reply.ts'
import type { RawReply } from '../../src/server/doors/pass-through.ts'
import { relay } from '../../src/server/doors/relay.ts'
import type { DoorEnd } from '../../src/server/doors/run.ts'
import { loadService } from '../../src/wires/list.ts'
import { serving } from '../server/serving.ts'

const raw: RawReply = {
  status: 200,
  headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' },
  start(sink) {
    sink.write('data: [DONE]\n\n')
    sink.end()
  },
}

/** A provider that has begun to answer, and says nothing. */
async function waiting() {
  const { promise: ended, resolve: end } = Promise.withResolvers<DoorEnd>()
  const { promise: reply, resolve: show } = Promise.withResolvers<RawReply | undefined>()
  let aborted = 0
  const passes = { reply, peek: () => raw, replyId: () => undefined }
  const response = await passedStream(passes as never, {
    wire: 'openai-chat',
    service: await loadService('openai-chat'),
    profile: { model: 'm', replyId: 'chatcmpl-1', createdAt: 0, inputTokens: 1 },
    run: {
      conversationId: 'c',
      events: relay(),
      stored: Promise.resolve(true),
      ended,
      abort: () => void aborted++,
      exchangeId: () => undefined,
      noteCount: () => 0,
    },
    issueOf: ({ failure }) => ({ rule: 'door', status: 503, message: failure.message }),
    keepAliveMs: 1,
  })
  return { response, end, show, aborted: () => aborted }
}

test('a client hears a comment, and then the reply', async () => {
  const { response, end, show } = await waiting()
  assert.equal(response.headers.get('x-request-id'), 'req_1')
  const text = response.text()
  await new Promise((resolve) => setTimeout(resolve, 20))
  end({ outcome: 'done', usage: noUsage, cost: 0 })
  show(raw)
  assert.match(await text, /^(?:: keep-alive\n\n)+data: \[DONE\]\n\n$/)
})

test('a failure afterwards is an event', async () => {
  const { response, end, show } = await waiting()
  end({ outcome: 'failed', usage: noUsage, cost: 0, failure: { kind: 'overloaded', message: 'Too busy.' } })
  show(undefined)
  assert.match(await response.text(), /^(?:: keep-alive\n\n)+data: \{"error":\{"message":"Too busy\."[^\n]*\n\n$/)
})

test('a client that leaves meanwhile ends the run', async () => {
  const { response, end, show, aborted } = await waiting()
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  assert.equal(aborted(), 1)
  show(raw)
  end({ outcome: 'cancelled', usage: noUsage, cost: 0 })
})

test('a client with a time limit does not repeat its request', { timeout: 60_000 }, async (t) => {
  let requests = 0
  const { promise: over, resolve: finish } = Promise.withResolvers<void>()
  const between = () => async () => {
    requests++
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from('data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n'))
        await over
        const choice = { index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }
        controller.enqueue(Buffer.from(`data: ${JSON.stringify({ id: 'c1', choices: [choice] })}\n\ndata: [DONE]\n\n`))
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const { url } = await serving(t, { between })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, timeout: 15_000 })
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  // Its limit is for the time until the answer begins.
  const stream = await openai.chat.completions.create({ model: 'gpt-4.1', stream: true, messages })
  finish()
  let text = ''
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
  assert.deepEqual([text, requests], ['Hello.', 1])
})
