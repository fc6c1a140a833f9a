import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplyEvent } from '../../../src/core/event.ts'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import type { DecoderOptions, EndCause } from '../../../src/wires/wire.ts'

const origin = { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-6' }

const opening = (usage: JsonObject = { input_tokens: 10, output_tokens: 1 }): JsonObject => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-6-2026', content: [], usage },
})
const start = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, one: JsonObject) => ({ type: 'content_block_delta', index, delta: one })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const text = (index: number, ...pieces: string[]) => [
  start(index, { type: 'text', text: '' }),
  ...pieces.map((piece) => delta(index, { type: 'text_delta', text: piece })),
  stop(index),
]
const closing = (stop_reason = 'end_turn', usage: JsonObject = { output_tokens: 20 }, more: JsonObject = {}) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...more }, usage },
  { type: 'message_stop' },
]

function events(chunks: readonly Json[], options?: DecoderOptions, cause?: EndCause): ReplyEvent[] {
  const decoder = anthropicMessages.decoder(origin, options)
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end(cause)]
}

function decode(chunks: readonly Json[], options?: DecoderOptions, cause?: EndCause): Folded {
  return fold(events(chunks, options, cause), origin)
}

test('text streams as it arrives, and the reply has its id', () => {
  const seen = events([opening(), ...text(0, 'Hel', 'lo'), { type: 'ping' }, ...closing()])
  assert.deepEqual(seen.slice(0, 5), [
    { type: 'reply-start', origin: { ...origin, replyId: 'msg_1' } },
    { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
    { type: 'part-delta', index: 0, text: 'Hel' },
    { type: 'part-delta', index: 0, text: 'lo' },
    { type: 'part-end', index: 0, part: { type: 'text', text: 'Hello', from: 0 } },
  ])
  const { reply, usage, failure } = fold(seen, origin)
  assert.deepEqual(reply.native, [{ type: 'text', text: 'Hello' }])
  assert.deepEqual(reply.stop, { reason: 'done', raw: 'end_turn' })
  assert.equal(usage?.output, 20)
  assert.equal(failure, undefined)
})

test('a call’s arguments are parsed once they are whole, and its name is the one we gave it', () => {
  const { reply } = decode(
    [
      opening(),
      start(0, { type: 'tool_use', id: 'toolu_1', name: 'fs_read', input: {}, caller: { type: 'direct' } }),
      delta(0, { type: 'input_json_delta', partial_json: '' }),
      delta(0, { type: 'input_json_delta', partial_json: '{"pa' }),
      delta(0, { type: 'input_json_delta', partial_json: 'th":"/a"}' }),
      stop(0),
      start(1, { type: 'tool_use', id: 'toolu_2', name: 'now', input: {} }),
      stop(1),
      ...closing('tool_use'),
    ],
    { toolNames: { fs_read: 'fs.read' }, callId: (position, alias) => `${position}:${alias}` },
  )
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: '0:toolu_1', alias: 'toolu_1', name: 'fs.read', input: { path: '/a' }, from: 0 },
    { type: 'tool-call', callId: '1:toolu_2', alias: 'toolu_2', name: 'now', input: {}, from: 1 },
  ])
  assert.deepEqual(reply.native[0], {
    type: 'tool_use',
    id: 'toolu_1',
    name: 'fs_read',
    input: { path: '/a' },
    caller: { type: 'direct' },
  })
  assert.deepEqual(reply.stop, { reason: 'tool-calls', raw: 'tool_use' })
})

