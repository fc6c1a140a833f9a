// All strategies over a set of trajectories and all classes of prices: one cost for each, and the optimum.

import { billerFor } from './bill.ts'
import type { PriceClass } from './classes.ts'
import { optimalFolds, optimalWindow } from './optimum.ts'
import {
  economy,
  everyTurns,
  foldAt,
  foldWhenCold,
  full,
  play,
  summaryAt,
  windowOf,
  type Strategy,
} from './strategies.ts'
import type { Trajectory } from './trajectory.ts'

export const turns3 = economy('economy, 3 tool turns', { maxToolTurns: 3 })
export const turns10 = economy('economy, 10 tool turns', { maxToolTurns: 10 })
export const results10 = economy('economy, results of 10 turns', { maxToolTurns: 10, fold: 'results' })
export const window20 = economy('economy, 20 messages', { maxMessages: 20 })
export const windowEveryTurn = windowOf(20, 1)

/** At the same floor as `turns3`. */
export const fixedTurns3: readonly Strategy[] = [
  full,
  everyTurns(3, 1),
  everyTurns(3, 5),
  everyTurns(3, 10),
  everyTurns(3, 30),
  foldAt(100_000, 3),
  foldWhenCold(3),
]

export const strategies: readonly Strategy[] = [
  ...fixedTurns3,
  windowEveryTurn,
  windowOf(20, 20),
  windowOf(20, 80),
  summaryAt(80_000),
  summaryAt(160_000),
  turns3,
  turns10,
  results10,
  window20,
]

export const noMarks = 'full, no marks'

export interface Costs {
  trajectory: string
  price: string
  /** By name of strategy. */
  of: Record<string, number>
  optimum: { turns3: number; turns10: number; window20: number }
}

export function compare(trajectory: Trajectory, prices: readonly PriceClass[]): Costs[] {
  const bill = billerFor(trajectory)
  const shared = new Map<Strategy, ReturnType<typeof play>>()
  const best3 = optimalFolds(trajectory, 3)
  const best10 = optimalFolds(trajectory, 10)
  const bestWindow = optimalWindow(trajectory, 20)
  return prices.map((price): Costs => {
    const costs: Record<string, number> = {}
    for (const strategy of strategies) {
      const sent = strategy.byClass
        ? play(strategy, trajectory, price)
        : (shared.get(strategy) ?? play(strategy, trajectory, price))
      if (!strategy.byClass) shared.set(strategy, sent)
      const { cost, tokens } = bill(sent, price)
      costs[strategy.name] = cost
      // Without a cache every token has the price of input.
      if (strategy === full) costs[noMarks] = tokens
    }
    return {
      trajectory: trajectory.id,
      price: price.name,
      of: costs,
      optimum: { turns3: best3(price), turns10: best10(price), window20: bestWindow(price) },
    }
  })
}
