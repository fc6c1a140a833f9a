// The cheapest way with hindsight, at the same retention: what must stay by the policy's own floor stays, and what is
// removed stays removed. Found by dynamic programming over how much is gone after each request.
//
// It is granted a cache that holds the whole of the last request, whatever marks would do. Folds leave no holes here: a
// policy that folds newer turns and keeps older ones could even be cheaper. Where a cache gives only whole units, the
// optimum has only those too: more is not possible.

import { estimateMessage } from '../../src/context/count.ts'
import type { Message } from '../../src/core/message.ts'
import { findToolTurns, foldedTurns, leastSaving, olderTurns, savingOf } from '../../src/context/tool-turns.ts'
import { wholeView, type View } from '../../src/context/view.ts'
import { pinnedIn, startOfLast } from '../../src/context/window.ts'
import type { PriceClass } from './classes.ts'
import { tokensOf, visibleTokens, type Trajectory } from './trajectory.ts'

/** Every way to continue: with `gone` things removed, each request has this size, and this much is shared. */
interface Choices {
  requests: number
  /** How much may be gone at a request, at most. */
  most(request: number): number
  /** How much must be gone at a request, at least. */
  least(request: number): number
  possible(gone: number): boolean
  size(request: number, gone: number): number
  /** What a request shares with the one before if something goes in between. */
  sharedAfterCut(gone: number): number
  /** Whether the place of the first cut was the end of a request before. */
  firstIsUnit: boolean
  /** Places where cuts break, numbered; and the number of the place where a cut breaks with so much gone. */
  breaks: number
  breakOf(gone: number): number
  /** What comes before a place where cuts break. */
  breakTokens(number: number): number
  /** Tokens of the reply to a request. */
  reply(request: number): number
  cold(request: number, lifetimeMs: number): boolean
}

export function optimalFolds(trajectory: Trajectory, keep: number): (price: PriceClass) => number {
  const choices = foldChoices(trajectory, keep)
  return (price) => cheapest(choices, price)
}

export function optimalWindow(trajectory: Trajectory, most: number): (price: PriceClass) => number {
  const choices = windowChoices(trajectory, (messages) => startOfLast(messages, most))
  return (price) => cheapest(choices, price)
}

/** For a model that takes `limit` tokens, when a cut goes down to `floor` of them at most. */
export function optimalCuts(trajectory: Trajectory, limit: number, floor: number): (price: PriceClass) => number {
  const { system } = trajectory
  const down = (messages: readonly Message[]) =>
    startOfLast(messages, Math.max(0, limit * floor - system), messages.map(estimateMessage))
  const must = (messages: readonly Message[]) =>
    startOfLast(messages, Math.max(0, limit - system), messages.map(estimateMessage))
  const choices = windowChoices(trajectory, down, must)
  return (price) => cheapest(choices, price)
}

function cheapest(choices: Choices, price: PriceClass): number {
  return price.rules.kind === 'units' ? cheapestInUnits(choices, price) : cheapestByPrefix(choices, price)
}

function cheapestByPrefix(choices: Choices, price: PriceClass): number {
  const { read, write, rules } = price
  const { charged, hit } = charging(price)
  let before: number[] = [0]
  for (let request = 0; request < choices.requests; request++) {
    const most = choices.most(request)
    const least = choices.least(request)
    const cold = request === 0 || choices.cold(request, rules.lifetimeMs)
    const now: number[] = []
    // The best of all ways that have less gone so far: by itself, and with what the cache then saves.
    let cheapestColdly = Infinity
    let cheapestWarmly = Infinity
    for (let gone = 0; gone <= most; gone++) {
      if (!choices.possible(gone)) {
        now.push(Infinity)
        continue
      }
      const cost = before[gone] ?? Infinity
      const size = choices.size(request, gone)
      const cut = (size < rules.minimum ? size : write * size) + cheapestWarmly
      const uncut = cost + charged(sharedUncut(request, gone), size)
      cheapestColdly = Math.min(cheapestColdly, cost)
      const best = cold ? cheapestColdly + charged(0, size) : Math.min(cut, uncut)
      now.push(gone < least ? Infinity : best)
      const saved = size < rules.minimum ? 0 : (write - read) * hit(choices.sharedAfterCut(gone))
      cheapestWarmly = Math.min(cheapestWarmly, cost - saved)
    }
    before = now
  }
  return Math.min(...before)

  function sharedUncut(request: number, gone: number): number {
    return request === 0 ? 0 : choices.size(request - 1, gone)
  }
}

