// A tool that can be run, as the loop needs it. `defineTool` makes one from a schema with types; MCP servers and plain
// objects give the same shape.

import type { ToolSpec } from './context.ts'
import type { Json } from './json.ts'

export interface Tool extends ToolSpec {
  /**
   * Does the work. What it gives is the result: a string, anything that can be written as JSON, a list of text and media
   * parts, or an async iterable, whose values are shown as they come and whose last one is the result. The input of a
   * free-form tool is its text.
   */
  run(input: Json, run: ToolRun): unknown
  /** Safe to run again with the same input after a crash. */
  repeatable?: boolean
  /** How long one call may take; two minutes by default. */
  timeoutMs?: number
  /** Whether a person must allow the call before it is run. */
  ask?: boolean | ((input: Json) => boolean | Promise<boolean>)
  /** How long that is waited for; an hour by default. */
  askTimeoutMs?: number
  /** Reads the arguments itself; without it they are checked against `input`. */
  read?(input: Json): Promise<ReadCall | InputProblem>
}

/** A call whose arguments were read and are right. */
export interface ReadCall {
  run(run: ToolRun): unknown
  /** Whether a person must allow it first. */
  asks: () => boolean | Promise<boolean>
}

/** What is wrong with the arguments of a call, in words for the model. */
export interface InputProblem {
  problem: string
}

/** What a tool is told about the call that it runs for. */
export interface ToolRun {
  callId: string
  conversationId: string
  /** Whose conversation it is. */
  owner: string
  /** The `context` of the run's settings: whatever the application gave. */
  context?: unknown
  /** Aborted when the run is, and when the call has taken too long. */
  signal: AbortSignal
}
