import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { StopReason } from '../../../src/core/message.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import { decoded, origin } from './target.ts'

const created = { event_type: 'interaction.created', interaction: { id: 'v1_a', status: 'in_progress' } }
const completed = (status = 'completed', rest: JsonObject = {}) => ({
  event_type: 'interaction.completed',
  interaction: { id: 'v1_a', status, ...rest },
})
const start = (index: number, step: JsonObject) => ({ event_type: 'step.start', index, step })
const delta = (index: number, delta: JsonObject) => ({ event_type: 'step.delta', index, delta })
const stop = (index: number) => ({ event_type: 'step.stop', index })

test('a thought, a text and a call in pieces', () => {
  const { reply } = decoded(
    [
      created,
      start(0, { type: 'thought' }),
      delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Hm.' } }),
      delta(0, { type: 'thought_signature', signature: 'AAEC' }),
      stop(0),
      start(1, { type: 'model_output' }),
      delta(1, { type: 'text', text: 'Let ' }),
      delta(1, { type: 'text', text: 'me see.' }),
      stop(1),
      start(2, { type: 'function_call', id: 'x1', name: 'fs_read', arguments: {}, signature: '' }),
      delta(2, { type: 'arguments_delta', arguments: '{"path":' }),
      delta(2, { type: 'arguments_delta', arguments: '"a"}' }),
      stop(2),
      completed('requires_action'),
    ],
    { toolNames: { fs_read: 'fs.read' } },
  )
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'Hm.', from: 0 },
    { type: 'text', text: 'Let me see.', from: 1 },
    { type: 'tool-call', callId: 'x1', alias: 'x1', name: 'fs.read', input: { path: 'a' }, from: 2 },
  ])
  assert.deepEqual(reply.native, [
    { type: 'thought', signature: 'AAEC', summary: [{ type: 'text', text: 'Hm.' }] },
    { type: 'model_output', content: [{ type: 'text', text: 'Let me see.' }] },
    { type: 'function_call', id: 'x1', name: 'fs_read', arguments: { path: 'a' }, signature: '' },
  ])
  assert.deepEqual(reply.stop, { reason: 'tool-calls', raw: 'requires_action' })
  assert.equal(reply.origin.replyId, 'v1_a')
})

test('a thought without text is hidden reasoning', () => {
  const { reply } = decoded([
    start(0, { type: 'thought' }),
    delta(0, { type: 'thought_signature', signature: 'AAEC' }),
    stop(0),
    completed(),
  ])
  assert.deepEqual(reply.parts, [{ type: 'reasoning', text: '', hidden: true, from: 0 }])
})

test('citations stay with their text, and media are between texts', () => {
  const annotations = [{ type: 'url_citation', url: 'https://a.example' }]
  const { reply } = decoded([
    start(0, { type: 'model_output' }),
    delta(0, { type: 'text', text: 'See' }),
    delta(0, { type: 'text_annotation_delta', annotations }),
    delta(0, { type: 'image', mime_type: 'image/png', data: 'AAAA' }),
    delta(0, { type: 'hologram', depth: 3 }),
    delta(0, { type: 'text', text: 'that.' }),
    stop(0),
    completed(),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'See', citations: annotations, from: 0 },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' }, from: 0 },
    { type: 'opaque', kind: 'gemini-interactions/content.hologram', data: { type: 'hologram', depth: 3 }, from: 0 },
    { type: 'text', text: 'that.', from: 0 },
  ])
  assert.deepEqual(reply.native, [
    {
      type: 'model_output',
      content: [
        { type: 'text', text: 'See', annotations },
        { type: 'image', mime_type: 'image/png', data: 'AAAA' },
        { type: 'hologram', depth: 3 },
        { type: 'text', text: 'that.' },
      ],
    },
  ])
})

test('tools that Google runs are server tools, and unknown steps are kept complete', () => {
  const { reply } = decoded([
    start(0, { type: 'google_search_call', id: 's1' }),
    delta(0, { type: 'google_search_call', arguments: { queries: ['x'] } }),
    stop(0),
    start(1, { type: 'google_search_result', call_id: 's1' }),
    delta(1, { type: 'google_search_result', result: [{ title: 'a' }] }),
    delta(1, { type: 'google_search_result', result: [{ title: 'b' }] }),
    stop(1),
    start(2, { type: 'mcp_server_tool_call', id: 'm1', name: 'lookup', server_name: 's', arguments: { q: 1 } }),
    stop(2),
    start(3, { type: 'hologram', depth: 3 }),
    delta(3, { type: 'hologram', colour: 'blue' }),
    stop(3),
    completed(),
  ])
  assert.deepEqual(reply.parts, [
    {
      type: 'server-tool',
      name: 'google_search',
      input: { queries: ['x'] },
      output: [{ title: 'a' }, { title: 'b' }],
      from: 0,
    },
    { type: 'server-tool', name: 'lookup', input: { q: 1 }, from: 2 },
    {
      type: 'opaque',
      kind: 'gemini-interactions/hologram',
      data: { type: 'hologram', depth: 3, colour: 'blue' },
      from: 3,
    },
  ])
  assert.equal(reply.native.length, 4)
  assert.equal(reply.stop.reason, 'done')
})

