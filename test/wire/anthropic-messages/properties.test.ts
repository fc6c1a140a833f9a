// What holds for any conversation at all.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { runs } from '../../property.ts'
import { pair } from '../../../src/context/pair.ts'
import { fold } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Part, Reply } from '../../../src/core/message.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import type { Capabilities } from '../../../src/wires/wire.ts'
import { anyHistory, loopHistory } from '../../arbitrary.ts'
import { user } from '../../histories.ts'
import { encode } from './asking.ts'

const models: { model: string; capabilities: Partial<Capabilities> }[] = [
  { model: 'claude-haiku-4-5', capabilities: { prefill: true, thinking: ['enabled', 'disabled'], sampling: true } },
  { model: 'claude-opus-4-6', capabilities: { thinking: ['adaptive', 'enabled', 'disabled'] } },
  { model: 'claude-opus-5', capabilities: { midSystem: true } },
  {
    model: 'claude-opus-5-5',
    capabilities: { midSystem: true, boundReasoning: true, thinking: ['adaptive'], forcedTool: false },
  },
]
const anyAsking = fc.record({
  target: fc.constantFrom(...models),
  effort: fc.constantFrom(undefined, 'none' as const, 'low' as const, 'high' as const),
  toolChoice: fc.constantFrom(undefined, 'required' as const, 'none' as const),
  native: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  tools: fc.boolean(),
})

/** Some replies as this API would have given them, thinking and all. */
function withNative(messages: Message[], native: boolean[], endings: typeof oddEndings = []): Message[] {
  return messages.map((message, index) => {
    if (message.role !== 'assistant' || !native[index % native.length]) return message
    const whole = anthropicMessages.whole(message, emulated(index)) as { content: Json[] }
    const origin = { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-6' }
    const decoder = anthropicMessages.decoder(origin, { callId: (n) => callIdOf(message, n) })
    // Server tools without a result, unknown blocks and pauses come from this API alone.
    const odd = endings[index % 7]
    const content = [...whole.content, ...(odd?.content ?? [])]
    const ending =
      odd && !whole.content.some((block) => (block as JsonObject).type === 'tool_use') ? odd.stop_reason : undefined
    const chunks = anthropicMessages.split({ ...whole, content, ...(ending && { stop_reason: ending }) })
    return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin).reply
  })
}

const openSearch = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
const oddEndings: { content: JsonObject[]; stop_reason: string }[] = [
  { content: [openSearch], stop_reason: 'pause_turn' },
  { content: [{ ...openSearch, id: 'srvtoolu_2' }], stop_reason: 'end_turn' },
  { content: [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }], stop_reason: 'end_turn' },
  { content: [{ type: 'thinking', thinking: 'more', signature: 'c2ln' }], stop_reason: 'max_tokens' },
]

function callIdOf(reply: Reply, position: number): string {
  const calls = reply.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
  return calls[position] ?? ''
}

function emulated(n: number) {
  const usage = { input: 30, output: 10, cacheRead: 5, cacheWrite: 5, reasoning: 0 }
  return { model: 'claude-opus-4-6', replyId: `msg_${n}`, createdAt: 0, usage }
}

test('no body is refused, whatever the history was', () => {
  fc.assert(
    fc.property(anyHistory, anyAsking, (history, { target, effort, toolChoice, native, tools }) => {
      const { messages, places } = pair(withNative(history, native, oddEndings))
      const { body } = encode(messages, {
        ...target,
        places,
        cacheAfter: [-1, 0, 1, 2, 3, 4],
        tools: tools ? [{ name: 'clock', input: { type: 'object' } }] : [],
        options: { ...(effort && { effort }), ...(toolChoice && { toolChoice }) },
      })
      assert.deepEqual(
        anthropicMessages.refuse(JSON.parse(JSON.stringify(body)) as Json),
        [],
        JSON.stringify(body.messages),
      )
    }),
    { numRuns: runs(500) },
  )
})

test('the same history gives the same bytes, and a longer one keeps the prefix', () => {
  fc.assert(
    fc.property(loopHistory, anyAsking, (history, { target, native }) => {
      const messages = withNative(history, native)
      const whole = encode(messages, target).body
      assert.equal(JSON.stringify(encode(messages, target).body), JSON.stringify(whole))
      const all = blocks(whole)
      for (const [cut, message] of messages.entries()) {
        if (message.role !== 'assistant' || cut === 0) continue
        const short = blocks(encode(messages.slice(0, cut), target).body)
        const added = short.at(-1) === JSON.stringify(['user', { type: 'text', text: 'Continue.' }])
        const kept = added ? short.slice(0, -1) : short
        assert.deepEqual(kept.map(trimmed), all.slice(0, kept.length).map(trimmed))
      }
    }),
    { numRuns: runs(200) },
  )
})

