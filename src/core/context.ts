// What one request will carry, and the notes about it.

import type { JsonObject } from './json.ts'
import type { Message, TextPart } from './message.ts'

export interface Context {
  system: TextPart[]
  messages: Message[]
  tools: ToolSpec[]
  /** Positions for cache marks: after the message with this index; -1 = after tools and system. Ascending. */
  cacheAfter: number[]
  state?: StateRef
  /** The provider itself drops tool results and thinking before the message of this index. */
  cleared?: number
  /** The provider itself summarises what came before once the prompt has this many tokens. */
  compactAt?: number
  /** The messages are from the log and never change: what is encoded for them may be cached for the next request. */
  fromLog?: boolean
  /** The position of each message in the history, if policies have cut or added some; -1 = added. */
  places?: number[]
}

/** How a note names the message at `index` of a context: by its position in the history. */
export function placeOf(context: Context, index: number): string {
  return `messages[${context.places?.[index] ?? index}]`
}

export interface ToolSpec {
  name: string
  description?: string
  /** JSON Schema of the arguments, an object schema. */
  input: JsonObject
  /** The kind of tool, if it is not a function, on wires that support the kind; every other wire gets a function. */
  kind?: ToolKind
  /** What the text of a free-form tool must match. */
  grammar?: Grammar
  /** The namespace of the tool, on wires that group tools. `name` is then `<namespace>__<its name there>`. */
  namespace?: { name: string; description?: string }
  /** The declaration in the client's request, of a tool that models of that wire know without its schema. */
  declared?: JsonObject
}

/**
 * `free-form`: takes plain text instead of JSON arguments; as a function it has one string field, `input`. `search`:
 * the client searches for tools that were not declared. `shell`, `local-shell`, `apply-patch`, `computer` and
 * `computer-preview`: tools that the client runs, and OpenAI's models know.
 */
export type ToolKind = (typeof toolKinds)[number]

export const toolKinds = [
  'free-form',
  'search',
  'shell',
  'local-shell',
  'apply-patch',
  'computer',
  'computer-preview',
] as const

export interface Grammar {
  /** Such as `lark` or `regex`. */
  syntax: string
  definition: string
}

/** State that a provider stores under an id: the first `covers` messages of the context need not be sent. */
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
  /** Where: a position in the history (`messages[3].parts[0]`), or in the body if there is none. */
  at?: string
  /** The rule of the wire, or the policy, that required it. */
  rule?: string
  /** Machine-readable data; the fields above are readable text. */
  data?: JsonObject
}
