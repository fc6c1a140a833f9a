import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Part } from '../../../src/core/message.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'
import { decoded, delta, fragment, origin } from './target.ts'

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const usageChunk: Json = { id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [], usage }
const stop = delta({}, 'stop')
const called = delta({}, 'tool_calls')

/** The calls of a reply, as name and input. */
function callsIn(parts: readonly Part[]): [string, Json, string | undefined][] {
  return parts.flatMap((part): [string, Json, string | undefined][] =>
    part.type === 'tool-call' ? [[part.name, part.malformed ?? part.input, part.alias]] : [],
  )
}

test('text arrives in deltas and ends as one part of one message', () => {
  const chunks = [
    delta({ role: 'assistant', content: '', refusal: null }),
    delta({ content: 'Hel' }),
    delta({ content: 'lo' }),
    stop,
    usageChunk,
  ]
  const { reply, usage: counted, failure, done } = decoded(chunks)
  assert.deepEqual(reply, {
    role: 'assistant',
    parts: [{ type: 'text', text: 'Hello', from: 0 }],
    native: [{ role: 'assistant', content: 'Hello', refusal: null }],
    origin: { ...origin, replyId: 'chatcmpl-1' },
    stop: { reason: 'done', raw: 'stop' },
  })
  assert.deepEqual(counted, { input: 9, output: 3, cacheRead: 0, cacheWrite: 0, reasoning: 0, raw: usage })
  assert.equal(failure, undefined)
  assert.equal(done, true)
})

test('events come as the deltas do: the start first, the end only when asked for', () => {
  const decoder = openaiChat.decoder({ ...origin, model: '' })
  assert.deepEqual(decoder.push(delta({ role: 'assistant', content: 'Hi' })), [
    { type: 'reply-start', origin: { ...origin, model: 'gpt-4o', replyId: 'chatcmpl-1' } },
    { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
    { type: 'part-delta', index: 0, text: 'Hi' },
  ])
  assert.deepEqual(decoder.push(stop), [])
  assert.deepEqual(
    decoder.end().map((event) => event.type),
    ['part-end', 'reply-end'],
  )
})

test('a reply is not over with its finish reason: the numbers come after it', () => {
  const decoder = openaiChat.decoder(origin)
  decoder.push(delta({ role: 'assistant', content: 'Hi' }))
  decoder.push(stop)
  assert.equal(decoder.done, false)
  decoder.push(usageChunk)
  assert.equal(decoder.done, true)
})

interface Oddity {
  host: string
  chunks: Json[]
  calls: [string, Json, string | undefined][]
}

const oddities: Oddity[] = [
  {
    host: 'gives an index to every fragment and an id to the first',
    chunks: [
      fragment({ index: 0, id: 'call_a', type: 'function', function: { name: 'clock', arguments: '' } }),
      fragment({ index: 0, function: { arguments: '{"zone"' } }),
      fragment({ index: 1, id: 'call_b', type: 'function', function: { name: 'add', arguments: '' } }),
      fragment({ index: 1, function: { arguments: '{"a":1}' } }),
      fragment({ index: 0, function: { arguments: ':"UTC"}' } }),
      called,
    ],
    calls: [
      ['clock', { zone: 'UTC' }, 'call_a'],
      ['add', { a: 1 }, 'call_b'],
    ],
  },
  {
    host: 'leaves the index out and repeats the id',
    chunks: [
      fragment({ id: 'call_a', function: { name: 'clock', arguments: '{"zone"' } }),
      fragment({ id: 'call_b', function: { name: 'add', arguments: '{"a"' } }),
      fragment({ id: 'call_a', function: { arguments: ':"UTC"}' } }),
      fragment({ id: 'call_b', function: { arguments: ':1}' } }),
      called,
    ],
    calls: [
      ['clock', { zone: 'UTC' }, 'call_a'],
      ['add', { a: 1 }, 'call_b'],
    ],
  },
  {
    host: 'leaves out index and id, one whole call per chunk',
    chunks: [
      fragment({ function: { name: 'clock', arguments: '{}' } }),
      fragment({ function: { name: 'clock', arguments: '{"zone":"UTC"}' } }),
      called,
    ],
    calls: [
      ['clock', {}, undefined],
      ['clock', { zone: 'UTC' }, undefined],
    ],
  },
  {
    host: 'sends the name after the arguments',
    chunks: [
      fragment({ index: 0, id: 'call_a', function: { arguments: '{"zone":' } }),
      fragment({ index: 0, function: { arguments: '"UTC"}' } }),
      fragment({ index: 0, function: { name: 'clock' } }),
      called,
    ],
    calls: [['clock', { zone: 'UTC' }, 'call_a']],
  },
  {
    host: 'sends whole calls at once',
    chunks: [
      delta({
        tool_calls: [
          { index: 0, id: 'call_a', type: 'function', function: { name: 'clock', arguments: '{}' } },
          { index: 1, id: 'call_b', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
        ],
      }),
      called,
    ],
    calls: [
      ['clock', {}, 'call_a'],
      ['add', { a: 1 }, 'call_b'],
    ],
  },
  {
    host: 'begins again at index 0 with another id',
    chunks: [
      fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{}' } }),
      fragment({ index: 0, id: 'call_b', function: { name: 'add', arguments: '{"a"' } }),
      fragment({ index: 0, function: { arguments: ':1}' } }),
      called,
    ],
    calls: [
      ['clock', {}, 'call_a'],
      ['add', { a: 1 }, 'call_b'],
    ],
  },
  {
    host: 'repeats id and name in every fragment',
    chunks: [
      fragment({ index: 0, id: '0', type: 'function', function: { name: 'clock', arguments: '' } }),
      fragment({ index: 0, id: '0', type: 'function', function: { name: 'clock', arguments: '{"zone"' } }),
      fragment({ index: 0, id: '0', type: 'function', function: { name: 'clock', arguments: ':"UTC"}' } }),
      called,
    ],
    calls: [['clock', { zone: 'UTC' }, '0']],
  },
  {
    host: 'changes the id from fragment to fragment',
    chunks: [
      fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{"zone"' } }),
      fragment({ index: 0, id: 'call_z', function: { arguments: ':"UTC"}' } }),
      called,
    ],
    calls: [['clock', { zone: 'UTC' }, 'call_a']],
  },
  {
    host: 'closes with the whole call once more',
    chunks: [
      fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{"zone"' } }),
      fragment({ index: 0, function: { arguments: ':"UTC"}' } }),
      fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }),
      called,
    ],
    calls: [['clock', { zone: 'UTC' }, 'call_a']],
  },
  {
    host: 'sends arguments as an object',
    chunks: [fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: { zone: 'UTC' } } }), called],
    calls: [['clock', { zone: 'UTC' }, 'call_a']],
  },
  {
    host: 'sends no arguments at all',
    chunks: [fragment({ index: 0, id: 'call_a', function: { name: 'clock' } }), called],
    calls: [['clock', {}, 'call_a']],
  },
  {
    host: 'sends arguments that are no JSON object',
    chunks: [fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '[1]' } }), called],
    calls: [['clock', '[1]', 'call_a']],
  },
  {
    host: 'says stop though it calls',
    chunks: [fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{}' } }), stop],
    calls: [['clock', {}, 'call_a']],
  },
  {
    host: 'still has the old function_call',
    chunks: [
      delta({ role: 'assistant', content: null, function_call: { name: 'clock', arguments: '' } }),
      delta({ function_call: { arguments: '{"zone":"UTC"}' } }),
      delta({}, 'function_call'),
    ],
    calls: [['clock', { zone: 'UTC' }, undefined]],
  },
]

