// What a request still knows under each policy, and what that costs.

import { estimateHead } from '../../src/context/assemble.ts'
import { recallSpec } from '../../src/run/tools/recall.ts'
import { add, measureKnowledge, nothing, textOf, type Knowledge } from '../knowledge/measure.ts'
import { drawFrontier } from '../knowledge/picture.ts'
import { compared, preset, type Compared } from '../knowledge/policies.ts'
import { playThroughRunLoop } from '../knowledge/run-loop.ts'
import { madeUpSessions, type Session } from '../knowledge/sessions.ts'
import { billerFor, type Sent } from '../money/bill.ts'
import { classes, type PriceClass } from '../money/classes.ts'
import { heldOutTrajectories, recordedTrajectories } from '../money/recorded.ts'
import type { Trajectory } from '../money/trajectory.ts'
import type { Check, Row, Table } from '../row.ts'

export const knowledge: Row = {
  name: 'knowledge',
  about:
    'What a request still knows, and what it costs. Recall: of the specific words in the arguments of a call that had occurred before, the share that is in the request which the call answers; far: only words last seen ten or more requests earlier; miss: replies per 100 that need something that is not there; lines: the same for whole lines. The sum over all sessions, relative to the full history with a cache (Anthropic, 5 minutes).',

  async run({ quick }) {
    const recorded = quick ? [] : recordedTrajectories()
    const made = madeUpSessions()
    const price = classes[0] as PriceClass
    const tables: Table[] = []
    const checks: Check[] = []
    if (recorded.length > 0) {
      const lines = measureAll(recorded, price)
      tables.push(tableOf('Recorded sessions (B01–B12)', lines))
      checks.push(...targets(lines))
      drawFrontier(
        lines.map(({ policy, known, cost }) => ({
          name: policy.name,
          cost,
          recall: known.present / known.needed,
          isOurs: policy.isOurs === true,
          ...(policy.short !== undefined && { short: policy.short }),
        })),
      )
      const others = measureAll(heldOutTrajectories(), price)
      tables.push(tableOf('Other recorded sessions, by which nothing was chosen (H01–H12)', others))
      checks.push(...named('held out', targets(others).slice(0, 2)))
    }
    if (recorded.length > 0) {
      const { table, checks: looped } = await throughRunLoop(recorded, price)
      tables.push(table)
      checks.push(...looped)
    }
    const facts = compared.map((policy) => ({ policy, shares: made.map((one) => factsIn(policy, one, price)) }))
    tables.push({
      title: 'Made-up sessions: share of early facts that are in the request that needs them, much later',
      head: ['policy', ...made.map((one) => one.id)],
      lines: facts.map(({ policy, shares }) => [policy.name, ...shares.map((share) => share.toFixed(2))]),
    })
    const own = facts.find(({ policy }) => policy.name === preset)?.shares ?? []
    for (const [i, { id }] of made.entries()) {
      checks.push({ what: `facts, ${id}`, value: own[i] ?? Number.NaN, bound: 0.98, atLeast: true, exact: true })
    }
    return { tables, checks, remarks }
  },
}

const remarks = [
  'Lexical: it shows what a policy throws away, not how good an answer is. Policies of ours pay for the definition of `recall` with every request; what `recall` would bring back is not counted as known.',
  'A summary is a placeholder of 2,000 tokens here: what a model would write into it is not known, so its recall is a lower bound.',
]

const head = ['policy', 'cost', 'recall', 'far', 'miss', 'lines']

interface Measured {
  policy: Compared
  known: Knowledge
  cost: number
}

/** Each policy over the same sessions; costs relative to the first one. */
function measureAll(trajectories: readonly Trajectory[], price: PriceClass): Measured[] {
  const measured = compared.map((policy) => measure(policy, trajectories, price))
  const whole = measured[0]?.cost ?? 1
  return measured.map((one) => ({ ...one, cost: one.cost / whole }))
}

function tableOf(title: string, lines: readonly Measured[]): Table {
  return { title, head, lines: lines.map((one) => [one.policy.name, ...lineOf(one.known, one.cost)]) }
}

function measure(policy: Compared, trajectories: readonly Trajectory[], price: PriceClass): Measured {
  let known = nothing
  let cost = 0
  for (const given of trajectories) {
    const trajectory = withRecall(policy, given)
    const sent = policy.sent(trajectory, price)
    known = add(known, measureKnowledge(trajectory, sent))
    cost += billerFor(trajectory)(sent, price).cost
  }
  return { policy, known, cost }
}

/** The same sessions as a program would have them: the library, its run loop with tools, and an emulator that bills. */
async function throughRunLoop(sessions: readonly Trajectory[], price: PriceClass) {
  let known = nothing
  const cost = { full: 0, economy: 0 }
  const lines: (string | number)[][] = []
  for (const session of sessions) {
    const full = await playThroughRunLoop(session, 'full', price)
    const economy = await playThroughRunLoop(session, 'economy', price)
    const own = measureKnowledge(session, economy.sent)
    known = add(known, own)
    cost.full += full.cost
    cost.economy += economy.cost
    lines.push([session.id, ...lineOf(own, economy.cost / full.cost)])
  }
  lines.push(['sum', ...lineOf(known, cost.economy / cost.full)])
  const table: Table = { title: 'Through the run loop, default policy', head: ['session', ...head.slice(1)], lines }
  return { table, checks: named('run loop', targetsOf(known, cost.economy / cost.full)) }
}

function withRecall<T extends Trajectory>({ recalls }: Compared, trajectory: T): T {
  return recalls ? { ...trajectory, system: trajectory.system + estimateHead([], [recallSpec]) } : trajectory
}

function lineOf(known: Knowledge, cost: number): (string | number)[] {
  const share = (part: number, of: number) => (of === 0 ? '–' : (part / of).toFixed(3))
  return [
    cost.toFixed(3),
    share(known.present, known.needed),
    share(known.farPresent, known.farNeeded),
    ((100 * known.missing) / known.requests).toFixed(1),
    share(known.linesPresent, known.lines),
  ]
}

function named(where: string, checks: readonly Check[]): Check[] {
  return checks.map((check) => ({ ...check, what: `${where}: ${check.what}` }))
}

function targets(lines: readonly Measured[]): Check[] {
  const ours = lines.find(({ policy }) => policy.name === preset)
  return targetsOf(ours?.known ?? nothing, ours?.cost ?? Number.NaN)
}

function targetsOf(known: Knowledge, cost: number): Check[] {
  const recall = known.present / known.needed
  const far = known.farPresent / known.farNeeded
  return [
    { what: 'recall, default policy', value: recall, bound: 0.985, atLeast: true, exact: true },
    { what: 'far, default policy', value: far, bound: 0.94, atLeast: true, exact: true },
    { what: 'cost / full + cache, default policy, sum', value: cost, bound: 0.37, exact: true },
  ]
}

function factsIn(policy: Compared, session: Session, price: PriceClass): number {
  const sent = policy.sent(withRecall(policy, session), price)
  const found = [...session.facts].filter(([number, fact]) => isIn(sent[number], fact))
  return found.length / session.facts.size
}

function isIn(sent: Sent | undefined, fact: string): boolean {
  return sent?.messages.some((message) => textOf(message).includes(fact)) === true
}
