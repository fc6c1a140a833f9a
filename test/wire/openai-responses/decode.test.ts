import assert from 'node:assert/strict'
import test from 'node:test'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { ReplyEvent } from '../../../src/core/event.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Origin } from '../../../src/core/message.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import type { DecoderOptions, EndCause } from '../../../src/wires/wire.ts'
import { called, reasoning, textItem } from './target.ts'

const origin: Origin = { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.5' }

function read(
  chunks: Json[],
  options?: DecoderOptions,
  cause?: EndCause,
): Folded & { events: ReplyEvent[]; done: boolean } {
  const decoder = openaiResponses.decoder(origin, options)
  const events = chunks.flatMap((chunk) => decoder.push(chunk))
  const { done } = decoder
  events.push(...decoder.end(cause))
  return { ...fold(events, origin), events, done }
}

const usage = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 37,
}

function created(): JsonObject {
  return { type: 'response.created', response: { id: 'resp_1', model: 'gpt-5.5-2026-03-01', status: 'in_progress' } }
}

function ended(output: Json[], fields: JsonObject = {}, type = 'response.completed'): JsonObject {
  return { type, response: { id: 'resp_1', status: type.slice('response.'.length), output, usage, ...fields } }
}

function added(index: number, item: JsonObject): JsonObject {
  return { type: 'response.output_item.added', output_index: index, item }
}

function finished(index: number, item: JsonObject): JsonObject {
  return { type: 'response.output_item.done', output_index: index, item }
}

function textDelta(index: number, delta: string, content = 0): JsonObject {
  return { type: 'response.output_text.delta', output_index: index, content_index: content, item_id: 'x', delta }
}

const emptyMessage = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }

test('a streamed text arrives in deltas, with its origin, stop and usage', () => {
  const item = textItem('Hi there')
  const {
    events,
    reply,
    usage: used,
    done,
  } = read([
    created(),
    added(0, emptyMessage),
    { type: 'response.content_part.added', output_index: 0, content_index: 0, part: { type: 'output_text', text: '' } },
    textDelta(0, 'Hi '),
    textDelta(0, 'there'),
    { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hi there' },
    {
      type: 'response.content_part.done',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: 'Hi there' },
    },
    finished(0, item),
    ended([item]),
  ])
  assert.deepEqual(events, [
    { type: 'reply-start', origin: { ...origin, replyId: 'resp_1' } },
    { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
    { type: 'part-delta', index: 0, text: 'Hi ' },
    { type: 'part-delta', index: 0, text: 'there' },
    { type: 'part-end', index: 0, part: { type: 'text', text: 'Hi there', from: 0 } },
    {
      type: 'reply-end',
      origin: { ...origin, replyId: 'resp_1' },
      stop: { reason: 'done', raw: 'completed' },
      native: [item],
      usage: { input: 30, output: 7, cacheRead: 10, cacheWrite: 5, reasoning: 3, raw: usage },
    },
  ])
  assert.deepEqual(reply.native, [item])
  assert.equal(used?.cacheRead, 10)
  assert.equal(done, true)
})

test('the model is the one that was asked, or else the one that answered', () => {
  const decoder = openaiResponses.decoder({ ...origin, model: '' })
  const [start] = decoder.push(created())
  assert.equal(start?.type === 'reply-start' && start.origin.model, 'gpt-5.5-2026-03-01')
})

test('reasoning is read from the finished item, and calls are read completely', () => {
  const done = {
    ...reasoning,
    summary: [
      { type: 'summary_text', text: 'First.' },
      { type: 'summary_text', text: 'Then.' },
    ],
  }
  const call = called('call_a', 'fs_read', '{"path":"/a"}')
  const { reply, events } = read(
    [
      created(),
      added(0, { ...reasoning, encrypted_content: 'half' }),
      { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0, part: {} },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'First.' },
      { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 1, delta: 'Then.' },
      finished(0, done),
      added(1, { ...call, arguments: '' }),
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"path":' },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '"/a"}' },
      { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"path":"/a"}' },
      finished(1, call),
      ended([{ ...done, encrypted_content: 'other' }, call]),
    ],
    { toolNames: { fs_read: 'fs.read' }, callId: (n, alias) => `ours-${n}-${alias}` },
  )
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'First.\n\nThen.', hidden: true, from: 0 },
    {
      type: 'tool-call',
      callId: 'ours-0-call_a',
      alias: 'call_a',
      name: 'fs.read',
      input: { path: '/a' },
      from: 1,
    },
  ])
  assert.deepEqual(reply.native, [done, call])
  assert.deepEqual(reply.stop, { reason: 'tool-calls', raw: 'completed' })
  const deltas = events.flatMap((event) => (event.type === 'part-delta' ? [event.text] : []))
  assert.deepEqual(deltas, ['First.', '\n\nThen.', '{"path":', '"/a"}'])
})

