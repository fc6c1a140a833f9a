// Reasoning of one provider through a client of another: the client gets a token in place of the signature, and the
// provider gets its own words back.

import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { createKey } from '../../src/server/keys.ts'
import { sealOf } from '../../src/server/doors/seal.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { prepare, readTranscript } from '../../src/index.ts'
import { tokenPrefix } from '../../src/wires/shared/sealed-token.ts'
import { serving } from '../server/serving.ts'

const thinking = { type: 'enabled' as const, budget_tokens: 2000 }
const max_tokens = 4000

function thoughtOf(reply: Anthropic.Message): Anthropic.ThinkingBlock {
  const block = reply.content.find(({ type }) => type === 'thinking')
  assert.ok(block?.type === 'thinking')
  return block
}

for (const stream of [false, true]) {
  test(`thinking of OpenAI has a token in Anthropic's client${stream ? ', streamed' : ''}, and is sent back encrypted`, async (t) => {
    const { url, emulator, store } = await serving(t)
    const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Think. What is 1 + 1?' }]
    const ask = () => {
      const body = { model: 'openai/gpt-5.6', max_tokens, thinking, messages }
      return stream ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body)
    }
    const first = await ask()
    assert.ok(thoughtOf(first).signature.startsWith(tokenPrefix))
    assert.equal(Buffer.from(thoughtOf(first).signature, 'base64').length, 45, 'it is base64, and short')
    // The client has written its history again: nothing but the token says which conversation it is.
    messages[0] = { role: 'user', content: 'A summary of what I asked.' }
    messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: 'And 2 + 2?' })
    await ask()
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    assert.doesNotMatch(sent, new RegExp(tokenPrefix))
    assert.match(sent, /"encrypted_content":"[^"]{20,}"/)
    assert.equal((await store.conversations('local')).items.length, 1)
    assert.ok(emulator.requests.every(({ status }) => status === 200))
  })
}

test('servers of one store make the same tokens, also if they start at once and after a restart', async () => {
  const store = openMemoryStore()
  const seen = () => ({ ...store })
  const seals = await Promise.all([sealOf(seen()), sealOf(seen())])
  const id = '0199c0de-0000-7000-8000-000000000000'
  const tokens = [...seals, await sealOf(seen())].map((seal) => seal.token('ann', id))
  assert.equal(new Set(tokens).size, 1)
  const [token = ''] = tokens
  const other = await sealOf(openMemoryStore())
  assert.deepEqual(
    [seals[0].open('ann', token), seals[0].open('bob', token), other.open('ann', token)],
    [id, undefined, undefined],
  )
})

test('of two conversations with the same words, the one that the token names is continued', async (t) => {
  const { url } = await serving(t)
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const ask = async (messages: Anthropic.MessageParam[]) => {
    const body = { model: 'openai/gpt-5.6', max_tokens, thinking, messages }
    const { data, response } = await anthropic.messages.create(body).withResponse()
    return { content: data.content, conversation: response.headers.get('x-synapse-conversation') }
  }
  const question = { role: 'user' as const, content: 'Think. What is 1 + 1?' }
  const next = { role: 'user' as const, content: 'And 2 + 2?' }
  const [first, second] = [await ask([question]), await ask([question])]
  assert.notEqual(first.conversation, second.conversation)
  for (const { content, conversation } of [first, second, first]) {
    const answer = await ask([question, { role: 'assistant', content }, next])
    assert.equal(answer.conversation, conversation)
  }
})

test('thinking of Anthropic is sent back with its signature through clients of OpenAI and Gemini', async (t) => {
  const { url, emulator } = await serving(t)
  const model = 'anthropic/claude-opus-5'
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is 1 + 1?' }]
  const reasoning = { effort: 'medium' as const }
  const first = await openai.responses.create({ model, input, reasoning, store: false })
  const item = first.output.find(({ type }) => type === 'reasoning')
  assert.ok(item?.type === 'reasoning' && item.encrypted_content?.startsWith(tokenPrefix))
  input.push(...(first.output as OpenAI.Responses.ResponseInput), { role: 'user', content: 'And 2 + 2?' })
  await openai.responses.create({ model, input, reasoning, store: false })
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /"signature":"(?!Synapse)[^"]{20,}"/)

  const google = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
  const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  const functionDeclarations = [{ name: 'add', description: 'Adds.', parametersJsonSchema: parameters }]
  const config = { tools: [{ functionDeclarations }], thinkingConfig: { thinkingBudget: 2000 } }
  const contents = [{ role: 'user', parts: [{ text: 'What is 17 + 25?' }] }]
  const called = await google.models.generateContent({ model, contents, config })
  const parts = called.candidates?.[0]?.content?.parts ?? []
  assert.ok(parts.find(({ functionCall }) => functionCall)?.thoughtSignature?.startsWith(tokenPrefix))
  const response = { functionResponse: { name: 'add', response: { result: 42 } } }
  await google.models.generateContent({
    model,
    contents: [...contents, { role: 'model', parts }, { role: 'user', parts: [response] }],
    config,
  })
  const sent = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.match(sent, /"signature":"(?!Synapse)[^"]{20,}"/)
  assert.doesNotMatch(sent, new RegExp(tokenPrefix))
})

test('an invented token, or one of another owner, finds nothing and is sent nowhere', async (t) => {
  const store = openMemoryStore()
  const [a, b] = await Promise.all(['a', 'b'].map((owner) => createKey(store, { name: owner, owner })))
  const { url, emulator } = await serving(t, { store, requireKeys: true })
  const clientOf = (apiKey = '') => new Anthropic({ apiKey, baseURL: url, maxRetries: 0 })
  const question = { role: 'user' as const, content: 'Think. What is 1 + 1?' }
  const body = { model: 'openai/gpt-5.6', max_tokens, thinking }
  const first = await clientOf(a?.key).messages.create({ ...body, messages: [question] })
  const { signature } = thoughtOf(first)
  const forged = `${tokenPrefix}${'A'.repeat(44)}`
  for (const token of [signature, forged]) {
    const content = [
      { type: 'thinking' as const, thinking: 'Hm.', signature: token },
      { type: 'text' as const, text: 'Yes.' },
    ]
    const messages = [question, { role: 'assistant' as const, content }, { role: 'user' as const, content: 'Go on.' }]
    for (const model of ['openai/gpt-5.6', 'claude-opus-5']) {
      await clientOf(b?.key).messages.create({ ...body, thinking: { type: 'disabled' }, model, messages })
      assert.equal(emulator.requests.at(-1)?.status, 200)
      assert.doesNotMatch(JSON.stringify(emulator.requests.at(-1)?.body), new RegExp(tokenPrefix))
    }
  }
  const { open } = await sealOf(store)
  assert.equal(open('b', signature), undefined)
  assert.equal(typeof open('a', signature), 'string')
  assert.equal(open('a', forged), undefined)
  const [mine, ...others] = (await store.conversations('a')).items
  assert.deepEqual([mine?.entries, others], [2, []])
})

test('a transcript with a token is prepared without it', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: `${tokenPrefix}${'A'.repeat(44)}` },
    { type: 'text', text: 'Yes.' },
  ]
  const messages = [
    { role: 'user', content: 'Well?' },
    { role: 'assistant', content },
    { role: 'user', content: 'And?' },
  ]
  const read = readTranscript({ messages }, { format: 'anthropic-messages' })
  const { body } = prepare({ messages: read.messages, provider: 'anthropic', model: 'claude-opus-5' })
  assert.doesNotMatch(JSON.stringify(body), new RegExp(tokenPrefix))
  assert.match(JSON.stringify(body), /Yes\./)
})