test('arguments that are not a JSON object are kept unchanged', () => {
  const { reply } = decoded([
    start(0, { type: 'function_call', id: 'x1', name: 'clock', arguments: {} }),
    delta(0, { type: 'arguments_delta', arguments: '[1' }),
    stop(0),
    completed('requires_action'),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'x1', alias: 'x1', name: 'clock', input: {}, malformed: '[1', from: 0 },
  ])
})

const statuses: [string, StopReason][] = [
  ['completed', 'done'],
  ['incomplete', 'length'],
  ['budget_exceeded', 'length'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['requires_continuation', 'paused'],
  ['queued', 'paused'],
  ['something_new', 'done'],
]

for (const [status, reason] of statuses) {
  test(`an interaction that is ${status} is ${reason}`, () => {
    const { reply, failure } = decoded([created, completed(status)])
    assert.deepEqual(reply.stop, { reason, raw: status })
    assert.equal(failure?.kind, reason === 'failed' ? 'malformed-reply' : undefined)
  })
}

test('an error inside the stream ends it, and keeps the partial reply', () => {
  const { reply, failure } = decoded([
    created,
    start(0, { type: 'model_output' }),
    delta(0, { type: 'text', text: 'Hel' }),
    { event_type: 'error', error: { code: 'rate_limit_exceeded', message: 'Too fast. Please retry in 2s.' } },
  ])
  assert.deepEqual(reply.stop, { reason: 'failed', raw: 'rate_limit_exceeded' })
  assert.equal(failure?.kind, 'rate-limit')
  assert.equal(failure.retryAfterMs, 2000)
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hel', from: 0 }])
  assert.deepEqual(reply.native, [{ type: 'model_output', content: [{ type: 'text', text: 'Hel' }] }])
})

test('of a stream that was cut off, what cannot be sent back is in the parts alone', () => {
  const { reply, failure } = decoded([
    created,
    start(0, { type: 'thought' }),
    delta(0, { type: 'thought_signature', signature: 'AAEC' }),
    start(1, { type: 'model_output' }),
    delta(1, { type: 'text', text: 'Hel' }),
    start(2, { type: 'function_call', id: 'x1', name: 'clock', arguments: {} }),
    delta(2, { type: 'arguments_delta', arguments: '{}' }),
  ])
  assert.deepEqual(reply.stop, { reason: 'interrupted' })
  assert.equal(failure?.kind, 'malformed-reply')
  assert.deepEqual(reply.native, [
    { type: 'thought', signature: 'AAEC' },
    { type: 'model_output', content: [{ type: 'text', text: 'Hel' }] },
  ])
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: '', hidden: true, from: 0 },
    { type: 'text', text: 'Hel', from: 1 },
    { type: 'tool-call', callId: 'x1', alias: 'x1', name: 'clock', input: {}, malformed: '{}' },
  ])
})

test('a thought that was cut off before its signature is not sent back', () => {
  const { reply } = decoded([
    created,
    start(0, { type: 'thought' }),
    delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Hm' } }),
  ])
  assert.deepEqual(reply.parts, [{ type: 'reasoning', text: 'Hm' }])
  assert.deepEqual(reply.native, [])
})

test('a reader that stops gets no failure', () => {
  const { reply, failure } = decoded([created], undefined, { reason: 'cancelled' })
  assert.deepEqual(reply.stop, { reason: 'cancelled' })
  assert.equal(failure, undefined)
})

test('events that come twice, unknown ones and strange ones are let pass', () => {
  const events: Json[] = [
    created,
    created,
    null,
    7,
    { event_type: 'interaction.danced', steps: 3 },
    start(0, { type: 'model_output' }),
    start(0, { type: 'model_output' }),
    { ...delta(0, { type: 'text', text: 'ok' }), event_id: 'e1' },
    { ...delta(0, { type: 'text', text: 'ok' }), event_id: 'e1' },
    delta(9, { type: 'text', text: 'nobody' }),
    stop(0),
    stop(0),
    start(0, { type: 'model_output' }),
    completed('completed', { usage: { total_input_tokens: 3, total_output_tokens: 1 } }),
    completed('completed', { usage: { total_input_tokens: 3, total_output_tokens: 1 } }),
  ]
  const { reply, usage } = decoded(events)
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'ok', from: 0 }])
  assert.deepEqual(reply.native, [{ type: 'model_output', content: [{ type: 'text', text: 'ok' }] }])
  assert.equal(usage?.input, 3)
})

test('usage: thoughts are output, server tools are input', () => {
  const raw = {
    total_tokens: 122,
    total_input_tokens: 100,
    total_cached_tokens: 40,
    total_output_tokens: 10,
    total_tool_use_tokens: 7,
    total_thought_tokens: 5,
  }
  const { usage } = decoded([created, completed('completed', { usage: raw })])
  assert.deepEqual(usage, { input: 107, output: 15, cacheRead: 40, cacheWrite: 0, reasoning: 5, raw })
})

test('an interaction that is not stored has no id to continue from', () => {
  const { reply } = decoded([
    { event_type: 'interaction.created', interaction: { id: '', status: 'in_progress' } },
    { event_type: 'interaction.completed', interaction: { id: '', status: 'completed' } },
  ])
  assert.deepEqual(reply.origin, origin)
})

test('a whole body with an error in it is read as the error', () => {
  const body = { error: { message: 'No.', code: 'permission_denied' } }
  assert.equal(decoded(geminiInteractions.split(body)).failure?.kind, 'permission')
})