/**
 * Only ends of requests and answers are units, and a common beginning once it was noticed. So a cut finds what stood
 * before the break of the cut before it; the first one finds its own break, because a request ended there; and the first
 * after a pause finds nothing.
 */
function cheapestInUnits(choices: Choices, price: PriceClass): number {
  const { read, write } = price
  const { charged, hit } = charging(price)
  const [untouched, paused] = [choices.breaks, choices.breaks + 1]
  const states = choices.breaks + 2
  const width = choices.most(choices.requests - 1) + 1
  const costs = Array.from({ length: states }, () => new Float64Array(width).fill(Infinity))
  const inState = (state: number) => costs[state] ?? new Float64Array(width)
  inState(untouched)[0] = 0
  for (let request = 0; request < choices.requests; request++) {
    const most = choices.most(request)
    if (request > 0 && choices.cold(request, price.rules.lifetimeMs)) {
      let cheapestSoFar = Infinity
      const after = new Float64Array(width).fill(Infinity)
      for (let gone = 0; gone <= most; gone++) {
        for (const one of costs) cheapestSoFar = Math.min(cheapestSoFar, one[gone] ?? Infinity)
        if (choices.possible(gone)) after[gone] = cheapestSoFar + charged(0, choices.size(request, gone))
      }
      for (const one of costs) one.fill(Infinity)
      inState(paused).set(after)
      continue
    }
    const sizes = Array.from({ length: most + 1 }, (_, gone) => choices.size(request, gone))
    // What it costs to have cut with so much gone before, less the size of what is then sent.
    const cutting = sizes.map((_, gone) => {
      let best = Infinity
      for (let state = 0; state < states; state++) {
        const shared =
          state === paused
            ? 0
            : state === untouched
              ? choices.firstIsUnit
                ? choices.sharedAfterCut(gone)
                : 0
              : choices.breakTokens(state)
        best = Math.min(best, (inState(state)[gone] ?? Infinity) - (write - read) * hit(shared))
      }
      return best
    })
    for (const one of costs) {
      for (let gone = 0; gone <= most; gone++) {
        const shared = request === 0 ? 0 : choices.size(request - 1, gone) + choices.reply(request - 1)
        one[gone] = (one[gone] ?? Infinity) + charged(shared, sizes[gone] ?? 0)
      }
    }
    const cheapestCut = new Float64Array(choices.breaks).fill(Infinity)
    for (let gone = 0; gone <= most; gone++) {
      if (choices.possible(gone)) {
        for (let state = 0; state < choices.breaks; state++) {
          const cut = (cheapestCut[state] ?? Infinity) + write * (sizes[gone] ?? 0)
          const row = inState(state)
          if (cut < (row[gone] ?? Infinity)) row[gone] = cut
        }
      }
      const at = choices.breakOf(gone)
      if (request > 0) cheapestCut[at] = Math.min(cheapestCut[at] ?? Infinity, cutting[gone] ?? Infinity)
    }
  }
  return Math.min(...costs.map((one) => Math.min(...one)))
}

function charging({ read, write, rules }: PriceClass): {
  charged: (shared: number, size: number) => number
  hit: (tokens: number) => number
} {
  const hit = (tokens: number): number => {
    const rounded = rules.step > 0 ? Math.floor(tokens / rules.step) * rules.step : tokens
    return rounded >= rules.minimum ? rounded : 0
  }
  return {
    hit,
    charged(shared, size) {
      if (size < rules.minimum) return size
      const found = hit(Math.min(shared, size))
      return read * found + write * (size - found)
    },
  }
}

