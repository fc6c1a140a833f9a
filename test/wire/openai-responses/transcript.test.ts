import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import test from 'node:test'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import { openaiResponsesFormat } from '../../../src/wires/openai-responses/transcript.ts'
import { call, reply, result, user } from '../../histories.ts'

const corpus = resolve(import.meta.dirname, '../../../../shared/corpus/trajectories/codex')

const items: JsonObject[] = [
  { role: 'developer', content: 'Be brief.' },
  {
    type: 'message',
    role: 'user',
    content: [
      { type: 'input_text', text: 'Look.' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_file', filename: 'a.md', file_data: 'data:text/markdown;base64,AA==' },
      { type: 'input_file', file_id: 'file-1' },
    ],
  },
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'gAAA' },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Wait.' }],
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'clock', arguments: '{"zone":"UTC"}' },
  { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: '*** Begin' },
  { type: 'custom_tool_call_output', call_id: 'call_2', output: 'ok' },
  { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: '12:00' }] },
  { role: 'assistant', content: 'Noon.' },
  { type: 'additional_tools', role: 'developer', tools: [] },
  { role: 'user', content: 'Thanks.' },
]

test('items are read as messages, the assistant’s side between two others as one reply', () => {
  const { messages } = openaiResponsesFormat.read(items)
  assert.deepEqual(
    messages.map((message) => message.role),
    ['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user', 'user'],
  )
  assert.deepEqual(messages[1]?.parts, [
    { type: 'text', text: 'Look.' },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AA==' } },
    { type: 'media', mediaType: 'text/markdown', name: 'a.md', data: { kind: 'base64', base64: 'AA==' } },
    { type: 'media', mediaType: 'application/pdf', data: { kind: 'file', fileId: 'file-1', provider: 'openai' } },
  ])
  const asked = messages[2]
  assert.deepEqual(asked?.parts, [
    { type: 'reasoning', text: 'Hm.', hidden: true, from: 0 },
    { type: 'text', text: 'Wait.', from: 1 },
    { type: 'tool-call', callId: 'call_1', alias: 'call_1', name: 'clock', input: { zone: 'UTC' }, from: 2 },
    {
      type: 'tool-call',
      callId: 'call_2',
      alias: 'call_2',
      name: 'patch',
      input: { input: '*** Begin' },
      kind: 'free-form',
      from: 3,
    },
  ])
  assert.deepEqual(asked?.role === 'assistant' && [asked.native, asked.stop], [
    items.slice(2, 6),
    { reason: 'tool-calls' },
  ])
  assert.deepEqual(messages[4]?.parts, [
    { type: 'tool-result', callId: 'call_1', name: 'clock', output: [{ type: 'text', text: '12:00' }] },
  ])
  assert.deepEqual(messages[6]?.parts, [{ type: 'opaque', kind: 'openai-responses/additional_tools', data: items[9] }])
})

test('what was read is written unchanged', () => {
  assert.deepEqual(openaiResponsesFormat.write(openaiResponsesFormat.read(items).messages), items)
})

test('a request body brings its instructions, tools and model', () => {
  const tools = [
    { type: 'function', name: 'clock', description: 'Time.', parameters: { type: 'object', properties: {} } },
    { type: 'web_search' },
  ]
  const read = openaiResponsesFormat.read({ model: 'gpt-5.5', instructions: 'Be kind.', input: items, tools })
  assert.deepEqual(read.system, [{ type: 'text', text: 'Be kind.' }])
  assert.deepEqual(read.tools, [{ name: 'clock', description: 'Time.', input: { type: 'object', properties: {} } }])
  assert.deepEqual(
    read.notes.map((note) => `${note.kind} ${note.what} ${note.at}`),
    ['dropped tool of type web_search $.tools[1]'],
  )
  assert.equal(read.messages[2]?.role === 'assistant' && read.messages[2].origin.model, 'gpt-5.5')
})

test('tools that items declare are tools, once each, and only in the items if those are sent', () => {
  const parameters = { type: 'object', properties: {} }
  const declared = { type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }
  const body = {
    model: 'gpt-6',
    input: [
      { type: 'additional_tools', role: 'developer', tools: [declared] },
      { role: 'user', content: 'Find a tool.' },
      { type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: {} },
      {
        type: 'tool_search_output',
        call_id: 'call_1',
        execution: 'client',
        tools: [{ type: 'function', name: 'look', parameters }],
      },
    ],
    tools: [{ type: 'function', name: 'clock', parameters }],
  }
  const { messages, tools = [] } = openaiResponsesFormat.read(body)
  assert.deepEqual(
    tools.map(({ name, kind }) => [name, kind]),
    [
      ['clock', undefined],
      ['functions__exec', 'free-form'],
      ['look', undefined],
    ],
  )
  const { capabilities } = openaiResponses
  const target = { model: 'gpt-6', options: {}, quirks: {}, capabilities: { ...capabilities, toolKinds: true } }
  const context = { system: [], messages, tools, cacheAfter: [] }
  const sent = openaiResponses.encode(context, { ...target, provider: 'openai' }).body
  assert.deepEqual(namesIn(sent.tools), ['clock'])
  assert.deepEqual(namesIn(sent.input), ['additional_tools', 'message', 'tool_search_call', 'tool_search_output'])
  const elsewhere = openaiResponses.encode(context, { ...target, provider: 'groq', capabilities }).body
  assert.deepEqual(namesIn(elsewhere.tools), ['clock', 'functions__exec', 'look'])
})

function namesIn(list: Json | undefined): unknown[] {
  return (Array.isArray(list) ? list : []).map((one) => (isObject(one) ? (one.name ?? one.type) : one))
}

