import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pair } from '../../src/context/pair.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { callsOf, type Message } from '../../src/core/message.ts'
import { mistralChat } from '../../src/wires/mistral-chat/index.ts'
import { ollamaChat } from '../../src/wires/ollama-chat/index.ts'
import { piFormat } from '../../src/transcripts/pi.ts'
import { call, failure, onePixel, reply, user } from '../histories.ts'

const header = { type: 'session', version: 3, id: 's1', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/home/me' }

/** One entry of the tree; the parent is the entry before, unless said otherwise. */
function entry(id: string, parentId: string | null, rest: JsonObject): JsonObject {
  return { id, parentId, timestamp: `2026-01-01T00:00:${id.padStart(2, '0').slice(-2)}.000Z`, ...rest }
}

const says = (id: string, parentId: string | null, message: JsonObject) =>
  entry(id, parentId, { type: 'message', message })

const assistant = (content: Json[], rest: JsonObject = {}): JsonObject => ({
  role: 'assistant',
  content,
  api: 'anthropic-messages',
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  usage: { input: 1, output: 1 },
  stopReason: 'stop',
  timestamp: 1,
  ...rest,
})

const session: Json[] = [
  header,
  entry('1', null, { type: 'model_change', provider: 'anthropic', modelId: 'claude-sonnet-4-5' }),
  says('2', '1', { role: 'user', content: 'hello', timestamp: 1 }),
  says('3', '2', assistant([{ type: 'text', text: 'dead end' }])),
  entry('4', '2', { type: 'thinking_level_change', thinkingLevel: 'high' }),
  says('5', '4', {
    ...assistant([
      { type: 'thinking', thinking: 'hm', thinkingSignature: 'sig' },
      { type: 'text', text: 'Let me look.' },
      { type: 'toolCall', id: 'toolu_1', name: 'read', arguments: { path: 'a' } },
    ]),
    stopReason: 'toolUse',
  }),
  says('6', '5', {
    role: 'toolResult',
    toolCallId: 'toolu_1',
    toolName: 'read',
    content: [
      { type: 'text', text: 'no such file' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
    isError: true,
    timestamp: 2,
  }),
  says('7', '6', { role: 'user', content: [{ type: 'text', text: 'continue' }], timestamp: 3 }),
  entry('8', '7', { type: 'compaction', summary: 'we said hello', firstKeptEntryId: '7', tokensBefore: 9 }),
  says(
    '9',
    '8',
    assistant([{ type: 'text', text: 'ok' }], { api: 'openai-responses', provider: 'openai', model: 'gpt-5' }),
  ),
  entry('10', '9', { type: 'label', targetId: '9', label: 'good' }),
]

test('the current branch of the session is read; lines of others stay in the file', () => {
  const { messages, notes } = piFormat.read(session)
  assert.deepEqual(
    messages.map(({ role, parts }) => [role, parts.map((part) => part.type).join()]),
    [
      ['user', 'text'],
      ['assistant', 'reasoning,text,tool-call'],
      ['tool', 'tool-result'],
      ['user', 'compaction'],
      ['user', 'text'],
      ['assistant', 'text'],
    ],
  )
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['1 messages of other branches'],
  )
})

test('a reply knows its wire, provider and model, and Anthropic’s own blocks with their signatures', () => {
  const { messages } = piFormat.read(session)
  const [, first, answered, , , last] = messages
  assert.deepEqual(first?.role === 'assistant' && { ...first, source: undefined }, {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'hm', from: 0 },
      { type: 'text', text: 'Let me look.', from: 1 },
      { type: 'tool-call', callId: 'toolu_1', alias: 'toolu_1', name: 'read', input: { path: 'a' }, from: 2 },
    ],
    native: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
    ],
    origin: { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
    stop: { reason: 'tool-calls', raw: 'toolUse' },
    source: undefined,
  })
  assert.deepEqual(answered?.parts, [
    {
      type: 'tool-result',
      callId: 'toolu_1',
      name: 'read',
      output: [
        { type: 'text', text: 'no such file' },
        { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' } },
      ],
      failed: true,
    },
  ])
  assert.deepEqual(last?.role === 'assistant' && [last.origin.protocol, last.native], ['openai-responses', []])
})

test('the whole file is restored, line by line', () => {
  assert.deepEqual(piFormat.write(piFormat.read(session).messages), session)
})

test('new messages are hung onto the end of the tree, the same way each time', () => {
  const { messages } = piFormat.read(session)
  const more: Message[] = [...messages, user('more', onePixel), reply(call('c1', 'read')), failure('c1', 'no', 'read')]
  const written = piFormat.write(more) as JsonObject[]
  assert.deepEqual(written.slice(0, session.length), session)
  const added = written.slice(session.length)
  assert.deepEqual(
    added.map(({ parentId }) => parentId),
    ['10', added[0]?.id, added[1]?.id],
  )
  assert.deepEqual(piFormat.write(more), written)
  const again = piFormat.read(written).messages
  assert.deepEqual(
    again.slice(-3).map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  )
  assert.deepEqual(piFormat.write(again), written)
})

test('the first version is a plain list, its summary counts lines, and new lines have no ids', () => {
  const { version: _, ...old } = header
  const line = (message: JsonObject) => ({ type: 'message', timestamp: 't', message })
  const lines: Json[] = [
    old,
    line({ role: 'user', content: 'a', attachments: [{ fileName: 'x.png', mimeType: 'image/png', content: 'AAAA' }] }),
    line({ role: 'user', content: 'b' }),
    { type: 'compaction', timestamp: 't', summary: 'a was said', firstKeptEntryIndex: 2, tokensBefore: 1 },
    line({ role: 'bashExecution', command: 'ls', output: '', exitCode: 2, cancelled: false }),
    line({ role: 'bashExecution', command: 'secret', output: 'x', excludeFromContext: true }),
    line({ role: 'hookMessage', content: 'from a hook' }),
    line({ role: 'martian', content: '?' }),
    { type: 'branch_summary', timestamp: 't', summary: 'elsewhere', fromId: 'x' },
    { type: 'custom_message', timestamp: 't', customType: 'y', content: [{ type: 'hologram' }], display: true },
  ]
  const { messages, notes } = piFormat.read(lines)
  assert.deepEqual(
    messages.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : part.type))),
    [
      ['a', 'media'],
      ['a was said'],
      ['b'],
      ['[Command] ls\n(no output)\n(exit code 2)'],
      ['from a hook'],
      ['[Summary of a branch that was left]\nelsewhere'],
      ['{"type":"hologram"}'],
    ],
  )
  assert.equal(notes[0]?.what, 'message of role "martian"')
  assert.deepEqual(piFormat.write(messages), lines)
  const longer = piFormat.write([...messages, user('c')]) as JsonObject[]
  assert.deepEqual(longer.at(-1), {
    type: 'message',
    timestamp: header.timestamp,
    message: { role: 'user', content: [{ type: 'text', text: 'c' }], timestamp: Date.parse(header.timestamp) },
  })
})