for (const { host, chunks, calls } of oddities) {
  test(`calls are read from a host that ${host}`, () => {
    const { reply, failure } = decoded(chunks)
    assert.deepEqual(callsIn(reply.parts), calls)
    assert.equal(reply.stop.reason, 'tool-calls')
    assert.equal(failure, undefined)
    assert.equal(new Set(reply.parts.map((part) => (part.type === 'tool-call' ? part.callId : ''))).size, calls.length)
  })
}

test('calls stay in the message with the text, and later text is appended to the earlier text', () => {
  const { reply } = decoded([
    delta({ content: 'One. ' }),
    fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{}' } }),
    delta({ content: 'Two.' }),
    called,
  ])
  assert.deepEqual(reply.native, [
    {
      role: 'assistant',
      content: 'One. Two.',
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'clock', arguments: '{}' } }],
    },
  ])
  assert.deepEqual(
    reply.parts.map((part) => part.type),
    ['text', 'tool-call'],
  )
})

test('our ids and our names of tools are used if they are given', () => {
  const { reply } = decoded(
    [fragment({ index: 0, id: 'call_a', function: { name: 'fs_read', arguments: '{}' } }), called],
    {
      options: { callId: (n, alias) => `ours-${n}-${alias}`, toolNames: { fs_read: 'fs.read' } },
    },
  )
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'ours-0-call_a', alias: 'call_a', name: 'fs.read', input: {}, from: 0 },
  ])
  assert.equal(JSON.stringify(reply.native).includes('"fs_read"'), true)
})

