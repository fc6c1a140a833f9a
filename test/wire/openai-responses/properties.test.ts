// What must hold for any reply and any history of this wire.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc, { runs } from '../../property.ts'
import { fold } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import {
  callsOf,
  type Message,
  type Origin,
  type Part,
  type Reply,
  type StopReason,
} from '../../../src/core/message.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import { result, user } from '../../histories.ts'
import { anyText } from '../../arbitrary.ts'
import { called, encoded, native, textItem, type Changes } from './target.ts'

const origin: Origin = { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.5' }
const profile = {
  model: 'gpt-5.5',
  replyId: 'resp_1',
  createdAt: 1_700_000_000,
  usage: { input: 9, output: 3, cacheRead: 4, cacheWrite: 1, reasoning: 2 },
}

function decode(chunks: readonly Json[]) {
  const decoder = openaiResponses.decoder(origin)
  const events = chunks.flatMap((chunk) => decoder.push(chunk))
  return fold([...events, ...decoder.end()], origin)
}

const anyInput = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })

const carried: fc.Arbitrary<Part> = fc.oneof(
  anyText.map((text): Part => ({ type: 'text', text })),
  anyText.map((text): Part => ({ type: 'text', text, citations: [{ type: 'url_citation', url: 'https://x' }] })),
  anyText.map((text): Part => ({ type: 'refusal', text })),
  anyText.map((text): Part => ({ type: 'reasoning', text })),
  anyText.map((text): Part => ({ type: 'reasoning', text, hidden: true })),
  anyInput.map((input): Part => ({ type: 'tool-call', callId: 'c', name: 'clock', input: input as JsonObject })),
  fc.constantFrom<Part>(
    { type: 'tool-call', callId: 'c', name: 'clock', input: {}, malformed: '{"a' },
    { type: 'server-tool', name: 'web_search', input: { type: 'search', query: 'x' } },
    { type: 'server-tool', name: 'lookup', input: { a: 1 }, output: 'seen' },
    { type: 'opaque', kind: 'openai-responses/hologram', data: { type: 'hologram', id: 'ho_1' } },
    { type: 'compaction' },
  ),
)

const anyReply: fc.Arbitrary<Reply> = fc
  .tuple(fc.array(carried, { maxLength: 6 }), fc.constantFrom<StopReason>('done', 'length', 'cancelled'))
  .map(([list, asked]) => {
    const parts = list.map((part, i): Part => (part.type === 'tool-call' ? { ...part, callId: `call-${i}` } : part))
    const calls = parts.some((part) => part.type === 'tool-call')
    const refused = parts.some((part) => part.type === 'refusal')
    const reason = asked !== 'done' ? asked : calls ? 'tool-calls' : refused ? 'refusal' : 'done'
    return { role: 'assistant', parts, native: [], origin: { ...origin, protocol: 'elsewhere' }, stop: { reason } }
  })

test('a reply survives its own stream unchanged, in pieces of any size', () => {
  fc.assert(
    fc.property(anyReply, fc.integer({ min: 1, max: 50 }), (reply, piece) => {
      const read = decode(openaiResponses.split(openaiResponses.whole(reply, profile), piece))
      assert.deepEqual(read.reply.parts.map(portable), reply.parts.map(portable))
      assert.equal(read.reply.stop.reason, reply.stop.reason)
      assert.deepEqual({ ...read.usage, raw: undefined }, { ...profile.usage, raw: undefined })
      assert.equal(read.failure, undefined)
    }),
  )
})

function portable(part: Part): Part {
  const { from: _, alias: __, ...rest } = part as Part & { from?: number; alias?: string }
  return rest
}

test('what was read from a stream is streamed again unchanged', () => {
  fc.assert(
    fc.property(anyReply, fc.integer({ min: 1, max: 50 }), (reply, piece) => {
      const first = decode(openaiResponses.split(openaiResponses.whole(reply, profile)))
      const again = decode(openaiResponses.split(openaiResponses.whole(first.reply, profile), piece))
      assert.deepEqual(again.reply, { ...first.reply, stop: again.reply.stop })
      assert.equal(again.reply.stop.reason, first.reply.stop.reason)
    }),
  )
})

const anyItem: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constant<JsonObject>({ type: 'reasoning', summary: [], encrypted_content: 'gAAA', content: [] }),
  fc.constant<JsonObject>({ type: 'reasoning', summary: [], status: 'completed' }),
  anyText.map((text): JsonObject => ({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text }] })),
  anyText.map((text): JsonObject => ({ ...textItem(text), id: undefined })),
  fc.constantFrom('call_0', 'call_1', '', 'x'.repeat(90)).map((id): JsonObject => ({ ...called(id), id: undefined })),
  fc
    .constantFrom('{}', '{"a', '"text"')
    .map((args): JsonObject => ({ ...called('call_2', 'clock', args), id: undefined })),
  fc.constantFrom<JsonObject>(
    { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
    { type: 'file_search_call', status: 'completed', queries: [], results: null },
    { type: 'custom_tool_call', call_id: 'call_p', name: 'patch', input: 'raw' },
    { type: 'apply_patch_call', call_id: 'call_q', operation: {}, status: 'completed' },
    { type: 'compaction', encrypted_content: 'gAAA' },
    { type: 'x_search_call', call_id: '', name: 'x_search', arguments: '{}', status: 'completed' },
  ),
)

