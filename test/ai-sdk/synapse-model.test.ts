// Synapse under the real AI SDK: its own functions, on every wire, with replies that go back in their own words.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { generateText, isStepCount, Output, streamText, tool, type ModelMessage } from 'ai'
import * as z from 'zod'
import { synapseModel } from '../../src/ai-sdk.ts'
import { openMemoryStore, openSynapse } from '../../src/index.ts'
import { rows } from '../../src/providers/rows.ts'
import { createEmulator, type EmulatorOptions } from '../../src/testing.ts'

const tools = {
  clock: tool({
    description: 'Tells the current time.',
    inputSchema: z.object({ zone: z.string().optional() }),
    execute: async ({ zone }) => ({ time: '12:00', zone: zone ?? 'UTC' }),
  }),
}

function model(ref: string, emulation: EmulatorOptions = {}) {
  const emulator = createEmulator(emulation)
  const made = synapseModel(ref, { offline: emulator, env: {}, transport: { sleep: async () => {} } })
  return { emulator, model: made }
}

test('a model without a name is that of its provider', () => {
  assert.equal(synapseModel('anthropic').modelId, rows.find(({ id }) => id === 'anthropic')?.defaultModel)
})

describe('generateText and streamText with a tool', () => {
  for (const row of rows) {
    const ref = `${row.id}/${row.defaultModel ?? 'a-model'}`
    test(ref, async () => {
      const generated = await generateText({
        ...model(ref),
        tools,
        stopWhen: isStepCount(5),
        prompt: 'What time is it in Paris?',
      })
      assert.match(generated.text, /12:00/)
      assert.equal(generated.steps.length, 2)
      assert.ok((generated.totalUsage.inputTokens ?? 0) > 0)
      assert.equal(generated.finishReason, 'stop')

      const streamed = streamText({
        ...model(ref),
        tools,
        stopWhen: isStepCount(5),
        prompt: 'What time is it in Paris?',
      })
      let text = ''
      let pieces = 0
      for await (const piece of streamed.textStream) {
        text += piece
        pieces++
      }
      assert.ok(text.endsWith(generated.text))
      assert.ok(pieces > 2)
    })
  }
})

test('a reply is sent back to its provider unchanged, including what only its native form has', async () => {
  const { emulator, model: claude } = model('anthropic/claude-opus-5')
  await generateText({
    model: claude,
    tools,
    stopWhen: isStepCount(5),
    reasoning: 'high',
    prompt: 'Think: what time is it in Paris?',
  })
  const bodies = emulator.requests.map(({ body }) => JSON.stringify(body))
  assert.equal(bodies.length, 2)
  assert.match(bodies[1] ?? '', /"type":"thinking".*"signature":"/)
  assert.match(bodies[1] ?? '', /"id":"toolu_/)
  assert.ok(emulator.requests.every(({ status }) => status === 200))
})

test('a conversation moves from one provider to another, through messages of the SDK', async () => {
  const messages: ModelMessage[] = [{ role: 'user', content: 'What time is it in Paris?' }]
  const first = await generateText({ ...model('openai/gpt-5.6'), tools, stopWhen: isStepCount(5), messages })
  messages.push(...first.responseMessages, { role: 'user', content: 'What did I say first?' })
  for (const ref of ['anthropic/claude-opus-5', 'google/gemini-3.8-flash', 'mistral/mistral-medium-latest']) {
    const { text } = await generateText({ ...model(ref), tools, messages })
    assert.match(text, /"What time is it in Paris\?"/, ref)
  }
})

test('a reply that was edited is sent in its edited form', async () => {
  const { model: gpt, emulator } = model('openai/gpt-5.6')
  const first = await generateText({ model: gpt, prompt: 'Hello' })
  const changed = structuredClone(first.responseMessages)
  for (const message of changed) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue
    for (const part of message.content) if (part.type === 'text') part.text = 'Good day.'
  }
  await generateText({
    model: gpt,
    messages: [{ role: 'user', content: 'Hello' }, ...changed, { role: 'user', content: 'And?' }],
  })
  const body = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.match(body, /Good day\./)
  assert.doesNotMatch(body, /offline emulator/)
})

test('an image is passed to the model', async () => {
  const { model: claude, emulator } = model('anthropic/claude-opus-5')
  const data = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 1, 2, 3])
  await generateText({
    model: claude,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', mediaType: 'image/png', data },
        ],
      },
    ],
  })
  assert.ok(JSON.stringify(emulator.requests.at(-1)?.body).includes(Buffer.from(data).toString('base64')))
})

test('a failure before any output is thrown, after our own retries and no others', async () => {
  const { model: claude, emulator } = model('anthropic/claude-opus-5')
  emulator.order({ status: 529 }, 3)
  await assert.rejects(generateText({ model: claude, prompt: 'Hello' }), /overloaded/i)
  assert.equal(emulator.requests.length, 3)
  emulator.order({ status: 429 })
  assert.match((await generateText({ model: claude, prompt: 'Hello' })).text, /emulator/)
})

test('an abort is reported to the caller as one', async () => {
  const stop = new AbortController()
  const { model: claude } = model('anthropic/claude-opus-5')
  const { stream } = streamText({ model: claude, prompt: 'Count to 500.', abortSignal: stop.signal })
  const types: string[] = []
  for await (const part of stream) {
    types.push(part.type)
    if (part.type === 'text-delta') stop.abort()
  }
  assert.equal(types.at(-1), 'abort')
})

test('an unsupported option is a warning, and so is each note', async () => {
  const { model: claude } = model('anthropic/claude-opus-5')
  const { warnings } = await generateText({ model: claude, prompt: 'Hello', topK: 3, temperature: 0.2 })
  const told = JSON.stringify(warnings)
  assert.match(told, /topK/)
  assert.match(told, /temperature/)
})

