// The official client, unchanged, against generateContent and Interactions.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { ApiError, GoogleGenAI, type Content, type FunctionDeclaration, type Interactions } from '@google/genai'
import type { ServeOptions } from '../../src/testing.ts'
import { served } from './emulating.ts'

const model = 'gemini-3.8-flash'
const parametersJsonSchema = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}
const functionDeclarations: FunctionDeclaration[] = [{ name: 'add', parametersJsonSchema }]
const config = { tools: [{ functionDeclarations }] }

async function client(t: TestContext, options: ServeOptions = {}) {
  const emulator = await served(t, options)
  const httpOptions = { baseUrl: `${emulator.url}/google`, retryOptions: { attempts: 1 } }
  return { emulator, ai: new GoogleGenAI({ apiKey: 'any', httpOptions }) }
}

describe('generateContent', () => {
  test('a tool loop: the signature comes with the first call, and must be sent back with it', async (t) => {
    const { ai } = await client(t)
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'What is 17 + 25 and what is 1 + 2?' }] }]
    const first = await ai.models.generateContent({ model, contents, config })
    const said = first.candidates?.[0]?.content
    assert.deepEqual(
      first.functionCalls?.map((call) => call.args),
      [
        { a: 17, b: 25 },
        { a: 1, b: 2 },
      ],
    )
    const calls = said?.parts?.filter((part) => part.functionCall)
    assert.ok(calls?.[0]?.thoughtSignature && !calls[1]?.thoughtSignature)
    assert.ok(said)
    const results: Content = {
      role: 'user',
      parts: calls.map(({ functionCall }, i) => ({
        functionResponse: { id: functionCall?.id ?? '', name: 'add', response: { output: i === 0 ? '42' : '3' } },
      })),
    }
    const second = await ai.models.generateContent({ model, contents: [...contents, said, results], config })
    assert.match(second.text ?? '', /add answered: 42\nadd answered: 3/)

    const resend = (signature: string) => {
      const parts = said.parts?.map((part) => (part.thoughtSignature ? { ...part, thoughtSignature: signature } : part))
      return ai.models.generateContent({
        model,
        contents: [...contents, { role: 'model', parts: parts ?? [] }, results],
        config,
      })
    }
    await resend('skip_thought_signature_validator')
    await assert.rejects(resend('made-up'), /Thought signature is not valid/)
  })

  test('streaming, with thoughts on request', async (t) => {
    const { ai } = await client(t)
    const stream = await ai.models.generateContentStream({
      model,
      contents: 'Hello',
      config: { thinkingConfig: { includeThoughts: true } },
    })
    let [text, thought, chunks] = ['', '', 0]
    for await (const chunk of stream) {
      chunks++
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.thought) thought += part.text ?? ''
        else text += part.text ?? ''
      }
    }
    assert.ok(chunks > 10)
    assert.match(text, /not a model/)
    assert.match(thought, /The last question is "Hello"/)
  })

  test('a refusal is an error of the official client, with the message of the provider', async (t) => {
    const { ai } = await client(t)
    const orphan: Content = { role: 'user', parts: [{ functionResponse: { name: 'add', response: { output: 'x' } } }] }
    await assert.rejects(ai.models.generateContent({ model, contents: [orphan], config }), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.status, 400)
      assert.match(
        error.message,
        /Please ensure that function response turn comes immediately after a function call turn\./,
      )
      return true
    })
  })

  test('tokens are counted as the reply will report them', async (t) => {
    const { ai } = await client(t)
    const { totalTokens } = await ai.models.countTokens({ model, contents: 'How long is this?' })
    const reply = await ai.models.generateContent({ model, contents: 'How long is this?' })
    assert.equal(reply.usageMetadata?.promptTokenCount, totalTokens)
  })

  test('the implicit cache shows in the usage', async (t) => {
    const { ai } = await client(t)
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'x'.repeat(20_000) }] }]
    const first = await ai.models.generateContent({ model, contents })
    const said = first.candidates?.[0]?.content
    assert.ok(said)
    const second = await ai.models.generateContent({
      model,
      contents: [...contents, said, { role: 'user', parts: [{ text: 'More' }] }],
    })
    assert.ok(!first.usageMetadata?.cachedContentTokenCount)
    assert.equal(second.usageMetadata?.cachedContentTokenCount, first.usageMetadata?.promptTokenCount)
  })

  test('models are listed', async (t) => {
    const { ai } = await client(t)
    const names: (string | undefined)[] = []
    for await (const one of await ai.models.list()) names.push(one.name)
    assert.ok(names.includes(`models/${model}`))
  })
})

describe('interactions', () => {
  const tools: Interactions.Tool[] = [{ type: 'function', name: 'add', parameters: parametersJsonSchema }]

  test('the server remembers the steps, and only the steps', async (t) => {
    const { ai, emulator } = await client(t)
    const first = await ai.interactions.create({ model, input: 'I like tea.', system_instruction: 'Be brief.' })
    const ask = (input: string, previous = first.id) =>
      ai.interactions.create({ model, input, previous_interaction_id: previous })
    assert.match(JSON.stringify((await ask('What did I say first?')).steps), /I like tea\./)
    assert.match(JSON.stringify((await ask('What are your instructions?')).steps), /has no instructions/)
    emulator.expire(first.id)
    await assert.rejects(ask('Hello?'), /not found/i)
  })

  test('a tool loop over the server’s state', async (t) => {
    const { ai } = await client(t)
    const first = await ai.interactions.create({ model, input: 'What is 17 + 25?', tools })
    assert.equal(first.status, 'requires_action')
    const call = first.steps?.find((step) => step.type === 'function_call')
    assert.ok(call?.type === 'function_call')
    assert.deepEqual(call.arguments, { a: 17, b: 25 })
    const second = await ai.interactions.create({
      model,
      tools,
      previous_interaction_id: first.id,
      input: [{ type: 'function_result', call_id: call.id, name: 'add', result: '42' }],
    })
    assert.match(JSON.stringify(second.steps), /add answered: 42/)
  })

  test('streaming: steps start, grow and stop', async (t) => {
    const { ai } = await client(t)
    const stream = await ai.interactions.create({ model, input: 'Hello', stream: true })
    const events: string[] = []
    let text = ''
    for await (const event of stream) {
      events.push(event.event_type)
      if (event.event_type === 'step.delta' && event.delta.type === 'text') text += event.delta.text
    }
    assert.match(text, /not a model/)
    assert.equal(events[0], 'interaction.created')
    assert.equal(events.at(-1), 'interaction.completed')
  })

  test('one that was not to be stored is not there', async (t) => {
    const { ai } = await client(t)
    const first = await ai.interactions.create({ model, input: 'Hi', store: false })
    await assert.rejects(ai.interactions.create({ model, input: 'Hi', previous_interaction_id: first.id }))
    const kept = await ai.interactions.create({ model, input: 'Hi' })
    assert.equal((await ai.interactions.get(kept.id)).id, kept.id)
  })
})
