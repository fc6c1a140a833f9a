// Decisions about what is sent, made once and stored next to the log. Everything that depends on the clock, on prices
// or on a provider's answer is decided here and nowhere else; the view is then a function of the history and its
// decisions (P4).
//
// Positions are positions in the history, so that a decision means the same whatever else is left out.

import { isObject, type Json } from '../core/json.ts'
import { beginsWith } from '../core/lists.ts'
import type { Message, Reply } from '../core/message.ts'
import type { FoldStyle } from '../settings/policy.ts'
import { withoutRefused } from './refused.ts'
import { prefixes } from './prefix-memo.ts'
import { findToolTurns, foldToolTurns, isWorthFolding, type Folding } from './tool-turns.ts'
import { placesFrom, type View } from './view.ts'
import { cutView } from './window.ts'

export interface Decisions {
  folds: FoldDecision[]
  /** Turns whose fold was undone: they are not folded again. */
  unfolded?: readonly Stretch[]
  /** Everything before this position is left out, except the first user message. */
  cut?: { before: number; why: string }
  /** The last one that the target can read applies. */
  compactions: CompactionDecision[]
  /** Replies that are encoded from their parts, because their provider refused its own content. */
  plain: PlainDecision[]
  /** Fields of its own replies that a provider has refused. */
  refused?: readonly RefusedField[]
}

export interface RefusedField {
  provider: string
  model: string
  field: string
}

interface Stretch {
  /** The replies of the first and the last turn. */
  from: number
  through: number
}

export interface FoldDecision extends Stretch {
  style: FoldStyle
  why: string
  /** The last position of the history when it was decided; without it each turn counts as folded when it ended. */
  at?: number
  /** The provider's cache had nothing of the view at the time. */
  cold?: boolean
}

export interface CompactionDecision {
  /** The last message that the summary replaces. */
  through: number
  /** The summary as text, which can be sent to any provider. */
  text?: string
  /** The provider's own, which only it can read. */
  native?: NativeSummary
}

export interface NativeSummary {
  provider: string
  protocol: string
  model: string
  /** `reply`: these are sent as a reply of the provider; `input`: with the user message. */
  as: 'reply' | 'input'
  /** None: they are in the following reply. */
  items: Json[]
}

interface PlainDecision {
  through: number
  provider: string
  protocol: string
}

export interface Reader {
  provider: string
  protocol: string
  model: string
}

export const noDecisions: Decisions = { folds: [], compactions: [], plain: [] }

/** What replaces the beginning of the history, and replies written from their parts: before anything is folded. */
export function applyRewrites(view: View, decisions: Decisions, reader: Reader): View {
  const plain = applyPlain(withoutRefused(view, decisions.refused ?? [], reader), decisions.plain)
  return applyCompaction(plain, decisions.compactions, reader)
}

/** Folds and the cut. */
export function applyCuts(view: View, decisions: Decisions): View {
  const { cut } = decisions
  const next = foldToolTurns(view, foldingsIn(view, decisions))
  return cut ? cutView(next, cutStart(next, cut.before), cut.why) : next
}

/** The index for a cut before a position. Results may be elsewhere than in the log, and stay with their call. */
export function cutStart({ messages, places }: View, before: number): number {
  return Math.max(
    0,
    messages.findIndex((message, index) => message.role !== 'tool' && (places[index] as number) >= before),
  )
}

/**
 * The turns of a view that folds cover and that are worth folding, oldest first; the first fold that covers a turn
 * applies. For a view that continues another one it is the same list, so that what was made for it is found again.
 */
export function foldingsIn(view: View, decisions: Pick<Decisions, 'folds' | 'unfolded'>): readonly Folding[] {
  const { folds, unfolded } = decisions
  if (folds.length === 0) return []
  const known = lastFoldings.get(view)
  if (known?.folds === folds && known.unfolded === unfolded) return known.foldings
  const decided = JSON.stringify([folds, unfolded])
  const before = foldingsOfPrefix.longest(view.messages)
  const hasAll = before && before.shared === before.value.places.length
  const isSame = hasAll && before.value.decided === decided && isContinued(before.value.places, view, folds)
  const foldings = isSame ? before.value.foldings : coveredTurns(view, decisions)
  lastFoldings.set(view, { folds, unfolded, foldings })
  foldingsOfPrefix.keep(view.messages, { decided, places: view.places, foldings })
  return foldings
}

interface Covered {
  decided: string
  places: readonly number[]
  foldings: readonly Folding[]
}

/** The last ones for a view: a plan needs them several times. */
const lastFoldings = new WeakMap<
  View,
  Pick<Decisions, 'folds'> & { unfolded: Decisions['unfolded']; foldings: readonly Folding[] }
>()
const foldingsOfPrefix = prefixes<Covered>()

/** Whether no fold concerns what a view adds to an earlier one, of these positions, with which it begins. */
function isContinued(before: readonly number[], { messages, places }: View, folds: readonly FoldDecision[]): boolean {
  if (!beginsWith(places, before)) return false
  const turns = findToolTurns(messages)
  // A turn at the very end may continue.
  const open = turns[turns.findLastIndex(({ end }) => end < before.length) + 1]
  const from = open ? (places[open.start] as number) : Infinity
  const next = places[before.length] ?? Infinity
  return folds.every(({ through, at = -1 }) => through < from && at < next)
}

