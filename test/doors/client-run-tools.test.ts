// Tools that a client of OpenAI runs itself but only names: `shell`, `local_shell`, `apply_patch` and `computer`. The
// official client, unchanged, with every kind of provider answering.

import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import { readTranscript } from '../../src/index.ts'
import { objectsIn, valueAt } from '../../src/wires/shared/json-fields.ts'
import { serving, type Serving } from '../server/serving.ts'

const models = [
  'openai/gpt-5.6',
  'anthropic/claude-opus-5',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
  'ollama/llama3.2',
]
const others = models.slice(1)
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

type Responses = OpenAI.Responses.Response
type Item = OpenAI.Responses.ResponseInputItem
type Call = OpenAI.Responses.ResponseOutputItem & { call_id: string }

interface Case {
  tool: OpenAI.Responses.Tool
  /** What the emulated model is asked to call. */
  name: string
  input: JsonObject
  /** Fields of the call item. */
  call: JsonObject
  /** The output of the client, without its `call_id`. */
  output: JsonObject
  /** What the other model reads of it. */
  read: RegExp
  /** The events between the announcement of the item and its end. */
  events?: string[]
}

const commands = ['ls -a', 'false']
const diff = '@@\n-old\n+new\n'
const action = { type: 'click', button: 'left', x: 3, y: 4 }
const screenshot = { type: 'computer_screenshot', image_url: pixel }
const cases: Record<string, Case> = {
  shell: {
    tool: { type: 'shell', environment: { type: 'local' } },
    name: 'shell',
    input: { commands, timeout_ms: 1000 },
    call: { type: 'shell_call', action: { commands, timeout_ms: 1000, max_output_length: null } },
    output: {
      type: 'shell_call_output',
      max_output_length: 400,
      output: [
        { stdout: 'a.txt\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
        { stdout: '', stderr: 'broken', outcome: { type: 'exit', exit_code: 1 } },
        { stdout: '', stderr: '', outcome: { type: 'timeout' } },
      ],
    },
    read: /a\.txt\\n\[exit code 0\].*\[stderr\]\\nbroken\\n\[exit code 1\].*\[timed out\]/,
    events: commands.flatMap(() => ['added', 'delta', 'done'].map((end) => `response.shell_call_command.${end}`)),
  },
  local_shell: {
    tool: { type: 'local_shell' },
    name: 'local_shell',
    input: { command: ['ls', '-a'], working_directory: '/tmp' },
    call: {
      type: 'local_shell_call',
      action: { type: 'exec', command: ['ls', '-a'], env: {}, working_directory: '/tmp' },
    },
    output: { type: 'local_shell_call_output', output: 'a.txt' },
    read: /a\.txt/,
  },
  apply_patch: {
    tool: { type: 'apply_patch' },
    name: 'apply_patch',
    input: { type: 'update_file', path: 'a.txt', diff },
    call: { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a.txt', diff } },
    output: { type: 'apply_patch_call_output', status: 'failed', output: 'No such line.' },
    read: /No such line\./,
    events: ['delta', 'done'].map((end) => `response.apply_patch_call_operation_diff.${end}`),
  },
  computer: {
    tool: { type: 'computer' },
    name: 'computer',
    input: { actions: [action, { type: 'screenshot' }] },
    call: { type: 'computer_call', actions: [action, { type: 'screenshot' }], pending_safety_checks: [] },
    output: { type: 'computer_call_output', output: screenshot, acknowledged_safety_checks: [{ id: 'check' }] },
    read: /iVBORw0KGgo/,
  },
  computer_use_preview: {
    tool: { type: 'computer_use_preview', display_width: 800, display_height: 600, environment: 'browser' },
    name: 'computer',
    input: action,
    call: { type: 'computer_call', action, pending_safety_checks: [] },
    output: { type: 'computer_call_output', output: screenshot },
    read: /iVBORw0KGgo/,
  },
}

async function client(t: TestContext): Promise<Serving & { openai: OpenAI }> {
  const server = await serving(t)
  return { ...server, openai: new OpenAI({ apiKey: 'placeholder', baseURL: `${server.url}/v1`, maxRetries: 0 }) }
}

function asking({ name, input }: Case): string {
  return `use the tool ${name} with ${JSON.stringify(input)}`
}

function callIn({ output }: Responses): Call {
  const call = output.find((item): item is Call => item.type.endsWith('_call'))
  assert.ok(call, JSON.stringify(output))
  return call
}

function outputOf({ output }: Case, call: Call): Item {
  // The official type of this one has the id of the call in `id`.
  const id = output.type === 'local_shell_call_output' ? { id: call.call_id } : {}
  return { ...output, ...id, call_id: call.call_id } as unknown as Item
}

function assertHas(actual: unknown, fields: JsonObject): void {
  assert.deepEqual(
    Object.fromEntries(Object.keys(fields).map((key) => [key, valueAt(actual as JsonObject, key)])),
    fields,
  )
}

function bodyOf(server: Serving): JsonObject {
  const body = server.emulator.requests.at(-1)?.body
  return isObject(body) ? body : {}
}

for (const [type, one] of Object.entries(cases)) {
  for (const model of models) {
    test(`${type} over ${model}: the call, its result and the answer`, async (t) => {
      const server = await client(t)
      const { openai } = server
      const input: Item[] = [{ role: 'user', content: asking(one) }]
      const first = await openai.responses.create({ model, input, tools: [one.tool] })
      const call = callIn(first)
      assertHas(call, { ...one.call, status: 'completed' })
      const more: Item[] = [outputOf(one, call), { role: 'user', content: 'And?' }]
      input.push(...(first.output as Item[]), ...more)
      const second = await openai.responses.create({ model, input, tools: [one.tool] })
      assert.equal(second.status, 'completed')
      const sent = JSON.stringify(bodyOf(server))
      if (model.startsWith('openai')) {
        for (const part of [one.tool, one.output.output ?? one.output.type])
          assert.ok(sent.includes(JSON.stringify(part)))
      } else assert.match(sent, one.read)
      const { data } = await openai.responses.inputItems.list(second.id, { order: 'asc' })
      assert.deepEqual(
        data.map((item) => item.type),
        ['message', ...first.output.map((item) => item.type), one.output.type, 'message'],
      )
      const continued = await openai.responses.create({
        model,
        previous_response_id: first.id,
        input: more,
        tools: [one.tool],
      })
      assert.equal(continued.status, 'completed')
      assert.equal(JSON.stringify(valueAt(bodyOf(server), 'tools')), JSON.stringify(valueAt(JSON.parse(sent), 'tools')))
    })
  }

  test(`${type}: the events of a streamed call, and its order in a stored response`, async (t) => {
    const server = await client(t)
    for (const model of others) {
      const request = { model, input: asking(one), tools: [one.tool] }
      const stream = await server.openai.responses.create({ ...request, stream: true })
      const events: OpenAI.Responses.ResponseStreamEvent[] = []
      for await (const event of stream) events.push(event)
      const added = events.findIndex(
        (event) => event.type === 'response.output_item.added' && event.item.type.endsWith('_call'),
      )
      const done = events.findIndex(
        (event) => event.type === 'response.output_item.done' && event.item.type.endsWith('_call'),
      )
      assert.deepEqual(
        events.slice(added + 1, done).map((event) => event.type as string),
        one.events ?? [],
        model,
      )
      const last = events.at(-1)
      assert.ok(last?.type === 'response.completed')
      const call = callIn(last.response)
      assertHas(call, { ...one.call, status: 'completed' })
      assert.deepEqual(valueAt(events[done] as unknown as JsonObject, 'item'), call)
      assertHas(valueAt(events[added] as unknown as JsonObject, 'item'), { id: call.id ?? '', status: 'in_progress' })
      const stored = await server.openai.responses.retrieve(last.response.id)
      assert.deepEqual(stored.output, last.response.output)
    }
  })

  test(`${type}: a conversation goes from one provider to another and back to OpenAI`, async (t) => {
    const server = await client(t)
    const { id: conversation } = await server.openai.conversations.create({})
    const answers: string[] = []
    for (const model of [
      'anthropic/claude-opus-5',
      'openai/gpt-5.6',
      'google/gemini-3-flash-preview',
      'openai/gpt-5.6',
    ]) {
      const request = { model, conversation, tools: [one.tool] }
      const call = callIn(await server.openai.responses.create({ ...request, input: asking(one) }))
      answers.push(call.call_id)
      const { status } = await server.openai.responses.create({ ...request, input: [outputOf(one, call)] })
      assert.equal(status, 'completed')
    }
    const { tools, input } = bodyOf(server)
    assert.deepEqual(tools, [one.tool])
    const calls = objectsIn(input).filter((item) => item.type === one.call.type)
    const outputs = objectsIn(input).filter((item) => item.type === one.output.type)
    assert.equal(calls.length, 4)
    for (const item of calls) assertHas(item, { ...one.call, status: 'completed' })
    for (const item of outputs) assertHas(item, one.output)
    assert.deepEqual(
      outputs.map((item) => item.call_id),
      calls.map((item) => item.call_id),
    )
    const types = (await server.openai.conversations.items.list(conversation, { limit: 100, order: 'asc' })).data
    assert.equal(types.filter((item) => item.type === one.output.type).length, answers.length)
  })
}

test('calls and their results over a WebSocket', async (t) => {
  const { url } = await client(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`)
  t.after(() => socket.close())
  await once(socket, 'open')
  const respond = async (fields: object) => {
    const model = 'anthropic/claude-opus-5'
    const tools = Object.values(cases)
      .slice(0, 3)
      .map(({ tool }) => tool)
    socket.send(JSON.stringify({ type: 'response.create', model, tools, store: false, ...fields }))
    for await (const [message] of on(socket, 'message')) {
      const event = JSON.parse(String((message as MessageEvent).data)) as OpenAI.Responses.ResponseStreamEvent
      if (event.type === 'response.completed') return event.response
      assert.match(event.type, /^response\./, JSON.stringify(event))
    }
    throw new Error('The socket was closed.')
  }
  for (const one of Object.values(cases).slice(0, 3)) {
    const first = await respond({ input: asking(one) })
    const call = callIn(first)
    assertHas(call, { ...one.call, status: 'completed' })
    const { output } = await respond({ previous_response_id: first.id, input: [outputOf(one, call)] })
    assert.match(JSON.stringify(output), one.read)
  }
})

test('a tool that only its provider can run is left out with a note', async (t) => {
  const server = await client(t)
  const answer = await fetch(`${server.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'anthropic/claude-opus-5',
      input: 'Hello.',
      tools: [{ type: 'shell', environment: { type: 'container_auto' } }],
    }),
  })
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('x-synapse-notes') ?? '', /1/)
  assert.equal(bodyOf(server).tools, undefined)
})