test('interrupted arguments are kept unchanged, and are not an input', () => {
  const { reply } = decode([
    opening(),
    start(0, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{"a": [1, ' }),
    stop(0),
    ...closing('max_tokens'),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'toolu_1', alias: 'toolu_1', name: 'f', input: {}, malformed: '{"a": [1, ', from: 0 },
  ])
  assert.deepEqual((reply.native[0] as JsonObject).input, { INVALID_JSON: '{"a": [1, ' })
  assert.equal(reply.stop.reason, 'length')
})

test('thinking keeps its signature in native, and is hidden if its text is not shown', () => {
  const { reply } = decode([
    opening(),
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Hm', estimated_tokens: 3 }),
    delta(0, { type: 'thinking_delta', thinking: '.' }),
    delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    stop(0),
    start(1, { type: 'thinking', thinking: '', signature: '' }),
    delta(1, { type: 'signature_delta', signature: 'bW9yZQ==' }),
    stop(1),
    start(2, { type: 'redacted_thinking', data: 'AAAA' }),
    stop(2),
    ...closing(),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'Hm.', from: 0 },
    { type: 'reasoning', text: '', hidden: true, from: 1 },
    { type: 'reasoning', text: '', hidden: true, from: 2 },
  ])
  assert.deepEqual(reply.native, [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'thinking', thinking: '', signature: 'bW9yZQ==' },
    { type: 'redacted_thinking', data: 'AAAA' },
  ])
})

test('a server tool and its result are one part and two blocks', () => {
  const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const found = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'u' }],
  }
  const { reply } = decode([
    opening(),
    start(0, use),
    delta(0, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
    stop(0),
    ...text(1, 'So'),
    start(2, found),
    stop(2),
    start(3, { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'echo', server_name: 's', input: {} }),
    stop(3),
    start(4, { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: true, content: [] }),
    stop(4),
    start(5, { ...use, id: 'srvtoolu_2' }),
    stop(5),
    ...closing('pause_turn'),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'server-tool', name: 'web_search', input: { query: 'x' }, output: found.content, from: 0 },
    { type: 'text', text: 'So', from: 1 },
    { type: 'server-tool', name: 'echo', input: {}, output: { is_error: true, content: [] }, from: 3 },
    { type: 'server-tool', name: 'web_search', input: {}, from: 5 },
  ])
  assert.equal(reply.native.length, 6)
  assert.deepEqual(reply.native[2], found)
  assert.deepEqual(reply.stop, { reason: 'paused', raw: 'pause_turn' })
})

test('a result whose call came in an earlier reply is a separate part', () => {
  const found = { type: 'tool_search_tool_result', tool_use_id: 'srvtoolu_1', content: {} }
  const { reply } = decode([opening(), start(0, found), stop(0), ...closing()])
  assert.deepEqual(reply.parts, [{ type: 'server-tool', name: 'tool_search', output: {}, from: 0 }])
})

test('citations, summaries and unknown blocks are kept complete', () => {
  const citation = { type: 'char_location', cited_text: 'c', file_id: null }
  const { reply } = decode([
    opening(),
    start(0, { type: 'text', text: '', citations: [] }),
    delta(0, { type: 'citations_delta', citation }),
    delta(0, { type: 'text_delta', text: 'cited' }),
    stop(0),
    start(1, { type: 'compaction', content: null, encrypted_content: null }),
    delta(1, { type: 'compaction_delta', content: 'before', encrypted_content: 'AAAA' }),
    stop(1),
    start(2, { type: 'hologram', frames: 'a', marks: [1] }),
    delta(2, { type: 'hologram_delta', frames: 'b', marks: [2], depth: 3, nothing: null }),
    stop(2),
    ...closing('compaction'),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'cited', citations: [citation], from: 0 },
    { type: 'compaction', text: 'before', from: 1 },
    {
      type: 'opaque',
      kind: 'anthropic-messages/hologram',
      data: { type: 'hologram', frames: 'ab', marks: [1, 2], depth: 3 },
      from: 2,
    },
  ])
  assert.deepEqual(reply.native[1], { type: 'compaction', content: 'before', encrypted_content: 'AAAA' })
  assert.deepEqual(reply.stop, { reason: 'paused', raw: 'compaction' })
})

test('every stop reason has a meaning here, and the original is kept', () => {
  const meanings = {
    end_turn: 'done',
    stop_sequence: 'done',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    pause_turn: 'paused',
    refusal: 'refusal',
    something_new: 'done',
  }
  for (const [raw, reason] of Object.entries(meanings)) {
    assert.deepEqual(decode([opening(), ...text(0, 'x'), ...closing(raw)]).reply.stop, { reason, raw })
  }
})

