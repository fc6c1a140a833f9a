// A model without progress: the same call with the same result again and again, or the same few calls in the same
// order. Derived from the history alone, so that a resumed run knows what the previous one saw. A call with a new
// result each time is not a repeat: polling a build means repeating a call until the result changes.

import { hash } from 'node:crypto'
import type { GuardReason } from '../core/event.ts'
import type { Entry } from '../core/log.ts'
import { alongPath } from '../context/along-path.ts'
import { callsOf, type ToolCallPart, type ToolResultPart } from '../core/message.ts'

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
  const { list, counts } = turnsOn(history)
  const isNow = list.at(-1)?.calls.some((call) => calls.includes(call)) === true
  const earlier = lastOf(isNow ? list.slice(0, -1) : list, stop)
  const period = patternAt([...earlier, calls.map(digestOfCall).join()], stop)
  return (call, result) => {
    const count = 1 + (counts.get(together(digestOfCall(call), digestOfResult(result))) ?? 0)
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
  const { list, counts, answered } = turnsOn(history)
  for (const call of list.at(-1)?.calls ?? []) {
    const count = counts.get(answered.get(call.callId) ?? '') ?? 0
    if (count >= stop) return repeated(call, count)
  }
  const times = 2 * stop
  const period = patternAt(lastOf(list, times), times)
  if (period === undefined) return undefined
  const names = list.slice(-period).map(({ calls }) => calls.map(({ name }) => name).join(' and '))
  return { guard: 'pattern', why: `The same ${period} tool turns (${names.join(', ')}) came ${times} times in a row.` }
}

/** As many turns as a pattern with this many repetitions can have. */
function lastOf(list: Turns['list'], times: number): string[] {
  return list.slice(-longestPattern * times).map(({ text }) => text)
}

/** The length of a pattern of two turns or more that fills the end of a list this many times. */
function patternAt(turns: readonly string[], times: number): number | undefined {
  for (let period = 2; period <= longestPattern && period * times <= turns.length; period++) {
    const end = turns.slice(-period * times)
    if (end.every((turn, i) => turn === end[i % period]) && new Set(end).size > 1) return period
  }
  return undefined
}

/** The tool turns since the last user message. */
interface Turns {
  /** The calls of each turn, and their signature. */
  list: { calls: readonly ToolCallPart[]; text: string }[]
  /** The signature of each call, by its id. */
  calls: Map<string, string>
  /** The signature of each call with its result, by its id. */
  answered: Map<string, string>
  /** How often each call had the same result. */
  counts: Map<string, number>
}

/** Continues from the last step; otherwise a long run would read its whole history at every step. */
const turnsOn = alongPath<Entry, Turns>(
  () => ({ list: [], calls: new Map(), answered: new Map(), counts: new Map() }),
  (turns, { message }) => {
    if (message.role === 'user') {
      turns.list = []
      turns.calls = new Map()
      turns.answered = new Map()
      turns.counts = new Map()
    } else if (message.role === 'tool') {
      for (const part of message.parts) {
        const call = turns.calls.get(part.callId)
        if (call === undefined) continue
        const key = together(call, digestOfResult(part))
        turns.answered.set(part.callId, key)
        turns.counts.set(key, (turns.counts.get(key) ?? 0) + 1)
      }
    } else {
      const calls = callsOf(message)
      if (calls.length === 0) return
      const digests = calls.map(digestOfCall)
      for (const [i, { callId }] of calls.entries()) turns.calls.set(callId, digests[i] ?? '')
      turns.list.push({ calls, text: digests.join() })
    }
  },
  ({ message }) => message.role === 'user',
)

function together(call: string, result: string): string {
  return `${call}\n${result}`
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
