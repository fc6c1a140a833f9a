// What one request will carry, and what is said about it.

import type { JsonObject } from './json.ts'
import type { Message, TextPart } from './message.ts'

export interface Context {
  system: TextPart[]
  messages: Message[]
  tools: ToolSpec[]
  /** Where a cache mark is wanted: after the message of this index; -1 = after tools and system. Ascending. */
  cacheAfter: number[]
  state?: StateRef
  /** The provider itself leaves out results and thoughts that come before the message of this index. */
  cleared?: number
  /** The provider itself is to summarise what came before, once the prompt has this many tokens. */
  compactAt?: number
  /** The messages are of the log, and never change: what is written for them may be kept for the next request. */
  fromLog?: boolean
  /** The place in the history of each message, where policies have cut or added some; -1 = added. */
  places?: number[]
}

/** How a note names the message at `index` of a context: by its place in the history. */
export function placeOf(context: Context, index: number): string {
  return `messages[${context.places?.[index] ?? index}]`
}

export interface ToolSpec {
  name: string
  description?: string
  /** JSON Schema of the arguments, an object schema. */
  input: JsonObject
  /** What it is beside a function, on wires that have a form for it; every other wire gets a function. */
  kind?: ToolKind
  /** What the text of a free-form tool must match. */
  grammar?: Grammar
  /** The tools that it belongs to, on wires that group tools. `name` is then `<namespace>__<its name there>`. */
  namespace?: { name: string; description?: string }
}

/**
 * `free-form`: takes plain text instead of JSON arguments; as a function it has one string field, `input`.
 * `search`: the client looks for tools that were not declared.
 */
export type ToolKind = 'free-form' | 'search'

export interface Grammar {
  /** Such as `lark` or `regex`. */
  syntax: string
  definition: string
}

/** What a provider remembers for us under an id: the first `covers` messages of the context need not be sent. */
export interface StateRef {
  kind: 'response-chain' | 'conversation' | 'interaction' | 'thread'
  id: string
  covers: number
}

/** One thing that was dropped, changed or added on the way to the wire, and why. */
export interface Note {
  kind: 'dropped' | 'changed' | 'added'
  what: string
  why: string
  /** Where: a place in the history (`messages[3].parts[0]`), or in the body where there is none. */
  at?: string
  /** The rule of the wire, or the policy, that asked for it. */
  rule?: string
}
