// The dialect of a wire whose body is a list of messages: OpenAI's chat, Mistral's, Ollama's. The encoder here writes
// all of them; a dialect contains only what differs.

import type { Note, ToolKind, ToolSpec } from '../../core/context.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { MediaPart, OpaquePart, Reply, ToolResultPart } from '../../core/message.ts'
import type { IdGrammar } from '../shared/ids.ts'
import type { NameMap } from '../shared/names.ts'
import type { Turn, TurnRules } from '../shared/turns.ts'
import type { SchemaDialect } from '../tool-schema/dialect.ts'
import { fitTool } from '../tool-schema/fit.ts'
import type { Target } from '../wire.ts'

/** One piece of a turn: content, a call, fields of the message, or a whole message. */
export type Item = { part: JsonObject } | { call: JsonObject } | { fields: JsonObject } | { message: JsonObject }

/** What every part of the encoder needs. */
export interface Encoding {
  dialect: Dialect
  target: Target
  notes: Note[]
  names: Pick<NameMap, 'toWire'>
  idOf(callId: string): string
  /** Whether the call is sent back unchanged, without an id: its result has none either. */
  isIdless(callId: string): boolean
  /** The kind of a declared tool: `function` by default; undefined: not declared. */
  toolKind(name: string): ToolKind | 'function' | undefined
  /** Why calls and results are written as text, if they are. */
  flat: string | undefined
}

export interface Dialect {
  id: string
  path: string
  callIds: IdGrammar
  /** A call without an id is sent back without one, and its result is matched by name and order. */
  idless?: boolean
  /** Absent: any name is accepted. */
  toolNames?: { pattern: RegExp; length: number }
  /** Numbers of the wire's rules, for notes. */
  rules: {
    midSystem?: string
    resultMedia?: string
    callId?: string
    callName?: string
    arguments?: string
    otherCalls?: string
  }
  turnRules(target: Target): Omit<TurnRules<Item>, 'text'>
  /** A list of only system messages is refused; the number of the rule. */
  needsUser?: string
  /** Adjacent texts of a reply are often one sentence: they are merged. */
  joinsTexts: boolean

  /** Undefined if the target does not support it: then a line of text replaces it. */
  media(part: MediaPart, target: Target, supported?: readonly string[]): JsonObject | undefined
  /** User content that only this wire has; undefined if it is from another wire. */
  ownContent(part: OpaquePart, target: Target): Item | undefined
  /** The same in a reply built from its parts. */
  ownReplyContent(part: OpaquePart, reply: Reply, target: Target): Item | undefined
  /** Why content that is useless in a request is left out, if the wire has a special reason. */
  unsendable?(part: OpaquePart): { why: string; rule?: string } | undefined

  /** The form of a call's arguments on the wire, and which original ones may be sent back. */
  arguments: { write(input: Json): Json; isValid(value: Json | undefined): boolean }
  /** Whether calls are sent back with the `index` from the stream. */
  callIndex: boolean
  call(id: string, name: string, input: Json): JsonObject
  /** A call of a free-form tool, for targets that support such tools. Absent: it is written as one of a function. */
  freeFormCall?(id: string, name: string, text: string): JsonObject
  result(result: ToolResultPart, content: ResultContent, encoding: Encoding): JsonObject
  /** The native reply, without what a request may not have; undefined if nothing is left. */
  replay(reply: Reply, native: JsonObject, at: string, encoding: Encoding): JsonObject | undefined
  /** The items of a reply built from its parts, if they become one message at once. */
  built?(items: readonly Item[], reply: Reply, at: string, encoding: Encoding): Item[]
  /** Whether the dialect itself handles reasoning. */
  handlesReasoning?: boolean

  writeTurn(turn: Turn<Item>, target: Target): JsonObject[]
  options(tools: readonly ToolSpec[], encoding: Encoding): JsonObject
  marks?: CacheMarks
}

export interface ResultContent {
  text: string
  media: JsonObject[]
}

/** Where the wire allows a cache mark. */
interface CacheMarks {
  takes(target: Target): boolean
  /** The items with a mark on the last part that can have one; undefined if none can. */
  onItems(items: readonly Item[], target: Target): Item[] | undefined
  onTools(fields: JsonObject, target: Target): void
}

export function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

/** Tools as functions in the body of a request; `own`: the wire's form of a tool that is none. */
export function functionTools(
  tools: readonly ToolSpec[],
  dialect: SchemaDialect,
  { names, notes }: Pick<Encoding, 'names' | 'notes'>,
  own: (tool: ToolSpec, name: string) => JsonObject | undefined = () => undefined,
): JsonObject[] {
  return tools.map((tool, index) => {
    const name = names.toWire(tool.name)
    const written = own(tool, name)
    if (written) return written
    const { description, schema } = fitTool(tool, dialect, `tools[${index}]`, notes)
    return {
      type: 'function',
      function: { name, ...(description !== undefined && { description }), parameters: schema },
    }
  })
}