test('a call that was cut off keeps its text as malformed, and a repeated id gets a number', () => {
  const asks = (rest: JsonObject) => [{ type: 'toolCall', id: 'call_0', name: 'bash', arguments: {}, ...rest }]
  const { messages } = piFormat.read([
    header,
    says(
      '1',
      null,
      assistant(asks({ arguments: { command: 'l' }, partialJson: '{"command":"l' }), { stopReason: 'aborted' }),
    ),
    says('2', '1', assistant(asks({ partialJson: '{}' }), { stopReason: 'toolUse' })),
    says('3', '2', { role: 'toolResult', toolCallId: 'call_0', toolName: 'bash', content: [], isError: false }),
  ])
  const [torn, asked, answered] = messages
  assert.deepEqual(torn?.parts, [
    {
      type: 'tool-call',
      callId: 'call_0',
      alias: 'call_0',
      name: 'bash',
      input: { command: 'l' },
      malformed: '{"command":"l',
    },
  ])
  assert.deepEqual(torn?.role === 'assistant' && [torn.stop.reason, torn.native], ['cancelled', []])
  assert.equal(asked && callsOf(asked)[0]?.callId, 'call_0~2')
  assert.equal(answered?.role === 'tool' && answered.parts[0]?.callId, 'call_0~2')
})

