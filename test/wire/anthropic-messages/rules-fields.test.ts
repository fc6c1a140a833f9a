// What the API refuses in single blocks and fields, and in special features, with its error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import { texts, thought } from './asking.ts'
import { asks, body, hi, out, refused, says, tool, use } from './bodies.ts'

test('who is billed for a request may be said, and what the API does not know may not', () => {
  const billed = { billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }
  assert.deepEqual(refused(body([hi], billed)), [])
  assert.deepEqual(refused(body([hi], { bill_to: 'me' })), [['R-29', 'bill_to: Extra inputs are not permitted']])
})

test('cache marks are few, in order, and not on everything', () => {
  const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })
  const marked = texts('a', 'b', 'c', 'd', 'e').map((block) => ({ ...block, ...mark() }))
  assert.deepEqual(refused(body([asks(...marked)])), [
    ['R-26', 'A maximum of 4 blocks with cache_control may be provided. Found 5.'],
  ])
  assert.deepEqual(refused(body([asks(...marked.slice(1))], { cache_control: { type: 'ephemeral' } }))[0]?.[0], 'R-26')
  assert.deepEqual(refused(body([asks({ ...texts('a')[0], ...mark('1h') })], { tools: [{ ...tool, ...mark() }] })), [
    [
      'R-26',
      "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    ],
  ])
  assert.ok(
    refused(body([asks({ type: 'text', text: '', ...mark() })])).some(
      ([rule, message]) =>
        rule === 'R-27' && message === 'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
    ),
  )
  assert.deepEqual(refused(body([hi, says({ ...thought('a'), ...mark() }, ...texts('b')), hi])), [
    ['R-29', 'messages.1.content.0.thinking.cache_control: Extra inputs are not permitted'],
  ])
})

/** A PNG of this size, as far as its header goes. */
function png(width: number, height: number): JsonObject {
  const bytes = Buffer.alloc(33)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') } }
}

test('images are not too large, alone or among many, and are what they say', () => {
  const most =
    'messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size'
  assert.deepEqual(refused(body([asks(png(8000, 8000))])), [])
  assert.deepEqual(refused(body([asks(png(8001, 10))])), [['R-28', `${most}: 8000 pixels`]])
  const many = [png(2001, 10), ...Array.from({ length: 20 }, () => png(10, 10))]
  assert.deepEqual(refused(body([asks(...many)])), [['R-28', `${most} for many-image requests: 2000 pixels`]])
  assert.deepEqual(refused(body([asks(...many.slice(1), png(1, 1))])), [])
  const nested = body([hi, says(use('x')), asks(out('x', { content: [png(9000, 1)] }))])
  assert.match(
    refused(nested)[0]?.[1] ?? '',
    /^messages\.2\.content\.0\.tool_result\.content\.0\.image\.source\.base64\.data/,
  )
  const jpeg = png(1, 1)
  const wrong = { ...jpeg, source: { ...(jpeg.source as JsonObject), media_type: 'image/jpeg' } }
  assert.deepEqual(refused(body([asks(wrong)])), [
    [
      'shape',
      'messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image',
    ],
  ])
})

test('unknown fields are refused wherever they occur', () => {
  const extra = 'Extra inputs are not permitted'
  const cases: [JsonObject, string][] = [
    [body([hi], { n: 1 }), `n: ${extra}`],
    [body([{ ...hi, name: 'x' }]), `messages.0.name: ${extra}`],
    [body([asks({ ...texts('a')[0], index: 0 })]), `messages.0.content.0.text.index: ${extra}`],
    [
      body([hi], { thinking: { type: 'adaptive', budget_tokens: 5 }, model: 'claude-opus-5' }),
      `thinking.adaptive.budget_tokens: ${extra}`,
    ],
  ]
  for (const [given, message] of cases) assert.deepEqual(refused(given), [['R-29', message]])
  assert.match(
    refused(body([asks({ type: 'input_text', text: 'x' })]))[0]?.[1] ?? '',
    /^messages\.0\.content\.0: Input tag 'input_text' found/,
  )
})

