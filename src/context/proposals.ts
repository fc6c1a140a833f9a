// What to fold or cut before the next request: to save money, and because it would not fit. The result is a list of
// decisions to record; nothing is decided twice, in one pass over the history.

import type { Message } from '../core/message.ts'
import { estimateMessage, sizesOf } from './count.ts'
import { applyCuts, cutStart, foldingsIn, isUnfolded, type Decisions, type FoldDecision } from './decisions.ts'
import { decideFold, type EconomyDecision, type EconomyState, type Removable } from './economy.ts'
import type { PolicySettings } from '../settings/policy.ts'
import { prefixes } from './prefix-memo.ts'
import type { CachePrice } from './price-ratio.ts'
import {
  findToolTurns,
  foldedTurns,
  leastSaving,
  olderTurns,
  savingOf,
  type Folding,
  type ToolTurn,
} from './tool-turns.ts'
import type { View } from './view.ts'
import { pinnedIn, startOfLast } from './window.ts'

export interface PlanFacts {
  /** The history as it would be sent if nothing were folded or cut. */
  view: View
  decisions: Decisions
  settings: PolicySettings
  /** Tokens of system and tools. */
  head: number
  /** Only requests that this provider and model answered are counted. */
  provider: string
  model: string
  /** How many it answered in total, including those that a summary replaces. */
  requests: number
  cache: CachePrice
  /** The provider's cache does not have this view, or this is unknown. */
  cold: boolean
  /** The most tokens of a request, in the unit of the estimates. */
  limit: number
}

export interface Proposal {
  kind: 'fold' | 'cut'
  /** What it changes. */
  fold?: FoldDecision
  cut?: { before: number; why: string }
  /** The reason, as readable text. */
  numbers: Numbers
}

interface Numbers {
  rent?: number
  rewriting?: number
  gain?: number
  /** Tokens removed. */
  saved: number
  /** Tokens of the request before it. */
  size: number
  requests: number
  cold: boolean
}

/** How many tool turns stay complete by default, once something must be folded. */
export const usualFloor = 10

/** To save money: old tool turns, then old messages, down to the configured limits. */
export function proposeByMoney(situation: PlanFacts): Proposal[] {
  const { settings } = situation
  if (settings.rhythm !== 'economy') return []
  const proposals: Proposal[] = []
  let now = situation
  let broken = Infinity
  if (settings.maxToolTurns !== undefined && settings.maxToolTurns !== null) {
    const found = proposeFold(now, settings.maxToolTurns)
    if (found) {
      proposals.push(found.proposal)
      now = { ...now, decisions: withProposal(now.decisions, found.proposal) }
      broken = found.at
    }
  }
  if (settings.maxMessages !== undefined && settings.maxMessages !== null) {
    const proposal = proposeWindow(now, settings.maxMessages, broken)
    if (proposal) proposals.push(proposal)
  }
  return proposals
}

/** The share of the limit that a fold must free: a smaller one would be followed by the next at once. */
const leastFreed = 0.25

/**
 * Because it does not fit: everything that may be folded, if that helps for longer than a few turns. If a cut will be
 * needed anyway it is made at once: it frees more, and what is sent is rewritten less often.
 */
export function proposeFoldForSize(situation: PlanFacts): Proposal | undefined {
  const { settings, limit } = situation
  const keep = settings.maxToolTurns ?? (settings.atLimit === 'cut' ? undefined : usualFloor)
  const proposal = keep === undefined ? undefined : proposeFold({ ...situation, cold: true }, keep)?.proposal
  return proposal && proposal.numbers.saved >= leastFreed * limit ? proposal : undefined
}

/** Because it does not fit even when folded: the oldest messages, down to the floor. */
export function proposeCutForSize(situation: PlanFacts): Proposal | undefined {
  const { settings, limit, head } = situation
  const view = applyCuts(situation.view, situation.decisions)
  const sizes = sizesOf(view.messages)
  const size = head + sum(sizes)
  const room = Math.max(0, limit * (settings.floor ?? 0.5) - head)
  const start = startOfLast(view.messages, room, sizes)
  const before = placeAt(view, start)
  const saved = sum(sizes.slice(0, start)) - (sizes[pinnedIn(view.messages)] ?? 0)
  if (before === undefined || saved <= 0) return undefined
  const { requests, cold } = situation
  const why = `over the model's limit of ${Math.floor(limit)} tokens`
  return { kind: 'cut', cut: { before, why }, numbers: { saved, size, requests, cold } }
}

export function withProposal(decisions: Decisions, { fold, cut }: Proposal): Decisions {
  return { ...decisions, folds: fold ? [...decisions.folds, fold] : decisions.folds, ...(cut && { cut }) }
}

