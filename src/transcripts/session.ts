// The metadata of a coding agent's session, and the contract of the formats whose files such an agent resumes: a scan
// that finds the current lines, a reader for one line, and a writer for one step.

import { createHash } from 'node:crypto'
import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, TextPart } from '../core/message.ts'

/** The metadata of a session. */
export interface SessionHead {
  id?: string | undefined
  cwd?: string | undefined
  startedAt?: string | undefined
  updatedAt?: string | undefined
  title?: string | undefined
  model?: string | undefined
  provider?: string | undefined
  gitBranch?: string | undefined
}

/** A session to be written: its id is new; its times, folder, title and model are those of the source. */
export interface NewSession extends SessionHead {
  id: string
  cwd: string
  startedAt: string
  updatedAt: string
}

export interface SessionMessage {
  message: Message
  at?: string
}

/** What every agent supports: a user message, or a reply with exactly one result for each of its calls. */
export type Step = UserStep | ReplyStep

export interface UserStep {
  kind: 'user'
  at: string
  parts: (TextPart | MediaPart)[]
}

export interface ReplyStep {
  kind: 'reply'
  at: string
  provider: string
  model: string
  parts: (TextPart | StepCall)[]
  /** In the order of the calls. */
  results: StepResult[]
}

export interface StepCall {
  type: 'call'
  id: string
  name: string
  input: JsonObject
}

export interface StepResult {
  id: string
  name: string
  output: (TextPart | MediaPart)[]
  failed: boolean
  at: string
}

export interface SessionScan {
  see(line: JsonObject, index: number): void
  /** The current lines, in reading order; with `whole`, also those before a compaction. */
  end(whole: boolean): Scanned
}

interface Scanned {
  head: SessionHead
  lines: number[]
  notes: Note[]
  /** Records that no longer count in a line with several: `<line> <id>`. */
  superseded?: ReadonlySet<string>
  /** How many messages there are, if a line can have several. */
  messages?: number
}

interface SessionWriter {
  /** What comes before the first step. */
  open(): JsonObject[]
  add(step: Step): JsonObject[]
  /** What comes after the last step. */
  close(): JsonObject[]
}

export interface SessionFormat {
  id: string
  scan(): SessionScan
  reader(whole: boolean, scanned?: Pick<Scanned, 'superseded'>): (line: JsonObject, index: number) => SessionMessage[]
  /** A record has a call and its result. */
  joinsResults?: boolean
  /** What the user sent, in the form that the agent needs. */
  adaptUser?: (parts: UserStep['parts']) => UserStep['parts']
  /** `after`: the line that the new ones follow. */
  writer(session: NewSession, after?: JsonObject): SessionWriter
  /** The same line in a session with another id and folder; undefined if it must be left out. */
  rehome(line: JsonObject, from: SessionHead, to: NewSession): JsonObject | undefined
  /** Adds a header before lines without one. */
  withHead?(lines: JsonObject[], session: NewSession): JsonObject[]
}

export function stringAt(value: Json | undefined, ...path: string[]): string | undefined {
  let at: Json | undefined = value
  for (const key of path) at = isObject(at) ? at[key] : undefined
  return typeof at === 'string' && at !== '' ? at : undefined
}

/** A time as text, from text or milliseconds; undefined if it is not valid. */
export function timeAt(value: Json | undefined): string | undefined {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : undefined
}

/** Collects the metadata of a session from its lines: the first time is its start, the last its end. */
export function headOf(): { head: SessionHead; time(at: string | undefined): void; set(more: SessionHead): void } {
  const head: SessionHead = {}
  return {
    head,
    time(at) {
      if (at === undefined) return
      if (head.startedAt === undefined || at < head.startedAt) head.startedAt = at
      if (head.updatedAt === undefined || at > head.updatedAt) head.updatedAt = at
    },
    set(more) {
      for (const [key, value] of Object.entries(more)) {
        if (value !== undefined) head[key as keyof SessionHead] = value as string
      }
    },
  }
}

/** Follows a tree of lines from its last one to its root. `up` returns the parent of a line. */
export function pathTo(leaf: number | undefined, up: (line: number) => number | undefined): number[] {
  const path: number[] = []
  const seen = new Set<number>()
  for (let at = leaf; at !== undefined && !seen.has(at); at = up(at)) {
    seen.add(at)
    path.push(at)
  }
  return path.toReversed()
}

/**
 * Ids derived from their content, so that the same conversation gives the same file. They are marked as random ones
 * (version 4), because agents accept no others as session ids.
 */
export function uuidFor(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
