// Which specific words a fold must include: those that appear nowhere in what stays visible. Visible means visible when
// the fold was decided, never later, so that the text of a fold does not change as the conversation continues (P4). A
// word that appears only in a turn that stays for now is included in that turn's own fold, later.
//
// Folds are processed in the order in which they were decided, and the visible words are cached for the next request:
// nearly always it has the same folds, or one more at the end. On another branch only what comes after the fork is
// processed again.

import type { Message, ToolCallPart, ToolResultPart } from '../core/message.ts'
import type { FoldStyle } from '../settings/policy.ts'
import { chosenWords, wordsOfInput, type Saves } from './fold-text.ts'
import { sharedBy } from './prefix-memo.ts'
import { specificWords } from './specific-words.ts'
import type { Folding, ToolTurn } from './tool-turns.ts'
import type { View } from './view.ts'

/** The words of a call and its result that should be added to a text, given what folding their turn saves. */
type Unsaid = (call: ToolCallPart, result: ToolResultPart | undefined, text: string, saves: Saves) => string[]

export interface Folder<T> {
  fold(view: View, folding: Folding, unsaid: Unsaid): T
  turnsIn(messages: readonly Message[]): readonly ToolTurn[]
  /** A turn that is not worth folding stays visible, whatever is decided. */
  isWorthIt(view: View, turn: ToolTurn, style: FoldStyle): boolean
}

/** How far the folds of a history were processed. */
interface Progress<T> {
  messages: readonly Message[]
  /** In the order in which they were decided. */
  ordered: readonly Folding[]
  /** The first ones of these. */
  done: Folding[]
  folded: T[]
  /** Words of what is always sent, and of the folds. */
  visible: Set<string>
  /** One for each point at which folds were decided: a history that diverges from this one returns to the point before. */
  batches: Batch[]
}

interface Batch {
  at: number
  /** How many folds are done with it. */
  end: number
  /** The messages before this index were read, and this many turns. */
  next: number
  turns: number
  /** Its folds depend on the messages before this index. */
  read: number
  /** Complete turns before `next` that may be folded later. */
  standing: readonly ToolTurn[]
  /** The words that it made visible. */
  words: readonly string[]
}

const nothing: Batch = { at: -1, end: 0, next: 0, turns: 0, read: 0, standing: [], words: [] }

/** How many histories that begin with the same message are cached: two branches, or two policies. */
const remembered = 2

export interface Folds<T> {
  /** The fold of each turn, in the given order. */
  of(view: View, foldings: readonly Folding[]): T[]
  /** Makes the folds of a long history that has none yet, step by step, so that `of` has little left to do. */
  ahead(view: View, foldings: readonly Folding[]): Generator<undefined, void, void>
}

export function folderFor<T>(folder: Folder<T>): Folds<T> {
  const known = new WeakMap<Message, Progress<T>[]>()

  function keep(first: Message, progress: Progress<T>): void {
    const before = known.get(first) ?? []
    if (!before.includes(progress)) known.set(first, [progress, ...before].slice(0, remembered))
  }

  return {
    of(view, foldings) {
      const [first] = view.messages
      if (!first || foldings.length === 0) return []
      const ordered = asDecided(foldings)
      const { progress, batches } = nearest(known.get(first) ?? [], view, ordered) ?? {
        progress: fresh<T>(),
        batches: 0,
      }
      keep(first, progress)
      if ((progress.batches[batches - 1]?.end ?? 0) < ordered.length) {
        goBack(progress, batches)
        for (const _ of proceed(folder, progress, view, ordered));
      }
      if (ordered === foldings) return progress.folded.slice(0, ordered.length)
      const byStart = new Map<number, T>()
      for (let i = 0; i < ordered.length; i++) byStart.set(ordered[i]?.turn.start ?? -1, progress.folded[i] as T)
      return foldings.map((folding) => byStart.get(folding.turn.start) as T)
    },

    *ahead(view, foldings) {
      const [first] = view.messages
      const ordered = asDecided(foldings)
      if (!first || nearest(known.get(first) ?? [], view, ordered)) return
      // Others may ask for folds between two steps: nothing is shared with them until it is complete.
      const progress = fresh<T>()
      yield* proceed(folder, progress, view, ordered)
      keep(first, progress)
    },
  }
}

/** In the order in which they were decided; the same list if they are, as nearly always. */
function asDecided(foldings: readonly Folding[]): readonly Folding[] {
  const ordered = inOrder.get(foldings) ?? (isOrdered(foldings) ? foldings : foldings.toSorted(byDecision))
  inOrder.set(foldings, ordered)
  return ordered
}

/** A plan asks several times for the same list, and so does the next one. */
const inOrder = new WeakMap<readonly Folding[], readonly Folding[]>()

function isOrdered(foldings: readonly Folding[]): boolean {
  for (let i = 1; i < foldings.length; i++) {
    if (byDecision(foldings[i - 1] as Folding, foldings[i] as Folding) > 0) return false
  }
  return true
}

function byDecision(a: Folding, b: Folding): number {
  return a.at - b.at || a.turn.start - b.turn.start
}

function fresh<T>(): Progress<T> {
  return { messages: [], ordered: [], done: [], folded: [], visible: new Set(), batches: [] }
}

