// One session written for another agent: as a stream of text, so that a large session is never completely in memory.
// The same session, target and folder give the same text.

import { shortTitle } from '../core/title.ts'
import { createHash, hash } from 'node:crypto'
import { estimateTokens } from '../context/count.ts'
import type { Note } from '../core/context.ts'
import { badInput } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { textOf } from '../core/message.ts'
import { isOurMark } from '../transcripts/gemini-cli-session.ts'
import { sessionFormat } from '../transcripts/session-formats.ts'
import { type NewSession, type SessionFormat, type Step, type UserStep, uuidFor } from '../transcripts/session.ts'
import { stepper } from '../transcripts/steps.ts'
import type { Progress, SessionSource } from './source.ts'

export interface CarryOptions {
  cwd: string
  /** The time of writing; the start of a session without times. */
  now: string
  /** How many of the first ids are used by existing sessions. */
  attempt?: number
  progress?: Progress
}

export interface Carried {
  session: NewSession
  notes: Note[]
  counts: Counts
  tokens: number
  digests: string[]
}

export function targetFormat(id: string): SessionFormat {
  const format = sessionFormat(id)
  if (!format) throw badInput(`There is no agent "${id}" to carry a session to.`)
  return format
}

/** The session to write: a new id, and times, title and model of the source. */
export function newSession(source: SessionSource, target: SessionFormat, options: CarryOptions): NewSession {
  const { cwd, now, attempt = 0 } = options
  const seed = uuidFor(JSON.stringify([source.digest, target.id, cwd, attempt]))
  const id = target.id === 'opencode' ? `ses_${seed.replaceAll('-', '').slice(0, 26)}` : seed
  const startedAt = source.head.startedAt ?? now
  // opencode lists sessions by their titles; the others use the first message.
  const title = source.head.title ?? (target.id === 'opencode' ? firstWords(source) : undefined)
  // The others use the time of the file; opencode uses the session's own time, and lists the most recently changed
  // first.
  const updatedAt = target.id === 'opencode' ? now : (source.head.updatedAt ?? startedAt)
  return { ...source.head, title, id, cwd, startedAt, updatedAt }
}

function firstWords(source: SessionSource): string | undefined {
  for (const { message } of source.messages()) {
    const text = message.role === 'user' ? textOf(message.parts).trim() : ''
    if (text !== '' && !isWrapped(text)) return shortTitle(text.split('\n', 1)[0] ?? '')
  }
  return undefined
}