test('commands that OpenAI has run are part of its reply, and only those of the client are results', async (t) => {
  const server = await client(t)
  const shellCall = (id: string, environment: JsonObject) => ({
    type: 'shell_call',
    id: `sh_${id}`,
    call_id: id,
    status: 'completed',
    action: { commands: [id], timeout_ms: null, max_output_length: null },
    environment,
  })
  const output = (id: string) => ({
    type: 'shell_call_output',
    id: `sho_${id}`,
    call_id: id,
    max_output_length: null,
    output: [{ stdout: `${id} has run`, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
  })
  const container = { type: 'container_reference', container_id: 'cntr_1' }
  const input = [
    { role: 'user', content: 'Go.' },
    shellCall('hosted', container),
    output('hosted'),
    shellCall('local', { type: 'local' }),
    output('local'),
    { role: 'user', content: 'And?' },
  ] as Item[]
  await server.openai.responses.create({ model: 'anthropic/claude-opus-5', input, tools: [{ type: 'shell' }] })
  const sent = JSON.stringify(bodyOf(server))
  assert.match(sent, /local has run/)
  assert.doesNotMatch(sent, /hosted/)
  const { messages } = readTranscript(input as unknown as JsonObject[], { format: 'openai-responses' })
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user'],
  )
})

// Ollama has no tool choice.
for (const model of others.slice(0, -1)) {
  test(`the tool choice of a client holds over ${model}, for a tool that has only a type`, async (t) => {
    const { openai } = await client(t)
    const tools = ['shell', 'apply_patch', 'computer'].map((type) => ({ type })) as OpenAI.Responses.Tool[]
    for (const tool_choice of [
      { type: 'apply_patch' as const },
      { type: 'allowed_tools' as const, mode: 'required' as const, tools: [{ type: 'apply_patch' }] },
    ]) {
      const { type } = callIn(await openai.responses.create({ model, input: 'Hello.', tools, tool_choice }))
      assert.equal(type, 'apply_patch_call')
    }
  })
}

test('arguments that do not fit give the client a call that it can read', async (t) => {
  const { openai } = await client(t)
  const model = 'anthropic/claude-opus-5'
  for (const [type, input, expected] of [
    ['shell', { command: 'ls' }, { action: { commands: ['ls'], timeout_ms: null, max_output_length: null } }],
    ['local_shell', { command: 'ls | wc' }, { action: { type: 'exec', command: ['bash', '-lc', 'ls | wc'], env: {} } }],
    ['apply_patch', { path: 'a' }, { operation: { type: 'update_file', path: 'a', diff: '' } }],
    [
      'apply_patch',
      { operation: { type: 'delete_file', path: 'a' } },
      { operation: { type: 'delete_file', path: 'a' } },
    ],
    ['computer', { type: 'left_click' }, { actions: [{ type: 'screenshot' }] }],
    ['computer', { actions: [{ type: 'move', x: 1, y: 2, text: '' }] }, { actions: [{ type: 'move', x: 1, y: 2 }] }],
  ] as const) {
    const tools = [{ type }] as unknown as OpenAI.Responses.Tool[]
    const asked = `use the tool ${type} with ${JSON.stringify(input)}`
    assertHas(callIn(await openai.responses.create({ model, input: asked, tools })), expected as unknown as JsonObject)
  }
})
