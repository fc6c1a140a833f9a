// What one run works with.

import type { GuardReason, RunEvent } from '../core/event.ts'
import type { Exchange } from '../core/log.ts'
import type { TextPart, UserMessage } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { Tool } from '../core/tool.ts'
import type { Policy } from '../settings/policy.ts'
import type { Budget, Fallback, Route } from '../settings/run.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { ReplyCall } from '../transport/reply.ts'
import type { Store, Write } from '../store/store.ts'
import type { Cooldown } from './cooldown.ts'
import type { PathTo } from './path-cache.ts'
import type { RepeatLimits } from './repeats.ts'
import type { ToolLimits } from './guards.ts'

export interface RunContext {
  store: Store
  owner: string
  conversationId: string
  endpoint: Endpoint
  system: readonly TextPart[]
  tools: readonly Tool[]
  /** Names of tools that the conversation was started with and that are not here. */
  readonly absentTools?: readonly string[] | undefined
  options: Options
  policy: Policy
  maxSteps: number
  signal: AbortSignal
  transport: Transport
  /** The right to write, as it is now: every write of a run carries its epoch. */
  write(): Write
  emit(event: RunEvent): void
}

export type Transport = Pick<ReplyCall, 'fetch' | 'limits' | 'retry' | 'budget' | 'sleep'>

/** What the loop works with. Its fields are read again at each step: tools, model and policy may change on the way. */
export interface LoopContext extends Omit<RunContext, 'endpoint' | 'transport'> {
  readonly model: string
  readonly protocol?: string | undefined
  endpointOf(model: string, protocol: string | undefined): Promise<{ endpoint: Endpoint; transport: Transport }>
  readonly route?: Route | undefined
  readonly fallback: readonly Fallback[]
  readonly cooldown: Cooldown
  readonly repeats?: RepeatLimits | undefined
  readonly limits: ToolLimits
  readonly budget?: Budget | undefined
  /** What the application gives to its tools. */
  readonly context?: unknown
  /** The schema that the caller gave for the final answer. */
  readonly answer?: object | undefined
  pathTo: PathTo
  /** What the user has said since, while the run continued; each is given once. */
  incoming(): UserMessage[]
  /** The run ends with the first reply, whatever it asks for: somebody else runs the tools. */
  readonly oneReply?: boolean | undefined
  /** The guard that aborted the signal, if one did. */
  stoppedBy(): GuardReason | undefined
  now(): number
  /** Told of each exchange when it is over. */
  counted?(exchange: Exchange): void
}

/** Sees all events of one run, such as telemetry. */
export interface Observer {
  onEvent(event: RunEvent): void
}
