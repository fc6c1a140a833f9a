// A streamed chat passes through with its usage, for its price, whether the client asks for it or not.

import assert from 'node:assert/strict'
import test from 'node:test'
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

for (const [name, options, sent] of [
  ['of its own', '{ "include_obfuscation": false }', '{"include_obfuscation":false,"include_usage":true}'],
  ['that are empty', '{}', '{"include_usage":true}'],
  ['of null', 'null', '{"include_usage":true}'],
  ['that decline the usage', '{"include_usage":false}', '{"include_usage":true}'],
] as const) {
  test(`a streamed chat with options ${name} passes through, and they get the field for the usage and no other change`, async (t) => {
    const { url, seen, store } = await watching(t)
    const bodyWith = (model: string, value: string) =>
      `{ "stream_options" : ${value}, "stream": true, "messages": [{"role":"user", "content":"Hi"}], "model": "${model}", "top_p": 1.0 }`
    const headers = { 'content-type': 'application/json' }
    const body = bodyWith('openai/gpt-4.1', options)
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    const got = await answer.text()
    assert.equal(seen[0]?.body, bodyWith('gpt-4.1', sent))
    const events = (await seen[0].answer).split(/(?<=\n\n)/)
    assert.equal(got, events.filter((event) => !/"choices":\[\]/.test(event)).join(''))
    assert.ok(got.length < events.join('').length, 'the provider has sent the usage')
    const exchange = await store.exchange('local', answer.headers.get('x-synapse-exchange') ?? '')
    assert.ok((exchange?.usage?.input ?? 0) > 0)
    assert.deepEqual(
      exchange?.notes.filter(({ at }) => at === '$.stream_options').map(({ kind, what }) => [kind, what]),
      [['changed', `stream_options to ${sent}`]],
    )
  })
}