test('a string is one user message, and a response one reply', () => {
  assert.deepEqual(openaiResponsesFormat.read({ model: 'm', input: 'Hi' }).messages[0]?.parts, [
    { type: 'text', text: 'Hi' },
  ])
  const response = { object: 'response', model: 'm', output: items.slice(2, 5) }
  assert.equal(openaiResponsesFormat.recognise(response), true)
  assert.deepEqual(openaiResponsesFormat.write(openaiResponsesFormat.read(response).messages), items.slice(2, 5))
})

test('a repeated id is another call', () => {
  const again = [
    { type: 'function_call', call_id: 'call_0', name: 'a', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_0', output: '1' },
    { type: 'function_call', call_id: 'call_0', name: 'b', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_0', output: '2' },
    { type: 'function_call_output', call_id: 'call_9', output: 'whose?' },
  ]
  const { messages } = openaiResponsesFormat.read(again)
  const seen = messages.flatMap((message) =>
    message.parts.flatMap((part) => ('callId' in part ? [`${part.name} ${part.callId}`] : [])),
  )
  assert.deepEqual(seen.slice(0, 2), ['a call_0', 'a call_0'])
  assert.equal(seen[2], seen[3])
  assert.notEqual(seen[2]?.slice(2), 'call_0')
  assert.equal(seen[4], 'unknown call_9')
})

test('one output answers all children of a parallel call', () => {
  const uses = ['clock', 'add'].map((name) => ({ recipient_name: `functions.${name}`, parameters: {} }))
  const shares =
    '[{"recipient_name":"functions.clock","output":"12:00"},{"recipient_name":"functions.add","output":"2"}]'
  const list = [
    { type: 'function_call', call_id: 'call_w', name: 'parallel', arguments: JSON.stringify({ tool_uses: uses }) },
    { type: 'function_call_output', call_id: 'call_w', output: shares },
  ]
  const { messages } = openaiResponsesFormat.read(list)
  assert.deepEqual(
    messages[1]?.parts.map((part) => (part.type === 'tool-result' ? [part.name, part.output] : [])),
    [
      ['clock', [{ type: 'text', text: '12:00' }]],
      ['add', [{ type: 'text', text: '2' }]],
    ],
  )
  assert.deepEqual(openaiResponsesFormat.write(messages), list)
})

test('messages from elsewhere are written as items, with the call ids of the replies before them', () => {
  const { messages } = openaiResponsesFormat.read(items.slice(2, 6))
  const more = [
    ...messages,
    result('call_1', '12:00', 'clock'),
    reply('So.', call('c9', 'add', { a: 1 })),
    user('Continue.'),
  ]
  const written = openaiResponsesFormat.write(more) as JsonObject[]
  assert.deepEqual(written.slice(4), [
    { type: 'function_call_output', call_id: 'call_1', output: '12:00' },
    { type: 'message', role: 'assistant', content: 'So.' },
    { type: 'function_call', call_id: written[6]?.call_id ?? null, name: 'add', arguments: '{"a":1}' },
    { type: 'message', role: 'user', content: 'Continue.' },
  ])
})

test('a changed message is written again, the others as they were', () => {
  const { messages } = openaiResponsesFormat.read(items)
  const changed = messages.map((message, i) => (i === 7 ? user('Thank you.') : message))
  assert.deepEqual(openaiResponsesFormat.write(changed), [
    ...items.slice(0, 10),
    { type: 'message', role: 'user', content: 'Thank you.' },
  ])
})

const recognised: [Json, boolean][] = [
  [items, true],
  [[{ role: 'user', content: [{ type: 'input_text', text: 'x' }] }], true],
  [{ input: items }, true],
  [{ input: 'Hi', model: 'm' }, true],
  [[{ role: 'user', content: 'Hi' }], false],
  [[{ role: 'user', content: [{ type: 'text', text: 'x' }] }], false],
  [{ messages: [], input: 'x' }, false],
  [{ input: [{ type: 'text', text: 'x' }] }, false],
  [{ contents: [] }, false],
  ['Hi', false],
  [[], false],
]

for (const [json, expected] of recognised) {
  test(`${JSON.stringify(json).slice(0, 70)} is ${expected ? '' : 'not '}recognised`, () => {
    assert.equal(openaiResponsesFormat.recognise(json), expected)
  })
}

test('an unreadable input is named by its position', () => {
  assert.throws(() => openaiResponsesFormat.read({ input: [7] }), /\$\.input\[0\] should be an object/)
  assert.throws(() => openaiResponsesFormat.read({ input: 7 }), /\$\.input should be a string or a list of items/)
  assert.throws(() => openaiResponsesFormat.read(7), /\$ should be/)
})

test(
  'recorded sessions come back as they were, and can be sent',
  { skip: !existsSync(corpus) && 'no recordings' },
  (t) => {
    const files = readdirSync(corpus)
    let count = 0
    for (const file of files) {
      const session = JSON.parse(readFileSync(`${corpus}/${file}`, 'utf8')) as JsonObject
      assert.equal(openaiResponsesFormat.recognise(session), true, file)
      const { messages, system } = openaiResponsesFormat.read(session)
      assert.deepEqual(openaiResponsesFormat.write(messages), session.input, file)
      assert.equal(system?.[0]?.text, session.instructions, file)
      const { body } = openaiResponses.encode(
        { system: system ?? [], messages, tools: [], cacheAfter: [] },
        { provider: 'openai', model: 'gpt-5.5', options: {}, quirks: {}, capabilities: openaiResponses.capabilities },
      )
      assert.deepEqual(openaiResponses.refuse(body), [], file)
      count += Array.isArray(session.input) ? session.input.length : 0
    }
    t.diagnostic(`${files.length} sessions, ${count} items`)
  },
)
