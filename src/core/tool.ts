// A tool that can be run, as the loop needs it.

import type { ToolSpec } from './context.ts'
import type { Json } from './json.ts'

export interface Tool extends ToolSpec {
  run(input: Json, run: ToolRun): unknown
  /** Safe to run again with the same input after a crash. */
  repeatable?: boolean
  timeoutMs?: number
}

export interface ToolRun {
  callId: string
  signal: AbortSignal
}
