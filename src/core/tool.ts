// A tool that can be run, as the loop needs it. `defineTool` makes one from a schema with types; MCP servers and plain
// objects give the same shape.

import type { ToolSpec } from './context.ts'
import type { Json } from './json.ts'

export interface Tool extends ToolSpec {
  /**
   * Does the work. What it returns is the result: a string, anything that can be written as JSON, a list of text and
   * media parts, or an async iterable, whose values are shown as they arrive and whose last one is the result. The
   * input of a free-form tool is its text.
   */
  run(input: Json, run: ToolRun): unknown
  /** Safe to run again with the same input after a crash. */
  repeatable?: boolean
  /** How long one call may take; two minutes by default. */
  timeoutMs?: number
  /** Whether the call needs approval before it is run. */
  ask?: boolean | ((input: Json) => boolean | Promise<boolean>)
  /** How long to wait for approval; an hour by default. */
  askTimeoutMs?: number
  /** Parses the arguments itself; otherwise they are validated against `input`. */
  read?(input: Json): Promise<ReadCall | InputProblem>
}

/** A call with parsed, valid arguments. */
export interface ReadCall {
  run(run: ToolRun): unknown
  /** Whether it needs approval first. */
  asks: () => boolean | Promise<boolean>
}

/** What is wrong with the arguments of a call, as text for the model. */
export interface InputProblem {
  problem: string
}

/** What a tool gets about the call that it runs for. */
export interface ToolRun {
  callId: string
  conversationId: string
  /** The owner of the conversation. */
  owner: string
  /** The `context` of the run's settings: any value from the application. */
  context?: unknown
  /** Reports progress before the call is done, as an event of the run (`tool-progress`). */
  emit(value: Json): void
  /** Aborted when the run is, and when the call has taken too long. */
  signal: AbortSignal
}
