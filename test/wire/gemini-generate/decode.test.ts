import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { StopReason } from '../../../src/core/message.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import { chunk, decoded, origin } from './target.ts'

const stop = { finishReason: 'STOP' }

test('chunks of text are one text, and one part to send back', () => {
  const { reply } = decoded([chunk([{ text: 'Hel' }]), chunk([{ text: 'lo' }]), chunk([{ text: '' }], stop)])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hello', from: 0 }])
  assert.deepEqual(reply.native, [{ text: 'Hello' }])
  assert.deepEqual(reply.stop, { reason: 'done', raw: 'STOP' })
  assert.deepEqual(reply.origin, { ...origin, replyId: 'r1' })
})

test('a signature keeps its own part, but does not split the text that is read', () => {
  const { reply } = decoded([
    chunk([{ text: 'One ' }]),
    chunk([{ text: 'two ', thoughtSignature: 'AAEC' }]),
    chunk([{ text: 'three' }]),
    chunk([{ text: ' four' }]),
    chunk([{ text: '', thoughtSignature: 'AwQF' }], stop),
  ])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'One two three four', from: 0 }])
  assert.deepEqual(reply.native, [
    { text: 'One ' },
    { text: 'two ', thoughtSignature: 'AAEC' },
    { text: 'three four' },
    { text: '', thoughtSignature: 'AwQF' },
  ])
})

test('an empty text that was left out is restored with its signature; without one there was nothing', () => {
  const { reply } = decoded([
    chunk([{ text: 'Hi' }, {}, { thought: true }]),
    chunk([{ thoughtSignature: 'AwQF' }], stop),
  ])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hi', from: 0 }])
  assert.deepEqual(reply.native, [{ text: 'Hi' }, { text: '', thoughtSignature: 'AwQF' }])
})

test('texts in one chunk are separate parts', () => {
  const { reply } = decoded([chunk([{ text: 'a' }, { text: 'b' }]), chunk([{ text: 'c' }], stop)])
  assert.deepEqual(reply.native, [{ text: 'a' }, { text: 'bc' }])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'a', from: 0 },
    { type: 'text', text: 'bc', from: 1 },
  ])
})

test('thoughts are reasoning, and calls come whole', () => {
  const { reply } = decoded(
    [
      chunk([{ text: 'Think', thought: true }]),
      chunk([{ text: 'ing', thought: true }]),
      chunk([{ functionCall: { id: 'x1', name: 'fs_read', args: { path: 'a' } }, thoughtSignature: 'AAEC' }]),
      chunk([{ functionCall: { name: 'clock' } }], stop),
    ],
    { toolNames: { fs_read: 'fs.read' } },
  )
  assert.deepEqual(reply.parts, [
    { type: 'reasoning', text: 'Thinking', from: 0 },
    { type: 'tool-call', callId: 'x1', alias: 'x1', name: 'fs.read', input: { path: 'a' }, from: 1 },
    { type: 'tool-call', callId: 'call-1', name: 'clock', input: {}, from: 2 },
  ])
  assert.deepEqual(reply.native, [
    { text: 'Thinking', thought: true },
    { functionCall: { id: 'x1', name: 'fs_read', args: { path: 'a' } }, thoughtSignature: 'AAEC' },
    { functionCall: { name: 'clock' } },
  ])
  assert.equal(reply.stop.reason, 'tool-calls')
})

test('a call in pieces is put together by its paths, and sent back whole', () => {
  const piece = (jsonPath: string, stringValue: string, more = true) => ({
    jsonPath,
    stringValue,
    ...(more && { willContinue: true }),
  })
  const { reply } = decoded([
    chunk([{ functionCall: { name: 'write', willContinue: true }, thoughtSignature: 'AAEC' }]),
    chunk([{ functionCall: { partialArgs: [piece('$.files[0].name', 'a.')], willContinue: true } }]),
    chunk([{ functionCall: { partialArgs: [piece('$.files[0].name', 'txt', false)], willContinue: true } }]),
    chunk([{ functionCall: { partialArgs: [{ jsonPath: "$['is new']", boolValue: true }], willContinue: true } }]),
    chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.__proto__.x', numberValue: 1 }], willContinue: true } }]),
    chunk([{ functionCall: {} }]),
    chunk([{ functionCall: { name: 'clock' } }], stop),
  ])
  const input = JSON.parse('{"files":[{"name":"a.txt"}],"is new":true,"__proto__":{"x":1}}') as Json
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'call-0', name: 'write', input, from: 0 },
    { type: 'tool-call', callId: 'call-1', name: 'clock', input: {}, from: 1 },
  ])
  assert.deepEqual(reply.native[0], { functionCall: { name: 'write', args: input }, thoughtSignature: 'AAEC' })
  assert.equal(({} as JsonObject).x, undefined)
})

