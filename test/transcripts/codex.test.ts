import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import test from 'node:test'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { codexFormat } from '../../src/transcripts/codex.ts'
import { call, reply, result, user } from '../histories.ts'

const corpus = resolve(import.meta.dirname, '../../../shared/corpus/trajectories/codex-raw')

function line(type: string, payload: JsonObject, second = 0): JsonObject {
  return { timestamp: `2026-04-30T08:09:${String(second).padStart(2, '0')}.000Z`, type, payload }
}

const lines: JsonObject[] = [
  line('session_meta', {
    id: '019d',
    model_provider: 'openai',
    base_instructions: { text: 'You are Codex.' },
    dynamic_tools: [{ name: 'remind', description: 'Later.', inputSchema: { type: 'object', properties: {} } }],
  }),
  line('event_msg', { type: 'task_started' }, 1),
  line('response_item', { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be safe.' }] }, 2),
  line('turn_context', { model: 'gpt-5.4' }, 3),
  line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it.' }] }, 4),
  line('response_item', { type: 'reasoning', summary: [], content: null }, 5),
  line('event_msg', { type: 'agent_message', message: 'Looking.' }, 6),
  line(
    'response_item',
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.' }] },
    7,
  ),
  line('response_item', { type: 'function_call', name: 'exec', arguments: '{"cmd":"ls"}', call_id: 'call_1' }, 8),
  line('event_msg', { type: 'exec_command_end', call_id: 'call_1' }, 9),
  line('response_item', { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' }, 10),
  line('compacted', { message: 'We looked around.', replacement_history: [] }, 11),
  line('turn_context', { model: 'gpt-5.5' }, 12),
  line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }, 13),
  line('response_item', { type: 'ghost_snapshot', ghost_commit: {} }, 14),
  line('event_msg', { type: 'task_complete' }, 15),
]

test('the items of a session are its messages, with the model of their turn', () => {
  const { messages, system, tools, notes } = codexFormat.read(lines)
  assert.deepEqual(
    messages.map((message) => message.role),
    ['system', 'user', 'assistant', 'tool', 'user', 'assistant'],
  )
  assert.deepEqual(system, [{ type: 'text', text: 'You are Codex.' }])
  assert.deepEqual(tools, [{ name: 'remind', description: 'Later.', input: { type: 'object', properties: {} } }])
  assert.deepEqual(messages[4]?.parts, [{ type: 'compaction', text: 'We looked around.' }])
  assert.deepEqual(
    messages.flatMap((message) => (message.role === 'assistant' ? [message.origin] : [])),
    [
      { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.4' },
      { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.5' },
    ],
  )
  assert.deepEqual(
    notes.map((note) => `${note.what} ${note.at}`),
    ['replacement history line 12'],
  )
})

test('the whole file is restored, line by line', () => {
  assert.deepEqual(codexFormat.write(codexFormat.read(lines).messages), lines)
})

test('messages after the session are appended to it, at the time of its last line', () => {
  const { messages } = codexFormat.read(lines)
  const written = codexFormat.write([
    ...messages,
    user('And now?'),
    reply(call('c1', 'exec')),
    result('c1', 'ok'),
  ]) as Json[]
  assert.deepEqual(written.slice(0, lines.length), lines)
  const added = written.slice(lines.length)
  const at = '2026-04-30T08:09:15.000Z'
  const content = [{ type: 'input_text', text: 'And now?' }]
  assert.deepEqual(added.slice(0, 2), [
    { timestamp: at, type: 'event_msg', payload: { type: 'user_message', message: 'And now?' } },
    { timestamp: at, type: 'response_item', payload: { type: 'message', role: 'user', content } },
  ])
  assert.deepEqual(
    added.slice(2).map((one) => isObject(one) && isObject(one.payload) && one.payload.type),
    ['function_call', 'function_call_output'],
  )
})

test('a conversation from elsewhere becomes a session that Codex can open, the same one every time', () => {
  const written = codexFormat.write([user('Hi'), reply('Hello.')]) as JsonObject[]
  assert.deepEqual(
    written.map((one) => one.type),
    ['session_meta', 'event_msg', 'response_item', 'event_msg', 'response_item'],
  )
  assert.match(String(isObject(written[0]?.payload) && written[0].payload.id), /^[0-9a-f-]{36}$/)
  assert.deepEqual(codexFormat.write([user('Hi'), reply('Hello.')]), written)
  assert.deepEqual(codexFormat.write([]), [])
})

test('sessions from before the lines had payloads are read too', () => {
  const old = [
    { id: '0198', timestamp: '2025-08-01T00:00:00.000Z', instructions: 'Old.', git: {} },
    { record_type: 'state' },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
  ]
  assert.equal(codexFormat.recognise(old), true)
  const { messages, system } = codexFormat.read(old)
  assert.deepEqual(system, [{ type: 'text', text: 'Old.' }])
  assert.equal(messages.length, 2)
  assert.deepEqual(codexFormat.write(messages), old)
})

test('other lists of lines are not mistaken for sessions', () => {
  assert.equal(codexFormat.recognise([{ type: 'user', message: {}, uuid: 'x' }]), false)
  assert.equal(codexFormat.recognise([{ role: 'user', content: 'Hi' }]), false)
  assert.equal(codexFormat.recognise({ payload: {} }), false)
})

test('an unreadable line is named', () => {
  assert.throws(() => codexFormat.read([{ type: 'session_meta', payload: {} }, 7]), /line 2 should be an object/)
  assert.throws(() => codexFormat.read({}), /\$ should be a list of lines/)
})

test('recorded sessions come back line by line', { skip: !existsSync(corpus) && 'no recordings' }, (t) => {
  const files = readdirSync(corpus)
  let count = 0
  for (const file of files) {
    const text = readFileSync(`${corpus}/${file}`, 'utf8')
    const session = text
      .trimEnd()
      .split('\n')
      .map((json) => JSON.parse(json) as Json)
    assert.equal(codexFormat.recognise(session), true)
    const written = codexFormat.write(codexFormat.read(session).messages) as Json[]
    assert.deepEqual(written, session)
    count += written.length
  }
  t.diagnostic(`${files.length} sessions, ${count} lines`)
})
