// Details of requests and answers that a translation to another provider must keep, with the official clients.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/core/json.ts'
import { serving, type Serving } from '../server/serving.ts'
import { providers } from './any-history.ts'

const models = ['openai/gpt-5.6', 'google/gemini-3-flash-preview', 'mistral/mistral-large-latest']
const weather = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] }

async function clients(t: TestContext): Promise<Serving & { openai: OpenAI; anthropic: Anthropic }> {
  const server = await serving(t)
  return {
    ...server,
    openai: new OpenAI({ apiKey: 'placeholder', baseURL: `${server.url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: 'placeholder', baseURL: server.url, maxRetries: 0 }),
  }
}

test('answers and errors have the id of their request where the official clients look for it', async (t) => {
  const { openai, anthropic, store } = await clients(t)
  const [model] = models
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const { request_id: id } = await anthropic.messages
    .create({ model: `${model}`, max_tokens: 100, messages })
    .withResponse()
  assert.equal((await store.exchange('local', `${id}`))?.outcome, 'done')
  const stream = anthropic.messages.stream({ model: `${model}`, max_tokens: 100, messages })
  await stream.finalMessage()
  assert.ok(stream.request_id)
  const asking = openai.chat.completions.create({ model: 'anthropic/claude-opus-5', messages })
  const { request_id: exchangeId } = await asking.withResponse()
  assert.equal((await store.exchange('local', `${exchangeId}`))?.outcome, 'done')
  const none = { model: 'none/none', max_tokens: 1, messages }
  await assert.rejects(
    anthropic.messages.create(none),
    ({ requestID, error }: InstanceType<typeof Anthropic.APIError>) => {
      assert.equal(requestID, (error as { request_id?: string }).request_id)
      return `${requestID}`.startsWith('req_')
    },
  )
  await assert.rejects(openai.chat.completions.create(none), ({ requestID }: InstanceType<typeof OpenAI.APIError>) =>
    `${requestID}`.startsWith('req_'),
  )
})

test('thinking that its provider refuses is left out, and the request is answered', async (t) => {
  const { anthropic, emulator } = await clients(t)
  const thinking = { type: 'thinking' as const, thinking: 'A plan of another account.', signature: 'wrong' }
  const { content } = await anthropic.messages.create({
    model: 'anthropic/claude-opus-5',
    max_tokens: 2000,
    thinking: { type: 'adaptive' },
    messages: [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: [thinking, { type: 'text', text: 'Hello to you.' }] },
      { role: 'user', content: 'How many messages are there?' },
    ],
  })
  assert.match(JSON.stringify(content), /2 from you, 1 from me/)
  assert.match(JSON.stringify(emulator.requests.at(0)?.body), /A plan of another account/)
  assert.doesNotMatch(JSON.stringify(emulator.requests.at(-1)?.body), /A plan of another account/)
})

test('a provider that failed has another error than one that is overloaded', async (t) => {
  const { openai, anthropic, emulator } = await clients(t)
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  for (const [status, own] of [
    [500, 500],
    [503, 529],
    [529, 529],
  ] as const) {
    emulator.order({ status }, 8)
    await assert.rejects(anthropic.messages.create({ model: 'openai/gpt-5.6', max_tokens: 100, messages }), {
      status: own,
      type: own === 500 ? 'api_error' : 'overloaded_error',
    })
    await assert.rejects(openai.chat.completions.create({ model: 'anthropic/claude-opus-5', messages }), {
      status: own === 500 ? 500 : 503,
      type: own === 500 ? 'server_error' : 'service_unavailable_error',
    })
    emulator.reset()
  }
})

test('arguments that are no JSON object reach an Anthropic client as text, not as none', async (t) => {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'remove', arguments: '{"path": "a", oops' } }
  const lines = [{ delta: { tool_calls: [call] } }, { delta: {}, finish_reason: 'tool_calls' }].map(
    (choice) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, ...choice }] })}\n\n`,
  )
  const headers = { 'content-type': 'text/event-stream' }
  const between = () => async () => new Response(`${lines.join('')}data: [DONE]\n\n`, { headers })
  const { url } = await serving(t, { between })
  const { content } = await new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 }).messages.create({
    model: 'deepseek/deepseek-reasoner',
    max_tokens: 100,
    tools: [{ name: 'remove', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: 'Remove a.' }],
  })
  const [part] = content
  assert.match(JSON.stringify(part?.type === 'tool_use' && part.input), /oops/)
})