const prefixes: Record<string, string> = {
  reasoning: 'rs_',
  message: 'msg_',
  function_call: 'fc_',
  web_search_call: 'ws_',
  file_search_call: 'fs_',
  custom_tool_call: 'ctc_',
  apply_patch_call: 'apc_',
  compaction: 'cmp_',
  x_search_call: 'fc_',
}

interface Turn {
  items: JsonObject[]
  provider: string
  model: string
  reason: StopReason
  ids: 'own' | 'odd' | 'none'
}

const anyTurn: fc.Arbitrary<Turn> = fc.record({
  items: fc.array(anyItem, { maxLength: 5 }),
  provider: fc.constantFrom('openai', 'xai', 'deepseek'),
  model: fc.constantFrom('gpt-5.5', 'gpt-5.6'),
  reason: fc.constantFrom<StopReason>('done', 'interrupted', 'length'),
  ids: fc.constantFrom('own', 'odd', 'none'),
})

/** A history of native replies, each call answered, as `pair` would leave it. */
function historyOf(turns: readonly Turn[]): Message[] {
  let n = 0
  let c = 0
  return turns.flatMap(({ items, provider, model, reason, ids }): Message[] => {
    const named = items.map((item): JsonObject => {
      const prefix = ids === 'own' ? (prefixes[String(item.type)] ?? '') : 'item-'
      const { id: _, ...rest } = item
      return ids === 'none' ? rest : { id: `${prefix}${n++}`, ...rest }
    })
    const read = native(named, { provider, model }, reason)
    const parts = read.parts.map((part): Part =>
      part.type === 'tool-call' ? { ...part, callId: `ours-${c++}` } : part,
    )
    const reply: Reply = { ...read, parts }
    return [user('go'), reply, ...callsOf(reply).map(({ callId, name }) => result(callId, 'ok', name))]
  })
}

const targets: Changes[] = [
  { provider: 'openai', model: 'gpt-5.5' },
  { provider: 'openai', model: 'gpt-5.5', options: { store: true } },
  { provider: 'azure-openai', model: 'gpt-5.5' },
  { provider: 'xai', model: 'gpt-5.5', quirks: { systemInInput: true } },
  { provider: 'deepseek', model: 'gpt-5.5', quirks: { echoReasoning: 'always' } },
  { provider: 'openrouter', model: 'gpt-5.5' },
]

for (const target of targets) {
  const name = `${target.provider}${target.options?.store ? ', storing' : ''}`

  test(`no history of native replies is refused by ${name}`, () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 5 }), (turns) => {
        const { body } = encoded(historyOf(turns), target)
        assert.deepEqual(openaiResponses.refuse(body, { provider: target.provider ?? 'openai' }), [])
      }),
      { numRuns: runs(300) },
    )
  })

  test(`a longer history keeps the items of the shorter one for ${name}`, () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { minLength: 1, maxLength: 4 }), (turns) => {
        const messages = historyOf(turns)
        const whole = itemsOf(encoded(messages, target).body)
        for (const [cut, message] of messages.entries()) {
          if (message.role !== 'assistant') continue
          const shorter = itemsOf(encoded(messages.slice(0, cut), target).body)
          assert.deepEqual(whole.slice(0, shorter.length), shorter)
        }
      }),
    )
  })
}

function itemsOf(body: JsonObject): Json[] {
  return Array.isArray(body.input) ? body.input : []
}

test('nothing that a server sends makes the decoder throw', () => {
  const types = fc.constantFrom(
    'response.created',
    'response.output_item.added',
    'response.output_item.done',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.annotation.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.reasoning_summary_text.delta',
    'response.completed',
    'error',
    'toString',
  )
  const chunk = fc.record(
    {
      type: fc.oneof(types, fc.string()),
      output_index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constant(1e12)),
      content_index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constant(1e12)),
      sequence_number: fc.integer({ min: 0, max: 9 }),
      delta: fc.oneof(fc.string(), fc.jsonValue()),
      item: fc.oneof(anyItem, fc.jsonValue()),
      part: fc.jsonValue(),
      response: fc.oneof(fc.jsonValue(), fc.record({ output: fc.array(fc.oneof(anyItem, fc.jsonValue())) })),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 9, arbitrary: chunk }, fc.jsonValue())), (chunks) => {
      const { reply } = decode(chunks)
      for (const part of reply.parts) {
        if ('from' in part && part.from !== undefined) assert.ok(part.from < reply.native.length)
      }
    }),
    { numRuns: runs(500) },
  )
})

test('no body makes the rules throw', () => {
  const body = fc.record(
    {
      model: fc.oneof(fc.constant('gpt-5.5'), fc.jsonValue()),
      input: fc.oneof(fc.array(fc.oneof(anyItem, fc.jsonValue())), fc.jsonValue()),
      tools: fc.jsonValue(),
      tool_choice: fc.jsonValue(),
      text: fc.jsonValue(),
      reasoning: fc.jsonValue(),
      include: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(
      body,
      fc.constantFrom('openai', 'xai', 'deepseek', 'vllm', 'llama.cpp', 'openrouter'),
      (value, provider) => {
        for (const issue of openaiResponses.refuse(value, { provider })) assert.ok(issue.status >= 400)
      },
    ),
  )
})