function coveredTurns(view: View, { folds, unfolded }: Pick<Decisions, 'folds' | 'unfolded'>): Folding[] {
  const ranges = folds.toSorted((a, b) => a.from - b.from)
  const foldings: Folding[] = []
  let at = 0
  for (const turn of findToolTurns(view.messages)) {
    const place = view.places[turn.start] as number
    while (at < ranges.length && (ranges[at] as FoldDecision).through < place) at++
    const fold = ranges[at]
    if (!fold || place < fold.from || isUnfolded(place, unfolded)) continue
    if (!isWorthFolding(view.messages, turn, fold.style)) continue
    const decidedAt = fold.at ?? view.places[turn.end - 1] ?? place
    foldings.push({ turn, style: fold.style, why: fold.why, at: decidedAt })
  }
  return foldings
}

export function isUnfolded(place: number, unfolded: readonly Stretch[] = []): boolean {
  return unfolded.some(({ from, through }) => place >= from && place <= through)
}

/** The compaction that applies to a reader. */
export function compactionFor(
  compactions: readonly CompactionDecision[],
  reader: Reader,
): CompactionDecision | undefined {
  return compactions.findLast(({ text, native }) => text !== undefined || isReadable(native, reader))
}

function isReadable(native: NativeSummary | undefined, reader: Reader): native is NativeSummary {
  if (!native || native.provider !== reader.provider || native.protocol !== reader.protocol) return false
  return native.model === reader.model
}

function applyCompaction(view: View, compactions: readonly CompactionDecision[], reader: Reader): View {
  const compaction = compactionFor(compactions, reader)
  if (!compaction) return view
  let start = view.places.findLastIndex((place) => place >= 0 && place <= compaction.through) + 1
  if (start === 0) return view
  while (view.messages[start]?.role === 'tool') start++
  const summary = isReadable(compaction.native, reader)
    ? nativeMessage(compaction.native, compaction.text)
    : [summaryMessage(compaction.text ?? '', view.messages[start])]
  return {
    messages: [...summary, ...view.messages.slice(start)],
    places: [...summary.map(() => -1), ...view.places.slice(start)],
    notes: [
      ...view.notes,
      {
        kind: 'changed',
        what: `${start} ${start === 1 ? 'message' : 'messages'} to a summary`,
        why: 'the conversation was compacted up to here',
        at: placesFrom(view, 0, start - 1),
        rule: 'compaction',
      },
    ],
  }
}

/** The same message for the same summary: cached results for a view that begins with it are found again. */
function summaryMessage(text: string, next: Message | undefined): Message {
  const known = next && summaries.get(next)
  if (known?.text === text) return known.message
  const message: Message = { role: 'user', parts: [{ type: 'compaction', text }] }
  if (next) summaries.set(next, { text, message })
  return message
}

/** By the message after the summary. */
const summaries = new WeakMap<Message, { text: string; message: Message }>()

/** None if the summary opens the following reply. */
function nativeMessage(native: NativeSummary, text: string | undefined): [Message] | [] {
  const { provider, protocol, model, items } = native
  if (items.length === 0) return []
  if (native.as === 'input') {
    const parts = items.map((data) => ({ type: 'opaque' as const, kind: `${protocol}/${typeOf(data)}`, data }))
    return [{ role: 'user', parts }]
  }
  const reply: Reply = {
    role: 'assistant',
    parts: [{ type: 'compaction', from: 0, ...(text !== undefined && { text }) }],
    native: items,
    origin: { provider, protocol, model },
    stop: { reason: 'done' },
  }
  return [reply]
}

function typeOf(item: Json): string {
  const type = isObject(item) ? item.type : undefined
  return typeof type === 'string' ? type : 'item'
}

const plainReplies = new WeakMap<Reply, Reply>()

function withoutNative(reply: Reply): Reply {
  let plain = plainReplies.get(reply)
  if (!plain) plainReplies.set(reply, (plain = { ...reply, native: [] }))
  return plain
}

function applyPlain(view: View, decisions: readonly PlainDecision[]): View {
  if (decisions.length === 0) return view
  let first = -1
  let last = -1
  const messages = view.messages.map((message, index) => {
    const place = view.places[index] as number
    if (message.role !== 'assistant' || message.native.length === 0) return message
    const { provider, protocol } = message.origin
    const isDropped = decisions.some(
      (decision) =>
        place >= 0 && place <= decision.through && decision.provider === provider && decision.protocol === protocol,
    )
    if (!isDropped) return message
    if (first < 0) first = index
    last = index
    return withoutNative(message)
  })
  if (first < 0) return view
  const why = 'the provider refused its own reply'
  const what = 'replies to their parts, without provider data'
  return {
    ...view,
    messages,
    notes: [...view.notes, { kind: 'changed', what, why, at: placesFrom(view, first, last), rule: 'plain' }],
  }
}