/** What agents write as the user. */
export function isWrapped(text: string): boolean {
  return /^\s*(<[a-z_-]+[\s>]|# AGENTS\.md|Caveat: |\[Request interrupted)/i.test(text)
}

/** The text of the new session. Its return value counts everything that was written. */
export function* carriedText(
  source: SessionSource,
  target: SessionFormat,
  session: NewSession,
  progress?: Progress,
): Generator<string, Carried> {
  const text = textOfLines(target.id === 'opencode')
  const steps = stepper(target.adaptUser)
  const turns = turnDigests()
  const isCopy = isSame(source, target)
  const writer = target.writer(session)
  const add = function* (newSteps: readonly Step[]): Generator<string> {
    for (const step of newSteps) {
      turns.add(step)
      if (!isCopy) for (const line of writer.add(step)) yield text.line(line)
    }
  }
  if (isCopy) {
    for (const line of source.lines(progress)) {
      const moved = target.rehome(line, source.head, session)
      if (moved) yield text.line(moved)
    }
  } else for (const line of writer.open()) yield text.line(line)
  let at = session.startedAt
  for (const { message, at: time } of source.messages(isCopy ? undefined : progress)) {
    // Times order the messages: they never decrease.
    if (time !== undefined && time > at) at = time
    yield* add(steps.push(message, at))
  }
  yield* add(steps.end())
  if (!isCopy) for (const line of writer.close()) yield text.line(line)
  yield text.end()
  const { digests, counts, tokens, longestResult, failed } = turns.end()
  if (counts.userTexts + counts.assistantTexts + counts.calls === 0) {
    throw badInput('The session has nothing to carry: no text and no tool calls.')
  }
  const notes = [...source.notes, ...(isCopy ? [] : steps.notes()), ...limits(target.id, longestResult, failed)]
  return { session, notes, counts, tokens, digests }
}

/** The lines of a session unchanged, in the format of their agent. */
export function* sameText(source: SessionSource): Generator<string, Pick<Carried, 'notes'>> {
  const text = textOfLines(source.format?.id === 'opencode')
  for (const line of source.lines()) yield text.line(line)
  yield text.end()
  return { notes: [] }
}

/** Most agents store lines; opencode takes one document. */
function textOfLines(document: boolean): { line(line: JsonObject): string; end(): string } {
  let count = 0
  return {
    line(line) {
      const json = JSON.stringify(line)
      if (!document) return `${json}\n`
      count++
      return count === 1 ? `{"info":${json},"messages":[` : `${count === 2 ? '' : ','}\n${json}`
    },
    end: () => (document ? '\n]}\n' : ''),
  }
}

/**
 * A session returns to its own agent line by line. Gemini CLI's files can have results twice, so they are rewritten.
 */
function isSame(source: SessionSource, target: SessionFormat): boolean {
  return source.format?.id === target.id && target.id !== 'gemini-cli'
}

/** What an agent does with a session when it loads it, by its own rules. */
function limits(target: string, longestResult: number, failed: number): Note[] {
  const notes: Note[] = []
  if (target === 'codex' && longestResult > 12_000) {
    const why = 'Codex shortens results of more than about 12,000 characters in the middle when it sends them'
    notes.push({ kind: 'changed', what: 'long results', why })
  }
  if (target === 'gemini-cli' && longestResult > 100_000) {
    const why = 'Gemini CLI shortens results of several hundred thousand characters when it sends them'
    notes.push({ kind: 'changed', what: 'long results', why })
  }
  if (target === 'codex' && failed > 0) {
    const why = 'Codex has no mark for a failed result; the text of the failure is there'
    notes.push({ kind: 'changed', what: `${failed} failed results`, why })
  }
  return notes
}

/** The content of a session in its next request, to compare it with what was meant. */
export function digestsOf(source: SessionSource, progress?: Progress): Pick<Carried, 'digests' | 'counts'> {
  const steps = stepper()
  const turns = turnDigests()
  let at = ''
  for (const { message, at: time } of source.messages(progress)) {
    at = time ?? at
    for (const step of steps.push(message, at)) turns.add(step)
  }
  for (const step of steps.end()) turns.add(step)
  return turns.end()
}

/** The first position where the written session differs from what was meant. */
export function difference(meant: readonly string[], written: readonly string[]): string | undefined {
  const at = meant.findIndex((digest, index) => written[index] !== digest)
  if (at >= 0) return `turn ${at + 1} of ${meant.length} differs`
  return written.length > meant.length ? `there are ${written.length} turns instead of ${meant.length}` : undefined
}

// The content of a session, as digests turn by turn: two sessions with the same digests have the same texts, calls,
// arguments, results and images, however their formats group them.

interface Counts {
  userTexts: number
  assistantTexts: number
  calls: number
  results: number
  pictures: number
}

interface TurnDigests {
  add(step: Step): void
  end(): { digests: string[]; counts: Counts; tokens: number; longestResult: number; failed: number }
}

const pictureTokens = 1600

function turnDigests(): TurnDigests {
  const counts: Counts = { userTexts: 0, assistantTexts: 0, calls: 0, results: 0, pictures: 0 }
  const digests: string[] = []
  let tokens = 0
  let longestResult = 0
  let failed = 0
  let turn = newTurn()
  let isUser = true

  const content = (parts: UserStep['parts'], text: (text: string) => void): void => {
    for (const part of parts) {
      if (part.type === 'text') {
        if (isOurMark(part.text)) continue
        text(part.text)
        tokens += estimateTokens(part.text)
      } else {
        counts.pictures++
        tokens += pictureTokens
        turn.pictures.update(part.data.kind === 'base64' ? part.data.base64 : '')
      }
    }
  }
  const close = (): void => {
    if (!turn.isEmpty) digests.push(digestOf(turn))
    turn = newTurn()
  }
  return {
    add(step) {
      if (step.kind === 'user') {
        if (!isUser) close()
        isUser = true
        turn.isEmpty = false
        content(step.parts, (text) => {
          counts.userTexts++
          turn.user.update(text)
        })
        return
      }
      isUser = false
      turn.isEmpty = false
      for (const part of step.parts) {
        if (part.type === 'text') {
          counts.assistantTexts++
          tokens += estimateTokens(part.text)
          turn.assistant.update(part.text)
        } else {
          counts.calls++
          const input = JSON.stringify(part.input)
          tokens += estimateTokens(input)
          turn.calls.update(`${part.name} ${hash('sha256', input)}\n`)
        }
      }
      for (const result of step.results) {
        counts.results++
        if (result.failed) failed++
        let length = 0
        turn.results.update('\n')
        content(result.output, (text) => {
          length += text.length
          turn.results.update(text)
        })
        longestResult = Math.max(longestResult, length)
      }
    },
    end() {
      close()
      return { digests, counts, tokens: Math.round(tokens), longestResult, failed }
    },
  }
}

function newTurn() {
  const digest = () => createHash('sha256')
  return {
    user: digest(),
    assistant: digest(),
    calls: digest(),
    results: digest(),
    pictures: digest(),
    isEmpty: true,
  }
}

function digestOf({ user, assistant, calls, results, pictures }: ReturnType<typeof newTurn>): string {
  const parts = [user, assistant, calls, results, pictures].map((hash) => hash.digest('hex'))
  return hash('sha256', parts.join(' ')).slice(0, 16)
}
