// Which specific words a fold must include: those that appear nowhere in what stays visible. Visible means visible when
// the fold was decided, never later, so that the text of a fold does not change as the conversation continues (P4). A
// word that appears only in a turn that stays for now is included in that turn's own fold, later.
//
// Folds are processed in the order in which they were decided, and the visible words are cached for the next request:
// nearly always it has the same folds, or one more at the end.

import type { Message, ToolCallPart, ToolResultPart } from '../core/message.ts'
import type { FoldStyle } from '../settings/policy.ts'
import { chosenWords, wordsOfInput } from './fold-text.ts'
import { specificWords } from './specific-words.ts'
import type { Folding, ToolTurn } from './tool-turns.ts'
import type { View } from './view.ts'

/** The words of a call and its result that should be added to a text, in at most this many tokens. */
type Unsaid = (call: ToolCallPart, result: ToolResultPart | undefined, text: string, room: number) => string[]

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
  done: Folding[]
  folded: T[]
  /** Words of what is always sent, and of the folds. */
  visible: Set<string>
  /** The messages before this index were read. */
  next: number
  /** Complete turns before it that may be folded later. */
  standing: ToolTurn[]
}

/** How many histories that begin with the same message are cached: two branches, or two policies. */
const remembered = 2

/** Makes what each folding becomes, in the order given. */
export function folderFor<T>(folder: Folder<T>): (view: View, foldings: readonly Folding[]) => T[] {
  const known = new WeakMap<Message, Progress<T>[]>()

  return (view, foldings) => {
    const [first] = view.messages
    if (!first || foldings.length === 0) return []
    const ordered = foldings.toSorted((a, b) => a.at - b.at || a.turn.start - b.turn.start)
    const before = known.get(first) ?? []
    let progress = before.find((one) => isPartOfOther(one, view, ordered))
    if (!progress) {
      progress = { messages: view.messages, done: [], folded: [], visible: new Set(), next: 0, standing: [] }
      known.set(first, [progress, ...before].slice(0, remembered))
    }
    if (progress.done.length < ordered.length) proceed(folder, progress, view, ordered)
    const byStart = new Map<number, T>()
    for (let i = 0; i < ordered.length; i++) byStart.set(ordered[i]?.turn.start ?? -1, progress.folded[i] as T)
    return foldings.map((folding) => byStart.get(folding.turn.start) as T)
  }
}

/** Whether the processed folds begin with these, or these with them, over the same messages. */
function isPartOfOther<T>({ messages, done, next }: Progress<T>, view: View, ordered: readonly Folding[]): boolean {
  const count = Math.min(done.length, ordered.length)
  for (let i = 0; i < count; i++) {
    const [a, b] = [done[i], ordered[i]]
    if (a?.at !== b?.at || a?.style !== b?.style) return false
    if (a?.turn.start !== b?.turn.start || a?.turn.end !== b?.turn.end) return false
  }
  const read = Math.max(next, done.at(-1)?.turn.end ?? 0)
  const length = view.messages.length
  if (length < read && (done.length < ordered.length || (ordered.at(-1)?.at ?? 0) > (view.places.at(-1) ?? -1)))
    return false
  for (let i = Math.min(read, length) - 1; i >= 0; i--) if (messages[i] !== view.messages[i]) return false
  return true
}

function proceed<T>(folder: Folder<T>, progress: Progress<T>, view: View, ordered: readonly Folding[]): void {
  const { done, folded, visible } = progress
  progress.messages = view.messages
  while (done.length < ordered.length) {
    const { at, style } = ordered[done.length] as Folding
    const batch = ordered.slice(done.length).filter((folding) => folding.at === at)
    readUpTo(folder, progress, view, at, style)
    const starts = new Set(batch.map((folding) => folding.turn.start))
    progress.standing = progress.standing.filter((turn) => !starts.has(turn.start))
    const standing = new Set<string>()
    for (const turn of progress.standing) wordsOfTurn(view.messages, turn, standing)
    const unsaid: Unsaid = (call, result, text, room) => {
      specificWords(text, visible)
      const words = new Set<string>()
      wordsOfInput(call, words)
      if (result) wordsOfOutput(result, words)
      for (const word of words) if (visible.has(word) || standing.has(word)) words.delete(word)
      const chosen = chosenWords(words, room)
      for (const word of chosen) visible.add(word)
      return chosen
    }
    for (const folding of batch) {
      folded.push(folder.fold(view, folding, unsaid))
      done.push(folding)
    }
  }
}

/** Reads the history up to a position: what stays in any case becomes visible, turns that may be folded are pending. */
function readUpTo<T>(folder: Folder<T>, progress: Progress<T>, view: View, at: number, style: FoldStyle): void {
  const { messages, places } = view
  const { visible, standing } = progress
  const turns = folder.turnsIn(messages)
  let number = turns.findIndex((turn) => turn.end > progress.next)
  while (progress.next < messages.length && (places[progress.next] ?? -1) <= at) {
    const message = messages[progress.next] as Message
    for (const part of message.parts) {
      if (part.type === 'text' || part.type === 'refusal' || part.type === 'compaction') {
        specificWords(part.text ?? '', visible)
      }
    }
    const turn = turns[number]
    if (turn?.start !== progress.next) {
      progress.next++
      continue
    }
    if (folder.isWorthIt(view, turn, style)) standing.push(turn)
    else wordsOfTurn(messages, turn, visible)
    progress.next = turn.end
    number++
  }
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
