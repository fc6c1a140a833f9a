import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { claudeExportFormat as format } from '../../src/transcripts/claude-export.ts'
import { whatTimeIsIt } from '../histories.ts'

const chat: JsonObject[] = [
  {
    uuid: 'm1',
    text: 'Summarise this',
    content: [{ type: 'text', text: 'Summarise this', citations: [] }],
    sender: 'human',
    attachments: [{ file_name: 'a.txt', file_type: 'txt', extracted_content: 'words' }],
    files: [{ file_name: 'photo.png' }],
  },
  {
    uuid: 'm2',
    text: 'Done.',
    sender: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'search', input: { q: 'x' } },
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        name: 'search',
        content: [{ type: 'text', text: 'found' }],
        is_error: false,
      },
      { type: 'text', text: 'Done.' },
    ],
    attachments: [],
    files: [],
  },
  { uuid: 'm3', text: 'Thanks', sender: 'human' },
]
const exported = [
  { uuid: 'c0', name: 'Empty', chat_messages: [] },
  { uuid: 'c1', name: 'Summary', chat_messages: chat },
  { uuid: 'c2', name: 'Other', chat_messages: [] },
]

test('an assistant’s message with a tool becomes reply, result and reply', () => {
  const { messages } = format.read(exported)
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user'],
  )
  assert.deepEqual(messages[1]?.parts, [
    { type: 'reasoning', text: 'Let me look.' },
    { type: 'tool-call', callId: 'toolu_1', alias: 'toolu_1', name: 'search', input: { q: 'x' } },
  ])
  assert.deepEqual(messages[2]?.parts, [
    { type: 'tool-result', callId: 'toolu_1', name: 'search', output: [{ type: 'text', text: 'found' }] },
  ])
  assert.deepEqual(messages[4]?.parts, [{ type: 'text', text: 'Thanks' }])
})

test('an attachment is its text, a file is only its name', () => {
  assert.deepEqual(format.read(exported).messages[0]?.parts, [
    { type: 'text', text: 'Summarise this' },
    {
      type: 'media',
      mediaType: 'text/plain',
      name: 'a.txt',
      data: { kind: 'base64', base64: Buffer.from('words').toString('base64') },
    },
    { type: 'opaque', kind: 'claude-export/file', data: { file_name: 'photo.png' } },
  ])
})

test('of several conversations the first with messages is read, and the others are named', () => {
  const { notes } = format.read(exported)
  assert.equal(notes.length, 1)
  assert.match(notes[0]?.what ?? '', /2 other conversations: "Empty", "Other"/)
  assert.deepEqual(format.read({ conversations: exported }).messages.length, 5)
  assert.deepEqual(format.read(exported[1] ?? null).notes, [])
})

test('the chat messages come back as they were', () => {
  assert.deepEqual(format.write(format.read(exported).messages), chat)
  assert.deepEqual(format.write(format.read(chat).messages), chat)
})

test('with several branches the one that ends last is read, and all of them come back', () => {
  const linked = [
    { uuid: 'a', sender: 'human', text: 'one', parent_message_uuid: '0000' },
    { uuid: 'b', sender: 'assistant', text: 'first try', parent_message_uuid: 'a' },
    { uuid: 'c', sender: 'assistant', text: 'second try', parent_message_uuid: 'a' },
    { uuid: 'd', sender: 'human', text: 'two', parent_message_uuid: 'c' },
  ]
  const { messages, notes } = format.read([{ uuid: 'x', chat_messages: linked }])
  assert.deepEqual(
    messages.map(({ parts }) => parts),
    [[{ type: 'text', text: 'one' }], [{ type: 'text', text: 'second try' }], [{ type: 'text', text: 'two' }]],
  )
  assert.equal(notes[0]?.what, '1 messages of other branches')
  assert.deepEqual(format.write(messages), linked)
})

test('calls without ids get ids, and results come in their order', () => {
  const content = [
    { type: 'tool_use', name: 'f', input: {} },
    { type: 'tool_use', name: 'g', input: {} },
    { type: 'tool_result', content: '1' },
    { type: 'tool_result', content: '2' },
  ]
  const { messages } = format.read([{ sender: 'assistant', content }])
  assert.deepEqual(
    messages.flatMap(({ parts }) => parts.flatMap((part) => ('callId' in part ? [`${part.callId} ${part.name}`] : []))),
    ['call f', 'call~2 g', 'call f', 'call~2 g'],
  )
})

test('a conversation from elsewhere is written as chat messages, results with their calls', () => {
  const written = format.write(whatTimeIsIt) as JsonObject[]
  assert.deepEqual(
    written.map(({ sender, text }) => [sender, text]),
    [
      ['human', 'What time is it?'],
      ['assistant', 'It is noon.'],
    ],
  )
  assert.deepEqual(
    written.map(({ content }) => (content as { type: string }[]).map(({ type }) => type)),
    [['text'], ['tool_use', 'tool_result', 'text']],
  )
  assert.deepEqual(
    format.read(written).messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
})

test('an export is distinguished from other JSON, and a broken one is refused with its position', () => {
  assert.ok(format.recognise(exported))
  assert.ok(format.recognise(chat))
  assert.ok(format.recognise({ conversations: exported }))
  assert.ok(!format.recognise([{ mapping: {} }]))
  assert.ok(!format.recognise([]))
  assert.throws(() => format.read([{ uuid: 'c' }]), /\$\[0\]\.chat_messages/)
  assert.throws(() => format.read([{ chat_messages: [1] }]), /\$\[0\]\.chat_messages\[0\]/)
  assert.throws(() => format.read([{ chat_messages: [{ sender: 'ghost', text: 'x' }] }]), /sender/)
})
