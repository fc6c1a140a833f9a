// What a request still knows: of the specific words in the arguments of a tool call that had occurred before in the
// session, the share that is present in the request which that call answers. Lexical: no measure of how good an answer
// is, but it shows what a policy throws away. The words are found here by separate rules, not by the product's.

import { isObject, type Json } from '../../src/core/json.ts'
import type { Message, Part } from '../../src/core/message.ts'
import type { Sent } from '../money/bill.ts'
import type { Trajectory } from '../money/trajectory.ts'

export interface Knowledge {
  /** Words that were needed, and those of them that were there. */
  needed: number
  present: number
  /** The same of words that were last seen ten or more requests before. */
  farNeeded: number
  farPresent: number
  /** Lines of 24 characters or more in arguments that stood somewhere before. */
  lines: number
  linesPresent: number
  requests: number
  /** Requests that lacked something. */
  missing: number
}

export const nothing: Knowledge = {
  needed: 0,
  present: 0,
  farNeeded: 0,
  farPresent: 0,
  lines: 0,
  linesPresent: 0,
  requests: 0,
  missing: 0,
}

const farAway = 10
const lineLength = 24

export function measureKnowledge({ messages, requests }: Trajectory, sent: readonly Sent[]): Knowledge {
  const total = { ...nothing }
  /** The number of the request before which each word and line stood in the log last. */
  const seen = new Map<string, number>()
  let read = 0
  for (const [number, { reply }] of requests.entries()) {
    for (; read < reply; read++) for (const word of wordsIn(messages[read] as Message)) seen.set(word, number)
    total.requests++
    const view = (sent[number]?.messages ?? []).map(wordsIn)
    const isThere = (word: string) => view.some((words) => words.has(word))
    let lacks = false
    for (const word of argumentsOf(messages[reply] as Message)) {
      const last = seen.get(word)
      if (last === undefined) continue
      const found = isThere(word)
      if (word.startsWith(linePrefix)) {
        total.lines++
        if (found) total.linesPresent++
        continue
      }
      lacks ||= !found
      total.needed++
      if (found) total.present++
      if (number - last < farAway) continue
      total.farNeeded++
      if (found) total.farPresent++
    }
    if (lacks) total.missing++
  }
  return total
}

export function add(a: Knowledge, b: Knowledge): Knowledge {
  const sum = { ...a }
  for (const key of Object.keys(sum) as (keyof Knowledge)[]) sum[key] += b[key]
  return sum
}

const words = new WeakMap<Message, Set<string>>()

/** Words and lines of all that a model reads of a message. */
function wordsIn(message: Message): Set<string> {
  let found = words.get(message)
  if (!found) {
    found = new Set()
    for (const text of message.parts.flatMap(textsOf)) collect(text, found)
    words.set(message, found)
  }
  return found
}

/** All that a model reads of a message. */
export function textOf(message: Message): string {
  return message.parts.flatMap(textsOf).join('\n')
}

function argumentsOf(message: Message): Set<string> {
  const found = new Set<string>()
  for (const part of message.parts)
    if (part.type === 'tool-call') for (const text of textsOf(part)) collect(text, found)
  return found
}

function textsOf(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [part.text]
    case 'compaction':
      return [part.text ?? '']
    case 'tool-call':
      return part.malformed === undefined ? stringsIn(part.input) : [part.malformed]
    case 'tool-result':
      return part.output.flatMap(textsOf)
    default:
      return []
  }
}

function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  if (isObject(value)) return Object.values(value).flatMap((one) => stringsIn(one ?? null))
  return value === null ? [] : [String(value)]
}

/** So that a line is never taken for a word. */
const linePrefix = '\n'

function collect(text: string, into: Set<string>): void {
  for (const [found] of text.matchAll(/[\w~/.@-]*[\w/]/g)) {
    const word = found.replace(/^[.@-]*\/?(?=\w)|\/$/g, '')
    if (isSpecific(word)) into.add(word)
  }
  for (const line of text.split('\n')) if (line.trim().length >= lineLength) into.add(linePrefix + line.trim())
}

/** Paths, identifiers with a digit, an underscore or an inner capital, numbers, hashes. */
function isSpecific(word: string): boolean {
  if (word.length < 2) return false
  return (
    /\d/.test(word) ||
    /\w_\w/.test(word) ||
    /[a-z][A-Z]/.test(word) ||
    /\w\/\w/.test(word) ||
    /\w\.[a-z]{1,5}$/i.test(word)
  )
}