test('a call of a custom tool is one of a free-form tool, with its text as the input', () => {
  const { reply } = decoded([
    fragment({ index: 0, id: 'call_c', type: 'custom', custom: { name: 'shell', input: 'l' } }),
    fragment({ index: 0, custom: { input: 's' } }),
    called,
  ])
  const custom = { id: 'call_c', type: 'custom', custom: { name: 'shell', input: 'ls' } }
  const head = { type: 'tool-call', callId: 'call_c', alias: 'call_c', name: 'shell', kind: 'free-form' }
  assert.deepEqual(reply.parts, [{ ...head, input: { input: 'ls' }, from: 0 }])
  assert.deepEqual(reply.native, [{ role: 'assistant', tool_calls: [custom] }])
  assert.equal(reply.stop.reason, 'tool-calls')
})

test('an interrupted call of a custom tool is never run, even if its text looks complete', () => {
  const { reply } = decoded([
    fragment({ index: 0, id: 'call_c', type: 'custom', custom: { name: 'shell', input: '{"a":1}' } }),
  ])
  const [call] = reply.parts
  assert.ok(call?.type === 'tool-call')
  assert.deepEqual([call.kind, call.input, call.malformed, call.from], ['free-form', {}, '{"a":1}', undefined])
  assert.deepEqual(reply.native, [])
})

test('a call of an unknown type is kept complete, and is not ours to run', () => {
  const { reply } = decoded([fragment({ index: 0, id: 'call_c', type: 'hologram', hologram: { size: 1 } }), called])
  const unknown = { id: 'call_c', type: 'hologram', hologram: { size: 1 } }
  assert.deepEqual(reply.parts, [{ type: 'opaque', kind: 'openai-chat/call:hologram', data: unknown, from: 0 }])
  assert.deepEqual(reply.native, [{ role: 'assistant', tool_calls: [unknown] }])
  assert.equal(reply.stop.reason, 'done')
})

const reasoning: { host: string; deltas: JsonObject[]; native: JsonObject }[] = [
  {
    host: 'reasoning_content (DeepSeek)',
    deltas: [{ reasoning_content: 'Let ' }, { reasoning_content: 'me.' }],
    native: { reasoning_content: 'Let me.' },
  },
  { host: 'reasoning (Groq)', deltas: [{ reasoning: 'Let ' }, { reasoning: 'me.' }], native: { reasoning: 'Let me.' } },
  {
    host: 'both names at once',
    deltas: [{ reasoning: 'Let me.', reasoning_content: 'Let me.' }],
    native: { reasoning: 'Let me.', reasoning_content: 'Let me.' },
  },
  {
    host: 'reasoning_details in pieces, signature last (OpenRouter)',
    deltas: [
      { reasoning: 'Let ', reasoning_details: [{ type: 'reasoning.text', text: 'Let ', format: 'f', index: 0 }] },
      { reasoning: 'me.', reasoning_details: [{ type: 'reasoning.text', text: 'me.', format: 'f', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.text', signature: 'c2ln', format: 'f', index: 0 }] },
      { reasoning_details: [] },
    ],
    native: {
      reasoning: 'Let me.',
      reasoning_details: [{ type: 'reasoning.text', text: 'Let me.', format: 'f', index: 0, signature: 'c2ln' }],
    },
  },
  {
    host: 'reasoning_details alone',
    deltas: [
      { reasoning_details: [{ type: 'reasoning.summary', summary: 'Let ', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.summary', summary: 'me.', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'gAAA', id: 'rs_1', index: 0 }] },
    ],
    native: {
      reasoning_details: [
        { type: 'reasoning.summary', summary: 'Let me.', index: 0 },
        { type: 'reasoning.encrypted', data: 'gAAA', id: 'rs_1', index: 0 },
      ],
    },
  },
]

for (const { host, deltas, native } of reasoning) {
  test(`reasoning is read once and kept complete: ${host}`, () => {
    const { reply } = decoded([...deltas.map((fields) => delta(fields)), delta({ content: 'Yes.' }), stop])
    assert.deepEqual(reply.parts, [
      { type: 'reasoning', text: 'Let me.', from: 0 },
      { type: 'text', text: 'Yes.', from: 0 },
    ])
    assert.deepEqual(reply.native, [{ role: 'assistant', ...native, content: 'Yes.' }])
  })
}

test('hidden reasoning is a part without text', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'gAAA', format: 'openai-responses-v1', index: 0 }]
  const { reply } = decoded([delta({ reasoning_details: details }), delta({ content: 'Yes.' }), stop])
  assert.deepEqual(reply.parts[0], { type: 'reasoning', text: '', hidden: true, from: 0 })
})

test('a refusal is a separate part and the stop reason', () => {
  const { reply } = decoded([
    delta({ role: 'assistant', content: null, refusal: '' }),
    delta({ refusal: 'I will not.' }),
    stop,
  ])
  assert.deepEqual(reply.parts, [{ type: 'refusal', text: 'I will not.', from: 0 }])
  assert.deepEqual(reply.stop, { reason: 'refusal', raw: 'stop' })
  assert.deepEqual(reply.native, [{ role: 'assistant', content: null, refusal: 'I will not.' }])
})

test('content may come as a list of parts', () => {
  const { reply } = decoded([
    delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
    delta({ content: [{ type: 'text', text: 'He' }] }),
    delta({ content: [{ type: 'text', text: 'y' }] }),
    delta({ content: [{ type: 'hologram', depth: 3 }] }),
    stop,
  ])
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'Hm.', from: 0 },
    { type: 'text', text: 'Hey', from: 0 },
    { type: 'opaque', kind: 'openai-chat/hologram', data: { type: 'hologram', depth: 3 }, from: 0 },
  ])
  assert.deepEqual((reply.native[0] as JsonObject).content, [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'Hey' },
    { type: 'hologram', depth: 3 },
  ])
})

