// The official clients of Mistral and Ollama, unchanged.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { Mistral } from '@mistralai/mistralai'
import { Ollama } from 'ollama'
import { served } from './emulating.ts'

const parameters = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
}
const model = 'mistral-medium-latest'

async function mistral(t: TestContext) {
  const emulator = await served(t)
  const client = new Mistral({ apiKey: 'any', serverURL: `${emulator.url}/mistral`, retryConfig: { strategy: 'none' } })
  return { emulator, client }
}

const tools = [{ type: 'function' as const, function: { name: 'add', parameters } }]

describe('mistral chat', () => {
  test('a tool loop, streamed and not', async (t) => {
    const { client } = await mistral(t)
    const question = { role: 'user' as const, content: 'What is 17 + 25?' }
    const first = await client.chat.complete({ model, messages: [question], tools })
    const message = first.choices[0]?.message
    const call = message?.toolCalls?.[0]
    assert.ok(message && call)
    assert.match(call.id ?? '', /^[a-zA-Z0-9]{9}$/)
    assert.equal(first.choices[0]?.finishReason, 'tool_calls')
    const answered = [
      question,
      { ...message, role: 'assistant' as const },
      { role: 'tool' as const, toolCallId: call.id ?? '', name: 'add', content: '42' },
    ]
    const stream = await client.chat.stream({ model, messages: answered, tools })
    let text = ''
    for await (const { data } of stream) {
      const piece = data.choices[0]?.delta.content
      if (typeof piece === 'string') text += piece
    }
    assert.match(text, /add answered: 42/)
  })

  test('a refusal has the error message of the provider', async (t) => {
    const { client } = await mistral(t)
    const messages = [
      { role: 'user' as const, content: 'x' },
      { role: 'assistant' as const, content: 'y' },
    ]
    await assert.rejects(
      client.chat.complete({ model, messages }),
      /Expected last role User or Tool \(or Assistant with prefix True\) for serving but got assistant/,
    )
  })
})

describe('mistral conversations', () => {
  test('the server remembers entries, and continues them under the id it gave', async (t) => {
    const { client } = await mistral(t)
    const first = await client.beta.conversations.start({ model, inputs: 'I like tea.', instructions: 'Be brief.' })
    const second = await client.beta.conversations.append({
      conversationId: first.conversationId,
      conversationAppendRequest: { inputs: 'What did I say first?' },
    })
    assert.match(JSON.stringify(second.outputs), /I like tea\./)
    const history = await client.beta.conversations.getHistory({ conversationId: first.conversationId })
    assert.equal(history.entries.length, 4)
  })

  test('a call is answered by a result, and must be', async (t) => {
    const { client } = await mistral(t)
    const first = await client.beta.conversations.start({ model, inputs: 'What is 17 + 25?', tools })
    const call = first.outputs[0]
    assert.ok(call && 'toolCallId' in call && call.type === 'function.call')
    const append = (inputs: string | { type: 'function.result'; toolCallId: string; result: string }[]) =>
      client.beta.conversations.append({ conversationId: first.conversationId, conversationAppendRequest: { inputs } })
    await assert.rejects(append('Never mind'), /Not the same number of function calls and responses/)
    const done = await append([{ type: 'function.result', toolCallId: call.toolCallId, result: '42' }])
    assert.match(JSON.stringify(done.outputs), /add answered: 42/)
  })

  test('streamed, branched from an entry, and deleted', async (t) => {
    const { client, emulator } = await mistral(t)
    const stream = await client.beta.conversations.startStream({ model, inputs: 'I like tea.' })
    const types: string[] = []
    let conversationId = ''
    for await (const { data } of stream) {
      types.push(data.type)
      if (data.type === 'conversation.response.started') conversationId = data.conversationId
    }
    assert.equal(types[0], 'conversation.response.started')
    assert.equal(types.at(-1), 'conversation.response.done')
    assert.ok(types.filter((type) => type === 'message.output.delta').length > 10)

    const { entries } = await client.beta.conversations.getHistory({ conversationId })
    const fork = await client.beta.conversations.restart({
      conversationId,
      conversationRestartRequest: { fromEntryId: String(entries[1]?.id), inputs: 'What did I say first?' },
    })
    assert.notEqual(fork.conversationId, conversationId)
    assert.match(JSON.stringify(fork.outputs), /I like tea\./)

    emulator.expire(conversationId)
    await assert.rejects(
      client.beta.conversations.append({ conversationId, conversationAppendRequest: { inputs: 'Hello?' } }),
      /not found/,
    )
  })

  test('what is stored with the conversation cannot be sent again', async (t) => {
    const { client, emulator } = await mistral(t)
    const { conversationId } = await client.beta.conversations.start({ model, inputs: 'Hi' })
    const reply = await fetch(`${emulator.url}/mistral/v1/conversations/${conversationId}`, {
      method: 'POST',
      headers: { authorization: 'Bearer any' },
      body: JSON.stringify({ inputs: 'Hi', tools: [] }),
    })
    assert.equal(reply.status, 422)
    assert.match(await reply.text(), /"type":"extra_forbidden","loc":\["body","tools"\]/)
  })
})

describe('ollama', () => {
  async function ollama(t: TestContext) {
    const { url } = await served(t)
    return new Ollama({ host: `${url}/ollama` })
  }

  test('a tool loop, streamed and not', async (t) => {
    const client = await ollama(t)
    const question = { role: 'user', content: 'What is 17 + 25?' }
    const first = await client.chat({ model: 'qwen3', messages: [question], tools })
    assert.deepEqual(first.message.tool_calls?.[0]?.function.arguments, { a: 17, b: 25 })
    const messages = [question, first.message, { role: 'tool', tool_name: 'add', content: '42' }]
    let text = ''
    let last
    for await (const part of await client.chat({ model: 'qwen3', messages, tools, stream: true })) {
      text += part.message.content
      last = part
    }
    assert.match(text, /add answered: 42/)
    assert.equal(last?.done, true)
    assert.ok((last?.prompt_eval_count ?? 0) > 0)
  })

  test('thinking is shown on request', async (t) => {
    const client = await ollama(t)
    const reply = await client.chat({ model: 'qwen3', messages: [{ role: 'user', content: 'Hi' }], think: true })
    assert.match(reply.message.thinking ?? '', /The last question is "Hi"/)
  })

  test('a prompt that is too long silently loses its beginning', async (t) => {
    const client = await ollama(t)
    const messages = [
      { role: 'system', content: 'Be brief.' },
      ...Array.from({ length: 50 }, (_, i) => [
        { role: 'user', content: `Number ${i} ${'x'.repeat(400)}` },
        { role: 'assistant', content: 'ok' },
      ]).flat(),
      { role: 'user', content: 'What did I say first?' },
    ]
    const reply = await client.chat({ model: 'qwen3', messages, options: { num_ctx: 2048 } })
    assert.doesNotMatch(reply.message.content, /Number 0 /)
    assert.match(reply.message.content, /Number \d\d /)
  })

  test('models are listed', async (t) => {
    assert.ok(Array.isArray((await (await ollama(t)).list()).models))
  })
})
