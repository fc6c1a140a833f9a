// Tool turns: a reply with calls and all results that answer it. Old ones are most of a long history and the least
// missed, so they are folded first: to a line that names tool, arguments, size and outcome; or only their results; or
// away. What the model said beside the calls always stays. In batches, so that a prompt cache survives in between.

import type { Note } from '../core/context.ts'
import type { Message, Part, Reply, ToolCallPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import type { FoldStyle } from '../settings/policy.ts'
import { estimateMessage, rememberSizes, sizesOf } from './count.ts'
import { prefixes } from './prefix-memo.ts'
import { placesFrom, type View } from './view.ts'

export interface ToolTurn {
  /** Index of the reply. */
  start: number
  /** Index after the last result. */
  end: number
  /** What was made of it when it was last folded. */
  folded?: FoldedTurn
}

/** Below this a fold is not worth the bytes of its stub. */
export const leastSaving = 120

/** In a paired history: all tool turns, oldest first. */
export function findToolTurns(messages: readonly Message[]): readonly ToolTurn[] {
  let turns = found.get(messages)
  if (!turns) {
    turns = lookedFor(messages)
    found.set(messages, turns)
    before.keep(messages, turns)
  }
  return turns
}

const found = new WeakMap<readonly Message[], readonly ToolTurn[]>()
const before = prefixes<readonly ToolTurn[]>()

function lookedFor(messages: readonly Message[]): ToolTurn[] {
  const { shared, value } = before.longest(messages) ?? { shared: 0, value: [] }
  // A turn at the very end may continue.
  const turns = value.slice(0, value.findLastIndex((turn) => turn.end < shared) + 1)
  for (let start = turns.at(-1)?.end ?? 0; start < messages.length;) {
    const message = messages[start]
    let end = start + 1
    if (message?.role === 'assistant' && message.parts.some(isCall)) {
      while (messages[end]?.role === 'tool') end++
      turns.push({ start, end })
    }
    start = end
  }
  return turns
}

function isCall(part: Part): part is ToolCallPart {
  return part.type === 'tool-call'
}

/** How many of the oldest turns to fold: the last `keep` always stay whole, older ones go in batches of `step`. */
export function turnsToFold(total: number, keep: number, step: number): number {
  return Math.max(0, Math.floor((total - keep) / step) * step)
}

/** Batches that cost the least over recorded sessions and all kinds of prices, when three turns stay. */
const usualStep = 5

/** Who wants none to stay wants them gone at once. */
export function stepOf(step: number | undefined, keep: number): number {
  return step ?? (keep === 0 ? 1 : Math.max(usualStep, Math.ceil(keep / 2)))
}

/** The turns that may be folded when the last `keep` stay. Results that the model has not seen yet always stay. */
export function olderTurns(messages: readonly Message[], turns: readonly ToolTurn[], keep: number): ToolTurn[] {
  const open = turns.at(-1)?.end === messages.length ? 1 : 0
  return turns.slice(0, Math.max(0, turns.length - Math.max(keep, open)))
}

/** The tokens that folding a turn takes away. */
export function savingOf(messages: readonly Message[], turn: ToolTurn, style: FoldStyle): number {
  return messages[turn.start]?.role === 'assistant' ? foldedTurn(messages, turn, style).saves : 0
}

interface FoldedTurn {
  style: FoldStyle
  results: readonly Message[]
  kept: readonly KeptMessage[]
  saves: number
}

interface KeptMessage {
  message: Message
  /** Of the message of the turn that it was made of. */
  index: number
  size: number
}

const foldedTurns = new WeakMap<Message, FoldedTurn>()

/** Made once, so that what is written for it can be kept too. */
function foldedTurn(messages: readonly Message[], turn: ToolTurn, style: FoldStyle): FoldedTurn {
  const { start, end } = turn
  if (turn.folded?.style === style) return turn.folded
  const reply = messages[start] as Reply
  const known = foldedTurns.get(reply)
  if (known?.style === style && known.results.length === end - start - 1) {
    if (known.results.every((result, i) => result === messages[start + 1 + i])) return (turn.folded = known)
  }
  const results = messages.slice(start + 1, end) as ToolMessage[]
  const kept = foldTurn(reply, results, style).map((one) => ({ ...one, size: estimateMessage(one.message) }))
  let saves = estimateMessage(reply)
  for (const result of results) saves += estimateMessage(result)
  for (const { size } of kept) saves -= size
  const folded = { style, results, kept, saves }
  foldedTurns.set(reply, folded)
  return (turn.folded = folded)
}

export interface Folding {
  turn: ToolTurn
  style: FoldStyle
  why: string
}

/** Folds the given turns, oldest first, in one pass. Each reason leaves one note, however many turns it folds. */
export function foldToolTurns(view: View, foldings: readonly Folding[]): View {
  if (foldings.length === 0) return view
  const folded: View = { messages: [], places: [], notes: [...view.notes] }
  const whole = sizesOf(view.messages)
  const sizes: number[] = []
  const batches = new Map<string, Folding[]>()
  let batch: Folding[] | undefined
  let next = 0
  for (const folding of foldings) {
    const { turn, style, why } = folding
    copy(next, turn.start)
    for (const { message, index, size } of foldedTurn(view.messages, turn, style).kept) {
      folded.messages.push(message)
      folded.places.push(view.places[turn.start + index] ?? -1)
      sizes.push(size)
    }
    const last = batch?.[0]
    if (last?.style !== style || last.why !== why) {
      const key = `${style} ${why}`
      batch = batches.get(key) ?? []
      batches.set(key, batch)
    }
    batch?.push(folding)
    next = turn.end
  }
  copy(next, view.messages.length)
  for (const some of batches.values()) folded.notes.push(noteFor(view, some))
  rememberSizes(folded.messages, sizes)
  return folded

  function copy(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      folded.messages.push(view.messages[i] as Message)
      folded.places.push(view.places[i] ?? -1)
      sizes.push(whole[i] ?? 0)
    }
  }
}