test('a branch whose beginning is missing is read from there on, with a note', () => {
  const { messages, notes } = piFormat.read([header, says('2', 'gone', { role: 'user', content: 'x' })])
  assert.equal(messages.length, 1)
  assert.equal(notes[0]?.at, '$[1]')
})

test('messages from elsewhere make a new session, without the system prompt and foreign thinking', () => {
  const messages = [
    user(
      'a',
      { type: 'compaction', text: 's' },
      { type: 'media', mediaType: 'video/mp4', data: { kind: 'blob', sha256: '0' } },
    ),
    reply({ type: 'reasoning', text: 'hm' }, 'b', {
      type: 'tool-call',
      callId: 'c1',
      name: 'x',
      input: {},
      malformed: '{',
    }),
    failure('c1', 'no', 'x'),
  ]
  const written = piFormat.write([
    { role: 'system', parts: [{ type: 'text', text: 'be kind' }] },
    ...messages,
  ]) as JsonObject[]
  assert.equal(piFormat.recognise(written), true)
  assert.deepEqual(
    written.map(({ type }) => type),
    ['session', 'message', 'message', 'message'],
  )
  const again = piFormat.read(written).messages
  assert.deepEqual(
    again.map(({ role }) => role),
    ['user', 'assistant', 'tool'],
  )
  assert.deepEqual(piFormat.write(again), written)
})

test('a file that is not a session is refused with the position of the problem', () => {
  assert.throws(() => piFormat.read([{ type: 'message' }]), /\$\[0\] should be the header/)
  assert.throws(() => piFormat.read([header, 'x']), /\$\[1\] should be an object/)
  assert.throws(() => piFormat.read([header, { type: 'message' }]), /\$\[1\]\.message should be an object/)
  assert.throws(
    () => piFormat.read([header, says('1', null, { role: 'assistant', content: 'x' })]),
    /content should be a list/,
  )
  assert.equal(piFormat.recognise([{ type: 'session_meta', id: 'x' }]), false)
  assert.equal(piFormat.recognise([{ role: 'user', content: 'x' }]), false)
})

const folder = join(import.meta.dirname, '../../../shared/corpus/trajectories/pi')
const skip = existsSync(folder) ? false : 'the recorded sessions are not here'
const sessions = skip ? [] : readdirSync(folder)

function linesOf(name: string): Json[] {
  return readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json)
}

test('recorded sessions come back line for line', { skip }, (t) => {
  for (const name of sessions) {
    const lines = linesOf(name)
    const { messages, notes } = piFormat.read(lines)
    assert.deepEqual(piFormat.write(messages), lines)
    assert.deepEqual(notes, [])
    const expected = lines.filter((line) => (line as JsonObject).type === 'message').length
    assert.equal(messages.length, expected)
    t.diagnostic(`${name}: ${lines.length} lines, ${messages.length} messages`)
  }
})

test('recorded sessions, cut anywhere, are valid for Mistral and Ollama', { skip }, (t) => {
  let bodies = 0
  for (const name of sessions) {
    const { messages } = piFormat.read(linesOf(name))
    for (let cut = 1; cut <= messages.length; cut += cut < 60 ? 1 : 37) {
      const { messages: paired, places } = pair(messages.slice(0, cut))
      for (const protocol of [mistralChat, ollamaChat]) {
        const { body } = protocol.encode(
          { system: [], messages: paired, tools: [], cacheAfter: [], places },
          { provider: 'p', model: 'm', options: {}, quirks: {}, capabilities: protocol.capabilities },
        )
        assert.deepEqual(protocol.refuse(body), [], `${name} cut at ${cut} for ${protocol.id}`)
        bodies++
      }
    }
  }
  t.diagnostic(`${bodies} bodies accepted`)
})