for (const model of models) {
  test(`an image that an Anthropic client gives by its URL reaches ${model}, in a message and in a result`, async (t) => {
    const { anthropic, emulator } = await clients(t)
    for (const url of ['https://example.org/a.png', 'https://example.org/image?id=1']) {
      const image = { type: 'image' as const, source: { type: 'url' as const, url } }
      await anthropic.messages.create({
        model,
        max_tokens: 1000,
        tools: [{ name: 'draw', input_schema: weather }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: `Like ${url.length}:` }, image] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'draw', input: { city: 'Rome' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }] },
        ],
      })
      const sent = JSON.stringify(emulator.requests.at(-1)?.body)
      assert.equal(sent.split(url).length - 1, 2, sent)
    }
  })

  test(`a tool that Anthropic's clients run but only name can be called over ${model}`, async (t) => {
    const { anthropic, emulator } = await clients(t)
    const { content } = await anthropic.beta.messages.create({
      model,
      max_tokens: 1000,
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
        { type: 'memory_20250818', name: 'memory' },
        { type: 'computer_20251124', name: 'computer', display_width_px: 800, display_height_px: 600 },
      ],
      messages: [{ role: 'user', content: 'use the tool bash with {"command":"ls"}' }],
    })
    const call = content.find(({ type }) => type === 'tool_use')
    assert.deepEqual(call?.type === 'tool_use' && [call.name, call.input], ['bash', { command: 'ls' }])
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    for (const word of ['restart', 'insert_text', 'old_path', 'scroll_direction', '800']) assert.ok(sent.includes(word))
  })

  test(`tools that an Anthropic client adds and removes on the way are those of ${model}`, async (t) => {
    const { anthropic, emulator } = await clients(t)
    const tool = (name: string) => ({ name, description: `The tool ${name}.`, input_schema: weather })
    const added = { type: 'tool_definition' as const, definition: tool('later') }
    const { content } = await anthropic.beta.messages.create({
      model,
      max_tokens: 1000,
      betas: ['mid-conversation-tool-changes-2026-07-01'],
      tools: [tool('first'), tool('other')],
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'Hello to you.' },
        { role: 'system', content: [{ type: 'tool_addition', tool: added }] },
        { role: 'system', content: [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'other' } }] },
        { role: 'user', content: 'use the tool later with {"city":"Rome"}' },
      ],
    })
    const call = content.find(({ type }) => type === 'tool_use')
    assert.equal(call?.type === 'tool_use' && call.name, 'later')
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    assert.match(sent, /The tool first/)
    assert.doesNotMatch(sent, /The tool other/)
  })

  test(`a document of Anthropic that consists of blocks reaches ${model}`, async (t) => {
    const { anthropic, emulator } = await clients(t)
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
    await anthropic.messages.create({
      model,
      max_tokens: 1000,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              title: 'Plan',
              source: {
                type: 'content',
                content: [
                  { type: 'text', text: 'The launch is on Tuesday.' },
                  { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
                ],
              },
            },
            { type: 'document', source: { type: 'content', content: 'It may rain.' } },
            { type: 'text', text: 'When?' },
          ],
        },
      ],
    })
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    for (const part of ['Plan', 'on Tuesday', data, 'It may rain.']) assert.ok(sent.includes(part), part)
  })

  test(`an answer schema in the older field of Anthropic's API holds over ${model}`, async (t) => {
    const { anthropic } = await clients(t)
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    }
    const { content } = await anthropic.beta.messages.create({
      model,
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Where?' }],
      output_format: { type: 'json_schema', schema },
    })
    const [part] = content
    assert.deepEqual(part?.type === 'text' && JSON.parse(part.text), { city: '' })
  })

  test(`a tool choice that names no tool requires one over ${model}`, async (t) => {
    const { openai } = await clients(t)
    const { choices } = await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello.' }],
      tools: [{ type: 'function', function: { name: 'look', parameters: weather } }],
      // As Cursor sends it.
      tool_choice: { type: 'tool' } as unknown as 'required',
    })
    assert.equal(choices[0]?.message.tool_calls?.length, 1)
  })

  for (const stream of [false, true]) {
    test(`a message that ${model} could not finish is incomplete, like its response${stream ? ', streamed' : ''}`, async (t) => {
      const { openai } = await clients(t)
      const body = { model, input: 'count to 5000', max_output_tokens: 16 }
      const response = stream
        ? await openai.responses.stream(body).finalResponse()
        : await openai.responses.create(body)
      assert.deepEqual([response.status, response.incomplete_details?.reason], ['incomplete', 'max_output_tokens'])
      assert.deepEqual(
        response.output.map((item) => item.type === 'message' && item.status),
        ['incomplete'],
      )
      const whole = await openai.responses.create({ model, input: 'Hello.' })
      assert.deepEqual(
        whole.output.map((item) => item.type === 'message' && item.status),
        ['completed'],
      )
    })
  }
}

