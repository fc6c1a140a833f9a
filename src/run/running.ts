// What one run works with.

import type { RunEvent } from '../core/event.ts'
import type { TextPart } from '../core/message.ts'
import type { Options } from '../core/options.ts'
import type { Tool } from '../core/tool.ts'
import type { Policy } from '../context/policy.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { ReplyCall } from '../transport/reply.ts'
import type { Store, Write } from '../store/store.ts'

export interface Running {
  store: Store
  owner: string
  conversationId: string
  endpoint: Endpoint
  system: readonly TextPart[]
  tools: readonly Tool[]
  options: Options
  policy: Policy
  maxSteps: number
  signal: AbortSignal
  transport: Transport
  /** The right to write, as it is now: every write of a run carries its epoch. */
  write(): Write
  emit(event: RunEvent): void
}

export type Transport = Pick<ReplyCall, 'fetch' | 'limits' | 'retry' | 'sleep'>
