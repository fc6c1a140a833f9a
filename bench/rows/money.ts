// What the policies cost, in the money of eight kinds of providers, against each other and against the cheapest way.

import { median } from '../measure.ts'
import { billBodies } from '../money/by-bodies.ts'
import { billerFor } from '../money/bill.ts'
import { classes, type PriceClass } from '../money/classes.ts'
import { compare, noMarks, strategies, turns10, turns3, window20, type Costs } from '../money/compare.ts'
import { recordedTrajectories } from '../money/recorded.ts'
import { smallWindow } from '../money/small.ts'
import { full, play } from '../money/strategies.ts'
import { syntheticTrajectories } from '../money/synthetic.ts'
import { targetsForAny, targetsForRecorded } from '../money/targets.ts'
import type { Trajectory } from '../money/trajectory.ts'
import type { Check, Outcome, Row, Table } from '../row.ts'

export const money: Row = {
  name: 'money',
  about:
    'Prices of whole conversations by class of provider, relative to the full history with a cache; views and decisions are the product’s, and the emulator’s cache accounting bills them.',

  run({ quick }) {
    const recorded = quick ? [] : recordedTrajectories()
    const synthetic = syntheticTrajectories()
    const prices = quick ? classes.filter((one) => ['A 5m', 'O .25', 'DS'].includes(one.name)) : classes
    const sets = [
      { name: 'recorded', trajectories: recorded, targets: targetsForRecorded },
      {
        name: 'made up',
        trajectories: quick ? synthetic.filter((one) => one.requests.length < 80) : synthetic,
        targets: targetsForAny,
      },
    ].filter((set) => set.trajectories.length > 0)
    const tables: Table[] = []
    const checks: Check[] = []
    for (const { name, trajectories, targets } of sets) {
      const costs = trajectories.flatMap((trajectory) => compare(trajectory, prices))
      tables.push(...tablesOf(name, costs, prices))
      checks.push(...targets(costs).map((check) => ({ ...check, what: `${name}: ${check.what}` })))
      const small = [8000, 32_000].map((window) => smallWindows(trajectories, window))
      tables.push({
        title: `Small windows, ${name}: work / optimum, median / worst`,
        head: smallHead,
        lines: small.map((one) => one.line),
      })
      checks.push(...small.map((one) => ({ ...one.check, what: `${name}: ${one.check.what}` })))
    }
    checks.push(sameAsBodies(synthetic))
    const outcome: Outcome = { tables, checks, remarks }
    return Promise.resolve(outcome)
  },
}

const remarks = [
  'Recorded: B01–B12 (support chats, coding agents; 12 to 511 requests), sizes corrected by the recorded usage, times as recorded or drawn with a fixed seed. Made up: six shapes that come with the project. Output is left out, as it is the same for all.',
  'The optimum knows the future and is found by dynamic programming at the same floor, with perfect marks. It folds without leaving holes, so a ratio a little under 1 is possible.',
  'Windows are compared with "every turn" only where there is a cache: without one, moving every turn is the optimum itself.',
]

function tablesOf(name: string, costs: readonly Costs[], prices: readonly PriceClass[]): Table[] {
  const head = (first: string) => [first, ...prices.map((price) => price.name)]
  const row = (label: string, ratio: (one: Costs) => number) => [
    label,
    ...prices.map((price) => spread(costs.filter((one) => one.price === price.name).map(ratio))),
  ]
  const names = [noMarks, ...strategies.map((one) => one.name)]
  const of = (one: Costs, strategy: string) => one.of[strategy] ?? Number.NaN
  return [
    {
      title: `Cost / full + cache, ${name}, median / worst`,
      head: head('strategy'),
      lines: names.map((strategy) => row(strategy, (one) => of(one, strategy) / of(one, full.name))),
    },
    {
      title: `Cost / optimum at the same floor, ${name}, median / worst`,
      head: head('strategy'),
      lines: [
        row(turns3.name, (one) => of(one, turns3.name) / one.optimum.turns3),
        row(turns10.name, (one) => of(one, turns10.name) / one.optimum.turns10),
        row(window20.name, (one) => of(one, window20.name) / one.optimum.window20),
        row('full + cache (floor 10)', (one) => of(one, full.name) / one.optimum.turns10),
      ],
    },
  ]
}

const smallHead = ['window', 'preset `small`', 'trimmed every turn']

function smallWindows(trajectories: readonly Trajectory[], window: number): { line: string[]; check: Check } {
  const results = trajectories.map((trajectory) => smallWindow(trajectory, window))
  const ours = results.map((one) => one.ours / one.optimum)
  return {
    line: [String(window), spread(ours), spread(results.map((one) => one.everyTurn / one.optimum))],
    check: {
      what: `window of ${window} with prefix reuse / optimum`,
      value: Math.max(...ours),
      bound: 1.15,
      exact: true,
    },
  }
}

/** The worst difference between the two ways to bill, as a share. */
function sameAsBodies(trajectories: readonly Trajectory[]): Check {
  const differences = trajectories
    .filter((trajectory) => trajectory.requests.length < 80)
    .flatMap((trajectory) =>
      classes
        .filter((price) => price.name === 'A 5m' || price.name === 'G')
        .map((price) => {
          const bill = billerFor(trajectory)
          const [saving, whole] = [play(turns10, trajectory, price), play(full, trajectory, price)]
          const byNames = bill(saving, price).cost / bill(whole, price).cost
          const byBodies = billBodies(trajectory, saving, price) / billBodies(trajectory, whole, price)
          return Math.abs(byNames / byBodies - 1)
        }),
    )
  return {
    what: 'economy / full by short names against real bodies, largest difference',
    value: Math.max(...differences),
    bound: 0.05,
    exact: true,
  }
}

function spread(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} / ${Math.max(...ratios).toFixed(2)}`
}