test('the reason of a refusal becomes a part', () => {
  const details = { type: 'refusal', category: 'cyber', explanation: 'Not this.' }
  const { reply } = decode([opening(), ...text(0, 'I'), ...closing('refusal', {}, { stop_details: details })])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'I', from: 0 },
    { type: 'refusal', text: 'Not this.' },
  ])
})

test('usage is what the last report says, with the cache inside the input', () => {
  const usageOf = (first: JsonObject, last: JsonObject) => {
    const { usage } = decode([opening(first), ...text(0, 'x'), ...closing('end_turn', last)])
    const { raw: _, ...counts } = usage ?? { raw: null }
    return counts
  }
  const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const first = { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 }
  assert.deepEqual(usageOf(first, { output_tokens: 30 }), {
    ...counts,
    input: 125,
    output: 30,
    cacheRead: 100,
    cacheWrite: 20,
  })
  assert.deepEqual(
    usageOf(first, {
      input_tokens: 7,
      cache_read_input_tokens: null,
      output_tokens: 30,
      output_tokens_details: { thinking_tokens: 9 },
    }),
    { ...counts, input: 127, output: 30, cacheRead: 100, cacheWrite: 20, reasoning: 9 },
  )
  assert.deepEqual(usageOf(first, { input_tokens: 0, output_tokens: 30 }), usageOf(first, { output_tokens: 30 }))
  const iterations = [
    { type: 'compaction', input_tokens: 1000, output_tokens: 50 },
    { type: 'message', input_tokens: 5, output_tokens: 30 },
    { type: 'advisor_message', input_tokens: 7, output_tokens: 7 },
  ]
  assert.deepEqual(usageOf({ input_tokens: 5, output_tokens: 1 }, { output_tokens: 30, iterations }), {
    ...counts,
    input: 1005,
    output: 80,
  })
})

test('an interrupted stream keeps its content, and only finished blocks can be sent back', () => {
  const chunks = [
    opening(),
    ...text(0, 'whole'),
    start(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'half' }),
  ]
  const { reply, failure } = decode(chunks)
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'whole', from: 0 },
    { type: 'text', text: 'half', from: 1 },
  ])
  assert.deepEqual(reply.native, [
    { type: 'text', text: 'whole' },
    { type: 'text', text: 'half' },
  ])
  assert.deepEqual(reply.stop, { reason: 'interrupted' })
  assert.equal(failure?.kind, 'malformed-reply')

  const call = decode([
    opening(),
    ...text(0, 'whole'),
    start(1, { type: 'thinking', thinking: '', signature: '' }),
    delta(1, { type: 'thinking_delta', thinking: 'Hm' }),
    start(2, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"a' }),
  ]).reply
  assert.deepEqual(call.parts, [
    { type: 'text', text: 'whole', from: 0 },
    { type: 'reasoning', text: 'Hm' },
    { type: 'tool-call', callId: 'a', alias: 'a', name: 'f', input: {}, malformed: '{"a' },
  ])
  assert.equal(call.native.length, 1)
})

test('the cause of the end is reported, unless the reply was complete', () => {
  const half = [opening(), start(0, { type: 'text', text: '' })]
  assert.deepEqual(decode(half, undefined, { reason: 'cancelled' }).reply.stop, { reason: 'cancelled' })
  const broken = decode(half, undefined, { reason: 'failed', failure: { kind: 'network', message: 'gone' } })
  assert.deepEqual([broken.reply.stop.reason, broken.failure?.kind], ['failed', 'network'])
  const whole = [opening(), ...text(0, 'x'), ...closing()]
  assert.equal(decode(whole, undefined, { reason: 'cancelled' }).reply.stop.reason, 'done')
  assert.equal(decode(whole.slice(0, -1)).reply.stop.reason, 'done')
  assert.deepEqual(decode([]).reply.stop, { reason: 'interrupted' })
})

