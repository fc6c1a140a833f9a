// The official client, unchanged, against the chat wire.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import { served } from './emulating.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam

const tools: OpenAI.Chat.ChatCompletionTool[] = [
  {
    type: 'function',
    function: { name: 'clock', description: 'Tells the time.', parameters: { type: 'object', properties: {} } },
  },
  {
    type: 'function',
    function: {
      name: 'add',
      parameters: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
    },
  },
]

async function client(t: TestContext, path = '/openai/v1', apiKey = 'any'): Promise<OpenAI> {
  const { url } = await served(t)
  return new OpenAI({ apiKey, baseURL: url + path, maxRetries: 0 })
}

describe('chat completions', () => {
  test('a whole conversation with two tools at once, not streamed', async (t) => {
    const openai = await client(t)
    const messages: Message[] = [{ role: 'user', content: 'What time is it, and what is 17 + 25?' }]
    const first = await openai.chat.completions.create({ model: 'gpt-4o', messages, tools })
    const message = first.choices[0]?.message
    assert.equal(first.choices[0]?.finish_reason, 'tool_calls')
    assert.ok(message?.tool_calls)
    const [time, sum] = message.tool_calls
    assert.ok(time?.type === 'function' && sum?.type === 'function')
    assert.deepEqual([time.function.name, sum.function.name], ['clock', 'add'])
    assert.deepEqual(JSON.parse(sum.function.arguments), { a: 17, b: 25 })

    messages.push(
      message,
      { role: 'tool', tool_call_id: time.id, content: '12:00' },
      { role: 'tool', tool_call_id: sum.id, content: '42' },
    )
    const second = await openai.chat.completions.create({ model: 'gpt-4o', messages, tools })
    assert.match(second.choices[0]?.message.content ?? '', /clock answered: 12:00\nadd answered: 42/)
    assert.equal(second.choices[0]?.finish_reason, 'stop')
    assert.ok((second.usage?.prompt_tokens ?? 0) > (first.usage?.prompt_tokens ?? 0))
  })

  test('a streamed answer and streamed calls are put together by the client', async (t) => {
    const openai = await client(t)
    const text = openai.chat.completions.stream({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] })
    let pieces = 0
    text.on('content', () => pieces++)
    assert.match((await text.finalContent()) ?? '', /not a model/)
    assert.ok(pieces > 10, `${pieces} pieces`)

    const stream = openai.chat.completions.stream({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'What is 1 + 2 and what is 3 + 4?' }],
      tools,
      stream_options: { include_usage: true },
    })
    const whole = await stream.finalChatCompletion()
    const inputs = whole.choices[0]?.message.tool_calls?.map(
      (call) => call.type === 'function' && call.function.arguments,
    )
    assert.deepEqual(inputs, ['{"a":1,"b":2}', '{"a":3,"b":4}'])
    assert.ok((whole.usage?.total_tokens ?? 0) > 0)
  })

  test('usage is streamed only to those who ask for it', async (t) => {
    const openai = await client(t)
    const stream = await openai.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    })
    for await (const chunk of stream) {
      assert.equal(chunk.choices.length, 1)
      assert.ok(!chunk.usage)
    }
  })

  test('a refusal is an error of the official client, with the message of the provider', async (t) => {
    const openai = await client(t)
    const orphan = { role: 'tool', tool_call_id: 'call_1', content: 'x' } as const
    await assert.rejects(openai.chat.completions.create({ model: 'gpt-4o', messages: [orphan] }), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError)
      assert.equal(error.status, 400)
      const words =
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      assert.equal(error.message, `400 ${words}`)
      assert.equal(error.param, 'messages.[0].role')
      return true
    })
  })

  test('an answer that is longer than it may be is cut', async (t) => {
    const openai = await client(t)
    const reply = await openai.chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Count to 1000' }],
      max_tokens: 20,
    })
    assert.equal(reply.choices[0]?.finish_reason, 'length')
    assert.equal(reply.usage?.completion_tokens, 20)
  })

  test('reasoning has the field name of each host, and none at OpenAI', async (t) => {
    const { url } = await served(t)
    const fields = ['reasoning_content', 'reasoning', 'reasoning_details']
    for (const [path, expected] of [
      ['/openai/v1', []],
      ['/deepseek', ['reasoning_content']],
      ['/groq/openai/v1', ['reasoning']],
      ['/openrouter/api/v1', ['reasoning', 'reasoning_details']],
      ['/vllm/v1', ['reasoning']],
    ] as const) {
      const openai = new OpenAI({ apiKey: 'any', baseURL: url + path, maxRetries: 0 })
      const reply = await openai.chat.completions.create({
        model: 'a-model',
        messages: [{ role: 'user', content: 'Think!' }],
      })
      const message = { ...reply.choices[0]?.message }
      assert.deepEqual(
        fields.filter((field) => field in message),
        expected,
        path,
      )
      assert.ok((reply.usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0, path)
    }
  })
})

describe('keys', () => {
  test('an invalid key and a missing one are refused with the error of each provider', async (t) => {
    const { url } = await served(t)
    const said = async (path: string, headers: Record<string, string>) => {
      const reply = await fetch(url + path, { method: 'POST', headers, body: '{}' })
      return [reply.status, JSON.stringify(await reply.json())] as const
    }
    const table: [path: string, header: string, missing: RegExp, wrong: RegExp][] = [
      [
        '/openai/v1/chat/completions',
        'authorization',
        /^401.*didn't provide an API key/,
        /^401.*Incorrect API key provided/,
      ],
      ['/anthropic/v1/messages', 'x-api-key', /^401.*x-api-key header is required/, /^401.*invalid x-api-key/],
      ['/google/v1beta/models/g:generateContent', 'x-goog-api-key', /^403.*PERMISSION_DENIED/, /^400.*API_KEY_INVALID/],
      ['/google/v1beta/interactions', 'x-goog-api-key', /^401.*authentication/, /^401.*authentication/],
      ['/mistral/v1/chat/completions', 'authorization', /^401.*Unauthorized/, /^401.*Unauthorized/],
      ['/deepseek/chat/completions', 'authorization', /^401.*Authentication Fails/, /^401.*Authentication Fails/],
      ['/xai/v1/responses', 'authorization', /^401/, /^400.*Incorrect API key provided/],
      [
        '/openrouter/api/v1/chat/completions',
        'authorization',
        /^401.*Missing Authentication header/,
        /^401.*User not found/,
      ],
    ]
    for (const [path, header, missing, wrong] of table) {
      assert.match((await said(path, {})).join(' '), missing, path)
      const value = header === 'authorization' ? 'Bearer wrong' : 'wrong'
      assert.match((await said(path, { [header]: value })).join(' '), wrong, path)
    }
  })

  test('local servers need none', async (t) => {
    const { url } = await served(t)
    for (const path of ['/ollama/api/chat', '/llama.cpp/v1/chat/completions', '/vllm/v1/chat/completions']) {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: false })
      assert.equal((await fetch(url + path, { method: 'POST', body })).status, 200, path)
    }
  })

  test('the official client throws its own error for a wrong key', async (t) => {
    const openai = await client(t, '/openai/v1', 'wrong')
    await assert.rejects(openai.models.list(), OpenAI.AuthenticationError)
  })
})

test('models are listed and found one by one', async (t) => {
  const openai = await client(t)
  const models = await openai.models.list()
  assert.ok(models.data.some((model) => model.id === 'gpt-5.6'))
  assert.equal((await openai.models.retrieve('gpt-5.6')).id, 'gpt-5.6')
  await assert.rejects(openai.models.retrieve('no-such-model'), OpenAI.NotFoundError)
})