const halfCall = { type: 'tool-call' as const, callId: '', name: 'look', input: {}, malformed: '{"city":"Par' }
const wholeCall = { type: 'tool-call' as const, callId: '', name: 'look', input: { city: 'Rome' } }

for (const model of ['anthropic/claude-opus-5', 'mistral/mistral-large-latest', 'deepseek/deepseek-chat']) {
  test(`a call that ${model} could not finish is incomplete, and every provider accepts it back`, async (t) => {
    const cutOff = { parts: [wholeCall, halfCall], native: [], stop: { reason: 'length' as const } }
    const { url } = await serving(t, { emulation: { reply: () => cutOff } })
    const asking = new OpenAI({ apiKey: 'placeholder', baseURL: `${url}/v1`, maxRetries: 0 }).responses
    const tools = [{ type: 'function' as const, name: 'look', parameters: weather, strict: false }]
    const body = { model, input: 'Look at Rome and Paris.', tools, max_output_tokens: 16 }
    const whole = (await asking.create(body)).output
    const stream = asking.stream(body)
    const ends: unknown[] = []
    stream.on('response.output_item.done', ({ item }) => ends.push(item.type === 'function_call' && item.status))
    const streamed = (await stream.finalResponse()).output
    assert.deepEqual(ends, ['completed', 'incomplete'])
    for (const output of [whole, streamed]) {
      const calls = output.filter((item) => item.type === 'function_call')
      assert.deepEqual(
        calls.map(({ status }) => status),
        ['completed', 'incomplete'],
      )
      assert.match(calls[1]?.arguments ?? '', /city.*Par/)
      const results = calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'Rain.' }))
      const { openai } = await clients(t)
      for (const other of providers) {
        for (const after of [results, results.slice(0, 1), []]) {
          const input: OpenAI.Responses.ResponseInput = [
            { role: 'user', content: body.input },
            ...(output as OpenAI.Responses.ResponseInput),
            ...after,
            { role: 'user', content: 'Continue.' },
          ]
          const { status } = await openai.responses.create({ model: other, input, tools })
          assert.equal(status, 'completed', `${other} with ${after.length} results`)
        }
      }
    }
  })
}

for (const model of models) {
  test(`documents of a Cohere client reach ${model}`, async (t) => {
    const { api, emulator } = await serving(t)
    const documents = [
      { id: 'd1', data: { title: 'Tall penguins', snippet: 'Emperor penguins are the tallest.' } },
      'Plain.',
    ]
    const messages = [{ role: 'user', content: 'Who is the tallest?' }]
    const answer = await api('POST', '/cohere/v2/chat', { model, messages, documents })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('x-synapse-notes'), '1')
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    assert.match(sent, /d1: .*Emperor penguins are the tallest.*Plain\./)
  })
}

for (const model of [...models, 'anthropic/claude-opus-5', 'deepseek/deepseek-v4-flash']) {
  test(`the deprecated functions of a chat are called, and their results read, over ${model}`, async (t) => {
    const { openai } = await clients(t)
    const body = {
      model,
      messages: [{ role: 'user' as const, content: 'What is 17 + 25? What time is it?' }],
      functions: [
        { name: 'clock', parameters: { type: 'object', properties: {} } },
        { name: 'add', parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } },
      ],
    }
    const named = { ...body, function_call: { name: 'add' } }
    const [choice] = (await openai.chat.completions.create(named)).choices
    assert.ok(choice?.message.function_call)
    assert.equal(choice.finish_reason, 'function_call')
    assert.equal(choice.message.tool_calls, undefined)
    assert.doesNotThrow(() => JSON.parse(choice.message.function_call?.arguments ?? ''))

    let name = ''
    let text = ''
    for await (const { choices } of await openai.chat.completions.create({ ...body, stream: true })) {
      name += choices[0]?.delta.function_call?.name ?? ''
      text += choices[0]?.delta.function_call?.arguments ?? ''
    }
    assert.match(name, /^(?:clock|add)$/, 'there is one call at most')
    assert.doesNotThrow(() => JSON.parse(text))

    const result = { role: 'function' as const, name: 'add', content: 'It is forty-two.' }
    const answered = { ...body, messages: [...body.messages, choice.message, result], function_call: 'none' as const }
    assert.match((await openai.chat.completions.create(answered)).choices[0]?.message.content ?? '', /forty-two/)
  })
}