test('readable reasoning is shown as such', () => {
  const plain = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }
  const { reply } = read([
    created(),
    added(0, { ...plain, content: [] }),
    { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'h' },
    { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'm' },
    finished(0, plain),
    ended([plain]),
  ])
  assert.deepEqual(reply.parts, [{ type: 'reasoning', text: 'hm', from: 0 }])
})

test('a refusal is a part and the reason to stop', () => {
  const item = { ...emptyMessage, status: 'completed', content: [{ type: 'refusal', refusal: 'No.' }] }
  const { reply } = read([
    created(),
    added(0, emptyMessage),
    { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'No.' },
    { type: 'response.refusal.done', output_index: 0, content_index: 0, refusal: 'No.' },
    finished(0, item),
    ended([item]),
  ])
  assert.deepEqual(reply.parts, [{ type: 'refusal', text: 'No.', from: 0 }])
  assert.equal(reply.stop.reason, 'refusal')
})

test('annotations become citations', () => {
  const annotation = { type: 'url_citation', url: 'https://x', start_index: 0, end_index: 2, title: 'X' }
  const item = { ...emptyMessage, content: [{ type: 'output_text', text: 'So', annotations: [annotation] }] }
  const { reply } = read([created(), finished(0, item), ended([item])])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'So', citations: [annotation], from: 0 }])
  const cut = read([
    created(),
    added(0, emptyMessage),
    textDelta(0, 'So'),
    { type: 'response.output_text.annotation.added', output_index: 0, content_index: 0, annotation },
  ])
  assert.deepEqual(cut.reply.parts, [{ type: 'text', text: 'So', citations: [annotation], from: 0 }])
})

test('the children of a hidden parallel call appear when it is whole', () => {
  const uses = [
    { recipient_name: 'functions.clock', parameters: {} },
    { recipient_name: 'functions.add', parameters: { a: 1 } },
  ]
  const call = called('call_w', 'parallel', JSON.stringify({ tool_uses: uses }))
  const { reply, events } = read([created(), added(0, { ...call, arguments: '' }), finished(0, call), ended([call])])
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'call_w', alias: 'call_w', name: 'clock', input: {}, from: 0 },
    { type: 'tool-call', callId: 'call-1', alias: 'call_w', name: 'add', input: { a: 1 }, from: 0 },
  ])
  assert.equal(events.filter((event) => event.type === 'part-start').length, 2)
  const own = called('call_p', 'parallel', '{"tool_uses":"mine"}')
  assert.equal(read([finished(0, own), ended([own])]).reply.parts.length, 1)
})

test('tools that the provider ran itself are server tools; unknown items are kept complete', () => {
  const items: JsonObject[] = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
    { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['q'], results: null },
    { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: '1+1', outputs: [], container_id: 'c' },
    { type: 'mcp_call', id: 'mcp_1', name: 'look', arguments: '{"a":1}', output: 'seen', server_label: 's' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AA==', revised_prompt: 'a cat' },
    { type: 'custom_tool_call', id: 'ctc_1', call_id: 'x1', name: 'x_keyword_search', input: '{"q":"y"}' },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' },
    { type: 'hologram', id: 'ho_1', depth: 3 },
  ]
  const { reply } = read([created(), ...items.map((item, i) => finished(i, item)), ended(items)])
  assert.deepEqual(reply.parts, [
    { type: 'server-tool', name: 'web_search', input: { type: 'search', query: 'x' }, from: 0 },
    { type: 'server-tool', name: 'file_search', input: { queries: ['q'] }, from: 1 },
    { type: 'server-tool', name: 'code_interpreter', input: { code: '1+1' }, output: [], from: 2 },
    { type: 'server-tool', name: 'look', input: { a: 1 }, output: 'seen', from: 3 },
    { type: 'server-tool', name: 'image_generation', input: { prompt: 'a cat' }, from: 4 },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AA==' }, from: 4 },
    { type: 'server-tool', name: 'x_keyword_search', input: { q: 'y' }, from: 5 },
    { type: 'compaction', from: 6 },
    { type: 'opaque', kind: 'openai-responses/hologram', data: { type: 'hologram', id: 'ho_1', depth: 3 }, from: 7 },
  ])
  assert.deepEqual(reply.native, items)
  assert.equal(reply.stop.reason, 'done')
})