test('images, sound, citations and tools of the host are parts', () => {
  const { reply } = decoded([
    delta({ content: 'See', annotations: [{ type: 'url_citation' }] }),
    delta({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }),
    delta({ audio: { id: 'audio_1', data: 'UklG' } }),
    delta({ audio: { data: 'Rg==', expires_at: 5 } }),
    delta({ executed_tools: [{ index: 0, type: 'search', arguments: '{"q":1}' }] }),
    delta({ executed_tools: [{ index: 0, type: 'search', output: 'found' }] }),
    stop,
  ])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'See', citations: [{ type: 'url_citation' }], from: 0 },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' }, from: 0 },
    { type: 'media', mediaType: 'audio/wav', data: { kind: 'base64', base64: 'UklGRg==' }, from: 0 },
    { type: 'server-tool', name: 'search', input: { q: 1 }, output: 'found', from: 0 },
  ])
})

test('citations next to the choices belong to the text', () => {
  const { reply } = decoded([
    { ...(delta({ content: 'See [1]' }, 'stop') as JsonObject), citations: ['https://a.example'] },
  ])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'See [1]', citations: ['https://a.example'], from: 0 }])
})

test('a chunk with a message instead of a delta is read, but not together with deltas', () => {
  const whole = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] }
  assert.deepEqual(decoded([whole]).reply.parts, [{ type: 'text', text: 'Hello', from: 0 }])
  assert.deepEqual(decoded([delta({ content: 'Hello' }), whole]).reply.parts, [
    { type: 'text', text: 'Hello', from: 0 },
  ])
})

test('missing and unknown fields are tolerated', () => {
  const { reply, failure } = decoded([
    null,
    'ping',
    [],
    {},
    { id: '', choices: [], prompt_filter_results: [] },
    { choices: null },
    { choices: [null, { index: 0 }, { index: 1, delta: { content: 'second choice' } }] },
    delta({ role: 'assistant', content: 'Hi', hologram: 3, obfuscation: 'x' }),
    { object: 'keepalive' },
    stop,
  ])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hi', from: 0 }])
  assert.deepEqual(reply.native, [{ role: 'assistant', content: 'Hi', hologram: 3, obfuscation: 'x' }])
  assert.equal(reply.origin.replyId, 'chatcmpl-1')
  assert.equal(failure, undefined)
})

const finishes: [string, string][] = [
  ['stop', 'done'],
  ['eos', 'done'],
  ['something_new', 'done'],
  ['length', 'length'],
  ['content_filter', 'refusal'],
  ['error', 'failed'],
  ['insufficient_system_resource', 'failed'],
]

for (const [raw, reason] of finishes) {
  test(`the finish reason ${raw} means ${reason}`, () => {
    const { reply, failure } = decoded([delta({ content: 'Hi' }), delta({}, raw)])
    assert.deepEqual(reply.stop, { reason, raw })
    assert.equal(failure?.kind, reason === 'failed' ? 'overloaded' : undefined)
  })
}