// As Codex 0.169 sent them (checked 2026-11): the task of a sub-agent, and its answer to the main agent.
const header = 'Message Type: NEW_TASK\nTask name: /root/worker\nSender: /root\nPayload:\n'
const from = { type: 'agent_message', id: 'amsg_01a1f5ca', author: '/root', recipient: '/root/worker' }
const answered = { type: 'input_text', text: 'Payload:\nThere are three.' }

function handedTo(task: string) {
  const content = [
    { type: 'input_text', text: header },
    { type: 'encrypted_content', encrypted_content: task },
  ]
  return [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'The folder is /tmp.' }] },
    { ...from, content },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I count them.' }] },
    { ...from, content: [answered] },
  ]
}

for (const model of [...providers, 'xai/grok-4']) {
  test(`what the agents of Codex say to each other reaches ${model}`, async (t) => {
    const { api, emulator } = await serving(t)
    const input = handedTo('Count the files of this folder.')
    const { status, text } = await api('POST', '/v1/responses', { model, input })
    assert.equal(status, 200, text)
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    if (!model.startsWith('openai/')) assert.doesNotMatch(sent, /agent_message|encrypted_content/)
    assert.match(sent, /Task name.*Count the files of this folder.*I count them.*There are three/)
  })
}

test('what only OpenAI can decrypt is for OpenAI alone', async (t) => {
  const { api, emulator } = await serving(t)
  const secret = `gAAAAAB${'x7_-'.repeat(20)}==`
  for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5']) {
    const { status, text, headers } = await api('POST', '/v1/responses', { model, input: handedTo(secret) })
    assert.equal(status, 200, text)
    const sent = JSON.stringify(emulator.requests.at(-1)?.body)
    assert.equal(sent.includes(secret), model.startsWith('openai/'))
    assert.match(sent, /There are three/)
    if (!model.startsWith('openai/')) assert.notEqual(headers.get('x-synapse-notes'), '0')
  }
})

test('a chat message with a role that no other API has is refused, and not left out', async (t) => {
  const { api, emulator } = await serving(t)
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'robot', content: 'Do not forget the milk.' },
  ]
  for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5', 'google/gemini-3-flash-preview']) {
    const { status, body } = await api('POST', '/v1/chat/completions', { model, messages })
    assert.equal(status, 400)
    assert.deepEqual(body['error'], {
      message:
        "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      type: 'invalid_request_error',
      param: 'messages[1].role',
      code: 'invalid_value',
    })
  }
  assert.equal(emulator.requests.length, 0)
})

test('a function without a name, and an item with an unknown role, are refused and not left out', async (t) => {
  const { api, emulator } = await serving(t)
  const clock = { type: 'function', name: 'clock', parameters: { type: 'object', properties: {} } }
  const { name: _name, ...nameless } = clock
  const robot = { role: 'robot', content: 'Do not forget the milk.' }
  for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5', 'google/gemini-3-flash-preview']) {
    const refused: [JsonObject, JsonObject][] = [
      [
        { tools: [clock, nameless] },
        {
          message: "Missing required parameter: 'tools[1].name'.",
          param: 'tools[1].name',
          code: 'missing_required_parameter',
        },
      ],
      [
        { input: [{ role: 'user', content: 'Hi' }, robot] },
        {
          message: "Invalid value: 'robot'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
          param: 'input[1]',
          code: 'invalid_value',
        },
      ],
    ]
    for (const [fields, error] of refused) {
      const { status, body } = await api('POST', '/v1/responses', { model, input: 'Hi', ...fields })
      assert.equal(status, 400)
      assert.deepEqual(body['error'], { type: 'invalid_request_error', ...error })
    }
  }
  assert.equal(emulator.requests.length, 0)
})
