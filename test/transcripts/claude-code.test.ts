import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Message, Reply } from '../../src/core/message.ts'
import { anthropicMessagesFormat } from '../../src/wires/anthropic-messages/transcript.ts'
import { claudeCodeFormat as format } from '../../src/transcripts/claude-code.ts'
import { whatTimeIsIt } from '../histories.ts'

const said = (uuid: string, role: string, content: Json, more: JsonObject = {}): JsonObject => ({
  type: role,
  uuid,
  sessionId: 's',
  isSidechain: false,
  message: { role, content, ...(role === 'assistant' && { id: 'msg_1', model: 'claude-opus-4-5', type: 'message' }) },
  ...more,
})
const use = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } })
const out = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })

const log: JsonObject[] = [
  { type: 'summary', summary: 'A title', leafUuid: 'x' },
  said('1', 'user', 'List the files'),
  { type: 'progress', uuid: 'p', data: {} },
  said('2', 'assistant', [{ type: 'thinking', thinking: '', signature: 'c2ln' }]),
  said('3', 'assistant', [use('a')]),
  said('4', 'user', [out('a', 'one')], {
    toolUseResult: { stdout: 'one', code: 0 },
    timestamp: '2026-01-01T00:00:00Z',
  }),
  said('5', 'assistant', [use('b')], { message: { ...assistant([use('b')]), stop_reason: 'tool_use' } }),
  said('6', 'user', [out('b', 'two')], { toolUseResult: 'two' }),
  said('7', 'user', 'a subagent speaks', { isSidechain: true }),
  said('8', 'assistant', [{ type: 'text', text: 'API Error: 529' }], { isApiErrorMessage: true }),
  said('9', 'assistant', [{ type: 'text', text: 'Two files.' }], {
    message: { ...assistant([{ type: 'text', text: 'Two files.' }]), id: 'msg_2', stop_reason: 'end_turn' },
  }),
  { type: 'file-history-snapshot', snapshot: {} },
]

function assistant(content: Json): JsonObject {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-5', content }
}

test('the lines of one message are one reply, even with a result between them', () => {
  const { messages } = format.read(log)
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'assistant'],
  )
  const first = messages[1] as Reply
  assert.deepEqual(
    first.parts.map(({ type }) => type),
    ['reasoning', 'tool-call', 'tool-call'],
  )
  assert.deepEqual(first.origin, {
    protocol: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-opus-4-5',
    replyId: 'msg_1',
  })
  assert.deepEqual(first.stop, { reason: 'tool-calls', raw: 'tool_use' })
  assert.deepEqual(messages[4]?.parts, [{ type: 'text', text: 'Two files.', from: 0 }])
})

test('the actual result of a tool is stored next to what the model received', () => {
  const { messages } = format.read(log)
  assert.deepEqual(messages[2]?.parts, [
    {
      type: 'tool-result',
      callId: 'a',
      name: 'Bash',
      output: [{ type: 'text', text: 'one' }],
      value: { stdout: 'one', code: 0 },
      endedAt: '2026-01-01T00:00:00Z',
    },
  ])
  assert.equal((messages[3] as Extract<Message, { role: 'tool' }>).parts[0]?.value, 'two')
})

test('sidechains and the client’s own errors are left out, with a note', () => {
  const { notes } = format.read(log)
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['1 lines of sidechains', '1 error messages of the client'],
  )
})

test('the whole file is restored, with lines that are not messages in their positions', () => {
  assert.deepEqual(format.write(format.read(log).messages), log)
})

test('messages of ours continue from the last line of the log', () => {
  const { messages } = format.read(log.slice(0, 2))
  const lines = format.write([...messages, ...whatTimeIsIt]) as JsonObject[]
  assert.deepEqual(lines.slice(0, 2), log.slice(0, 2))
  assert.equal(lines.length, 6)
  assert.equal(lines[2]?.parentUuid, '1')
  assert.equal(lines[2]?.sessionId, 's')
  assert.equal(lines[3]?.parentUuid, lines[2]?.uuid)
  assert.deepEqual(format.write([...messages, ...whatTimeIsIt]), lines)
  const again = format.read(lines).messages
  assert.deepEqual(
    again.map(({ role }) => role),
    ['user', 'user', 'assistant', 'tool', 'assistant'],
  )
})

test('a log is distinguished from other lists, and a broken one is refused with its line', () => {
  assert.ok(format.recognise(log))
  assert.ok(!format.recognise([{ role: 'user', content: 'x' }]))
  assert.ok(!format.recognise([{ type: 'user', text: 'x' }]))
  assert.ok(!format.recognise({ type: 'user' }))
  assert.throws(() => format.read([...log, 'torn']), /line 13 should be an object/)
  assert.throws(() => format.read([said('1', 'user', 7)]), /line 1\.message\.content/)
})

const corpus = join(import.meta.dirname, '../../../shared/corpus/trajectories')
const skip = existsSync(corpus) ? false : 'the corpus is not here'

test('every recorded log is written the same, and says what its regrouped form says', { skip }, (t) => {
  for (const file of readdirSync(join(corpus, 'claude-code-raw'))) {
    const lines = readFileSync(join(corpus, 'claude-code-raw', file), 'utf8')
      .split('\n')
      .flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Json]))
    assert.ok(format.recognise(lines), file)
    const { messages } = format.read(lines)
    assert.deepEqual(format.write(messages), lines, file)

    const regrouped = JSON.parse(
      readFileSync(join(corpus, 'claude-code', file.replace('.jsonl', '.json')), 'utf8'),
    ) as Json
    const expected = anthropicMessagesFormat.read(regrouped).messages
    assert.deepEqual(replies(messages), replies(expected), file)
    assert.deepEqual(results(messages), results(expected), file)
    t.diagnostic(`${file}: ${messages.length} messages of ${lines.length} lines`)
  }
})

function replies(messages: readonly Message[]): Json[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? [message.native] : []))
}

function results(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    message.role === 'tool' ? message.parts.map(({ callId, output }) => JSON.stringify([callId, output])) : [],
  )
}