test('undocumented events, comments of the server and keep-alives are ignored', () => {
  const item = textItem('Hi')
  const odd = [
    { type: 'keepalive' },
    { type: 'response.metadata', x: 1 },
    { type: 'codex.rate_limits' },
    'ping',
    null,
    7,
    [],
  ]
  const { reply } = read([created(), ...odd, finished(0, item), { type: 'constructor' }, ended([item])])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hi', from: 0 }])
})

test('a repeated event counts once', () => {
  const numbered = [created(), added(0, emptyMessage), textDelta(0, 'a'), textDelta(0, 'a'), ended([])].map(
    (event, i) => ({
      ...event,
      sequence_number: i,
    }),
  )
  const { reply } = read(numbered.flatMap((event) => [event, event]))
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'aa', from: 0 }])
})

test('a server that does not number its events is not read twice either', () => {
  const item = textItem('Hi')
  const { reply } = read([
    created(),
    added(0, emptyMessage),
    added(0, emptyMessage),
    finished(0, item),
    finished(0, item),
    ended([item]),
  ])
  assert.deepEqual(reply.native, [item])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hi', from: 0 }])
})

test('what had arrived when the stream broke is stored', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'in_progress', action: { type: 'search' } }
  const { reply } = read([created(), added(0, search)])
  assert.deepEqual(reply.parts, [{ type: 'server-tool', name: 'web_search', input: { type: 'search' } }])
  assert.deepEqual(reply.native, [])
})

test('numbers that do not count are not believed', () => {
  const same = [created(), added(0, emptyMessage), textDelta(0, 'a'), textDelta(0, 'a'), ended([])]
  const { reply } = read(same.map((event) => ({ ...event, sequence_number: 0 })))
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'aa', from: 0 }])
})

test('a server that changes the item id with every event is followed by the index', () => {
  const item = { ...textItem('Hi'), id: 'capture-9' }
  const { reply } = read([
    created(),
    added(0, { ...emptyMessage, id: 'capture-1' }),
    { ...textDelta(0, 'H'), item_id: 'capture-2' },
    { ...textDelta(0, 'i'), item_id: 'capture-3' },
    finished(0, item),
    ended([{ ...item, id: 'capture-10' }]),
  ])
  assert.deepEqual(reply.native, [item])
})

test('items that never finished are made of their deltas, and items never seen come from the last event', () => {
  const call = called('call_a', 'clock', '{"z":1}')
  const { reply } = read([
    created(),
    added(0, emptyMessage),
    textDelta(0, 'Hi'),
    added(1, { ...call, arguments: '' }),
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"z":1}' },
    ended([]),
  ])
  assert.deepEqual(reply.native, [
    { ...emptyMessage, status: 'completed', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] },
    call,
  ])
  assert.deepEqual(
    reply.parts.map((part) => part.type),
    ['text', 'tool-call'],
  )
  const unseen = read([created(), ended([textItem('All at once.'), call])]).reply
  assert.deepEqual(unseen.native, [textItem('All at once.'), call])
  assert.equal(unseen.stop.reason, 'tool-calls')
})

test('deltas without any announcement are read', () => {
  const { reply } = read([textDelta(0, 'Hi'), ended([])])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hi', from: 0 }])
})

test('items that finish out of order are put in order, and their parts point to the right one', () => {
  const call = called('call_a')
  const { reply } = read([
    created(),
    added(0, emptyMessage),
    added(1, { ...call, arguments: '' }),
    finished(1, call),
    textDelta(0, 'Hi'),
    finished(0, textItem('Hi')),
    ended([textItem('Hi'), call]),
  ])
  assert.deepEqual(reply.native, [textItem('Hi'), call])
  for (const part of reply.parts) {
    assert.equal('from' in part && part.from, part.type === 'text' ? 0 : 1)
  }
})

