// The writers of streams against the writers of whole replies: whatever order a reply comes in, what a client reads of
// its stream is what it would have read at once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import { fold } from '../../src/core/fold.ts'
import type { Json } from '../../src/core/json.ts'
import type { Origin, Part, Reply, Stop } from '../../src/core/message.ts'
import type { Usage } from '../../src/core/usage.ts'
import { writer as messagesWriter } from '../../src/wires/anthropic-messages/write-stream.ts'
import { writer as cohereWriter } from '../../src/wires/cohere-chat/write-stream.ts'
import { writer as geminiWriter } from '../../src/wires/gemini-generate/write-stream.ts'
import { writer as interactionsWriter } from '../../src/wires/gemini-interactions/write-stream.ts'
import { writer as mistralWriter } from '../../src/wires/mistral-chat/write-stream.ts'
import { writer as ollamaWriter } from '../../src/wires/ollama-chat/write-stream.ts'
import { loadWire } from '../../src/wires/list.ts'
import { writer as chatWriter } from '../../src/wires/openai-chat/write-stream.ts'
import { writer as responsesWriter } from '../../src/wires/openai-responses/write-stream.ts'

const writers = {
  'openai-chat': chatWriter,
  'openai-responses': responsesWriter,
  'anthropic-messages': messagesWriter,
  'gemini-generate': geminiWriter,
  'gemini-interactions': interactionsWriter,
  'mistral-chat': mistralWriter,
  'ollama-chat': ollamaWriter,
  'cohere-chat': cohereWriter,
}
const origin: Origin = { protocol: 'other', provider: 'other', model: 'other' }
const usage: Usage = { input: 120, output: 30, cacheRead: 100, cacheWrite: 0, reasoning: 10 }
const profile = { model: 'some-model', replyId: 'reply_1', createdAt: 1_760_000_000 }

const reasoning: Part = { type: 'reasoning', text: 'First I look, then I say it.' }
const text: Part = { type: 'text', text: 'It is noon.\n\n漢字 🙂 "quoted"' }
const call = (callId: string, input: Json): Part => ({ type: 'tool-call', callId, name: 'clock', input })

const replies: Record<string, { parts: Part[]; stop: Stop }> = {
  'a text': { parts: [text], stop: { reason: 'done' } },
  'reasoning and text': { parts: [reasoning, text], stop: { reason: 'done' } },
  'two texts': { parts: [text, { type: 'text', text: 'And more.' }], stop: { reason: 'length' } },
  'two calls': { parts: [text, call('call_a', { zone: 'UTC' }), call('call_b', {})], stop: { reason: 'tool-calls' } },
  'a call and a text after it': {
    parts: [call('call_a', { a: [1, { b: null }] }), text],
    stop: { reason: 'tool-calls' },
  },
  'a call of a free-form tool': {
    parts: [{ type: 'tool-call', callId: 'call_a', name: 'sh', kind: 'free-form', input: { input: 'ls "a"\n漢🙂' } }],
    stop: { reason: 'tool-calls' },
  },
  'a stop sequence': { parts: [text], stop: { reason: 'done', sequence: 'END' } },
  nothing: { parts: [], stop: { reason: 'done' } },
}

/**
 * The events of a reply in pieces of some characters; `mixed`: the parts at the same time, the last one first at its end,
 * and reasoning, which comes first, ends after all others.
 */
function eventsOf({ parts, stop }: { parts: Part[]; stop: Stop }, piece: number, mixed: boolean): ReplyEvent[] {
  const of = parts.map((part, index): ReplyEvent[] => {
    const whole = 'text' in part ? (part.text ?? '') : JSON.stringify('input' in part ? part.input : '')
    const start = 'text' in part ? { ...part, text: '' } : { ...part, input: {} }
    const deltas: ReplyEvent[] = []
    for (let at = 0; at < whole.length; at += piece) {
      deltas.push({ type: 'part-delta', index, text: whole.slice(at, at + piece) })
    }
    return [{ type: 'part-start', index, part: start as Part }, ...deltas, { type: 'part-end', index, part }]
  })
  const isThought = (_: ReplyEvent[], i: number): boolean => parts[i]?.type === 'reasoning'
  const thoughts = of.filter(isThought)
  const others = of.filter((events, i) => !isThought(events, i))
  const together = [
    ...thoughts.flatMap((events) => events.slice(0, -1)),
    ...others.flatMap((events) => events.slice(0, 1)),
    ...others.toReversed().flatMap((events) => events.slice(1)),
    ...thoughts.flatMap((events) => events.slice(-1)),
  ]
  const inside = mixed ? together : of.flat()
  return [{ type: 'reply-start', origin }, ...inside, { type: 'reply-end', origin, stop, native: [], usage }]
}

/** What a client has read, as far as it is the same in both forms. */
function read(events: Iterable<ReplyEvent>, protocol: string) {
  const { reply, usage: counted, failure } = fold(events, { ...origin, protocol })
  const parts = reply.parts.map(({ from: _from, ...part }: Part & { from?: number }) => part)
  return { parts, stop: reply.stop, counted, failure }
}

describe('a reply in pieces is the same as the whole reply', () => {
  for (const [id, write] of Object.entries(writers)) {
    for (const [name, given] of Object.entries(replies)) {
      for (const [piece, mixed] of [
        [1, false],
        [7, true],
        [1000, false],
      ] as const) {
        test(`${id}: ${name}, ${piece} characters each${mixed ? ', mixed' : ''}`, async () => {
          const wire = await loadWire(id)
          const decode = (chunks: readonly Json[]) => {
            const decoder = wire.decoder({ ...origin, protocol: id })
            return read([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], id)
          }
          const writer = write({ ...profile, inputTokens: 120, includeUsage: true })
          const chunks = eventsOf(given, piece, mixed).flatMap((event) => writer.push(event))
          const written = decode([...chunks, ...writer.end()])
          const reply: Reply = { role: 'assistant', ...given, native: [], origin }
          const whole = decode(wire.split(wire.whole(reply, { ...profile, usage })))
          assert.deepEqual(joined(written, id), joined(whole, id))
        })
      }
    }
  }
})

/** Neighbouring texts are one on wires that have no borders between them. */
function joined(given: ReturnType<typeof read>, protocol: string): unknown {
  const parts: Part[] = []
  for (const part of given.parts as Part[]) {
    const last = parts.at(-1)
    if (part.type === 'text' && part.text === '') continue
    if (part.type === 'text' && last?.type === 'text') last.text += part.text
    else parts.push({ ...part })
  }
  // A chat message has a text and calls, and no order between them.
  const isCall = ({ type }: Part) => Number(type === 'tool-call')
  return { ...given, parts: protocol.endsWith('-chat') ? parts.toSorted((a, b) => isCall(a) - isCall(b)) : parts }
}

test('what is sent first can be read first', () => {
  const events = eventsOf(replies['reasoning and text'] ?? { parts: [], stop: { reason: 'done' } }, 4, false)
  for (const write of Object.values(writers)) {
    const writer = write({ ...profile, inputTokens: 1 })
    const counts = events.map((event) => writer.push(event).length)
    const deltas = events.flatMap((event, i) => (event.type === 'part-delta' ? [counts[i]] : []))
    assert.ok(deltas.every((count) => count !== undefined && count > 0))
  }
})
