import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { callsOf, type Reply } from '../../../src/core/message.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import { anthropicMessagesFormat as format } from '../../../src/wires/anthropic-messages/transcript.ts'
import { call, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../../histories.ts'

const conversation: JsonObject[] = [
  { role: 'user', content: 'What time is it?' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'A clock.', signature: 'c2ln' },
      { type: 'text', text: 'One moment.', citations: null },
      { type: 'tool_use', id: 'toolu_1', name: 'clock', input: { zone: 'UTC' }, caller: { type: 'direct' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: '12:00', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'And in Rome?' },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'hologram', depth: 3 },
      { type: 'text', text: 'One.' },
    ],
  },
]

test('a list of messages is read part by part, with the native data of the provider', () => {
  const { messages } = format.read(conversation)
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'user', 'assistant'],
  )
  const asked = messages[1] as Reply
  assert.deepEqual(asked.native, conversation[1]?.content)
  assert.deepEqual(asked.origin, { protocol: 'anthropic-messages', provider: 'anthropic', model: '' })
  assert.deepEqual(asked.stop, { reason: 'tool-calls' })
  assert.deepEqual(asked.parts, [
    { type: 'reasoning', text: 'A clock.', from: 0 },
    { type: 'text', text: 'One moment.', from: 1 },
    { type: 'tool-call', callId: 'toolu_1', alias: 'toolu_1', name: 'clock', input: { zone: 'UTC' }, from: 2 },
  ])
  assert.deepEqual(messages[2]?.parts, [
    { type: 'tool-result', callId: 'toolu_1', name: 'clock', output: [{ type: 'text', text: '12:00' }] },
  ])
  assert.deepEqual((messages[4] as Reply).parts[0], {
    type: 'opaque',
    kind: 'anthropic-messages/hologram',
    data: { type: 'hologram', depth: 3 },
    from: 0,
  })
})

test('writing the same format again gives the same JSON, even if one message became two', () => {
  assert.deepEqual(format.write(format.read(conversation).messages), conversation)
})

test('a request body brings its system prompt, its tools and its model', () => {
  const { messages, system, tools, notes } = format.read({
    model: 'claude-opus-4-6',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    tools: [
      { name: 'clock', description: 'Tells the time', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    messages: conversation,
  })
  assert.deepEqual(system, [{ type: 'text', text: 'Be brief.' }])
  assert.deepEqual(tools, [{ name: 'clock', description: 'Tells the time', input: { type: 'object' } }])
  assert.equal((messages[1] as Reply).origin.model, 'claude-opus-4-6')
  assert.equal(notes.length, 1)
  assert.equal(notes[0]?.what, 'web_search_20250305')
})

test('the metadata of a wrapper about its replies is used', () => {
  const { messages, notes } = format.read({
    format: 'anthropic-messages',
    messages: conversation,
    usage: [{ message: 1, id: 'msg_1', model: 'claude-opus-4-7', stop_reason: 'tool_use' }],
    compactions: [{ beforeMessage: 2 }],
  })
  const { origin, stop } = messages[1] as Reply
  assert.deepEqual(origin, {
    protocol: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-opus-4-7',
    replyId: 'msg_1',
  })
  assert.deepEqual(stop, { reason: 'tool-calls', raw: 'tool_use' })
  assert.match(notes[0]?.what ?? '', /compaction before message 2/)
})

test('a repeated id is distinguished, and each result finds its own call', () => {
  const asks = { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'f', input: {} }] }
  const told = (text: string) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: text }] })
  const { messages } = format.read([{ role: 'user', content: 'go' }, asks, told('1'), asks, told('2')])
  const ids = messages.flatMap((message) => callsOf(message).map((one) => one.callId))
  assert.deepEqual(ids, ['x', 'x~2'])
  const answered = messages.flatMap((message) =>
    message.role === 'tool' ? message.parts.map((part) => part.callId) : [],
  )
  assert.deepEqual(answered, ['x', 'x~2'])
})

test('two calls of one reply with the same id each get their own result', () => {
  const twice = {
    role: 'assistant',
    content: ['f', 'g'].map((name) => ({ type: 'tool_use', id: 'x', name, input: {} })),
  }
  const both = {
    role: 'user',
    content: ['1', '2'].map((content) => ({ type: 'tool_result', tool_use_id: 'x', content })),
  }
  const { messages } = format.read([{ role: 'user', content: 'go' }, twice, both])
  const answered = messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
  assert.deepEqual(
    answered.map(({ callId, name }) => [callId, name]),
    [
      ['x', 'f'],
      ['x~2', 'g'],
    ],
  )
})