test('a call that is cut off in the middle is kept, but can neither run nor be sent back', () => {
  const { reply } = decoded([
    chunk([{ text: 'Wait' }]),
    chunk([{ functionCall: { id: 'x1', name: 'write', willContinue: true } }]),
    chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'b' }], willContinue: true } }]),
  ])
  assert.deepEqual(reply.parts, [
    { type: 'text', text: 'Wait', from: 0 },
    { type: 'tool-call', callId: 'x1', alias: 'x1', name: 'write', input: {}, malformed: '{"a":"b"}' },
  ])
  assert.deepEqual(reply.native, [{ text: 'Wait' }])
  assert.equal(reply.stop.reason, 'interrupted')
})

test('arguments that are not an object are kept unchanged', () => {
  const { reply } = decoded([chunk([{ functionCall: { name: 'clock', args: '{"zone"' } }], stop)])
  assert.deepEqual(reply.parts, [
    { type: 'tool-call', callId: 'call-0', name: 'clock', input: {}, malformed: '{"zone"', from: 0 },
  ])
})

test('tools that Google runs are server tools, with their results', () => {
  const parts: Json[] = [
    { executableCode: { id: 'e1', language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { id: 'e1', outcome: 'OUTCOME_OK', output: '1\n' } },
    { toolCall: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['x'] } }, thoughtSignature: 'AAEC' },
    { toolResponse: { id: 't1', toolType: 'GOOGLE_SEARCH_WEB', response: { found: 2 } } },
    { executableCode: { language: 'PYTHON', code: 'wait()' } },
    { text: 'Done.' },
  ]
  const { reply } = decoded([chunk(parts, stop)])
  assert.deepEqual(reply.parts, [
    {
      type: 'server-tool',
      name: 'code_execution',
      input: { language: 'PYTHON', code: 'print(1)' },
      output: { outcome: 'OUTCOME_OK', output: '1\n' },
      from: 0,
    },
    { type: 'server-tool', name: 'GOOGLE_SEARCH_WEB', input: { queries: ['x'] }, output: { found: 2 }, from: 2 },
    { type: 'server-tool', name: 'code_execution', input: { language: 'PYTHON', code: 'wait()' }, from: 4 },
    { type: 'text', text: 'Done.', from: 5 },
  ])
  assert.deepEqual(reply.native, parts)
})

test('images are media, and unknown parts are kept complete', () => {
  const parts: Json[] = [
    { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'AAEC' },
    { fileData: { mimeType: 'video/mp4', fileUri: 'gs://a/b' } },
    { hologram: { depth: 3 } },
  ]
  const { reply } = decoded([chunk(parts, stop)])
  assert.deepEqual(reply.parts, [
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' }, from: 0 },
    { type: 'media', mediaType: 'video/mp4', data: { kind: 'url', url: 'gs://a/b' }, from: 1 },
    { type: 'opaque', kind: 'gemini-generate/hologram', data: { hologram: { depth: 3 } }, from: 2 },
  ])
  assert.deepEqual(reply.native, parts)
})

test('grounding metadata stays with the text, and is not sent back', () => {
  const groundingMetadata = { webSearchQueries: ['x'] }
  const { reply } = decoded([chunk([{ text: 'Sunny.' }]), chunk([], { ...stop, groundingMetadata })])
  assert.deepEqual(reply.parts, [{ type: 'text', text: 'Sunny.', citations: [groundingMetadata], from: 0 }])
  assert.deepEqual(reply.native, [{ text: 'Sunny.' }])

  const alone = decoded([chunk([{ functionCall: { name: 'clock' } }], { ...stop, groundingMetadata })]).reply
  assert.deepEqual(alone.parts.at(-1), {
    type: 'opaque',
    kind: 'gemini-generate/groundingMetadata',
    data: groundingMetadata,
  })
})

const finishes: [string, StopReason][] = [
  ['STOP', 'done'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'refusal'],
  ['RECITATION', 'refusal'],
  ['LANGUAGE', 'refusal'],
  ['BLOCKLIST', 'refusal'],
  ['PROHIBITED_CONTENT', 'refusal'],
  ['SPII', 'refusal'],
  ['IMAGE_SAFETY', 'refusal'],
  ['MODEL_ARMOR', 'refusal'],
  ['CONTINUATION', 'paused'],
  ['MALFORMED_FUNCTION_CALL', 'failed'],
  ['UNEXPECTED_TOOL_CALL', 'failed'],
  ['TOO_MANY_TOOL_CALLS', 'failed'],
  ['OTHER', 'failed'],
  ['SOMETHING_NEW', 'failed'],
]

for (const [finishReason, reason] of finishes) {
  test(`an answer that ends with ${finishReason} is ${reason}`, () => {
    const { reply, failure } = decoded([{ candidates: [{ finishReason, index: 0 }] }])
    assert.deepEqual(reply.stop, { reason, raw: finishReason })
    assert.equal(failure?.kind, reason === 'failed' ? 'malformed-reply' : undefined)
  })
}

