// Tokens counted by the provider.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { SynapseError } from '../../src/core/error.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { rows } from '../../src/providers/rows.ts'
import { createEmulator } from '../../src/testing.ts'
import { clock, start } from './chatting.ts'

/** Every wire of every row: those that count, by their path, and those that do not. */
const counting = new Map([
  ['openai/gpt-5.6 openai-responses', '/openai/v1/responses/input_tokens'],
  ['anthropic/claude-opus-5 anthropic-messages', '/anthropic/v1/messages/count_tokens'],
  ['google/gemini-3.8-flash gemini-generate', '/google/v1beta/models/gemini-3.8-flash:countTokens'],
  ['bedrock-mantle/anthropic.claude-opus-5 anthropic-messages', '/bedrock-mantle/anthropic/v1/messages/count_tokens'],
  ['claude-aws/claude-opus-5 anthropic-messages', '/anthropic/v1/messages/count_tokens'],
  [
    'vertex/gemini-3.8-flash gemini-generate',
    '/vertex/v1beta1/projects/example-project/locations/global/publishers/google/models/gemini-3.8-flash:countTokens',
  ],
  [
    'vertex-express/gemini-3.8-flash gemini-generate',
    '/google/v1/publishers/google/models/gemini-3.8-flash:countTokens',
  ],
  ['foundry/claude-opus-5 anthropic-messages', '/anthropic/anthropic/v1/messages/count_tokens'],
])

for (const { id, name, wires, defaultModel = 'a-model' } of rows) {
  for (const { protocol } of wires) {
    const path = counting.get(`${id}/${defaultModel} ${protocol}`)
    const settings = { model: `${id}/${defaultModel}`, protocol, system: 'Be exact.', tools: [clock] }

    if (path === undefined) {
      test(`${id} over ${protocol} does not count tokens, and the error has the estimate`, async () => {
        const { chat, emulator } = await start(settings)
        const said = `${name} does not count tokens on request over ${protocol}; by estimate there are `
        await assert.rejects(chat.count(), (error: SynapseError) => {
          assert.equal(error.kind, 'bad-input')
          assert.ok(error.message.startsWith(said), error.message)
          return true
        })
        assert.equal(emulator.requests.length, 0)
      })
      continue
    }

    test(`${id} over ${protocol} counts what it then reports`, async () => {
      const { chat, emulator } = await start(settings)
      await chat.send('What time is it?').ended
      const entries = await chat.history()
      const question = entries.findLastIndex((entry) => entry.message.role === 'tool')
      await chat.fork(entries[question]?.id ?? '')
      const { tokens, estimate, model } = await chat.count()
      assert.equal(model, defaultModel)
      assert.equal(emulator.requests.at(-1)?.path, path)
      assert.ok(Math.abs(tokens / estimate - 1) < 0.5, `${tokens} against ${estimate}`)
      const { usage } = await chat.resume().ended
      assert.equal(usage.input, tokens)
    })

    test(`${id} over ${protocol} is retried for a count when it is busy`, async () => {
      const { chat, emulator } = await start(settings)
      emulator.order({ status: 503, body: { error: { message: 'busy' } } }, 2)
      assert.ok((await chat.count()).tokens > 0)
      assert.equal(emulator.requests.length, 3)
    })

    test(`${id} over ${protocol} shows no key when it is refused a number`, async () => {
      const key = 'sk-a-key-that-nobody-may-see'
      const baseUrls = { [id]: `http://emulator.invalid/${id}/v1` }
      const emulator = createEmulator()
      emulator.order({ status: 401, body: { error: { message: `The key ${key} is wrong.` } } })
      const transport = { fetch: emulator.fetch }
      const synapse = await openSynapse({ keys: { [id]: key }, baseUrls, env: {}, transport })
      const chat = await synapse.start(settings)
      await assert.rejects(
        chat.count(),
        (error: Error) => /is wrong/.test(error.message) && !error.message.includes(key),
      )
    })
  }
}

test('state stored by the provider is counted too', async () => {
  const model = 'openai/gpt-5.6'
  const { chat, emulator } = await start({ model, tools: [], policy: { preset: 'economy', state: 'auto' } })
  await chat.send(`Remember this: ${'one two three '.repeat(200)}`).ended
  const { tokens } = await chat.count()
  assert.ok(tokens > 600)
  const [, body] = emulator.requests.map((request) => request.body as JsonObject)
  assert.equal(body?.['previous_response_id'], undefined)
  assert.ok(body?.['input'])
})

test('counting can be cancelled', async () => {
  const { chat } = await start({ model: 'anthropic/claude-opus-5' })
  await assert.rejects(chat.count({ signal: AbortSignal.abort() }), { kind: 'aborted' })
})

test('an answer without a number is an error that says so', async () => {
  for (const body of [{ input_tokens: 'many' }, {}, []]) {
    const { chat, emulator } = await start({ model: 'anthropic/claude-opus-5' })
    emulator.order({ status: 200, body })
    await assert.rejects(chat.count(), { kind: 'malformed-reply', message: 'Anthropic returned no number of tokens.' })
  }
})
