// Tool turns: a reply with calls and all results that answer it. Old ones are most of a long history and the least
// needed, so they are folded first: to a line that names tool, arguments, size and outcome; or only their results; or
// completely. What the model wrote next to the calls always stays. In batches, so that a prompt cache survives in
// between.

import type { Note } from '../core/context.ts'
import type { Message, Part, Reply, ToolCallPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import type { FoldStyle } from '../settings/policy.ts'
import { estimateMessage, estimateResults, rememberSizes } from './count.ts'
import { foldedCall, foldedResult, resultNumbers } from './fold-text.ts'
import { prefixes } from './prefix-memo.ts'
import { folderFor, type Folder, type Folds } from './still-visible.ts'
import { placesFrom, type View } from './view.ts'

export interface ToolTurn {
  /** Index of the reply. */
  start: number
  /** Index after the last result. */
  end: number
  /** What folding it saves, as last computed. */
  saving?: Saving
}

/** A smaller fold is not worth the bytes of its stub. */
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
  const unsure = value[turns.length]
  for (let start = Math.min(unsure?.start ?? shared, shared); start < messages.length;) {
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

/** The turns that may be folded when the last `keep` stay. Results that the model has not seen yet always stay. */
export function olderTurns(messages: readonly Message[], turns: readonly ToolTurn[], keep: number): ToolTurn[] {
  const open = turns.at(-1)?.end === messages.length ? 1 : 0
  return turns.slice(0, Math.max(0, turns.length - Math.max(keep, open)))
}

/** Whether folding a turn is worth the bytes of its stub. */
export function isWorthFolding(messages: readonly Message[], turn: ToolTurn, style: FoldStyle): boolean {
  return savingOf(messages, turn, style, leastSaving + 1) > leastSaving
}

/**
 * The tokens that folding a turn removes, except for the words that its fold adds. Where it only matters whether they
 * are `enough`, results are counted up to there: most of a long history is folded, and never sent.
 */
export function savingOf(messages: readonly Message[], turn: ToolTurn, style: FoldStyle, enough = Infinity): number {
  const reply = messages[turn.start]
  if (reply?.role !== 'assistant') return 0
  const saving = turn.saving?.style === style ? turn.saving : savingFor(reply, resultsOf(messages, turn), style)
  turn.saving = saving
  if (!saving.isWhole && saving.saves < enough) {
    saving.saves = saving.fixed
    for (const result of saving.results) saving.saves += estimateResults(result, enough - saving.saves)
    saving.isWhole = saving.saves < enough
  }
  return saving.saves
}

interface Saving {
  style: FoldStyle
  results: readonly ToolMessage[]
  /** The tokens of the reply without those of the fold. */
  fixed: number
  /** With those of the results, as far as they were counted. */
  saves: number
  isWhole: boolean
}

function savingFor(reply: Reply, results: readonly ToolMessage[], style: FoldStyle): Saving {
  const known = savings.get(reply)
  const isKnown = known?.style === style && known.results.length === results.length
  if (isKnown && known.results.every((result, i) => result === results[i])) return known
  let fixed = estimateMessage(reply)
  // Every number has the same length.
  const places = [reply, ...results].map(() => 1)
  for (const { message } of foldTurn(reply, results, places, style, () => [])) fixed -= estimateMessage(message)
  const saving: Saving = { style, results, fixed, saves: -Infinity, isWhole: false }
  savings.set(reply, saving)
  return saving
}

function resultsOf(messages: readonly Message[], { start, end }: ToolTurn): ToolMessage[] {
  return messages.slice(start + 1, end) as ToolMessage[]
}

const savings = new WeakMap<Message, Saving>()

interface FoldedMessage {
  message: Message
  /** From the message of the turn that it was made from. */
  index: number
  size: number
}

const folder: Folder<FoldedMessage[]> = {
  fold({ messages, places }, { turn, style }, unsaid) {
    const { start, end } = turn
    const own = places.slice(start, end)
    const saves = (enough: number) => savingOf(messages, turn, style, enough)
    const say: Say = (call, result, text) => unsaid(call, result, text, saves)
    const folded = foldTurn(messages[start] as Reply, resultsOf(messages, turn), own, style, say)
    const original = new Set<Message>(messages.slice(start, end))
    for (const { message } of folded) if (message.role !== 'assistant' && !original.has(message)) folds.add(message)
    return folded.map((one) => ({ ...one, size: estimateMessage(one.message) }))
  },
  turnsIn: findToolTurns,
  isWorthIt: ({ messages }, turn, style) => isWorthFolding(messages, turn, style),
}

const made = folderFor(folder)

/** What each of the given turns becomes. Cached, so that its encoding can be cached too. */
export const foldedTurns: Folds<FoldedMessage[]>['of'] = made.of

/** The same step by step, for many turns. */
export const foldedAhead: Folds<FoldedMessage[]>['ahead'] = made.ahead

const folds = new WeakSet<Message>()

/** Whether a message is the fold of calls or results. */
export function isFold(message: Message): boolean {
  return folds.has(message)
}

/** The words to add to the text of a call that is folded. */
type Say = (call: ToolCallPart, result: ToolResultPart | undefined, text: string) => string[]

export interface Folding {
  turn: ToolTurn
  style: FoldStyle
  why: string
  /** The last position of the history when it was decided. */
  at: number
}

/** Folds the given turns, oldest first, in one pass. Each reason adds one note, however many turns it folds. */
export function foldToolTurns(view: View, foldings: readonly Folding[]): View {
  if (foldings.length === 0) return view
  const turns = foldedTurns(view, foldings)
  // Another policy folds the same messages in another way.
  const before = foldedBefore.longest(view.messages, (made) => made.turns[0] === turns[0])
  const same = before ? sameFolds(before.value, before.shared, view, foldings, turns) : 0
  const known = same > 0 ? before?.value : undefined
  const end = known?.ends[same - 1] ?? 0
  const ends = known?.ends.slice(0, same) ?? []
  const messages = known?.messages.slice(0, end) ?? []
  const places = known?.places.slice(0, end) ?? []
  const sizes = known?.sizes.slice(0, end) ?? []
  let next = foldings[same - 1]?.turn.end ?? 0
  for (let i = same; i < foldings.length; i++) {
    const { turn } = foldings[i] as Folding
    copy(turn.start)
    for (const { message, index, size } of turns[i] as FoldedMessage[]) {
      messages.push(message)
      places.push(view.places[turn.start + index] as number)
      sizes.push(size)
    }
    ends.push(messages.length)
    next = turn.end
  }
  copy(view.messages.length)
  const notes = known?.foldings === foldings ? known.notes : notesFor(view, foldings)
  rememberSizes(messages, sizes)
  foldedBefore.keep(view.messages, { of: view.places, foldings, turns, ends, messages, places, sizes, notes })
  return { messages, places, notes: [...view.notes, ...notes] }

  function copy(to: number): void {
    for (let i = next; i < to; i++) {
      const message = view.messages[i] as Message
      messages.push(message)
      places.push(view.places[i] as number)
      sizes.push(estimateMessage(message))
    }
  }
}

interface FoldedBefore extends View {
  /** The positions before anything was folded. */
  of: readonly number[]
  foldings: readonly Folding[]
  turns: readonly FoldedMessage[][]
  /** How many messages there are after each folded turn. */
  ends: readonly number[]
  /** The tokens of each message. */
  sizes: readonly number[]
}

/** What was made for a view is used for the next one that begins in the same way. */
const foldedBefore = prefixes<FoldedBefore>()

/** How many of the first folds have the same result for a view, of which this many messages are the same. */
function sameFolds(
  before: FoldedBefore,
  shared: number,
  { places }: View,
  foldings: readonly Folding[],
  turns: readonly FoldedMessage[][],
): number {
  let same = 0
  while (
    same < foldings.length &&
    turns[same] === before.turns[same] &&
    foldings[same]?.turn === before.foldings[same]?.turn &&
    (foldings[same]?.turn.end ?? Infinity) <= shared
  )
    same++
  const end = foldings[same - 1]?.turn.end ?? 0
  for (let i = 0; i < end; i++) if (places[i] !== before.of[i]) return 0
  return same
}

function notesFor(view: View, foldings: readonly Folding[]): Note[] {
  const batches = Map.groupBy(foldings, ({ style, why }) => `${style} ${why}`)
  return [...batches.values()].map((some) => noteFor(view, some))
}

/** A note for each turn would make the notes of a long conversation longer than the request. */
function noteFor(view: View, batch: readonly Folding[]): Note {
  const [first, last] = [batch[0] as Folding, batch.at(-1) as Folding]
  const names = new Map<string, number>()
  for (const { turn } of batch) {
    for (const part of (view.messages[turn.start] as Message).parts) {
      if (part.type === 'tool-call') names.set(part.name, (names.get(part.name) ?? 0) + 1)
    }
  }
  const some = [...names].slice(0, 8).map(([name, count]) => (count > 1 ? `${name} ×${count}` : name))
  const list = `${some.join(', ')}${names.size > some.length ? ', …' : ''}`
  const { style, why } = first
  return {
    kind: style === 'remove' ? 'dropped' : 'changed',
    what: `${batch.length} tool ${batch.length === 1 ? 'turn' : 'turns'} (${list})${endings[style]}`,
    why,
    at: placesFrom(view, first.turn.start, last.turn.end - 1),
    rule: 'tool-turns',
  }
}

const endings: Record<FoldStyle, string> = {
  stub: ' to one line for each call',
  results: ': results to one line each',
  provider: ': results to one line each, without the thoughts',
  remove: '',
}

function foldTurn(
  reply: Reply,
  results: readonly ToolMessage[],
  places: readonly number[],
  style: FoldStyle,
  say: Say,
): Omit<FoldedMessage, 'size'>[] {
  const calls = reply.parts.filter(isCall)
  if (style === 'results' || style === 'provider') {
    const byId = new Map(calls.map((call) => [call.callId, call]))
    const numbers = resultNumbers(results, places.slice(1))
    const shortened = results.map((message, i) => {
      const folded = withoutOutput(message, numbers, byId, say)
      if (style === 'provider') originals.set(folded, message)
      return { message: folded, index: i + 1 }
    })
    if (style === 'results') return [{ message: reply, index: 0 }, ...shortened]
    const bare: Reply = { ...reply, parts: reply.parts.filter((part) => part.type !== 'reasoning'), native: [] }
    originals.set(bare, reply)
    return [{ message: bare, index: 0 }, ...shortened]
  }
  const content = reply.parts.filter((part) => part.type !== 'tool-call' && part.type !== 'reasoning')
  const folded: Omit<FoldedMessage, 'size'>[] = []
  // Its native content has the calls, so the rest of the reply is encoded from its parts.
  if (content.length > 0) folded.push({ message: { ...reply, parts: content, native: [] }, index: 0 })
  if (style === 'stub') {
    const found = new Map<string, ToolResultPart>()
    for (const { parts } of results) for (const part of parts) found.set(part.callId, part)
    const numbers = resultNumbers(results, places.slice(1))
    const lines = calls.map((call) => {
      const result = found.get(call.callId)
      const line = foldedCall(call, result, result && numbers.get(result))
      return withWords(line, say(call, result, line))
    })
    // Written as a user message: a model that reads calls as its own text begins to write such text.
    folded.push({ message: { role: 'user', parts: [{ type: 'text', text: lines.join('\n') }] }, index: 0 })
  }
  return folded
}

const originals = new WeakMap<Message, Message>()

/** The original of a message that was folded for its provider to drop. */
export function beforeFold(message: Message): Message | undefined {
  return originals.get(message)
}

function withoutOutput(
  message: ToolMessage,
  numbers: ReadonlyMap<ToolResultPart, string>,
  calls: ReadonlyMap<string, ToolCallPart>,
  say: Say,
): ToolMessage {
  const parts = message.parts.map((part): ToolResultPart => {
    const line = foldedResult(part, numbers.get(part))
    const call = calls.get(part.callId)
    const text = call ? withWords(line, say(call, part, line)) : line
    return { ...part, output: [{ type: 'text', text }] }
  })
  return { ...message, parts }
}

function withWords(line: string, words: readonly string[]): string {
  return words.length === 0 ? line : `${line}; with ${words.join(' ')}`
}
