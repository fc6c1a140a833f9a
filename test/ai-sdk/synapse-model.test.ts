// Synapse under the real AI SDK: its own functions, on every wire, with replies that go back in their own words.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { generateText, isStepCount, streamText, tool, type ModelMessage } from 'ai'
import * as z from 'zod'
import { synapseModel } from '../../src/ai-sdk.ts'
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

test('a reply goes back to its provider in its own words, with all that only those hold', async () => {
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

test('a conversation goes from one provider to another, through messages of the SDK', async () => {
  const messages: ModelMessage[] = [{ role: 'user', content: 'What time is it in Paris?' }]
  const first = await generateText({ ...model('openai/gpt-5.6'), tools, stopWhen: isStepCount(5), messages })
  messages.push(...first.responseMessages, { role: 'user', content: 'What did I say first?' })
  for (const ref of ['anthropic/claude-opus-5', 'google/gemini-3.8-flash', 'mistral/mistral-medium-latest']) {
    const { text } = await generateText({ ...model(ref), tools, messages })
    assert.match(text, /"What time is it in Paris\?"/, ref)
  }
})

test('a reply that was changed on the way is told as it is now', async () => {
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

test('an image is given to the model', async () => {
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

test('what fails before anything was said is thrown, after our own retries and no others', async () => {
  const { model: claude, emulator } = model('anthropic/claude-opus-5')
  emulator.order({ status: 529 }, 3)
  await assert.rejects(generateText({ model: claude, prompt: 'Hello' }), /overloaded/i)
  assert.equal(emulator.requests.length, 3)
  emulator.order({ status: 429 })
  assert.match((await generateText({ model: claude, prompt: 'Hello' })).text, /emulator/)
})

test('an abort is told to the caller as one', async () => {
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

test('what a model cannot be asked for is a warning, and so is each note', async () => {
  const { model: claude } = model('anthropic/claude-opus-5')
  const { warnings } = await generateText({ model: claude, prompt: 'Hello', topK: 3, temperature: 0.2 })
  const told = JSON.stringify(warnings)
  assert.match(told, /topK/)
  assert.match(told, /temperature/)
})
