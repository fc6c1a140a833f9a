// A streamed chat passes through with its usage, for its price, whether the client asks for it or not.

import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { watching } from './watching.ts'

test('a streamed chat that does not ask for its usage is metered, and the client gets its stream without it', async (t) => {
  const { url, seen, store } = await watching(t)
  const text =
    '{ "model": "openai/gpt-4.1", "stream": true,  "messages": [{"role":"user", "content":"Hi"}], "top_p": 1.0 }\n'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: text })
  const got = await answer.text()
  const [sent] = seen
  const added = ',"stream_options":{"include_usage":true}'
  assert.equal(sent?.body, text.replace('openai/', '').replace(' }\n', ` ${added}}\n`))
  const events = (await sent.answer).split(/(?<=\n\n)/)
  const usage = events.filter((event) => /"choices":\[\]/.test(event))
  assert.equal(usage.length, 1, 'the provider has sent it')
  assert.equal(got, events.filter((event) => !usage.includes(event)).join(''))
  const exchange = await store.exchange('local', answer.headers.get('x-synapse-exchange') ?? '')
  assert.ok((exchange?.usage?.input ?? 0) > 0)
  assert.deepEqual(
    exchange?.notes.filter(({ at }) => at === '$.stream_options').map(({ kind, what }) => [kind, what]),
    [['added', 'stream_options {"include_usage":true}']],
  )
})

test('a provider that always sends the usage is not asked for it, and the client gets it as it would without a server', async (t) => {
  const { url, seen } = await watching(t)
  const body = '{"model":"openrouter/openai/gpt-5.6","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  const got = await answer.text()
  assert.equal(seen[0]?.body, body.replace('openrouter/', ''))
  assert.match(got, /"finish_reason":"stop"\}\],"usage":\{/)
  assert.doesNotMatch(got, /"choices":\[\]/, 'it is in the chunk with the finish reason, as in recorded streams')
  assert.equal(got, await seen[0]?.answer)
})

test("options of a stream that are the client's own are not changed: the request is written from the log", async (t) => {
  const { url, seen, store } = await watching(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const stream = await openai.chat.completions.create({
    model: 'gpt-4.1',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    stream_options: { include_usage: false },
  })
  for await (const { usage } of stream) assert.equal(usage ?? null, null)
  assert.doesNotMatch(seen[0]?.body ?? '', /"include_usage":false/)
  const [conversation] = (await store.conversations('local')).items
  const [exchange] = (await store.exchanges('local', conversation?.id ?? '')).items
  assert.ok((exchange?.usage?.input ?? 0) > 0)
})