/** The progress of which most can be used, and how many of its batches; none if another history needs most of it. */
function nearest<T>(
  known: readonly Progress<T>[],
  view: View,
  ordered: readonly Folding[],
): { progress: Progress<T>; batches: number } | undefined {
  let best: { progress: Progress<T>; batches: number; folds: number } | undefined
  for (const progress of known) {
    const batches = usableBatches(progress, view, ordered)
    const folds = progress.batches[batches - 1]?.end ?? 0
    if (folds > (best?.folds ?? 0)) best = { progress, batches, folds }
  }
  return best && best.folds * 2 >= Math.min(best.progress.done.length, ordered.length) ? best : undefined
}

/** How many batches have the same folds over the same messages. */
function usableBatches<T>(progress: Progress<T>, view: View, ordered: readonly Folding[]): number {
  const { messages, done, batches } = progress
  let folds = progress.ordered === ordered ? done.length : 0
  while (folds < done.length && isSame(done[folds], ordered[folds])) folds++
  const shared = sharedBy(view.messages, messages)
  return (
    batches.findLastIndex(({ at, end, next, read }) => {
      if (end > folds || read > shared) return false
      // A longer history must not have more to read.
      const isRead = next >= view.messages.length || (view.places[next] ?? -1) > at
      return isRead && ordered[end]?.at !== at
    }) + 1
  )
}

function isSame(a: Folding | undefined, b: Folding | undefined): boolean {
  if (a === b) return true
  return a?.at === b?.at && a?.style === b?.style && a?.turn.start === b?.turn.start && a?.turn.end === b?.turn.end
}

function goBack<T>({ batches, visible, done, folded }: Progress<T>, count: number): void {
  for (const { words } of batches.splice(count)) for (const word of words) visible.delete(word)
  done.length = folded.length = batches.at(-1)?.end ?? 0
}

/** A step is a message that is read, or a turn that is folded. */
function* proceed<T>(
  folder: Folder<T>,
  progress: Progress<T>,
  view: View,
  ordered: readonly Folding[],
): Generator<undefined, void, void> {
  const { done, folded, visible, batches } = progress
  progress.messages = view.messages
  progress.ordered = ordered
  while (done.length < ordered.length) {
    const { at, style } = ordered[done.length] as Folding
    let end = done.length + 1
    while (ordered[end]?.at === at) end++
    const batch = ordered.slice(done.length, end)
    const last = batches.at(-1) ?? nothing
    const recent = new Set<string>()
    const { next, turns, pending } = yield* readUpTo(folder, last, view, at, style, recent)
    const starts = new Set(batch.map((folding) => folding.turn.start))
    const standing = pending.filter((turn) => !starts.has(turn.start))
    const elsewhere = new Set<string>()
    for (const turn of standing) {
      wordsOfTurn(view.messages, turn, elsewhere)
      yield
    }
    const unsaid: Unsaid = (call, result, text, saves) => {
      specificWords(text, recent)
      const words = new Set<string>()
      wordsOfInput(call, words)
      if (result) wordsOfOutput(result, words)
      for (const word of words) {
        if (visible.has(word) || recent.has(word) || elsewhere.has(word)) words.delete(word)
      }
      const chosen = chosenWords(words, saves)
      for (const word of chosen) recent.add(word)
      return chosen
    }
    let read = Math.max(last.read, next)
    for (const folding of batch) {
      folded.push(folder.fold(view, folding, unsaid))
      done.push(folding)
      read = Math.max(read, folding.turn.end)
      yield
    }
    const words = [...recent].filter((word) => !visible.has(word))
    for (const word of words) visible.add(word)
    batches.push({ at, end, next, turns, read, standing, words })
  }
}

/** Reads the history up to a position: what stays in any case becomes visible, turns that may be folded are pending. */
function* readUpTo<T>(
  folder: Folder<T>,
  last: Batch,
  view: View,
  at: number,
  style: FoldStyle,
  visible: Set<string>,
): Generator<undefined, { next: number; turns: number; pending: ToolTurn[] }, void> {
  const { messages, places } = view
  const all = folder.turnsIn(messages)
  const pending = [...last.standing]
  let { next, turns } = last
  while (next < messages.length && (places[next] ?? -1) <= at) {
    yield
    const message = messages[next] as Message
    for (const part of message.parts) {
      if (part.type === 'text' || part.type === 'refusal' || part.type === 'compaction') {
        specificWords(part.text ?? '', visible)
      }
    }
    const turn = all[turns]
    if (turn?.start !== next) {
      next++
      continue
    }
    if (folder.isWorthIt(view, turn, style)) pending.push(turn)
    else wordsOfTurn(messages, turn, visible)
    next = turn.end
    turns++
  }
  return { next, turns, pending }
}

function wordsOfTurn(messages: readonly Message[], { start, end }: ToolTurn, into: Set<string>): void {
  for (let index = start; index < end; index++) {
    for (const part of messages[index]?.parts ?? []) {
      if (part.type === 'tool-call') wordsOfInput(part, into)
      else if (part.type === 'tool-result') wordsOfOutput(part, into)
    }
  }
}

function wordsOfOutput({ output }: ToolResultPart, into: Set<string>): void {
  for (const part of output) if (part.type === 'text') specificWords(part.text, into)
}
