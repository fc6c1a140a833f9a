// How to continue a conversation. Everything here can change from one message to the next.

import { badInput } from '../core/error.ts'
import type { UserMessage } from '../core/message.ts'
import type { Endpoint } from '../providers/resolve.ts'
import { statefulProtocol } from '../providers/resolve-with.ts'
import { settingsOf } from '../settings/policy.ts'
import { checkRunChanges } from '../settings/check.ts'
import type { RunSettings } from '../settings/run.ts'
import type { Store } from '../store/store.ts'
import { answerSchemaOf } from './answer.ts'
import { checkParts } from './check-messages.ts'
import type { Cooldown } from './request/cooldown.ts'

import type { PathTo } from './log/path-cache.ts'
import type { Observer, ObservedTransport } from './run-context.ts'

export type { RunSettings } from '../settings/run.ts'

/** What a conversation needs from its runtime. */
export interface Runtime {
  store: Store
  owner: string
  /** Finds the endpoint of a model: from the provider rows, or an emulator in their place. */
  endpoint(model: string, protocol: string | undefined): Promise<{ endpoint: Endpoint; transport: ObservedTransport }>
  /** Which providers are failing; without it each conversation has its own record. */
  cooldown?: Cooldown
  /** Caches paths for longer than conversations are open; without it each has its own cache. */
  paths?: (conversationId: string) => PathTo
  now?: () => number
  /** The caller stores what a conversation continues with after a hand-off, such as the name of the agent. */
  storesHandoffs?: boolean
  /** The caller appends the events of a run to a stream of the store as they come: there is no journal of a reply. */
  storesEvents?: boolean
  /** Observes all runs, for telemetry. */
  observe?: () => Observer
}

export type UserInput = string | UserMessage['parts']

export function userMessage(input: UserInput): UserMessage {
  if (typeof input === 'string') return { role: 'user', parts: [{ type: 'text', text: input }] }
  if (!Array.isArray(input)) throw badInput('A message is a text or a list of parts.')
  checkParts(input, 'parts')
  return { role: 'user', parts: input }
}

/** The requested wire: if state is wanted and no wire is named, the one on which the provider stores it. */
export function protocolOf({ protocol, policy }: Pick<RunSettings, 'protocol' | 'policy'>): string | undefined {
  return protocol ?? (policy !== undefined && settingsOf(policy).state === 'auto' ? statefulProtocol : undefined)
}

/** The settings with validated changes. A wire that was chosen for one model does not apply to another. */
export function withChanges(settings: RunSettings, changes?: Partial<RunSettings>): RunSettings
export function withChanges(settings: Partial<RunSettings>, changes?: Partial<RunSettings>): Partial<RunSettings>
export function withChanges(settings: Partial<RunSettings>, changes: Partial<RunSettings> = {}): Partial<RunSettings> {
  checkRunChanges(changes)
  // A schema that cannot be sent is refused here, not in the middle of a run.
  if (changes.answer) answerSchemaOf(changes.answer)
  const { protocol: _, ...anyWire } = settings
  const otherModel = changes.model !== undefined && changes.model !== settings.model
  return { ...(otherModel ? anyWire : settings), ...changes }
}
