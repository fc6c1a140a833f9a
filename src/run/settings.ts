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
import type { Guards } from './guards.ts'
import type { PathTo } from './path-cache.ts'
import type { Fallback, Route } from './route.ts'
import type { Observer, Transport } from './run-context.ts'

/** Where and how to continue; anything can change from one message to the next. */
export interface RunSettings {
  /** `provider/model`, such as `anthropic/claude-opus-5`. */
  model: string
  /** One of the provider's wires; without it, its usual one. */
  protocol?: string
  /** What the model is informed before everything else. */
  system?: string
  /** What the model may call. */
  tools?: readonly Tool[]
  /** Effort, length, sampling and the like, in words that every wire has some form of. */
  options?: Options
  /** What is sent of a long history: a preset's name or settings of your own. The log always keeps everything. */
  policy?: Policy
  /** The most requests to a model in one run; 50 by default. */
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

/** What a conversation needs from the house around it. */
export interface Runtime {
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

export type UserInput = string | UserMessage['parts']

export function userMessage(said: UserInput): UserMessage {
  if (typeof said !== 'string' && !Array.isArray(said)) throw badInput('A message is a text or a list of parts.')
  return { role: 'user', parts: typeof said === 'string' ? [{ type: 'text', text: said }] : said }
}

/** The settings with changes. A wire that was chosen for one model is not kept for another. */
export function withChanges(settings: RunSettings, changes: Partial<RunSettings> = {}): RunSettings {
  const { protocol: _, ...anyWire } = settings
  const otherModel = changes.model !== undefined && changes.model !== settings.model
  return { ...(otherModel ? anyWire : settings), ...changes }
}