describe('with a store', () => {
  const opened = async () => {
    const store = await openMemoryStore()
    const emulator = createEmulator()
    const claude = synapseModel('anthropic/claude-opus-5', { store, offline: emulator, env: {} })
    const gpt = synapseModel('openai/gpt-5.6', { store, offline: emulator, env: {} })
    return { store, emulator, claude, gpt, synapse: await openSynapse({ store, offline: emulator }) }
  }

  test('calls, results and requests of the SDK are one conversation, which Synapse continues', async () => {
    const { claude, gpt, synapse, emulator } = await opened()
    const messages: ModelMessage[] = [{ role: 'user', content: 'What time is it in Paris?' }]
    const first = await generateText({
      model: claude,
      instructions: 'Be brief.',
      tools,
      stopWhen: isStepCount(5),
      messages,
    })
    assert.match(first.text, /12:00/)
    messages.push(...first.responseMessages, { role: 'user', content: 'What did I say first?' })
    const second = streamText({ model: gpt, instructions: 'Be brief.', tools, messages })
    assert.match(await second.text, /What time is it in Paris/)

    const { items } = await synapse.conversations()
    assert.equal(items.length, 1)
    const id = items[0]?.id ?? ''
    assert.equal((await second.providerMetadata)?.['synapse']?.['conversationId'], id)
    const chat = await synapse.open(id)
    const roles = (await chat.history()).map(({ message }) => message.role)
    assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'])
    const { models, requests } = await chat.usage()
    assert.deepEqual([requests, models.map(({ provider }) => provider).toSorted()], [3, ['anthropic', 'openai']])
    assert.match(await chat.send('What are your instructions?').text(), /Be brief/)
    assert.ok(emulator.requests.every(({ status }) => status === 200))
  })

  test('messages of the SDK carry a reference, and the provider gets its original reply back', async () => {
    const { claude, emulator } = await opened()
    const prompt = 'Think: what time is it in Paris?'
    const result = await generateText({ model: claude, tools, stopWhen: isStepCount(5), reasoning: 'high', prompt })
    assert.doesNotMatch(JSON.stringify(result.responseMessages), /signature|native/)
    assert.match(JSON.stringify(result.responseMessages), /"entryId":/)
    assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /"type":"thinking".*"signature":"/)
  })

  test('a message that was changed begins a branch; messages without references begin a conversation', async () => {
    const { claude, synapse } = await opened()
    const ask = async (messages: ModelMessage[]) => (await generateText({ model: claude, messages })).responseMessages
    const name = await ask([{ role: 'user', content: 'My name is Ada.' }])
    await ask([{ role: 'user', content: 'My name is Ada.' }, ...name, { role: 'user', content: 'And?' }])
    await ask([{ role: 'user', content: 'My name is Bob.' }, ...name, { role: 'user', content: 'Who am I?' }])
    assert.equal((await synapse.conversations()).items.length, 1)
    const chat = await synapse.open((await synapse.conversations()).items[0]?.id ?? '')
    assert.equal((await chat.branches()).length, 2)
    assert.match(JSON.stringify((await chat.history())[0]?.message), /Bob/)
    await ask([{ role: 'user', content: 'My name is Ada.' }])
    assert.equal((await synapse.conversations()).items.length, 2)
  })

  test('two calls at once are two conversations, and a named conversation is continued', async () => {
    const { claude, synapse, store, emulator } = await opened()
    const first = await generateText({ model: claude, prompt: 'Hello' })
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Hello' },
      ...first.responseMessages,
      { role: 'user', content: 'Again' },
    ]
    await Promise.all([generateText({ model: claude, messages }), generateText({ model: claude, messages })])
    assert.equal((await synapse.conversations()).items.length, 2)
    const conversationId = String(first.providerMetadata?.['synapse']?.['conversationId'])
    const named = synapseModel('mistral', { store, offline: emulator, conversationId })
    await generateText({
      model: named,
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: first.text },
        { role: 'user', content: 'Once more' },
      ],
    })
    const chat = await synapse.open(conversationId)
    assert.equal((await chat.branches()).length, 2)
    const missing = synapseModel('mistral', { store, offline: emulator, conversationId: 'none' })
    await assert.rejects(generateText({ model: missing, prompt: 'Hi' }), /There is no conversation none/)
  })

  test('a failure is thrown once, with the error message of the provider, and the request is in the log', async () => {
    const { store, synapse } = await opened()
    const failing = createEmulator()
    failing.order({ status: 401 })
    const model = synapseModel('openai/gpt-5.6', { store, offline: failing, env: {} })
    await assert.rejects(generateText({ model, prompt: 'Hello' }), /401|key/i)
    assert.equal((await synapse.conversations()).items[0]?.entries, 1)
    const stop = new AbortController()
    const { claude } = await opened()
    const { stream } = streamText({ model: claude, prompt: 'Count to 500.', abortSignal: stop.signal })
    const types: string[] = []
    for await (const part of stream) {
      types.push(part.type)
      if (part.type === 'text-delta') stop.abort()
    }
    assert.equal(types.at(-1), 'abort')
  })
})

test('an object without tools is requested without a warning', async () => {
  const output = Output.object({ schema: z.object({ city: z.string() }) })
  for (const ref of ['openai/gpt-5.6', 'anthropic/claude-opus-5']) {
    const { warnings } = await generateText({ ...model(ref), prompt: 'Which city?', output })
    assert.deepEqual(warnings, [], ref)
  }
})
