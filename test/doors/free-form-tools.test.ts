// Custom tools of Chat Completions: the official client, unchanged, with every kind of provider answering.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { objectsIn, valueAt } from '../../src/wires/shared/json-fields.ts'
import { serving, type Serving } from '../server/serving.ts'

const models = [
  'openai/gpt-5.6',
  'anthropic/claude-opus-5',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
  'deepseek/deepseek-chat',
]
const command = 'grep "a b" *.txt\n'
const grammar = { syntax: 'regex' as const, definition: '[^\\n]+\\n' }
const sh: OpenAI.ChatCompletionCustomTool = {
  type: 'custom',
  custom: { name: 'sh', description: 'Runs a command.', format: { type: 'grammar', grammar } },
}
const clock: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'clock', description: 'Tells the time.', parameters: { type: 'object', properties: {} } },
}
const asking = `use the tool sh with ${JSON.stringify({ input: command })} and the tool clock with {}`

async function client(t: TestContext): Promise<Serving & { openai: OpenAI }> {
  const server = await serving(t)
  return { ...server, openai: new OpenAI({ apiKey: 'placeholder', baseURL: `${server.url}/v1`, maxRetries: 0 }) }
}

for (const model of models) {
  for (const how of ['whole', 'streamed', 'streamed by the server'] as const) {
    test(`a custom tool over ${model}, ${how}: the call, its result and the answer`, async (t) => {
      const { openai, store } = await client(t)
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: asking }]
      const ask = async () => {
        const body = { model, messages, tools: [sh, clock] }
        if (how === 'whole') return openai.chat.completions.create(body)
        // Without the usage the stream is written here, whatever the provider.
        const more = how === 'streamed' ? { stream_options: { include_usage: true } } : {}
        return openai.chat.completions.stream({ ...body, ...more }).finalChatCompletion()
      }
      const first = await ask()
      const message = first.choices[0]?.message
      const [call, other] = message?.tool_calls ?? []
      assert.ok(message && call?.type === 'custom', JSON.stringify(message))
      assert.deepEqual(call.custom, { name: 'sh', input: command })
      assert.equal(other?.type === 'function' && other.function.name, 'clock')
      assert.equal(first.choices[0]?.finish_reason, 'tool_calls')
      messages.push(
        message,
        { role: 'tool', tool_call_id: call.id, content: 'one.txt' },
        { role: 'tool', tool_call_id: other?.id ?? '', content: '12:00' },
      )
      const second = await ask()
      assert.match(second.choices[0]?.message.content ?? '', /sh answered: one\.txt\nclock answered: 12:00/)
      const { items } = await store.conversations('local')
      assert.equal(items.length, 1)
    })
  }
}

test('a provider without free-form tools is offered a function, and the grammar in its description', async (t) => {
  const { openai, emulator } = await client(t)
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello.' }]
  await openai.chat.completions.create({ model: 'anthropic/claude-opus-5', messages, tools: [sh] })
  const { body } = emulator.requests.at(-1) ?? {}
  const [tool] = isObject(body) ? objectsIn(body.tools) : []
  assert.match(String(tool?.description), /^Runs a command\.\n\nThe input must match this regex grammar:\n\[\^\\n\]\+/)
  assert.deepEqual(valueAt(tool, 'input_schema', 'required'), ['input'])
})

test('a host that refuses the request with custom tools gets it again with functions', async (t) => {
  const refused: JsonObject[] = []
  const server = await serving(t, {
    between: (send) => async (url, init) => {
      const body = JSON.parse(Buffer.from(init?.body as Uint8Array).toString()) as JsonObject
      if (!objectsIn(body.tools).some(({ type }) => type === 'custom')) return send(url, init)
      refused.push(body)
      const message = 'tools[0].type: unknown variant `custom`, expected `function`'
      return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 400 })
    },
  })
  const openai = new OpenAI({ apiKey: 'placeholder', baseURL: `${server.url}/v1`, maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: asking }]
  const { choices } = await openai.chat.completions.create({ model: 'groq/openai/gpt-oss-120b', messages, tools: [sh] })
  const [call] = choices[0]?.message.tool_calls ?? []
  assert.equal(refused.length, 1)
  assert.deepEqual(call?.type === 'custom' && call.custom, { name: 'sh', input: command })
})

for (const model of models) {
  test(`the tool choice of a client holds over ${model}: one custom tool, or some of the tools`, async (t) => {
    const { openai } = await client(t)
    const named = async (choice: OpenAI.ChatCompletionToolChoiceOption) => {
      const { choices } = await openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'What is the current time?' }],
        tools: [clock, sh],
        tool_choice: choice,
      })
      const calls = choices[0]?.message.tool_calls ?? []
      return calls.map((call) => (call.type === 'custom' ? call.custom.name : call.function.name))
    }
    const only = (mode: 'auto' | 'required'): OpenAI.ChatCompletionToolChoiceOption => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'custom', custom: { name: 'sh' } }] },
    })
    assert.deepEqual(await named('auto'), ['clock'])
    assert.deepEqual(await named(only('auto')), [])
    assert.deepEqual(await named(only('required')), ['sh'])
    assert.deepEqual(await named({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ ...clock }] } }), [
      'clock',
    ])
  })
}

test('a custom tool can be forced', async (t) => {
  const { openai } = await client(t)
  for (const model of models) {
    const forced: OpenAI.ChatCompletion = await openai.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello.' }],
      tools: [clock, sh],
      tool_choice: { type: 'custom', custom: { name: 'sh' } },
    })
    const call = forced.choices[0]?.message.tool_calls?.[0]
    assert.deepEqual(call?.type === 'custom' && call.custom, { name: 'sh', input: '' }, model)
  }
})