test('a call with MALFORMED_FUNCTION_CALL is not run', () => {
  const parts = [{ functionCall: { name: 'clock', args: {} } }]
  const { reply, failure } = decoded([
    chunk(parts, { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed function call: clock(' }),
  ])
  assert.equal(reply.stop.reason, 'failed')
  assert.deepEqual(failure, {
    kind: 'malformed-reply',
    message: "The model's answer ended with MALFORMED_FUNCTION_CALL: Malformed function call: clock(",
    code: 'MALFORMED_FUNCTION_CALL',
  })
})

test('a blocked prompt is a refusal, with its message', () => {
  const { reply } = decoded([{ promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'Not this.' } }])
  assert.deepEqual(reply.stop, { reason: 'refusal', raw: 'SAFETY' })
  assert.deepEqual(reply.parts, [{ type: 'refusal', text: 'Not this.' }])
  assert.deepEqual(reply.native, [])
})

const overloaded = { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' }

for (const [shape, wrap] of [
  ['as it is', (error: Json) => ({ error })],
  ['in a list', (error: Json) => [{ error }]],
] as const) {
  test(`an error inside the stream, ${shape}, ends it as its status would`, () => {
    const { reply, failure } = decoded([chunk([{ text: 'Hel' }]), wrap(overloaded)])
    assert.equal(reply.stop.reason, 'failed')
    assert.equal(failure?.kind, 'overloaded')
    assert.equal(failure.status, 503)
    assert.deepEqual(reply.parts, [{ type: 'text', text: 'Hel', from: 0 }])
    assert.deepEqual(reply.native, [{ text: 'Hel' }])
  })
}

test('a stream without a finish reason was cut off, unless the reader knows better', () => {
  const cut = decoded([chunk([{ text: 'Hel' }])])
  assert.deepEqual(cut.reply.stop, { reason: 'interrupted' })
  assert.equal(cut.failure?.kind, 'malformed-reply')
  assert.deepEqual(cut.reply.native, [{ text: 'Hel' }])

  const stopped = decoded([chunk([{ text: 'Hel' }])], undefined, { reason: 'cancelled' })
  assert.deepEqual(stopped.reply.stop, { reason: 'cancelled' })
  assert.equal(stopped.failure, undefined)

  const late = decoded([chunk([{ text: 'Hello' }], stop)], undefined, { reason: 'cancelled' })
  assert.equal(late.reply.stop.reason, 'done')
})

test('nothing at all is an interrupted reply', () => {
  assert.deepEqual(decoded([]).reply, {
    role: 'assistant',
    parts: [],
    native: [],
    origin,
    stop: { reason: 'interrupted' },
  })
})

test('usage: the last counts apply, thoughts are output, server tools are input', () => {
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 40,
    toolUsePromptTokenCount: 7,
    candidatesTokenCount: 10,
    thoughtsTokenCount: 5,
    totalTokenCount: 122,
  }
  const { usage } = decoded([
    { ...(chunk([{ text: 'a' }]) as JsonObject), usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 1 } },
    { ...(chunk([{ text: 'b' }], stop) as JsonObject), usageMetadata },
  ])
  assert.deepEqual(usage, {
    input: 107,
    output: 15,
    cacheRead: 40,
    cacheWrite: 0,
    reasoning: 5,
    raw: usageMetadata,
  })
})

test('strange chunks are let pass', () => {
  const strange: Json[] = [
    null,
    'text',
    7,
    {},
    { candidates: null },
    { candidates: [null] },
    { candidates: [{ content: null }] },
    { candidates: [{ content: { parts: null } }] },
    { candidates: [{ content: { parts: [null, 'a', {}, { functionCall: {} }, { text: 5 }] } }] },
    { candidates: [{ index: 1, content: { parts: [{ text: 'another candidate' }] } }] },
    { usageMetadata: 'many' },
    chunk([{ text: 'ok' }], stop),
  ]
  const { reply } = decoded(strange)
  assert.equal(reply.stop.reason, 'tool-calls')
  assert.deepEqual(reply.parts.at(-1), { type: 'text', text: 'ok', from: reply.native.length - 1 })
})

test('the same call twice under one id is one call', () => {
  const again = chunk([{ functionCall: { id: 'x1', name: 'clock', args: {} } }], stop)
  assert.equal(decoded([again, again]).reply.parts.length, 1)
})

test('events come in order: the start once and first, the end once and last', () => {
  const decoder = geminiGenerate.decoder(origin)
  const events = [...decoder.push(chunk([{ text: 'a' }])), ...decoder.push(chunk([{ text: 'b' }], stop))]
  assert.equal(decoder.done, true)
  events.push(...decoder.end())
  assert.deepEqual(
    events.map((event) => event.type),
    ['reply-start', 'part-start', 'part-delta', 'part-delta', 'part-end', 'reply-end'],
  )
})

test('the provider names the model only if nothing else does', () => {
  const blank = { ...origin, model: '' }
  const decoder = geminiGenerate.decoder(blank)
  const [first] = decoder.push({ ...(chunk([{ text: 'a' }]) as JsonObject), modelVersion: 'gemini-3.5-flash-001' })
  assert.deepEqual(first, {
    type: 'reply-start',
    origin: { ...blank, model: 'gemini-3.5-flash-001', replyId: 'r1' },
  })
})
