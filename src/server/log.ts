// The server's log: one line of JSON per event. It never contains message content, headers or queries: readers of logs
// may not be allowed to read conversations.

import { escapedJson } from '../core/json.ts'

export interface LogLine {
  event: string
  [field: string]: string | number | boolean | undefined
}

export type Log = (line: LogLine) => void

export function writeLog(out: { write(text: string): unknown }, isWanted: (line: LogLine) => boolean): Log {
  return (line) => {
    if (isWanted(line)) out.write(`${escapedJson({ at: new Date().toISOString(), ...line })}\n`)
  }
}

/** Where an error was thrown, without its message, which may quote anything. */
export function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return [error.name, ...frames.slice(0, 6).map((line) => line.trim())].join(' ')
}