function foldChoices(trajectory: Trajectory, keep: number): Choices {
  const view = wholeView(trajectory.messages)
  const measured = measure(trajectory, view)
  const turns = findToolTurns(view.messages)
  const worth = turns.filter((turn) => savingOf(view.messages, turn, 'stub') > leastSaving)
  // Each says what nothing says that is visible when it is first old enough.
  const foldings = worth.map((turn) => {
    const last = turns[turns.indexOf(turn) + keep]?.end ?? view.messages.length
    return { turn, style: 'stub' as const, why: '', at: view.places[last - 1] ?? 0 }
  })
  const folded = foldedTurns(view, foldings)
  const saves = worth.map((turn, i) => {
    const scale = trajectory.sizes.scale.get(view.places[turn.start] ?? -1) ?? 1
    const left = (folded[i] ?? []).reduce((sum, { message }) => sum + visibleTokens(message) * scale, 0)
    return (measured.before[turn.end] ?? 0) - (measured.before[turn.start] ?? 0) - left
  })
  const gone = sums(saves)
  const most = measured.ends.map((end) => {
    const older = olderTurns(
      view.messages.slice(0, end),
      turns.filter((turn) => turn.start < end),
      keep,
    )
    return older.filter((turn) => savingOf(view.messages, turn, 'stub') > leastSaving).length
  })
  const sharedAfterCut = (count: number) => (measured.before[worth[count]?.start ?? 0] ?? 0) - (gone[count] ?? 0)
  return {
    ...measured.choices,
    most: (request) => most[request] ?? 0,
    least: () => 0,
    possible: () => true,
    size: (request, count) => (measured.before[measured.ends[request] ?? 0] ?? 0) - (gone[count] ?? 0),
    sharedAfterCut,
    firstIsUnit: true,
    breaks: worth.length,
    breakOf: (count) => count,
    breakTokens: sharedAfterCut,
  }
}

function windowChoices(
  trajectory: Trajectory,
  down: (messages: readonly Message[]) => number,
  must: (messages: readonly Message[]) => number = () => 0,
): Choices {
  const view = wholeView(trajectory.messages)
  const measured = measure(trajectory, view)
  const pinned = pinnedIn(view.messages)
  const { before } = measured
  const sizeOfPinned = (before[pinned + 1] ?? 0) - (before[pinned] ?? 0)
  const histories = measured.ends.map((end) => view.messages.slice(0, end))
  const most = histories.map(down)
  const least = histories.map((messages, i) => Math.min(must(messages), most[i] ?? 0))
  const head = before[0] ?? 0
  // What comes before the message that stays is never more than a greeting.
  const fixed = head + sizeOfPinned
  return {
    ...measured.choices,
    most: (request) => most[request] ?? 0,
    least: (request) => least[request] ?? 0,
    // No view begins inside a tool turn.
    possible: (start) => view.messages[start]?.role !== 'tool',
    size(request, start) {
      const end = before[measured.ends[request] ?? 0] ?? 0
      const beginning = start > pinned ? fixed : head
      return beginning + end - (before[start] ?? 0)
    },
    sharedAfterCut: () => fixed,
    firstIsUnit: measured.ends[0] === pinned + 1,
    breaks: 1,
    breakOf: () => 0,
    breakTokens: () => fixed,
  }
}

function measure(
  { system, sizes, requests }: Trajectory,
  view: View,
): { before: number[]; ends: number[]; choices: Pick<Choices, 'requests' | 'reply' | 'cold'> } {
  const before = sums(
    view.messages.map((message, index) => {
      const place = view.places[index] ?? -1
      const visible = message.parts.reduce((sum, part) => sum + tokensOf(part), 0) * (sizes.scale.get(place) ?? 1)
      return visible + (sizes.hidden.get(place) ?? 0)
    }),
    system,
  )
  const indexes = new Map(view.places.map((place, index) => [place, index]))
  const ends = requests.map(({ reply }) => indexes.get(reply) ?? 0)
  return {
    before,
    ends,
    choices: {
      requests: requests.length,
      reply: (request) => {
        const end = ends[request] ?? 0
        return (before[end + 1] ?? 0) - (before[end] ?? 0)
      },
      cold: (request, lifetimeMs) => (requests[request]?.at ?? 0) - (requests[request - 1]?.at ?? 0) >= lifetimeMs,
    },
  }
}

function sums(numbers: readonly number[], first = 0): number[] {
  let total = first
  return [total, ...numbers.map((number) => (total += number))]
}