const stops: [event: JsonObject, reason: string, raw: string][] = [
  [
    ended([], { incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete'),
    'length',
    'max_output_tokens',
  ],
  [ended([], { incomplete_details: { reason: 'content_filter' } }, 'response.incomplete'), 'refusal', 'content_filter'],
  [ended([], { incomplete_details: { reason: 'steered' } }, 'response.incomplete'), 'paused', 'steered'],
  [ended([], {}, 'response.cancelled'), 'cancelled', 'cancelled'],
  [ended([], { status: null }), 'done', 'completed'],
]

for (const [event, reason, raw] of stops) {
  test(`${raw} is read as ${reason}`, () => {
    assert.deepEqual(read([created(), event]).reply.stop, { reason, raw })
  })
}

test('a failed response keeps its text and the reason', () => {
  const error = { code: 'rate_limit_exceeded', message: 'Rate limit reached for gpt-5.5. Please try again in 1.5s.' }
  const { reply, failure, done } = read([
    created(),
    added(0, emptyMessage),
    textDelta(0, 'Well'),
    ended([], { error }, 'response.failed'),
  ])
  assert.deepEqual(reply.stop, { reason: 'failed', raw: 'failed' })
  assert.equal(failure?.kind, 'rate-limit')
  assert.equal(failure?.retryAfterMs, 1500)
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Well', from: 0 }])
  assert.equal(done, true)
})

const errors: JsonObject[] = [
  { type: 'error', code: 'server_is_overloaded', message: 'Overloaded', param: null, sequence_number: 3 },
  { type: 'error', error: { code: 'server_is_overloaded', message: 'Overloaded', type: 'service_unavailable_error' } },
  { error: { code: 'server_is_overloaded', message: 'Overloaded' } },
]

for (const [i, error] of errors.entries()) {
  test(`an error inside the stream ends it, in form ${i + 1} of ${errors.length}`, () => {
    const { reply, failure, done } = read([created(), error])
    assert.deepEqual(reply.stop, { reason: 'failed', raw: 'error' })
    assert.equal(failure?.kind, 'overloaded')
    assert.equal(done, true)
  })
}

test('a stream that ends early keeps its text and never a half call', () => {
  const { reply, failure, done } = read([
    created(),
    added(0, reasoning),
    finished(0, reasoning),
    added(1, emptyMessage),
    textDelta(1, 'Let me'),
    added(2, { ...called('call_a'), arguments: '' }),
    { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{"pa' },
  ])
  assert.equal(done, false)
  assert.equal(reply.stop.reason, 'interrupted')
  assert.equal(failure?.kind, 'malformed-reply')
  assert.deepEqual(reply.native, [
    reasoning,
    { ...emptyMessage, status: 'incomplete', content: [{ type: 'output_text', text: 'Let me', annotations: [] }] },
  ])
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: '', hidden: true, from: 0 },
    { type: 'text', text: 'Let me', from: 1 },
    { type: 'tool-call', callId: 'call_a', alias: 'call_a', name: 'clock', input: {}, malformed: '{"pa' },
  ])
})

test('a call with complete arguments is kept when the stream breaks after them', () => {
  const { reply } = read([
    created(),
    added(0, { ...called('call_a'), arguments: '' }),
    { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' },
  ])
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'call_a', alias: 'call_a', name: 'clock', input: { a: 1 }, from: 0 },
  ])
})

test('unfinished reasoning, and an unfinished parallel call, are parts without a place in native', () => {
  const { reply } = read([
    created(),
    added(0, reasoning),
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm' },
    added(1, { ...called('call_w', 'parallel'), arguments: '' }),
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"tool_' },
  ])
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'Hm', hidden: true },
    { type: 'tool-call', callId: 'call_w', alias: 'call_w', name: 'parallel', input: {}, malformed: '{"tool_' },
  ])
  assert.deepEqual(reply.native, [])
})

test('the cause of the end is reported, unless the stream was complete', () => {
  assert.deepEqual(read([created()], {}, { reason: 'cancelled' }).reply.stop, { reason: 'cancelled' })
  const failure = { kind: 'timeout' as const, message: 'no byte for a minute' }
  const cut = read([created()], {}, { reason: 'interrupted', failure })
  assert.deepEqual([cut.reply.stop, cut.failure], [{ reason: 'interrupted' }, failure])
  assert.equal(read([created(), ended([])], {}, { reason: 'cancelled' }).reply.stop.reason, 'done')
})

test('a stream of nothing is an interrupted reply', () => {
  const { events, failure } = read([])
  assert.deepEqual(
    events.map((event) => event.type),
    ['reply-start', 'reply-end'],
  )
  assert.equal(failure?.kind, 'malformed-reply')
})

test('a response that waits in the background is paused, not broken', () => {
  const whole = { id: 'resp_1', status: 'queued', output: [] }
  const { reply, failure } = read(openaiResponses.split(whole))
  assert.deepEqual([reply.stop, failure], [{ reason: 'paused', raw: 'queued' }, undefined])
})

test('the cached tokens of xAI can be more than its input', () => {
  const odd = { input_tokens: 100, input_tokens_details: { cached_tokens: 400 }, output_tokens: 9 }
  assert.deepEqual(read([ended([], { usage: odd })]).usage, {
    input: 500,
    output: 9,
    cacheRead: 400,
    cacheWrite: 0,
    reasoning: 0,
    raw: odd,
  })
  assert.equal(read([ended([], { usage: null })]).usage, undefined)
})

test('an error body in place of a reply is read as the error it is', () => {
  const body = { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }
  assert.equal(read(openaiResponses.split(body)).failure?.kind, 'auth')
})
