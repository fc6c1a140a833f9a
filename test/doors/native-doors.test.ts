// The official clients of Mistral and Ollama, unchanged, through the doors of their own wires, over other providers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Mistral } from '@mistralai/mistralai'
import { Ollama } from 'ollama'
import type { JsonObject } from '../../src/core/json.ts'
import { listIn, objectIn } from '../../src/wires/shared/json-fields.ts'
import { serving } from '../server/serving.ts'

const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}
const tools = [{ type: 'function' as const, function: { name: 'add', description: 'Adds two numbers.', parameters } }]
const question = { role: 'user' as const, content: 'What is 17 + 25?' }

for (const model of ['anthropic/claude-opus-5', 'openai/gpt-5.6', 'google/gemini-3-flash-preview']) {
  describe(`a tool loop over ${model}`, () => {
    for (const stream of [false, true]) {
      test(`of Mistral's client${stream ? ', streamed' : ''}`, async (t) => {
        const { url, store, emulator } = await serving(t)
        const mistral = new Mistral({ apiKey: 'any', serverURL: `${url}/mistral`, retryConfig: { strategy: 'none' } })
        const messages: Parameters<typeof mistral.chat.complete>[0]['messages'] = [question]
        const ask = async () => {
          if (!stream) {
            const reply = await mistral.chat.complete({ model, messages, tools })
            return { message: reply.choices[0]?.message, finish: reply.choices[0]?.finishReason, usage: reply.usage }
          }
          let content = ''
          let toolCalls
          let usage
          let finish
          for await (const { data } of await mistral.chat.stream({ model, messages, tools })) {
            const [choice] = data.choices
            content += typeof choice?.delta.content === 'string' ? choice.delta.content : ''
            toolCalls = choice?.delta.toolCalls ?? toolCalls
            usage = data.usage ?? usage
            finish = choice?.finishReason ?? finish
          }
          return { message: { role: 'assistant' as const, content, toolCalls }, finish, usage }
        }
        const first = await ask()
        const [call] = first.message?.toolCalls ?? []
        assert.equal(first.finish, 'tool_calls')
        assert.match(call?.id ?? '', /^[A-Za-z0-9]{9}$/)
        assert.deepEqual(JSON.parse(String(call?.function.arguments)), { a: 17, b: 25 })
        assert.ok(first.message)
        const result = { role: 'tool' as const, toolCallId: call?.id ?? '', name: 'add', content: '42' }
        messages.push({ ...first.message, role: 'assistant' }, result)
        const second = await ask()
        assert.match(String(second.message?.content), /42/)
        assert.ok((second.usage?.promptTokens ?? 0) > 0)
        const [conversation, ...others] = (await store.conversations('local')).items
        assert.deepEqual([conversation?.entries, others], [4, []])
        assert.ok(emulator.requests.every(({ status }) => status === 200))
      })

      test(`of Ollama's client${stream ? ', streamed' : ''}`, async (t) => {
        const { url, store } = await serving(t)
        const ollama = new Ollama({ host: `${url}/ollama` })
        const messages: NonNullable<Parameters<typeof ollama.chat>[0]['messages']> = [question]
        const ask = async () => {
          if (!stream) return ollama.chat({ model, messages, tools })
          let content = ''
          let calls
          let last
          for await (const part of await ollama.chat({ model, messages, tools, stream: true })) {
            content += part.message.content
            calls = part.message.tool_calls ?? calls
            last = part
          }
          assert.ok(last?.done)
          return { ...last, message: { role: 'assistant', content, ...(calls && { tool_calls: calls }) } }
        }
        const first = await ask()
        const [call] = first.message.tool_calls ?? []
        assert.deepEqual(call?.function.arguments, { a: 17, b: 25 })
        messages.push(first.message, { role: 'tool', tool_name: 'add', content: '42' })
        const second = await ask()
        assert.match(second.message.content, /42/)
        assert.ok(second.prompt_eval_count > 0 && second.eval_count > 0)
        const [conversation, ...others] = (await store.conversations('local')).items
        assert.deepEqual([conversation?.entries, others], [4, []])
      })
    }
  })
}

test('Mistral’s clients get a text, with its reasoning only if they ask for it, and the model gets it back anyway', async (t) => {
  const { api, emulator } = await serving(t)
  const messageOf = async (more: JsonObject) => {
    const body = { model: 'deepseek/deepseek-chat', messages: [question], ...more }
    const answer = await api('POST', '/mistral/v1/chat/completions', body)
    return objectIn(objectIn(listIn(answer.body.choices)[0]).message)
  }
  assert.equal(typeof (await messageOf({})).content, 'string')
  for (const asked of [{ reasoning_effort: 'high' }, { prompt_mode: 'reasoning' }]) {
    assert.partialDeepStrictEqual(await messageOf(asked), { content: [{ type: 'thinking' }] })
  }
  const message = await messageOf({ tools })
  assert.equal(message.content, '')
  const { id = null } = objectIn(listIn(message.tool_calls)[0])
  const result = { role: 'tool', tool_call_id: id, name: 'add', content: '42' }
  assert.match(String((await messageOf({ tools, messages: [question, message, result] })).content), /42/)
  const sent = objectIn(emulator.requests.at(-1)?.body).messages
  assert.match(String(objectIn(listIn(sent)[1]).reasoning_content), /What is 17/)
})

test('their lists of models are in their own format', async (t) => {
  const { url } = await serving(t)
  const mistral = new Mistral({ apiKey: 'any', serverURL: `${url}/mistral` })
  const { data = [] } = await mistral.models.list()
  const ids = new Set(data.map((model) => ('id' in model ? model.id : '')))
  assert.ok(ids.has('mistral-large-latest') && ids.has('openai/gpt-5.6'))
  const { models } = await new Ollama({ host: `${url}/ollama` }).list()
  assert.ok(models.some(({ name }) => name === 'anthropic/claude-opus-5'))
})

test('errors are in their own format', async (t) => {
  const { url } = await serving(t)
  const ollama = new Ollama({ host: `${url}/ollama` })
  await assert.rejects(
    ollama.chat({ model: 'none/none', messages: [question] }),
    /^ResponseError: model 'none\/none' not found/,
  )
  const mistral = new Mistral({ apiKey: 'any', serverURL: `${url}/mistral`, retryConfig: { strategy: 'none' } })
  await assert.rejects(mistral.chat.complete({ model: 'none/none', messages: [question] }), { statusCode: 404 })
})
