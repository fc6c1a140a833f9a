// Google's client for the Interactions API, unchanged, over other providers and over Google's own.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { GoogleGenAI, type Interactions } from '@google/genai'
import { tempFolder } from '../store/temp.ts'
import { serving } from '../server/serving.ts'

const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}
const tools: Interactions.Tool[] = [{ type: 'function', name: 'add', description: 'Adds two numbers.', parameters }]

function clientOf(url: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
}

for (const model of ['anthropic/claude-opus-5', 'mistral/mistral-large-latest', 'google/gemini-3-flash-preview']) {
  describe(`interactions over ${model}`, () => {
    test('a conversation continues by the id of its last interaction, after a restart of the server, too', async (t) => {
      const file = join(tempFolder(t), 'chats.db')
      const before = await serving(t, { file })
      const first = await clientOf(before.url).interactions.create({ model, input: 'My name is Ada.' })
      assert.equal(first.status, 'completed')
      assert.ok((first.usage?.total_input_tokens ?? 0) > 0)
      await before.server.stop(0)
      const { url, store } = await serving(t, { file })
      const ai = clientOf(url)
      const ask = { model, input: 'What is my name?', previous_interaction_id: first.id }
      const second = await ai.interactions.create(ask)
      assert.match(JSON.stringify(second.steps), /Ada/)
      const stored = await ai.interactions.get(second.id)
      assert.deepEqual(stored.steps, second.steps)
      assert.equal(stored.previous_interaction_id, first.id)
      const [conversation, ...others] = (await store.conversations('local')).items
      assert.deepEqual([conversation?.entries, others], [4, []])
      await ai.interactions.delete(second.id)
      await assert.rejects(ai.interactions.get(second.id), /not found/i)
      await assert.rejects(ai.interactions.create({ ...ask, previous_interaction_id: second.id }), /not found/i)
    })

    test('a tool loop, streamed, with the results alone', async (t) => {
      const { url, store, emulator } = await serving(t)
      const ai = clientOf(url)
      const first = await streamed(
        await ai.interactions.create({ model, tools, input: 'What is 17 + 25?', stream: true }),
      )
      assert.equal(first.status, 'requires_action')
      const call = first.steps.find(({ type }) => type === 'function_call')
      assert.deepEqual(JSON.parse(call?.text ?? ''), { a: 17, b: 25 })
      const second = await streamed(
        await ai.interactions.create({
          model,
          tools,
          stream: true,
          previous_interaction_id: first.id,
          input: [{ type: 'function_result', call_id: call?.id ?? '', name: 'add', result: '42' }],
        }),
      )
      assert.match(second.steps.at(-1)?.text ?? '', /42/)
      const [conversation, ...others] = (await store.conversations('local')).items
      assert.deepEqual([conversation?.entries, others], [4, []])
      assert.ok(emulator.requests.every(({ status }) => status === 200))
    })
  })
}

interface Streamed {
  id: string
  status: string
  steps: { type: string; id?: string; text: string }[]
}

/** What is read of a stream: the steps with the texts of their deltas. */
async function streamed(stream: AsyncIterable<Interactions.InteractionSSEEvent>): Promise<Streamed> {
  const out: Streamed = { id: '', status: '', steps: [] }
  for await (const event of stream) {
    if (event.event_type === 'interaction.created') out.id = event.interaction.id ?? ''
    if (event.event_type === 'interaction.completed') out.status = event.interaction.status ?? ''
    if (event.event_type === 'step.start') {
      const { step } = event
      out.steps[event.index] = { type: step.type, text: '', ...('id' in step && { id: step.id }) }
    }
    const step = event.event_type === 'step.delta' ? out.steps[event.index] : undefined
    if (event.event_type !== 'step.delta' || !step) continue
    if (event.delta.type === 'text') step.text += event.delta.text
    if (event.delta.type === 'arguments_delta') step.text += event.delta.arguments ?? ''
  }
  return out
}

test('a stored interaction can be read as a stream, and one that is not to be stored is not there', async (t) => {
  const { url } = await serving(t)
  const ai = clientOf(url)
  const model = 'openai/gpt-5.6'
  const { id } = await ai.interactions.create({ model, input: 'Please count to 5.' })
  const again = await streamed(await ai.interactions.get(id, { stream: true }))
  assert.equal(again.id, id)
  assert.match(again.steps.at(-1)?.text ?? '', /1 2 3 4 5/)
  await assert.rejects(ai.interactions.cancel(id), /background/)
  const gone = await ai.interactions.create({ model, input: 'Hi', store: false })
  await assert.rejects(ai.interactions.get(gone.id), /not found/i)
})

test('reasoning of another provider is sent back to it unchanged', async (t) => {
  const { url, emulator } = await serving(t)
  const ai = clientOf(url)
  const model = 'anthropic/claude-opus-5'
  const generation_config = { thinking_level: 'high' as const }
  const question = { type: 'user_input' as const, content: [{ type: 'text' as const, text: 'What is 17 + 25?' }] }
  const first = await ai.interactions.create({ model, tools, store: false, generation_config, input: [question] })
  const steps = first.steps ?? []
  assert.ok(steps.some((step) => step.type === 'thought' && step.signature?.startsWith('SynapseSealed')))
  const call = steps.find((step) => step.type === 'function_call')
  assert.ok(call)
  const result = { type: 'function_result' as const, call_id: call.id, name: 'add', result: '42' }
  const input = [question, ...steps, result]
  await ai.interactions.create({ model, tools, store: false, generation_config, input })
  const sent = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.match(sent, /"signature":"[^"]{20}/)
  assert.doesNotMatch(sent, /SynapseSealed/)
})

test('errors and lists of models are in the form of the API', async (t) => {
  const { url } = await serving(t)
  const ai = clientOf(url)
  await assert.rejects(ai.interactions.create({ model: 'none/none', input: 'Hi' }), { status: 404 })
  await assert.rejects(
    ai.interactions.create({ model: 'openai/gpt-5.6', input: 'Hi', background: true, store: false }),
    /background/,
  )
  const names = []
  for await (const { name } of await ai.models.list()) names.push(name)
  assert.ok(names.includes('models/gemini-3-flash-preview') && names.includes('models/anthropic/claude-opus-5'))
})

test('a schema may be in the format of the text, in one of several formats, or alone', async (t) => {
  const { url } = await serving(t)
  const schema = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] }
  const text = { type: 'text' as const, mime_type: 'application/json' as const, schema }
  for (const response_format of [text, [{ type: 'image' as const }, text], schema]) {
    const ask = { model: 'anthropic/claude-opus-5', input: 'Name a color.', response_format }
    const { steps } = await clientOf(url).interactions.create(ask)
    assert.match(JSON.stringify(steps), /\{\\"color\\":/, JSON.stringify(response_format))
  }
})
