// A model without progress: the same call with the same result again and again, or the same few calls in the same
// order. Derived from the history alone, so that a resumed run knows what the previous one saw. A call with a new
// result each time is not a repeat: polling a build means repeating a call until the result changes.

import { hash } from 'node:crypto'
import type { GuardReason } from '../../core/event.ts'
import type { Entry } from '../../core/log.ts'
import { alongPath } from '../../context/along-path.ts'
import { callsOf, type ToolCallPart, type ToolResultPart } from '../../core/message.ts'

/** The start of the warning to the model, which distinguishes it from the tool's output. */
const noteLabel = '[Note]'
const longestPattern = 6

/** Thresholds: the model is warned at `warn`, and the run stops at `stop`. */
export interface RepeatLimits {
  warn: number
  stop: number
}

export function repeatLimits(repeats: number | false | undefined): RepeatLimits | undefined {
  if (repeats === false) return undefined
  const warn = Math.max(2, repeats ?? 3)
  return { warn, stop: 2 * warn - 1 }
}

export interface RepeatNote {
  toModel: string
  reason: GuardReason
}

/**
 * The warning for the model with the result of one of these calls, which are all of one turn. The history is read once.
 */
export function repeatNotes(
  history: readonly Entry[],
  calls: readonly ToolCallPart[],
  { warn, stop }: RepeatLimits,
): (call: ToolCallPart, result: ToolResultPart) => RepeatNote | undefined {
  const turns = turnsOn(history)
  const isNow = turns.calls.at(-1)?.some((call) => calls.includes(call)) === true
  const digests = new Map(calls.map((call) => [call, digestOfCall(call)]))
  const texts = turns.texts.slice(-longestPattern * stop, isNow ? -1 : undefined)
  texts.push([...digests.values()].join())
  const period = patternAt(texts, stop)
  return (call, result) => {
    const count = 1 + timesOf(turns, digests.get(call) ?? digestOfCall(call), result, warn - 1)
    if (count >= warn) {
      return {
        toModel: `This is call ${count} of ${call.name} with these arguments, and the result was the same each time. Calling it again will not help: try something else, or say what is missing.`,
        reason: repeated(call, count),
      }
    }
    if (period === undefined) return undefined
    return {
      toModel: `The last ${period} tool turns have come ${stop} times in the same order. Do something else, or say what is missing.`,
      reason: { guard: 'pattern', why: `The same ${period} tool turns came ${stop} times in a row.` },
    }
  }
}

export function withNote(result: ToolResultPart, note: string): ToolResultPart {
  return { ...result, output: [...result.output, { type: 'text', text: `${noteLabel} ${note}` }] }
}

/** Why the run must stop here; undefined: it need not. */
export function stuck(history: readonly Entry[], { stop }: RepeatLimits): GuardReason | undefined {
  const turns = turnsOn(history)
  for (const call of turns.calls.at(-1) ?? []) {
    const result = turns.results.get(call.callId)
    const count = result ? timesOf(turns, turns.digests.get(call.callId) ?? '', result, stop) : 0
    if (count >= stop) return repeated(call, count)
  }
  const times = 2 * stop
  const period = patternAt(turns.texts, times)
  if (period === undefined) return undefined
  const names = turns.calls.slice(-period).map((calls) => calls.map(({ name }) => name).join(' and '))
  return { guard: 'pattern', why: `The same ${period} tool turns (${names.join(', ')}) came ${times} times in a row.` }
}

/** The length of a pattern of two turns or more that fills the end of a list this many times. */
function patternAt(turns: readonly string[], times: number): number | undefined {
  for (let period = 2; period <= longestPattern && period * times <= turns.length; period++) {
    const first = turns.length - period * times
    let i = turns.length - 1
    while (i >= first + period && turns[i] === turns[i - period]) i--
    if (i < first + period && turns.slice(-period).some((turn) => turn !== turns[first])) return period
  }
  return undefined
}

/** The tool turns since the last user message. */
interface Turns {
  /** The calls of each turn. */
  calls: (readonly ToolCallPart[])[]
  /** The signature of each turn. */
  texts: string[]
  /** The signature of each call, by its id. */
  digests: Map<string, string>
  /** The result of each call, by its id. */
  results: Map<string, ToolResultPart>
  /** The results of equal calls, by their signature. */
  answers: Map<string, Answers>
}

interface Answers {
  total: number
  /** Those that were not counted yet: most calls are made once, and a long result takes long to digest. */
  uncounted: ToolResultPart[]
  counts: Map<string, number>
}

/** Continues from the last step; otherwise a long run would read its whole history at every step. */
const turnsOn = alongPath<Entry, Turns>(
  noTurns,
  (turns, { message }) => {
    if (message.role === 'user') {
      Object.assign(turns, noTurns())
    } else if (message.role === 'tool') {
      for (const part of message.parts) addResult(turns, part)
    } else {
      const calls = callsOf(message)
      if (calls.length === 0) return
      const digests = calls.map(digestOfCall)
      for (const [i, { callId }] of calls.entries()) turns.digests.set(callId, digests[i] ?? '')
      turns.calls.push(calls)
      turns.texts.push(digests.join())
    }
  },
  ({ message }) => message.role === 'user',
)

function noTurns(): Turns {
  return { calls: [], texts: [], digests: new Map(), results: new Map(), answers: new Map() }
}

function addResult({ digests, results, answers }: Turns, part: ToolResultPart): void {
  const call = digests.get(part.callId)
  if (call === undefined) return
  results.set(part.callId, part)
  const known = answers.get(call)
  if (!known) return void answers.set(call, { total: 1, uncounted: [part], counts: new Map() })
  known.total++
  known.uncounted.push(part)
}

/** How often a call had this result; zero if that is less than `least`. */
function timesOf({ answers }: Turns, call: string, result: ToolResultPart, least: number): number {
  const known = answers.get(call)
  if (!known || known.total < least) return 0
  const { uncounted, counts } = known
  for (const part of uncounted.splice(0)) {
    const key = digestOfResult(part)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts.get(digestOfResult(result)) ?? 0
}

function digestOfCall({ name, malformed, input }: ToolCallPart): string {
  return digest(JSON.stringify([name, malformed ?? input]))
}

function digestOfResult({ failed, output }: ToolResultPart): string {
  const content = output.filter((part) => part.type !== 'text' || !part.text.startsWith(noteLabel))
  return digest(JSON.stringify([failed === true, content]))
}

/** A short text is its own digest. */
function digest(text: string): string {
  return text.length < 100 ? text : hash('sha256', text, 'base64')
}

function repeated(call: ToolCallPart, count: number): GuardReason {
  const why = `${call.name} was called ${count} times with the same arguments and the same result.`
  return { guard: 'repeated-call', why }
}
