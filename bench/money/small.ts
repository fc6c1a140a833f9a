// Models with a few thousand tokens, locally: what counts is how much must be read again. The preset `small` plays, with
// the product's own proposals, against the cheapest way to stay within the same limits.

import { estimateMessage } from '../../src/context/count.ts'
import { noDecisions } from '../../src/context/decisions.ts'
import { limitOf } from '../../src/context/fit.ts'
import { proposeCutForSize, proposeFoldForSize, withProposal, type PlanFacts } from '../../src/context/proposals.ts'
import { settingsOf } from '../../src/settings/policy.ts'
import { baseView, sentView } from '../../src/context/assemble.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import type { Target } from '../../src/wires/wire.ts'
import { billerFor, type Sent } from './bill.ts'
import { localCache } from './classes.ts'
import { optimalCuts } from './optimum.ts'
import { model, provider, visibleTokens, type Trajectory } from './trajectory.ts'

export interface SmallWindow {
  ours: number
  /** The oldest messages go one by one, every turn. */
  everyTurn: number
  optimum: number
}

export function smallWindow(whole: Trajectory, window: number): SmallWindow {
  const settings = settingsOf('small')
  const capabilities = { ...openaiChat.capabilities, contextWindow: window }
  const limit = limitOf(capabilities, {}, settings)
  const target: Target = { provider, model, options: {}, quirks: {}, capabilities }
  const trajectory = shortened(whole, limit)
  const bill = billerFor(trajectory)
  return {
    ours: bill(played(), localCache).cost,
    everyTurn: bill(sliding(), localCache).cost,
    optimum: optimalCuts(trajectory, limit, settings.floor ?? 0.5)(localCache),
  }

  function played(): Sent[] {
    const { system, messages, requests } = trajectory
    let decisions = noDecisions
    return requests.map(({ reply, at }, count): Sent => {
      const base = baseView({ history: messages.slice(0, reply), protocol: openaiChat, target, decisions })
      const situation = (): PlanFacts => ({
        view: base,
        decisions,
        settings,
        head: system,
        provider,
        model,
        requests: count,
        cache: { read: 0, write: 1, minimum: 0, lifetimeMs: Infinity },
        cold: count === 0,
        limit,
      })
      for (const propose of [proposeFoldForSize, proposeCutForSize]) {
        const { messages: sent } = sentView(base, settings, decisions, target)
        if (sizeOf(sent) + system <= limit) break
        const proposal = propose(situation())
        if (proposal) decisions = withProposal(decisions, proposal)
      }
      return { ...sentView(base, settings, decisions, target), cacheAfter: [], at }
    })
  }

  function sliding(): Sent[] {
    const { system, messages, requests } = trajectory
    return requests.map(({ reply, at }): Sent => {
      const view = baseView({ history: messages.slice(0, reply), protocol: openaiChat, target })
      let start = 0
      let size = sizeOf(view.messages) + system
      while (size > limit && start < view.messages.length - 1) {
        do size -= estimateMessage(view.messages[start++] as Message)
        while (view.messages[start]?.role === 'tool' && start < view.messages.length - 1)
      }
      return { messages: view.messages.slice(start), places: view.places.slice(start), cacheAfter: [], at }
    })
  }
}

/**
 * No single message, nor the system prompt, takes more than a share of such a window; tokens are those of the estimate.
 * Sealed thoughts cannot be made shorter, and no model locally has them.
 */
function shortened(whole: Trajectory, limit: number): Trajectory {
  const most = limit / 10
  const messages = whole.messages.map((message) => shortMessage(unsealed(message), most))
  const scale = new Map(
    messages.map((message, place) => [place, estimateMessage(message) / Math.max(1, visibleTokens(message))]),
  )
  return { ...whole, messages, system: Math.min(whole.system, limit / 10), sizes: { hidden: new Map(), scale } }
}

function unsealed(message: Message): Message {
  const parts = message.parts.filter((part) => part.type !== 'reasoning' || part.text !== '')
  return parts.length === 0 ? message : ({ ...message, parts } as Message)
}

function shortMessage(message: Message, most: number): Message {
  const size = estimateMessage(message)
  if (size <= most) return message
  const share = most / size
  const short = <P extends Part>(part: P): P => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return { ...part, text: part.text.slice(0, Math.floor(part.text.length * share)).toWellFormed() }
      case 'tool-result':
        return { ...part, output: part.output.filter((piece) => piece.type === 'text').map(short) }
      case 'tool-call':
        return { ...part, input: { shortened: JSON.stringify(part.input).slice(0, Math.floor(2 * most)) } }
      default:
        return part
    }
  }
  return { ...message, parts: message.parts.map(short) } as Message
}

function sizeOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessage(message), 0)
}
