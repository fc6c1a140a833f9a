// How a reply is requested, in terms that every wire supports in some form. What a model does not support is left out
// with a note.

import type { JsonObject } from '../core/json.ts'

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

/**
 * A tool that the provider runs itself. If it has none, your own tool named `web_search`, `code_execution`,
 * `file_search` or `mcp` replaces it, otherwise it is left out with a note.
 */
export type ServerTool =
  | {
      kind: 'web-search'
      /** Only pages of these hosts. */
      domains?: readonly string[]
    }
  | { kind: 'code-execution' }
  | {
      kind: 'file-search'
      /** The provider's names of the file stores. */
      stores: readonly string[]
    }
  | {
      kind: 'mcp'
      name: string
      url: string
      /** The token that the provider sends to the server. It is in the request, and so in the log. */
      authorization?: string
      /** Only these of its tools. */
      only?: readonly string[]
    }

export interface Options {
  maxOutput?: number
  temperature?: number
  topP?: number
  topK?: number
  seed?: number
  presencePenalty?: number
  frequencyPenalty?: number
  stop?: string[]
  effort?: Effort
  toolChoice?: 'auto' | 'none' | 'required' | { tool: string }
  parallelTools?: boolean
  /** A JSON Schema that the answer must match. */
  answerSchema?: JsonObject
  /** Groups requests of one conversation, for providers that route by it to a warm cache. */
  cacheKey?: string
  cacheTtl?: '5m' | '1h'
  /** Ask the provider to store the reply under an id. */
  store?: boolean
  stream?: boolean
  /** Tools that the provider runs itself, in addition to the tools of the run. */
  serverTools?: readonly ServerTool[]
  /**
   * Merged into the body last, unchanged: for fields without an option. Its `tools` are sent with the tools of the run.
   */
  extra?: JsonObject
}
