// Tool turns: a reply with calls and all results that answer it. Old ones are most of a long history and the least
// missed, so they are folded first: to a line that names tool, arguments, size and outcome; or only their results; or
// away. What the model said beside the calls always stays. In batches, so that a prompt cache survives in between.

import type { Note } from '../core/context.ts'
import {
  callsOf,
  type Message,
  type Reply,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
} from '../core/message.ts'
import { estimateMessage } from './count.ts'
import { placesFrom, type View } from './view.ts'

export interface ToolTurn {
  /** Index of the reply. */
  start: number
  /** Index behind the last result. */
  end: number
}

export type FoldStyle = 'stub' | 'results' | 'remove'

/** Below this a fold is not worth the bytes of its stub. */
export const leastSaving = 120

/** In a paired history: all tool turns, oldest first. */
export function findToolTurns(messages: readonly Message[]): ToolTurn[] {
  const turns: ToolTurn[] = []
  for (let start = 0; start < messages.length;) {
    const message = messages[start]
    let end = start + 1
    if (message?.role === 'assistant' && message.parts.some((part) => part.type === 'tool-call')) {
      while (messages[end]?.role === 'tool') end++
      turns.push({ start, end })
    }
    start = end
  }
  return turns
}

/** How many of the oldest turns to fold: the last `keep` always stay whole, older ones go in batches of `step`. */
export function turnsToFold(total: number, keep: number, step: number): number {
  return Math.max(0, Math.floor((total - keep) / step) * step)
}

export function stepOf(step: number | undefined, keep: number): number {
  return step ?? Math.max(1, Math.ceil(keep / 2))
}

/** The turns that may be folded when the last `keep` stay. Results that the model has not seen yet always stay. */
export function olderTurns(messages: readonly Message[], turns: readonly ToolTurn[], keep: number): ToolTurn[] {
  const open = turns.at(-1)?.end === messages.length ? 1 : 0
  return turns.slice(0, Math.max(0, turns.length - Math.max(keep, open)))
}

/** The tokens that folding a turn takes away. */
export function savingOf(messages: readonly Message[], turn: ToolTurn, style: FoldStyle): number {
  const reply = messages[turn.start]
  if (reply?.role !== 'assistant') return 0
  const saved = savings.get(reply)
  if (saved?.style === style && saved.first === messages[turn.start + 1]) return saved.tokens
  let tokens = 0
  for (let i = turn.start; i < turn.end; i++) tokens += estimateMessage(messages[i] as Message)
  const results = messages.slice(turn.start + 1, turn.end) as ToolMessage[]
  for (const { message } of foldTurn(reply, results, style)) tokens -= estimateMessage(message)
  savings.set(reply, { style, first: messages[turn.start + 1], tokens })
  return tokens
}

const savings = new WeakMap<Reply, { style: FoldStyle; first: Message | undefined; tokens: number }>()

export interface Folding {
  turn: ToolTurn
  style: FoldStyle
  why: string
}

/** Folds the given turns, oldest first, in one pass. Each reason leaves one note, however many turns it folds. */
export function foldToolTurns(view: View, foldings: readonly Folding[]): View {
  if (foldings.length === 0) return view
  const folded: View = { messages: [], places: [], notes: [...view.notes] }
  const batches = new Map<string, Folding[]>()
  let next = 0
  for (const folding of foldings) {
    const { turn, style, why } = folding
    copy(next, turn.start)
    const reply = view.messages[turn.start] as Reply
    const results = view.messages.slice(turn.start + 1, turn.end) as ToolMessage[]
    for (const { message, index } of foldTurn(reply, results, style)) {
      folded.messages.push(message)
      folded.places.push(view.places[turn.start + index] ?? -1)
    }
    const key = `${style} ${why}`
    const batch = batches.get(key)
    if (batch) batch.push(folding)
    else batches.set(key, [folding])
    next = turn.end
  }
  copy(next, view.messages.length)
  for (const batch of batches.values()) folded.notes.push(noteFor(view, batch))
  return folded

  function copy(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      folded.messages.push(view.messages[i] as Message)
      folded.places.push(view.places[i] ?? -1)
    }
  }
}

/** A note for each turn would make the notes of a long conversation longer than what is sent of it. */
function noteFor(view: View, batch: readonly Folding[]): Note {
  const names = new Map<string, number>()
  for (const { turn } of batch) {
    for (const { name } of callsOf(view.messages[turn.start] as Reply)) names.set(name, (names.get(name) ?? 0) + 1)
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
  remove: '',
}

function foldTurn(reply: Reply, results: ToolMessage[], style: FoldStyle): { message: Message; index: number }[] {
  if (style === 'results') {
    return [
      { message: reply, index: 0 },
      ...results.map((message, i) => ({ message: withoutOutput(message), index: i + 1 })),
    ]
  }
  const said = reply.parts.filter((part) => part.type !== 'tool-call' && part.type !== 'reasoning')
  const kept: { message: Message; index: number }[] = []
  // Its own words hold the calls, so what is left of the reply is told from its parts.
  if (said.length > 0) kept.push({ message: { ...reply, parts: said, native: [] }, index: 0 })
  if (style === 'stub') {
    const outcomes = new Map(results.flatMap((message) => message.parts.map((part) => [part.callId, part])))
    const calls = reply.parts.filter((part) => part.type === 'tool-call')
    const text = calls.map((call) => stub(call, outcomes.get(call.callId))).join('\n')
    // The user's side tells it: a model that reads calls as text of its own begins to write such text.
    kept.push({ message: { role: 'user', parts: [{ type: 'text', text }] }, index: 0 })
  }
  return kept
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
