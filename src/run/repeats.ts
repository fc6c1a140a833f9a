// A model that goes in circles: the same call with the same result again and again, or the same few calls in the same
// order. Read from the history alone, so that a resumed run knows what the one before it saw. A single call that gives
// something new each time is no repeat: waiting for a build is asking the same question until the answer changes.

import type { GuardReason } from '../core/event.ts'
import type { Entry } from '../core/log.ts'
import { callsOf, type ToolCallPart, type ToolResultPart } from '../core/message.ts'

/** What opens the note to the model, and how it is told apart from what the tool said. */
const noteLabel = '[Note]'
const longestPattern = 6

/** How often: the model is warned at `warn`, and the run stops at `stop`. */
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

/** What to tell the model with the result of one of these calls, which are all of one turn. The history is read once. */
export function repeatNotes(
  history: readonly Entry[],
  calls: readonly ToolCallPart[],
  { warn, stop }: RepeatLimits,
): (call: ToolCallPart, result: ToolResultPart) => RepeatNote | undefined {
  const turns = turnsSinceUser(history)
  const counts = countsOf(turns.flat().filter((one) => one.result))
  const now = new Set(calls)
  const earlier = turns.filter((turn) => !turn.some((one) => now.has(one.call))).map(callsIn)
  const period = patternAt([...earlier, callsIn(calls.map((call) => ({ call })))], stop)
  return (call, result) => {
    const count = 1 + (counts.get(withResult({ call, result })) ?? 0)
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

function countsOf(all: readonly Made[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) {
    const key = withResult(one)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

export function withNote(result: ToolResultPart, note: string): ToolResultPart {
  return { ...result, output: [...result.output, { type: 'text', text: `${noteLabel} ${note}` }] }
}

/** Why the run must stop here; undefined: it need not. */
export function stuck(history: readonly Entry[], { stop }: RepeatLimits): GuardReason | undefined {
  const turns = turnsSinceUser(history)
  const counts = countsOf(turns.flat())
  for (const one of turns.at(-1) ?? []) {
    const count = counts.get(withResult(one)) ?? 0
    if (count >= stop) return repeated(one.call, count)
  }
  const times = 2 * stop
  const period = patternAt(turns.map(callsIn), times)
  if (period === undefined) return undefined
  const names = turns.slice(-period).map((turn) => turn.map(({ call }) => call.name).join(' and '))
  return { guard: 'pattern', why: `The same ${period} tool turns (${names.join(', ')}) came ${times} times in a row.` }
}

/** The length of a pattern of two turns or more that fills the end of a list this many times. */
function patternAt(turns: readonly string[], times: number): number | undefined {
  for (let period = 2; period <= longestPattern && period * times <= turns.length; period++) {
    const end = turns.slice(-period * times)
    if (end.every((turn, i) => turn === end[i % period]) && new Set(end).size > 1) return period
  }
  return undefined
}

interface Made {
  call: ToolCallPart
  result?: ToolResultPart
}

/** The calls of each tool turn since the user last spoke, with what came of them. */
function turnsSinceUser(history: readonly Entry[]): Made[][] {
  const since = history.slice(history.findLastIndex(({ message }) => message.role === 'user') + 1)
  const results = new Map<string, ToolResultPart>()
  for (const { message } of since) {
    if (message.role === 'tool') for (const part of message.parts) results.set(part.callId, part)
  }
  return since.flatMap(({ message }) => {
    const turn = callsOf(message).map((call) => {
      const result = results.get(call.callId)
      return { call, ...(result && { result }) }
    })
    return turn.length > 0 ? [turn] : []
  })
}

function withResult({ call, result }: Made): string {
  const said = result?.output.filter((part) => part.type !== 'text' || !part.text.startsWith(noteLabel))
  return JSON.stringify([call.name, call.malformed ?? call.input, result?.failed === true, said])
}

function callsIn(turn: readonly Made[]): string {
  return JSON.stringify(turn.map(({ call }) => [call.name, call.malformed ?? call.input]))
}

function repeated(call: ToolCallPart, count: number): GuardReason {
  const why = `${call.name} was called ${count} times with the same arguments and the same result.`
  return { guard: 'repeated-call', why }
}