/** A note for each turn would make the notes of a long conversation longer than what is sent of it. */
function noteFor(view: View, batch: readonly Folding[]): Note {
  const names = new Map<string, number>()
  for (const { turn } of batch) {
    for (const part of view.messages[turn.start]?.parts ?? []) {
      if (part.type === 'tool-call') names.set(part.name, (names.get(part.name) ?? 0) + 1)
    }
  }
  const some = [...names].slice(0, 8).map(([name, count]) => (count > 1 ? `${name} ×${count}` : name))
  const list = `${some.join(', ')}${names.size > some.length ? ', …' : ''}`
  const style = batch[0]?.style ?? 'stub'
  return {
    kind: style === 'remove' ? 'dropped' : 'changed',
    what: `${batch.length} tool ${batch.length === 1 ? 'turn' : 'turns'} (${list})${endings[style]}`,
    why: batch[0]?.why ?? '',
    at: placesFrom(view, batch[0]?.turn.start ?? 0, (batch.at(-1)?.turn.end ?? 1) - 1),
    rule: 'tool-turns',
  }
}

const endings: Record<FoldStyle, string> = {
  stub: ' to one line for each call',
  results: ': results to one line each',
  provider: ': results to one line each, without the thoughts',
  remove: '',
}

function foldTurn(reply: Reply, results: ToolMessage[], style: FoldStyle): Omit<KeptMessage, 'size'>[] {
  if (style === 'results') {
    return [
      { message: reply, index: 0 },
      ...results.map((message, i) => ({ message: withoutOutput(message), index: i + 1 })),
    ]
  }
  if (style === 'provider') {
    const parts = reply.parts.filter((part) => part.type !== 'reasoning')
    return [reply, ...results].map((message, index) => {
      const folded = message.role === 'tool' ? withoutOutput(message) : { ...reply, parts, native: [] }
      originals.set(folded, message)
      return { message: folded, index }
    })
  }
  const said = reply.parts.filter((part) => part.type !== 'tool-call' && part.type !== 'reasoning')
  const kept: Omit<KeptMessage, 'size'>[] = []
  // Its own words hold the calls, so what is left of the reply is told from its parts.
  if (said.length > 0) kept.push({ message: { ...reply, parts: said, native: [] }, index: 0 })
  if (style === 'stub') {
    const outcomes = new Map(results.flatMap((message) => message.parts.map((part) => [part.callId, part])))
    const calls = reply.parts.filter(isCall)
    const text = calls.map((call) => stub(call, outcomes.get(call.callId))).join('\n')
    // The user's side tells it: a model that reads calls as text of its own begins to write such text.
    kept.push({ message: { role: 'user', parts: [{ type: 'text', text }] }, index: 0 })
  }
  return kept
}

const originals = new WeakMap<Message, Message>()

/** The message that was folded for its provider to leave out, as it was. */
export function beforeFold(message: Message): Message | undefined {
  return originals.get(message)
}

function stub(call: ToolCallPart, result: ToolResultPart | undefined): string {
  const input = call.malformed ?? JSON.stringify(call.input)
  return `[Earlier tool use] ${call.name}(${shorten(input, 80)}): ${result ? outcome(result) : 'no result'}`
}

function withoutOutput(message: ToolMessage): ToolMessage {
  return {
    ...message,
    parts: message.parts.map((part) => ({ ...part, output: [{ type: 'text', text: `[Folded] ${outcome(part)}` }] })),
  }
}

function outcome(result: ToolResultPart): string {
  let size = 0
  let media = 0
  for (const part of result.output) {
    if (part.type === 'text') size += part.text.length
    else media++
  }
  return `${result.failed ? 'failed' : 'ok'}, ${size} characters${media > 0 ? `, ${media} media` : ''}`
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`
}
