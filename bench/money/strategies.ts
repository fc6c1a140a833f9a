// Ways to decide what is sent, each as the views of all requests of a trajectory. Views, marks and the decisions of
// `economy` are made by the product; a strategy here only says when.

import { noDecisions, type Decisions } from '../../src/context/decisions.ts'
import { estimateMessage } from '../../src/context/count.ts'
import { cacheMarks, lastBreak } from '../../src/context/cache-marks.ts'
import { proposeByMoney, proposeFoldForSize, withProposal, type PlanFacts } from '../../src/context/proposals.ts'
import type { PolicySettings } from '../../src/settings/policy.ts'
import { baseView, sentView, type RequestDraft } from '../../src/context/assemble.ts'
import { findToolTurns } from '../../src/context/tool-turns.ts'
import { startOfLast } from '../../src/context/window.ts'
import type { View } from '../../src/context/view.ts'
import type { Target } from '../../src/wires/wire.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import type { Sent } from './bill.ts'
import type { PriceClass } from './classes.ts'
import { model, provider, visibleTokens, type Trajectory } from './trajectory.ts'

export interface Strategy {
  name: string
  settings: PolicySettings
  /** Changes the decisions before a request. Without it nothing is ever decided. */
  decide?: (moment: Moment) => Decided
  /** The views differ from class to class, because prices or lifetimes count. */
  byClass?: boolean
}

interface Moment {
  situation: PlanFacts
  /** The view as it would be sent with the decisions so far. */
  view: View
  /** Tokens of it, in the provider's count. */
  size: number
  price: PriceClass
}

interface Decided {
  decisions: Decisions
  aside?: number
}

/** The window never gets in the way here. */
export const target: Target = { provider, model, options: {}, quirks: {}, capabilities: openaiChat.capabilities }

export function play(strategy: Strategy, trajectory: Trajectory, price: PriceClass): Sent[] {
  const { settings, decide } = strategy
  const ratio = ratioOf(trajectory)
  const head = trajectory.system / ratio
  let decisions = noDecisions
  let last = -Infinity
  return trajectory.requests.map(({ reply, at }, requests): Sent => {
    const draft: RequestDraft = {
      history: trajectory.messages.slice(0, reply),
      protocol: openaiChat,
      target,
      decisions,
    }
    const cold = at - last >= price.rules.lifetimeMs
    last = at
    let base = baseView(draft)
    let aside: number | undefined
    if (decide) {
      const view = sentView(base, settings, decisions, target)
      const situation: PlanFacts = {
        view: base,
        decisions,
        settings,
        head,
        provider,
        model,
        requests,
        cache: {
          read: price.read,
          write: price.write,
          minimum: price.rules.minimum / ratio,
          lifetimeMs: price.rules.lifetimeMs,
          units: price.rules.kind === 'units',
        },
        cold,
        limit: Infinity,
      }
      const size = view.messages.reduce((sum, message) => sum + estimateMessage(message), head) * ratio
      const decided = decide({ situation, view, size, price })
      if (decided.decisions.compactions !== decisions.compactions) base = baseView({ ...draft, ...decided })
      decisions = decided.decisions
      aside = decided.aside
    }
    const { messages, places } = sentView(base, settings, decisions, target)
    const cacheAfter = cacheMarks({ messages, places }, settings, lastBreak(base, settings, decisions))
    return { messages, places, cacheAfter, at, ...(aside !== undefined && { aside }) }
  })
}

/** The provider's count divided by ours, as usage would tell it. */
function ratioOf({ messages, sizes: { scale, hidden } }: Trajectory): number {
  const counted = messages.reduce(
    (sum, message, place) => sum + visibleTokens(message) * (scale.get(place) ?? 1) + (hidden.get(place) ?? 0),
    0,
  )
  return counted / messages.reduce((sum, message) => sum + estimateMessage(message), 0)
}

export const full: Strategy = { name: 'full + cache', settings: {} }

export function economy(name: string, settings: PolicySettings): Strategy {
  return {
    name,
    settings: { ...settings, rhythm: 'economy' },
    byClass: true,
    decide: ({ situation }) => ({
      decisions: proposeByMoney(situation).reduce(withProposal, situation.decisions),
    }),
  }
}

/** In batches of `step`. Turns that are too short to be worth a fold stay, as they do by the rule of economy. */
export function everyTurns(keep: number, step: number): Strategy {
  const name = step === 1 ? `tools-${keep} every turn` : `tools-${keep}, step ${step}`
  return {
    name,
    settings: { maxToolTurns: keep, rhythm: 'economy' },
    decide({ situation: { view, decisions } }) {
      const turns = findToolTurns(view.messages)
      const place = (index: number) => view.places[turns[index]?.start ?? -1] ?? -1
      const count = Math.max(0, Math.floor((turns.length - keep) / step) * step)
      const before = decisions.folds.at(-1)?.through ?? -1
      const first = turns.findIndex((_, index) => place(index) > before)
      if (count === 0 || first >= count) return { decisions }
      const at = view.places.at(-1) ?? 0
      const fold = { from: place(first), through: place(count - 1), style: 'stub' as const, why: 'old', at }
      return { decisions: { ...decisions, folds: [...decisions.folds, fold] } }
    },
  }
}

/** Keeps at least `keep` messages, and cuts when there are `step` more. */
export function windowOf(keep: number, step: number): Strategy {
  if (step === 1) return { name: `window-${keep} every turn`, settings: { maxMessages: keep, step: 1 } }
  return { name: `window-${keep}, step ${step}`, settings: { maxMessages: keep + step, step: step + 1 } }
}

export function foldAt(tokens: number, keep: number): Strategy {
  return foldWhen(`tools-${keep}, at ${tokens / 1000}k`, keep, ({ size }) => size > tokens)
}

export function foldWhenCold(keep: number): Strategy {
  return { ...foldWhen(`tools-${keep}, only cold`, keep, ({ situation }) => situation.cold), byClass: true }
}

function foldWhen(name: string, keep: number, when: (moment: Moment) => boolean): Strategy {
  return {
    name,
    settings: { maxToolTurns: keep, rhythm: 'economy' },
    decide(moment) {
      const { decisions } = moment.situation
      const proposal = when(moment) ? proposeFoldForSize({ ...moment.situation, limit: 0 }) : undefined
      return { decisions: proposal ? withProposal(decisions, proposal) : decisions }
    },
  }
}

const summaryTokens = 2000
const recentMessages = 20
/** Output costs about five times what input does. */
const outputPrice = 5
const summary = 'What was said and done so far, in short. '

export function summaryAt(tokens: number): Strategy {
  return {
    name: `summary at ${tokens / 1000}k`,
    settings: {},
    byClass: true,
    decide({ situation, view, size, price }) {
      const { decisions, cold } = situation
      const start = startOfLast(view.messages, recentMessages)
      const through = view.places.slice(0, start).findLast((place) => place >= 0)
      if (size <= tokens || through === undefined) return { decisions }
      const last = decisions.compactions.at(-1)?.through ?? -1
      if (through <= last) return { decisions }
      const text = `${through}: ${summary.repeat(Math.ceil((summaryTokens * 3.3) / summary.length))}`
      const reading = cold ? price.write : price.read
      return {
        decisions: { ...decisions, compactions: [...decisions.compactions, { through, text }] },
        aside: reading * size + outputPrice * summaryTokens,
      }
    },
  }
}
