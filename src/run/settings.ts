// How a conversation is to be continued. Everything here can change from one message to the next.

import { badInput } from '../core/error.ts'
import type { UserMessage } from '../core/message.ts'
import type { Options } from '../core/options.ts'
import type { Tool } from '../core/tool.ts'
import type { Policy } from '../context/policy.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { Store } from '../store/store.ts'
import type { Budget } from './budget.ts'
import type { Cooldown } from './cooldown.ts'
import type { PathTo } from './known-path.ts'
import type { Fallback, Route } from './route.ts'
import type { Observer, Transport } from './running.ts'

/** Where and how to go on; anything can change from one message to the next. */
export interface RunSettings {
  /** `provider/model`, such as `anthropic/claude-opus-5`. */
  model: string
  /** One of the provider's wires; without it, its usual one. */
  protocol?: string
  /** What the model is told before everything else. */
  system?: string
  /** What the model may call. */
  tools?: readonly Tool[]
  /** Effort, length, sampling and the like, in words that every wire has some form of. */
  options?: Options
  /** What is sent of a long history: a preset's name or settings of your own. The log always keeps everything. */
  policy?: Policy
  /** The most requests to a model in one run; 50 unless told. */
  maxSteps?: number
  /** When a run that goes wrong is stopped. */
  guards?: Guards
  /** What a run or the conversation may cost. */
  budget?: Budget
  /** Another model for some steps. */
  route?: Route
  /** Whom to ask when a model fails before it has said anything, in this order. */
  fallback?: readonly Fallback[]
  /** Aborts the run. */
  signal?: AbortSignal
}

/** Limits of a run. Whichever is reached ends it, with an event that says which and why. */
export interface Guards {
  /**
   * How often the same call with the same result is borne before the model is told: 3 unless told. The run stops when it
   * goes on all the same. False: for ever.
   */
  repeats?: number | false
  /** How long a run may take, in milliseconds. */
  timeMs?: number
  /** How many characters a run may write, of text, reasoning and arguments. */
  outputSize?: number
  /** How many calls of one reply are run: 128 by default. The others stay in the log and are answered as not run. */
  callsPerReply?: number
  /** How many tools run at the same time: 16 by default. */
  concurrentTools?: number
  /** How many bytes are kept of one tool result: 16 MiB by default. What is cut is counted in the result. */
  resultSize?: number
  /** How many characters are kept of one reply: 16 MiB by default. Reading stops there. */
  replySize?: number
}

/** The limits that always hold. */
export interface ToolLimits {
  callsPerReply: number
  concurrentTools: number
  resultSize: number
}

export function toolLimits({ callsPerReply, concurrentTools, resultSize }: Guards = {}): ToolLimits {
  return {
    callsPerReply: callsPerReply ?? 128,
    concurrentTools: Math.max(1, concurrentTools ?? 16),
    resultSize: resultSize ?? 16 * 1024 * 1024,
  }
}

/** What a conversation needs from the house around it. */
export interface Surroundings {
  store: Store
  owner: string
  /** Finds who serves a model: by the rows of providers, or by an emulator in their place. */
  endpoint(model: string, protocol: string | undefined): Promise<{ endpoint: Endpoint; transport: Transport }>
  /** Which providers fail now; without it each conversation keeps its own. */
  cooldown?: Cooldown
  /** Knows the paths of conversations for longer than these are open; without it each knows its own. */
  paths?: (conversationId: string) => PathTo
  now?: () => number
  /** Watches all runs, for telemetry. */
  observe?: () => Observer
}

export type Said = string | UserMessage['parts']

export function userMessage(said: Said): UserMessage {
  if (typeof said !== 'string' && !Array.isArray(said)) throw badInput('A message is a text or a list of parts.')
  return { role: 'user', parts: typeof said === 'string' ? [{ type: 'text', text: said }] : said }
}

/** The settings with changes. A wire that was chosen for one model is not kept for another. */
export function withChanges(settings: RunSettings, changes: Partial<RunSettings> = {}): RunSettings {
  const { protocol: _, ...anyWire } = settings
  const otherModel = changes.model !== undefined && changes.model !== settings.model
  return { ...(otherModel ? anyWire : settings), ...changes }
}
