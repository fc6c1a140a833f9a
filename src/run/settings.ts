// How a conversation is to be continued. Everything here can change from one message to the next.

import { badInput } from '../core/error.ts'
import type { UserMessage } from '../core/message.ts'
import type { Endpoint } from '../providers/resolve.ts'
import { checkRunChanges } from '../settings/check.ts'
import type { RunSettings } from '../settings/run.ts'
import type { Store } from '../store/store.ts'
import { answerSchemaOf } from './answer-schema.ts'
import type { Cooldown } from './cooldown.ts'

import type { PathTo } from './path-cache.ts'
import type { Observer, Transport } from './run-context.ts'

export type { RunSettings } from '../settings/run.ts'

/** What a conversation needs from its runtime. */
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

/** The settings with changes, which are checked. A wire that was chosen for one model is not kept for another. */
export function withChanges(settings: RunSettings, changes?: Partial<RunSettings>): RunSettings
export function withChanges(settings: Partial<RunSettings>, changes?: Partial<RunSettings>): Partial<RunSettings>
export function withChanges(settings: Partial<RunSettings>, changes: Partial<RunSettings> = {}): Partial<RunSettings> {
  checkRunChanges(changes)
  // A schema that cannot be sent is refused here, and not in the middle of a run.
  if (changes.answer) answerSchemaOf(changes.answer)
  const { protocol: _, ...anyWire } = settings
  const otherModel = changes.model !== undefined && changes.model !== settings.model
  return { ...(otherModel ? anyWire : settings), ...changes }
}
