// How a reply is asked for, in words that every wire has some form of. What a model cannot do is left out with a note.

import type { JsonObject } from '../core/json.ts'

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

export interface Options {
  maxOutput?: number
  temperature?: number
  topP?: number
  stop?: string[]
  effort?: Effort
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string }
  parallelTools?: boolean
  /** A JSON Schema that the answer must fit. */
  answerSchema?: JsonObject
  /** Groups requests of one conversation, for providers that route by it to a warm cache. */
  cacheKey?: string
  cacheTtl?: '5m' | '1h'
  /** Ask the provider to keep the reply under an id. */
  store?: boolean
  stream?: boolean
  /** Merged into the body last, as it is: for what has no option here. Its `tools` are sent beside the tools of the run. */
  extra?: JsonObject
}