/** The last block of a prefix may have lost white space where prefill is taken. */
function trimmed(block: string, index: number, all: string[]): string {
  return index === all.length - 1 ? block.replace(/(\\[nrt]|\s)+(?="\}\]$)/, '') : block
}

function blocks(body: JsonObject): string[] {
  const messages = body.messages as { role: string; content: Json[] }[]
  return messages.flatMap(({ role, content }) => content.map((block) => JSON.stringify([role, block])))
}

test('every text, argument and result of the log is in the body or in a note', () => {
  fc.assert(
    fc.property(loopHistory, (history) => {
      const { body, notes } = encode(history)
      const sent = JSON.stringify(body)
      for (const [index, message] of history.entries()) {
        for (const part of message.parts) {
          const text = wordsOf(part)
          if (text === '' || sent.includes(JSON.stringify(text).slice(1, -1))) continue
          const noted = notes.some(({ at }) => at === `messages[${index}]`)
          assert.ok(noted, `${part.type} ${JSON.stringify(text)} of message ${index} in ${sent}`)
        }
      }
    }),
    { numRuns: runs(200) },
  )
})

function wordsOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return part.text
    case 'tool-result':
      return part.output.flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])).join('\n')
    default:
      return ''
  }
}

const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 1 }), {
  maxKeys: 3,
  noNullPrototype: true,
})
const carried: fc.Arbitrary<Part> = fc.oneof(
  text.map((words): Part => ({ type: 'text', text: words })),
  text.map((words): Part => ({ type: 'reasoning', text: words })),
  fc.constant<Part>({ type: 'reasoning', text: '', hidden: true }),
  fc.record({ name: fc.constantFrom('clock', 'add'), given: input }).map(({ name, given }): Part => ({
    type: 'tool-call',
    callId: '',
    name,
    input: JSON.parse(JSON.stringify(given)) as Json,
  })),
  fc.constantFrom<Part>(
    { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
    { type: 'server-tool', name: 'web_search', input: {} },
    { type: 'compaction', text: 'before' },
    { type: 'opaque', kind: 'anthropic-messages/hologram', data: { type: 'hologram', depth: 3 } },
  ),
)

test('a reply that is emulated, cut into pieces and read again is the same reply', () => {
  fc.assert(
    fc.property(
      fc.array(carried, { maxLength: 5 }),
      fc.constantFrom('done', 'length', 'paused'),
      fc.integer({ min: 1, max: 40 }),
      (given, ended, piece) => {
        const parts = given.map((part, i): Part =>
          part.type === 'tool-call' ? { ...part, callId: `call-${i}` } : part,
        )
        const calls = parts.some((part) => part.type === 'tool-call')
        const reason = ended === 'done' && calls ? 'tool-calls' : ended
        const reply: Reply = {
          role: 'assistant',
          parts,
          native: [],
          origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
          stop: { reason },
        }
        const origin = { protocol: 'anthropic-messages', provider: 'anthropic', model: 'm' }
        const whole = anthropicMessages.whole(reply, emulated(1))
        const decoder = anthropicMessages.decoder(origin)
        const chunks = anthropicMessages.split(whole, piece)
        const again = fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
        assert.deepEqual(again.reply.parts.map(plain), parts.map(plain))
        assert.equal(again.reply.stop.reason, reason)
        assert.deepEqual(again.reply.native, (whole as JsonObject).content)
        assert.equal(again.usage?.input, 30)
        assert.ok(longest(chunks) <= piece)
      },
    ),
    { numRuns: runs(500) },
  )
})

function plain(part: Part): Json {
  const { from: _, alias: __, ...rest } = part as Part & { from?: number; alias?: string }
  return rest as Json
}

/** The longest piece of text in a delta, in characters as the cutting counts them. */
function longest(chunks: readonly Json[]): number {
  return Math.max(
    0,
    ...chunks.flatMap((chunk) => {
      const delta = (chunk as { delta?: JsonObject }).delta ?? {}
      const piece = delta.text ?? delta.thinking ?? delta.partial_json
      return typeof piece === 'string' ? [piece.length] : []
    }),
  )
}

test('a native reply of this API is emulated unchanged', () => {
  const native = [{ type: 'text', text: 'Hi', citations: null }, { type: 'hologram' }]
  const reply: Reply = {
    role: 'assistant',
    parts: [],
    native,
    origin: { protocol: 'anthropic-messages', provider: 'anthropic', model: 'm' },
    stop: { reason: 'done', raw: 'stop_sequence' },
  }
  const whole = anthropicMessages.whole(reply, emulated(1)) as JsonObject
  assert.deepEqual(whole.content, native)
  assert.equal(whole.stop_reason, 'stop_sequence')
  assert.deepEqual(whole.usage, {
    input_tokens: 20,
    cache_creation_input_tokens: 5,
    cache_read_input_tokens: 5,
    output_tokens: 10,
  })
})

test('a refusal is reported outside the content, and read back from there', () => {
  const reply: Reply = {
    role: 'assistant',
    parts: [{ type: 'refusal', text: 'No.' }],
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
    stop: { reason: 'refusal' },
  }
  const whole = anthropicMessages.whole(reply, emulated(1)) as JsonObject
  assert.deepEqual(whole.content, [])
  assert.deepEqual(whole.stop_details, { type: 'refusal', category: null, explanation: 'No.' })
  assert.deepEqual(encode([user('x'), reply, user('y')]).body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'x' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'No.' }] },
    { role: 'user', content: [{ type: 'text', text: 'y' }] },
  ])
})
