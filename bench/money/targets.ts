// What must come out of it. Nothing here is measured with a clock, so no noise is allowed for.

import { median } from '../measure.ts'
import type { Check } from '../row.ts'
import { fixedTurns3, turns10, turns3, window20, windowEveryTurn, type Costs } from './compare.ts'
import { full } from './strategies.ts'

/** What holds for any conversation: how near the policies come to the cheapest way. */
export function targetsForAny(costs: readonly Costs[]): Check[] {
  const withoutDeepSeek = costs.filter((one) => one.price !== 'DS')
  const deepSeek = costs.filter((one) => one.price === 'DS')
  const cached = costs.filter((one) => one.price !== 'none')
  return [
    check(
      'economy / optimum, floors 3 and 10, every trajectory, without DeepSeek',
      worst(withoutDeepSeek, overOptimum),
      1.1,
    ),
    check('the same, DeepSeek', worst(deepSeek, overOptimum), 1.15),
    check('the same, median of each class, the worst class', worstMedian(costs, overOptimum), 1.05),
    check(
      'window of 20 under economy / optimum',
      worst(costs, (one) => cost(one, window20) / one.optimum.window20),
      1.15,
    ),
    check('window of 20, economy / every turn, every trajectory, with a cache', worst(cached, overEveryTurn), 1),
  ]
}

/** What holds for the recorded set, where long sessions of agents have the most weight. */
export function targetsForRecorded(costs: readonly Costs[]): Check[] {
  const withoutDeepSeek = costs.filter((one) => one.price !== 'DS')
  const strong = costs.filter((one) => one.price === 'A 5m' || one.price === 'O 5.6')
  const anthropic = costs.filter((one) => one.price === 'A 5m')
  const overFixed = (one: Costs) => cost(one, turns3) / Math.min(...fixedTurns3.map((strategy) => cost(one, strategy)))
  const overFull = (one: Costs) => Math.max(cost(one, turns3), cost(one, turns10)) / cost(one, full)
  const share = sum(anthropic, turns10.name) / sum(anthropic, full.name)
  return [
    ...targetsForAny(costs),
    check('economy / best fixed strategy with hindsight, without DeepSeek', worst(withoutDeepSeek, overFixed), 1.03),
    check('economy / full + cache, every trajectory, without DeepSeek', worst(withoutDeepSeek, overFull), 1.02),
    check('window of 20, economy / every turn, median on A 5m and O 5.6', worstMedian(strong, overEveryTurn), 0.6),
    check('economy with 10 turns / full + cache, sum over the set, A 5m', share, 0.5),
  ]
}

function overOptimum(one: Costs): number {
  return Math.max(cost(one, turns3) / one.optimum.turns3, cost(one, turns10) / one.optimum.turns10)
}

function overEveryTurn(one: Costs): number {
  return cost(one, window20) / cost(one, windowEveryTurn)
}

function check(what: string, value: number, bound: number): Check {
  return { what, value, bound, exact: true }
}

function cost(one: Costs, { name }: { name: string }): number {
  return one.of[name] ?? Number.NaN
}

function worst(costs: readonly Costs[], ratio: (one: Costs) => number): number {
  return Math.max(...costs.map(ratio))
}

function worstMedian(costs: readonly Costs[], ratio: (one: Costs) => number): number {
  const byClass = Map.groupBy(costs, (one) => one.price)
  return Math.max(...[...byClass.values()].map((group) => median(group.map(ratio))))
}

function sum(costs: readonly Costs[], name: string): number {
  return costs.reduce((total, one) => total + (one.of[name] ?? 0), 0)
}