test('a body without its first fields, or of the wrong shape, says what is missing', () => {
  assert.deepEqual(refused({}), [
    ['shape', 'model: Field required'],
    ['shape', 'max_tokens: Field required'],
    ['shape', 'messages: Field required'],
  ])
  const shapes: [Json, string][] = [
    [null, 'Input should be a valid dictionary'],
    [body([hi], { messages: 'hi' }), 'messages: Input should be a valid list'],
    [body([1]), 'messages.0: Input should be a valid dictionary'],
    [body([{ role: 'tool', content: 'x' }]), "messages.0.role: Input should be 'user', 'assistant' or 'system'"],
    [body([{ role: 'user' }]), 'messages.0.content: Field required'],
    [body([{ role: 'user', content: 4 }]), 'messages.0.content: Input should be a valid list'],
    [body([{ role: 'user', content: ['x'] }]), 'messages.0.content.0.type: Field required'],
    [body([hi], { max_tokens: '5' }), 'max_tokens: Input should be a valid integer'],
    [body([hi], { temperature: 2 }), 'temperature: Input should be less than or equal to 1'],
    [body([hi], { stop_sequences: [' '] }), 'stop_sequences: each stop sequence must contain non-whitespace'],
    [body([{ role: 'user', content: 'a\uD800' }]), 'The request body is not valid JSON: no low surrogate in string'],
    [body([asks(use('x'))]), 'messages.0: `tool_use` blocks can only be in `assistant` messages'],
  ]
  for (const [given, message] of shapes) assert.deepEqual(refused(given)[0], ['shape', message])
})

test('threads and summaries have their own rules, with codes', () => {
  const codes = (given: JsonObject) => anthropicMessages.refuse(given).map(({ rule, code }) => [rule, code])
  const continues = { thread: { type: 'continue', previous_message_id: 'msg_1' } }
  assert.deepEqual(codes(body([hi], { ...continues, system: 's' })), [
    ['thread', undefined],
    ['thread', undefined],
  ])
  assert.deepEqual(codes(body([hi], { thread: { type: 'create' }, context_management: { edits: [] } })), [
    ['thread', 'thread_unsupported_request'],
  ])
  const signed = { type: 'compaction', content: 's', signature: 'c2ln' }
  assert.deepEqual(codes(body([says(signed), hi])), [])
  assert.deepEqual(codes(body([hi, says(signed), hi])), [['compaction', 'compaction_block_misplaced']])
  assert.deepEqual(codes(body([says(signed), hi, says(signed), hi])), [
    ['compaction', 'compaction_block_ambiguous'],
    ['compaction', 'compaction_block_misplaced'],
  ])
  assert.deepEqual(codes(body([hi], { compaction: { type: 'summarize' }, stop_sequences: ['x'] })), [
    ['compaction', undefined],
  ])
  const edits = [{ type: 'clear_tool_uses_20250919' }, { type: 'clear_thinking_20251015' }]
  assert.deepEqual(codes(body([hi], { context_management: { edits } })), [['context-editing', undefined]])
})

test('an error body has the shape, type and code of the API’s', () => {
  const error = anthropicMessages.errorBody({
    rule: 'thread',
    status: 404,
    message: 'gone',
    code: 'thread_not_found',
  }) as JsonObject
  assert.deepEqual(error.error, {
    type: 'not_found_error',
    message: 'gone',
    details: { error_code: 'thread_not_found' },
  })
  assert.equal(error.type, 'error')
  assert.match(String(error.request_id), /^req_\w{20,}$/)
  const [unknown] = anthropicMessages.refuse(body([hi], { model: 'claude-sonet-4-5' }))
  assert.deepEqual(
    [unknown?.status, unknown?.type, unknown?.message],
    [404, 'not_found_error', 'model: claude-sonet-4-5'],
  )
  const huge = body([{ role: 'user', content: 'x'.repeat(33 * 1024 * 1024) }])
  assert.deepEqual(
    anthropicMessages.refuse(huge).map(({ status, type }) => [status, type]),
    [[413, 'request_too_large']],
  )
})
