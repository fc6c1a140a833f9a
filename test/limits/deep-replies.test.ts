// JSON that is nested deeper than the stack, from a provider or over a WebSocket, is no failure of the server.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { newConversation, readEvents, say, serving, type ServingOptions } from '../server/serving.ts'

const depth = 100_000
const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

function answering(message: string): Pick<ServingOptions, 'between'> {
  const chunk = `data: {"id":"c","choices":[{"index":0,"delta":${message},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n`
  return { between: () => async () => new Response(chunk, { headers: { 'content-type': 'text/event-stream' } }) }
}

for (const stream of [true, false]) {
  const ask = { model: 'groq/gpt-oss-120b', max_tokens: 100, stream, messages: [{ role: 'user', content: 'Hi' }] }

  test(`arguments that are nested too deeply are no object, ${stream ? '' : 'not '}streamed`, async (t) => {
    const called = { index: 0, id: 'c1', type: 'function', function: { name: 'add', arguments: deep } }
    const { api } = await serving(t, answering(JSON.stringify({ tool_calls: [called] })))
    const { status, text } = await api('POST', '/v1/messages', ask)
    assert.equal(status, 200)
    assert.match(text, /"tool_use"/)
    assert.doesNotMatch(text, /api_error/)
  })

  test(`those of a tool that the provider ran are text, ${stream ? '' : 'not '}streamed`, async (t) => {
    const ran = { type: 'reasoning.server_tool_call', tool_name: 'search', arguments: deep, index: 0 }
    const { api } = await serving(t, answering(JSON.stringify({ content: 'Hello', reasoning_details: [ran] })))
    const { status, text } = await api('POST', '/v1/messages', ask)
    assert.equal(status, 200)
    assert.match(text, /Hello/)
    assert.doesNotMatch(text, /error/)
  })

  test(`a reply that is nested too deeply is malformed, ${stream ? '' : 'not '}streamed`, async (t) => {
    const { api } = await serving(t, answering(`{"content":"Hello","more":${deep}}`))
    const { status, body } = await api('POST', '/v1/messages', ask)
    assert.equal(status, 502)
    assert.match(JSON.stringify(body['error']), /The reply contains something that is not JSON/)
  })
}

test('an answer that is nested too deeply does not fit its schema', { timeout: 20_000 }, async (t) => {
  const server = await serving(t, answering(JSON.stringify({ content: deep })))
  const options = { answerSchema: { type: 'object' } }
  const id = await newConversation(server.api, { settings: { model: 'groq/gpt-oss-120b', options } })
  const runId = await say(server, id, 'Hi')
  const events = await readEvents(`${server.url}/api/runs/${runId}/events`)
  assert.match(JSON.stringify(events.at(-1)?.data), /The answer is nested more than 500 levels deep/)
})

test('a message of a WebSocket that is nested too deeply is refused', { timeout: 20_000 }, async (t) => {
  const { url } = await serving(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
  t.after(() => socket.close())
  await once(socket, 'open')
  socket.send(`{"type":"response.create","model":"gpt-5.6","input":"Hi","metadata":${deep}}`)
  const [{ data }] = (await once(socket, 'message')) as [{ data: string }]
  assert.match(data, /"type":"error","status":400/)
})