test('a call cut off by the limit stays malformed in a reply of that length', () => {
  const { reply } = decoded([
    fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{"zone": "U' } }),
    delta({}, 'length'),
  ])
  assert.equal(reply.stop.reason, 'length')
  assert.deepEqual(callsIn(reply.parts), [['clock', '{"zone": "U', 'call_a']])
})

test('an end without a finish reason is an interruption; finished calls and text so far stay', () => {
  const { reply, failure, done } = decoded([
    delta({ content: 'So' }),
    fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{}' } }),
    fragment({ index: 1, id: 'call_b', function: { name: 'add', arguments: '{"a' } }),
    fragment({ index: 2, id: 'call_c', function: { name: 'add', arguments: '' } }),
  ])
  assert.deepEqual(reply.stop, { reason: 'interrupted' })
  assert.equal(failure?.kind, 'malformed-reply')
  assert.equal(done, false)
  assert.deepEqual(
    reply.parts.map((part) => ('from' in part ? part.from : undefined)),
    [0, 0, undefined, undefined],
  )
  assert.deepEqual(callsIn(reply.parts), [
    ['clock', {}, 'call_a'],
    ['add', '{"a', 'call_b'],
    ['add', '', 'call_c'],
  ])
  assert.deepEqual(reply.native, [
    {
      role: 'assistant',
      content: 'So',
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'clock', arguments: '{}' } }],
    },
  ])
})

test('usage alone after the last delta closes a reply that has no finish reason', () => {
  const { reply, failure } = decoded([delta({ content: 'Hi' }), usageChunk])
  assert.deepEqual(reply.stop, { reason: 'done' })
  assert.equal(failure, undefined)
})

test('usage with every chunk closes nothing, and is never added up', () => {
  const counted = (content: string, completion_tokens: number): Json => ({
    ...(delta({ content }) as JsonObject),
    usage: { prompt_tokens: 9, completion_tokens, total_tokens: 9 + completion_tokens },
  })
  const { reply, usage: total } = decoded([counted('H', 1), counted('i', 2)])
  assert.equal(reply.stop.reason, 'interrupted')
  assert.equal(total?.output, 2)
  assert.equal(total?.input, 9)
})

test('nothing at all is an interruption without text', () => {
  const { reply, failure } = decoded([])
  assert.deepEqual({ ...reply }, { role: 'assistant', parts: [], native: [], origin, stop: { reason: 'interrupted' } })
  assert.equal(failure?.kind, 'malformed-reply')
})

test('the cause of a cut is reported, unless the stream had already ended', () => {
  const failure = { kind: 'network' as const, message: 'reset' }
  assert.deepEqual(decoded([delta({ content: 'Hi' })], { cause: { reason: 'cancelled' } }).reply.stop, {
    reason: 'cancelled',
  })
  const cut = decoded([delta({ content: 'Hi' })], { cause: { reason: 'interrupted', failure } })
  assert.deepEqual([cut.reply.stop.reason, cut.failure], ['interrupted', failure])
  const late = decoded([delta({ content: 'Hi' }), stop], { cause: { reason: 'interrupted', failure } })
  assert.deepEqual([late.reply.stop.reason, late.failure], ['done', undefined])
})

const errors: [string, Json, string][] = [
  ['OpenAI', { error: { message: 'The server had an error', type: 'server_error', code: null } }, 'overloaded'],
  [
    'Groq',
    { error: { message: 'Failed to call a function.', code: 'tool_use_failed', status_code: 400 } },
    'malformed-reply',
  ],
  [
    'OpenRouter',
    { ...(delta({ content: '' }, 'error') as JsonObject), error: { code: 429, message: 'Rate limited' } },
    'rate-limit',
  ],
  [
    'xAI',
    { code: 'Client specified an invalid argument', error: 'maximum prompt length is 131072' },
    'context-overflow',
  ],
  ['vLLM', { object: 'error', message: 'model overloaded', type: 'x', code: 503 }, 'overloaded'],
]

for (const [host, chunk, kind] of errors) {
  test(`an error inside the stream is a failure: ${host}`, () => {
    const { reply, failure, done } = decoded([delta({ content: 'Hi' }), chunk])
    assert.equal(reply.stop.reason, 'failed')
    assert.equal(failure?.kind, kind)
    assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hi', from: 0 }])
    assert.equal(done, true)
  })
}

test('reading is linear: a long stream of small fragments is read in one go', { timeout: 60_000 }, () => {
  const decoder = openaiChat.decoder(origin)
  decoder.push(fragment({ index: 0, id: 'call_a', function: { name: 'clock', arguments: '{"a":"' } }))
  for (let i = 0; i < 200_000; i++) decoder.push(fragment({ index: 0, function: { arguments: 'xxxx' } }))
  decoder.push(fragment({ index: 0, function: { arguments: '"}' } }))
  decoder.push(called)
  const end = decoder.end().at(-1)
  assert.equal(end?.type === 'reply-end' ? JSON.stringify(end.native).length > 800_000 : false, true)
})