function proposeFold(situation: PlanFacts, keep: number): { proposal: Proposal; at: number } | undefined {
  const { view, decisions, settings, requests, cold } = situation
  const style = settings.fold ?? 'stub'
  const measured = measure(situation)
  const turns = findToolTurns(view.messages)
  const older = olderTurns(view.messages, turns, keep)
  // If the cache is cold, it does not matter how long something was there.
  const answersAfter = cold ? () => 0 : countAnswers(situation)
  const found = situation.cache.units ? foundInUnits(situation, turns, keep, measured.before) : undefined
  const items: Item[] = []
  for (const [i, turn] of older.entries()) {
    if (measured.folded.has(turn.start) || !measured.sent(turn)) continue
    if (isUnfolded(view.places[turn.start] as number, decisions.unfolded)) continue
    const saves = savingOf(view.messages, turn, style)
    if (saves <= leastSaving) continue
    // It could be folded once as many turns as must stay had come after it.
    const since = requests - answersAfter((turns[i + keep] as ToolTurn).start)
    const at = measured.before[turn.start] as number
    items.push({ turn, saves, at, since, found: found?.[i] ?? at })
  }
  const size = measured.before.at(-1) as number
  const state = economyState(situation, measured.before, size)
  const floor = turns[older.length]?.start ?? view.messages.length
  const decision = decideFold({ ...state, items, floorAt: measured.before[floor] as number })
  if (!decision.fold) return undefined
  const chosen = items.slice(decision.from)
  const [first, last] = [chosen[0] as Item, chosen.at(-1) as Item]
  const fold: FoldDecision = {
    from: view.places[first.turn.start] as number,
    through: view.places[last.turn.start] as number,
    style,
    why: `older than the last ${keep} tool turns, and ${inWords(decision)}`,
    at: view.places.findLast((at) => at >= 0) as number,
    ...(cold && { cold }),
  }
  const saved = chosen.reduce((total, item) => total + item.saves, 0)
  const numbers: Numbers = { ...numbersOf(decision), saved, size, requests, cold }
  return { proposal: { kind: 'fold', fold, numbers }, at: first.at }
}

interface Item extends Removable {
  turn: ToolTurn
}

/**
 * What a cache of whole units provides if the view breaks at each turn. It has the ends of requests, and a turn begins
 * where one ended, but only as long as nothing before it is folded: then those ends belong to another prompt. What came
 * before a fold was seen twice, and is cached from then on. After a cold cache, everything starts over.
 */
function foundInUnits(
  { decisions, view }: PlanFacts,
  turns: readonly ToolTurn[],
  keep: number,
  before: readonly number[],
): number[] {
  const place = (turn: ToolTurn) => view.places[turn.start] as number
  const folds = decisions.folds.map((fold) => ({
    ...fold,
    lastThere: turns.findLastIndex((turn) => place(turn) <= fold.through) + keep,
  }))
  const isUnit = (turn: ToolTurn, index: number) =>
    folds.every((fold) => index > fold.lastThere || (!fold.cold && fold.from > place(turn)))
  const isBreak = (turn: ToolTurn) =>
    folds.some(
      (fold, k) =>
        !fold.cold &&
        fold.from === place(turn) &&
        folds.slice(k + 1).every((later) => !later.cold && later.from >= fold.from),
    )
  let found = 0
  return turns.map((turn, index) => {
    if (isUnit(turn, index) || isBreak(turn)) found = before[turn.start] as number
    return found
  })
}

/** A window can cut one thing: everything before it. What stays is written to the cache again as a whole. */
function proposeWindow(situation: PlanFacts, most: number, broken: number): Proposal | undefined {
  const { requests, cold } = situation
  const view = applyCuts(situation.view, situation.decisions)
  const after = countAnswers({ ...situation, view })
  const sizes = sizesOf(view.messages)
  const before = beforeEach(sizes, situation.head)
  const start = startOfLast(view.messages, most)
  const pinned = pinnedIn(view.messages)
  let saves = 0
  let paid = 0
  for (let index = 0; index < start; index++) {
    if (index === pinned) continue
    const size = sizes[index] as number
    saves += size
    paid += size * after(Math.min(index + most, view.messages.length - 1))
  }
  const place = placeAt(view, start)
  if (saves <= leastSaving || place === undefined) return undefined
  const at = before[pinned >= 0 && pinned < start ? pinned + 1 : 0] as number
  const size = before.at(-1) as number
  const state = economyState({ ...situation, view }, before, size)
  const decision = decideFold({
    ...state,
    cachedEnd: Math.min(state.cachedEnd, broken),
    items: [{ saves, at, since: requests - paid / saves }],
    floorAt: at + saves,
  })
  if (!decision.fold) return undefined
  const why = `over ${most} messages, and ${inWords(decision)}`
  const numbers: Numbers = { ...numbersOf(decision), saved: saves, size, requests, cold }
  return { kind: 'cut', cut: { before: place, why }, numbers }
}

