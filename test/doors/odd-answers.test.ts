// A provider with the API of the client whose answer fails, is broken, or has another content type than requested.

import assert from 'node:assert/strict'
import { setTimeout as after } from 'node:timers/promises'
import { describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/core/json.ts'
import { apiAt, serving, type ServingOptions } from '../server/serving.ts'

const chunk = (delta: JsonObject, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const wholeChat = JSON.stringify({
  id: 'c1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
})
const streamedChat = `${chunk({ content: 'Hello.' })}${chunk({}, 'stop')}data: [DONE]\n\n`

/** It would go on, and breaks when the request is cancelled, as over a network. */
function openStream(text: string, signal: AbortSignal | null | undefined): ReadableStream {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(text))
      signal?.addEventListener('abort', () => controller.error(signal.reason))
    },
  })
}

async function answered(
  t: TestContext,
  stream: boolean,
  type: string | undefined,
  body: string | null,
  isOpen = false,
) {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  const between: ServingOptions['between'] = () => async (_, init) => {
    const bytes = body === null ? null : isOpen ? openStream(body, init?.signal) : Buffer.from(body)
    return new Response(bytes, { status: body === null ? 204 : 200, headers })
  }
  const { url } = await serving(t, { between })
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1', stream, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() }
}

describe('what is not a reply of the same API is an error of the API', () => {
  const json = 'application/json'
  const events = 'text/event-stream'
  const wrong: [string, string, string | null][] = [
    ['nothing', json, ''],
    ['no content', json, null],
    ['a page that is called JSON', json, '<html>Sign in</html>'],
    ['half of a reply', json, wholeChat.slice(0, 80)],
    ['an error with the status of a reply', json, '{"error":{"message":"Overloaded"}}'],
    ['an empty stream', events, ''],
    ['a stream that is a page', events, '<html>Sign in</html>'],
    ['a stream without a reply', events, 'data: {"id":"c1"}\n\ndata: [DONE]\n\n'],
    ['a stream that is an error', events, 'data: {"error":{"message":"Overloaded"}}\n\n'],
  ]
  for (const [name, type, body] of wrong) {
    test(name, async (t) => {
      const { status, text } = await answered(t, type === events, type, body)
      assert.ok(status >= 500, `${status} ${text}`)
      assert.match((JSON.parse(text) as { error: { message: string } }).error.message, /Overloaded|JSON|ended/)
    })
  }
})

for (const type of [undefined, 'text/plain', 'text/event-stream']) {
  test(`a reply whose type is ${type} is written again as JSON`, async (t) => {
    const { status, type: got, text } = await answered(t, false, type, wholeChat)
    assert.deepEqual([status, got], [200, 'application/json'])
    assert.match(text, /"content":"Hello\."/)
  })
}

for (const [type, body] of [
  ['text/plain', streamedChat],
  ['application/json', streamedChat],
  ['application/json', wholeChat],
] as const) {
  const kind = body === wholeChat ? 'a whole reply in place of a stream' : 'a stream'
  test(`${kind} whose type is ${type} is written again as a stream`, async (t) => {
    const { status, type: got, text } = await answered(t, true, type, body)
    assert.deepEqual([status, got], [200, 'text/event-stream; charset=utf-8'])
    assert.match(text, /"content":"Hello\."[^]*"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/)
  })
}

test('a stream of the same API that stops in the middle of the reply ends with an error', async (t) => {
  const half = chunk({ content: 'Hel' })
  const { status, text } = await answered(t, true, 'text/event-stream', half)
  assert.equal(status, 200)
  assert.ok(text.startsWith(half), 'what came is unchanged')
  assert.match(
    text.slice(half.length),
    /^data: \{"error":\{"message":"The stream ended before the reply did\."[^\n]*\n\n$/,
  )
})

test('a stream of the same API that stops in the middle of an event is broken off', async (t) => {
  const half = chunk({ content: 'Hel' })
  await assert.rejects(answered(t, true, 'text/event-stream', half + half.slice(0, 30)), /terminated/)
})

test('a stream of the same API whose connection breaks is broken off, and not a short answer', async (t) => {
  const body = () =>
    new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from(chunk({ content: 'Hel' })))
        await after(20)
        controller.error(new TypeError('terminated'))
      },
    })
  const between = () => async () => new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
  const { url } = await serving(t, { between })
  const messages = [{ role: 'user', content: 'Hi' }]
  const asking = apiAt(url)('POST', '/v1/chat/completions', { model: 'gpt-4.1', stream: true, messages })
  await assert.rejects(asking, /terminated/)
})

test('after an event that is not JSON comes an error', async (t) => {
  const given = `${chunk({ content: 'Hel' })}data: not JSON\n\n`
  const { text } = await answered(t, true, 'text/event-stream', given, true)
  assert.ok(text.startsWith(given), 'what came is unchanged')
  assert.match(text.slice(given.length), /^data: \{"error":\{"message":"The reply contains something that is not JSON/)
})

test('an error of the provider in the middle of a stream is the only one', async (t) => {
  // Read as a malformed reply: the provider has refused what its model wrote.
  const error = 'data: {"error":{"message":"Failed to call a function.","code":"tool_use_failed"}}\n\n'
  const given = chunk({ content: 'Hel' }) + error
  assert.equal((await answered(t, true, 'text/event-stream', given)).text, given)
})

test('a stream of Responses that stops begins once and fails once', async (t) => {
  const event = (type: string, fields: JsonObject) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  const response = { id: 'resp_1', object: 'response', status: 'in_progress', output: [] }
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
  const given = [
    event('response.created', { response }),
    event('response.output_item.added', { output_index: 0, item }),
    event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Hel' }),
  ].join('')
  const between = () => async () => new Response(given, { headers: { 'content-type': 'text/event-stream' } })
  const { url } = await serving(t, { between })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const types: string[] = []
  for await (const { type } of await openai.responses.create({ model: 'gpt-5.6', input: 'Hi', stream: true }))
    types.push(type)
  assert.deepEqual(types, [
    'response.created',
    'response.output_item.added',
    'response.output_text.delta',
    'response.failed',
  ])
})

test('the last event of a stream is passed on, however late it is, and what follows it is not waited for', async (t) => {
  const answer = { id: 'c1', choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const reply = `data: ${JSON.stringify({ ...answer, usage })}\n\n`
  let asked = 0
  const between: ServingOptions['between'] = () => async () => {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from(reply))
        await after(asked++ === 0 ? 400 : 0)
        controller.enqueue(Buffer.from('data: [DONE]\n\n'))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const { url } = await serving(t, { between })
  const start = performance.now()
  const messages = [{ role: 'user', content: 'Hi' }]
  const ask = () => apiAt(url)('POST', '/v1/chat/completions', { model: 'gpt-4.1', stream: true, messages })
  assert.equal((await ask()).text, `${reply}data: [DONE]\n\n`)
  assert.ok(performance.now() - start < 4000)
  await ask()
  assert.equal(asked, 2, 'the client has received all of it, so a repeat is a new request')
})