test('images, documents and failed results are read as what they are', () => {
  const text = Buffer.from('words').toString('base64')
  const { messages } = format.read([
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' }, title: 'notes.txt' },
        { type: 'document', source: { type: 'file', file_id: 'file_1' } },
        { type: 'search_result', source: 's', title: 't', content: [] },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          is_error: true,
          content: [
            { type: 'text', text: 'no' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'tool_reference', tool_name: 'grep' },
          ],
        },
      ],
    },
  ])
  assert.deepEqual(messages[0]?.parts, [
    { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://example.org/a.png' } },
    { type: 'media', mediaType: 'text/plain', name: 'notes.txt', data: { kind: 'base64', base64: text } },
    { type: 'media', mediaType: 'application/pdf', data: { kind: 'file', fileId: 'file_1', provider: 'anthropic' } },
    {
      type: 'opaque',
      kind: 'anthropic-messages/search_result',
      data: { type: 'search_result', source: 's', title: 't', content: [] },
    },
  ])
  assert.deepEqual(messages[2]?.parts, [
    {
      type: 'tool-result',
      callId: 'a',
      name: 'look',
      failed: true,
      output: [
        { type: 'text', text: 'no' },
        { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' } },
        { type: 'text', text: '{"type":"tool_reference","tool_name":"grep"}' },
      ],
    },
  ])
})

test('messages from elsewhere are written from their parts, all results of a turn in one message', () => {
  assert.deepEqual(
    format.write([
      ...whatTimeIsIt,
      user('two things', onePixel),
      reply('well', call('c2', 'a'), call('c3', 'b')),
      result('c2', 'ok', 'a'),
      failure('c3', '', 'b'),
    ]),
    [
      { role: 'user', content: [{ type: 'text', text: 'What time is it?' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: idOf('c1'), name: 'clock', input: { zone: 'UTC' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: idOf('c1'), content: '12:00' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'It is noon.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'two things' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: onePixelBase64 } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'well' },
          { type: 'tool_use', id: idOf('c2'), name: 'a', input: {} },
          { type: 'tool_use', id: idOf('c3'), name: 'b', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: idOf('c2'), content: 'ok' },
          { type: 'tool_result', tool_use_id: idOf('c3'), content: '(no output)', is_error: true },
        ],
      },
    ],
  )
})

function idOf(callId: string): string {
  const messages = [user('x'), reply(call(callId, 'f'))]
  const written = format.write(messages) as { content: { id: string }[] }[]
  return written[1]?.content[0]?.id ?? ''
}

test('only lists with a sign of this API are recognised', () => {
  const plain = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'hello' },
  ]
  assert.ok(format.recognise(conversation))
  assert.ok(format.recognise({ system: 'x', messages: plain }))
  assert.ok(format.recognise({ model: 'claude-haiku-4-5', messages: plain }))
  assert.ok(!format.recognise(plain))
  assert.ok(!format.recognise([...plain, { role: 'tool', content: 'x', tool_call_id: 'a' }]))
  assert.ok(!format.recognise([{ role: 'assistant', content: null, tool_calls: [] }]))
  assert.ok(!format.recognise([]))
  assert.ok(!format.recognise('text'))
})

test('JSON that is not such a list is refused with the position of the problem', () => {
  const at = (json: Json, where: string) =>
    assert.throws(
      () => format.read(json),
      (error: Error) => error.message.includes(where),
    )
  at({}, '$.messages')
  at([1], '$[0]')
  at([{ role: 'narrator', content: 'x' }], '$[0].role')
  at({ messages: [{ role: 'user', content: 5 }] }, '$.messages[0].content')
  at([{ role: 'user', content: [{ text: 'x' }] }], '$[0].content[0]')
})

const corpus = join(import.meta.dirname, '../../../../shared/corpus/trajectories/claude-code')
const skip = existsSync(corpus) ? false : 'the corpus is not here'

test('every recorded conversation is read, written the same, and sent to the API verbatim', { skip }, (t) => {
  let count = 0
  for (const file of readdirSync(corpus)) {
    const json = JSON.parse(readFileSync(join(corpus, file), 'utf8')) as JsonObject
    assert.ok(format.recognise(json), file)
    const { messages } = format.read(json)
    assert.deepEqual(format.write(messages), json.messages, file)
    const thoughts = messages.flatMap((message) =>
      message.role === 'assistant' ? message.native.filter((block) => isThought(block)) : [],
    )
    const { body } = anthropicMessages.encode(
      { system: [], messages, tools: [], cacheAfter: [] },
      {
        provider: 'anthropic',
        model: 'claude-opus-4-6',
        options: {},
        quirks: {},
        capabilities: anthropicMessages.capabilities,
      },
    )
    const sent = (body.messages as { content: Json[] }[]).flatMap(({ content }) => content).filter(isThought)
    assert.deepEqual(sent, thoughts, file)
    count += messages.length
  }
  t.diagnostic(`${count} messages`)
})

function isThought(block: Json): boolean {
  return typeof block === 'object' && block !== null && 'thinking' in block
}