function economyState(
  { view, cache, cold, requests, limit, provider, model }: PlanFacts,
  before: readonly number[],
  size: number,
): Omit<EconomyState, 'items' | 'floorAt'> {
  const answered = cold ? -1 : view.messages.findLastIndex((message) => isAnswer(message, provider, model))
  return {
    read: cache.read,
    write: cache.write,
    size,
    limit,
    cacheMin: cache.minimum,
    cold,
    requests,
    cachedEnd: answered < 0 ? 0 : (before[answered] as number),
  }
}

type Fold = Extract<EconomyDecision, { fold: true }>

function inWords({ why, rent, rewriting }: Fold): string {
  if (rent === undefined || rewriting === undefined) return why
  return `${why} (${Math.round(rent)} against ${Math.round(rewriting)} tokens of input)`
}

function numbersOf(decision: Fold): Partial<Numbers> {
  const { rent, rewriting, gain } = decision
  return {
    ...(rent !== undefined && { rent: Math.round(rent) }),
    ...(rewriting !== undefined && { rewriting: Math.round(rewriting) }),
    ...(gain !== undefined && { gain: Math.round(gain) }),
  }
}

interface Measured {
  /** Tokens that are sent before each message, and after the last one. */
  before: number[]
  /** Where the folded turns begin. */
  folded: ReadonlySet<number>
  /** Whether a turn comes after the cut. */
  sent(turn: ToolTurn): boolean
}

/** The length of everything as it is sent now. */
function measure({ view, decisions, head }: PlanFacts): Measured {
  const { sizes, folded } = foldedSizes(view, foldingsIn(view, decisions))
  const cut = decisions.cut ? cutStart(view, decisions.cut.before) : 0
  const pinned = pinnedIn(view.messages)
  for (let index = 0; index < cut; index++) if (index !== pinned) sizes[index] = 0
  return { before: beforeEach(sizes, head), folded, sent: (turn) => turn.start >= cut }
}

interface FoldedSizes {
  /** What is sent of each turn counts as its first message. */
  sizes: number[]
  folded: ReadonlySet<number>
}

/** By the list of foldings, which is the same for a view that continues another one. */
const foldedBefore = new WeakMap<readonly Folding[], FoldedSizes>()

function foldedSizes(view: View, foldings: readonly Folding[]): FoldedSizes {
  const { messages } = view
  if (foldings.length === 0) return { sizes: sizesOf(messages).slice(), folded: new Set() }
  const known = foldedBefore.get(foldings)
  if (known && known.sizes.length <= messages.length) {
    return { sizes: known.sizes.concat(messages.slice(known.sizes.length).map(estimateMessage)), folded: known.folded }
  }
  const sizes: number[] = []
  const folded = new Set<number>()
  for (const [i, made] of foldedTurns(view, foldings).entries()) {
    const { start, end } = (foldings[i] as Folding).turn
    folded.add(start)
    while (sizes.length < start) sizes.push(estimateMessage(messages[sizes.length] as Message))
    sizes.push(sum(made.map((one) => one.size)))
    while (sizes.length < end) sizes.push(0)
  }
  while (sizes.length < messages.length) sizes.push(estimateMessage(messages[sizes.length] as Message))
  foldedBefore.set(foldings, { sizes: sizes.slice(), folded })
  return { sizes, folded }
}

function beforeEach(sizes: readonly number[], head: number): number[] {
  const before = [head]
  let total = head
  for (let index = 0; index < sizes.length; index++) before.push((total += sizes[index] as number))
  return before
}

/** How many answers of the provider and model come after each message. */
function countAnswers({ view: { messages }, provider, model }: PlanFacts): (index: number) => number {
  const last = answered.longest(messages)
  const isSame = last?.value.provider === provider && last.value.model === model
  const upTo = isSame ? last.value.upTo.slice(0, last.shared) : []
  let count = upTo.at(-1) ?? 0
  for (let index = upTo.length; index < messages.length; index++) {
    if (isAnswer(messages[index], provider, model)) count++
    upTo.push(count)
  }
  answered.keep(messages, { provider, model, upTo })
  return (index) => count - (upTo[index] ?? count)
}

/** The answers up to each message. */
const answered = prefixes<{ provider: string; model: string; upTo: readonly number[] }>()

function isAnswer(message: Message | undefined, provider: string, model: string): boolean {
  return message?.role === 'assistant' && message.origin.provider === provider && message.origin.model === model
}

/** The position of the first message from `start` on that is in the history. */
function placeAt(view: View, start: number): number | undefined {
  return view.places.slice(start).find((place) => place >= 0)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