test('an error inside the stream is a failure of its kind', () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const { reply, failure } = decode([opening(), ...text(0, 'x'), error, ...text(1, 'never')])
  assert.equal(reply.stop.reason, 'failed')
  assert.equal(failure?.kind, 'overloaded')
  assert.equal(reply.parts.length, 1)
})

test('the decoder is done when the terminal event was seen', () => {
  const decoder = anthropicMessages.decoder(origin)
  decoder.push(opening())
  assert.equal(decoder.done, false)
  decoder.push({ type: 'message_stop' })
  assert.equal(decoder.done, true)
})

test('events that come twice, out of turn or from nowhere do no harm', () => {
  const once = [opening(), ...text(0, 'x'), ...closing()]
  const noisy: Json[] = [
    null,
    'garbage',
    { type: 'content_block_delta', index: 7, delta: { type: 'text_delta', text: 'lost' } },
    { type: 'content_block_start', index: 0 },
    { type: 'brand_new_event', index: 0 },
    opening(),
    opening(),
    ...text(0, 'x'),
    ...text(0),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', usage: { output_tokens: 20 } },
    ...closing(),
    ...closing('max_tokens', { output_tokens: 999 }),
  ]
  const { reply, usage } = decode(noisy)
  assert.deepEqual({ ...reply, origin }, { ...decode(once).reply, origin })
  assert.equal(usage?.output, 20)
})

test('a host that never closes its blocks, or sends input whole, is read all the same', () => {
  const { reply } = decode([
    opening(),
    start(0, { type: 'text', text: 'Hi' }),
    start(1, { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }),
    { type: 'message_stop' },
  ])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'Hi', from: 0 },
    { type: 'tool-call', callId: 'a', alias: 'a', name: 'f', input: { x: 1 }, from: 1 },
  ])
  assert.deepEqual(reply.stop, { reason: 'tool-calls' })
})

test('a whole reply and an error body are read by the same decoder', () => {
  const whole = {
    type: 'message',
    id: 'msg_1',
    model: 'm',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
  }
  assert.deepEqual(decode(anthropicMessages.split(whole)).reply, decode([whole]).reply)
  const error = { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }
  assert.deepEqual(anthropicMessages.split(error), [error])
  assert.equal(decode(anthropicMessages.split(error)).failure?.kind, 'auth')
  assert.equal(decode(anthropicMessages.split('not a reply')).reply.stop.reason, 'interrupted')
})

test('a whole reply without content is an empty one', () => {
  for (const content of [{}, { content: null }, { content: 'Hi' }]) {
    const whole = { type: 'message', id: 'msg_1', role: 'assistant', stop_reason: 'end_turn', ...content }
    const { reply } = decode([whole])
    assert.deepEqual(reply.parts, [])
    assert.deepEqual(reply.stop, { reason: 'done', raw: 'end_turn' })
  }
})

test('the provider’s name of the model is used only if none is known', () => {
  const decoder = anthropicMessages.decoder({ ...origin, model: '' })
  const [first] = decoder.push(opening())
  assert.deepEqual(first, {
    type: 'reply-start',
    origin: { ...origin, model: 'claude-opus-4-6-2026', replyId: 'msg_1' },
  })
})

test('a second message in one stream represents the first, of which nothing is left', () => {
  const second = { ...opening(), message: { ...(opening().message as JsonObject), id: 'msg_2' } }
  const { reply, usage } = decode([
    opening({ input_tokens: 10, output_tokens: 7 }),
    ...text(0, 'Half of an ans'),
    start(1, { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }),
    second,
    ...text(0, 'The whole answer.'),
    ...closing(),
  ])
  assert.deepEqual(reply.native, [{ type: 'text', text: 'The whole answer.' }])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'The whole answer.', from: 0 }])
  assert.deepEqual(reply.stop, { reason: 'done', raw: 'end_turn' })
  assert.equal(reply.origin.replyId, 'msg_2')
  assert.equal(usage?.output, 20)
})
