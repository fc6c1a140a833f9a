// The text that replaces a folded tool call: one line with the tool, its arguments one by one, the outcome, and the
// specific words that appear nowhere else in the request. Its number is the position of the result in the history, with
// which `recall` retrieves it. The same turn always gets the same bytes (P4).

import { isObject, type Json } from '../core/json.ts'
import type { ToolCallPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import { estimateTokens } from './count.ts'
import { specificWords } from './specific-words.ts'

/** Longer arguments are cut in the middle: their ends are the most telling. */
const argumentLength = 60
/** The end of a path is the most telling. */
const pathSegments = 3
/** The beginning of an error message is the most telling. */
const errorLength = 160
/** The most tokens that the words of one call may take, and their largest share of what folding it saves. */
const mostWordTokens = 350
const shareForWords = 0.35

/** A call and its outcome, as one line without words. */
export function foldedCall(call: ToolCallPart, result: ToolResultPart | undefined, number: string | undefined): string {
  const label = number === undefined ? '[Tool use]' : `[Tool use #${number}]`
  let known = afterLabels.get(call)
  if (!known || known.result !== result) {
    const text = `${call.name}(${foldedArguments(call)}): ${result ? outcomeOf(result) : 'no result'}`
    afterLabels.set(call, (known = { result, text }))
  }
  return `${label} ${known.text}`
}

/** A line is made twice: to find out what it saves, and to be sent. */
const afterLabels = new WeakMap<ToolCallPart, { result: ToolResultPart | undefined; text: string }>()

/** What replaces the output of a result. */
export function foldedResult(result: ToolResultPart, number: string | undefined): string {
  return `[Folded${number === undefined ? '' : ` #${number}`}] ${outcomeOf(result)}`
}

/**
 * The number of each result of a turn: the position of its message in the history, and, if several results are at one
 * position, which of them it is. A result that is not in the log has none.
 */
export function resultNumbers(
  results: readonly ToolMessage[],
  places: readonly number[],
): ReadonlyMap<ToolResultPart, string> {
  const numbers = new Map<ToolResultPart, string>()
  const counts = new Map<number, number>()
  for (let i = 0; i < results.length; i++) {
    const place = places[i] ?? -1
    if (place < 0) continue
    for (const part of results[i]?.parts ?? []) {
      const count = counts.get(place) ?? 0
      counts.set(place, count + 1)
      numbers.set(part, count === 0 ? String(place) : `${place}.${count}`)
    }
  }
  return numbers
}

function foldedArguments({ input, malformed }: ToolCallPart): string {
  if (malformed !== undefined) return cutMiddle(malformed, argumentLength)
  if (!isObject(input)) return cutMiddle(JSON.stringify(input), argumentLength)
  let text = ''
  for (const name of Object.keys(input)) {
    text += `${text === '' ? '' : ', '}${name}: ${foldedValue(input[name] ?? null)}`
  }
  return text
}

function foldedValue(value: Json): string {
  if (typeof value !== 'string') return cutMiddle(JSON.stringify(value), argumentLength)
  return isPath(value) ? endOfPath(value) : cutMiddle(value.replaceAll(/\s+/g, ' ').trim(), argumentLength)
}

function isPath(text: string): boolean {
  return text.length <= 1000 && /^(?:~|\.{1,2}|[\w@.-]+)?(?:\/[^\s/]+)+\/?$/.test(text) && !text.includes('://')
}

function endOfPath(path: string): string {
  const segments = path.split('/')
  return segments.length <= pathSegments + 1 ? path : `…/${segments.slice(-pathSegments).join('/')}`
}

function outcomeOf(result: ToolResultPart): string {
  let size = 0
  let media = 0
  for (const part of result.output) {
    if (part.type === 'text') size += part.text.length
    else media++
  }
  const length = `${size} characters${media > 0 ? `, ${media} media` : ''}`
  if (!result.failed) return `ok, ${length}`
  const [text = ''] = result.output.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const error = text
    .slice(0, errorLength * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, errorLength)
    .toWellFormed()
  return error === '' ? `failed, ${length}` : `failed, ${length}: ${error}`
}

/** The tokens that a fold saves; where it only matters whether they are `enough`, counted up to there. */
export type Saves = (enough: number) => number

/** As many of the words to add to a fold as there is room for, given what the fold saves. */
export function chosenWords(words: Iterable<string>, saves: Saves): string[] {
  const chosen: string[] = []
  let tokens = 0
  let room = 0
  for (const word of words) {
    tokens += estimateTokens(word) + 1
    if (tokens > room) room = roomIn(saves, tokens)
    if (tokens > room) break
    chosen.push(word)
  }
  return chosen
}

function roomIn(saves: Saves, wanted: number): number {
  const few = saves(0) * shareForWords
  if (wanted <= few) return Math.min(mostWordTokens, few)
  return Math.min(mostWordTokens, saves(mostWordTokens / shareForWords) * shareForWords)
}

/** The specific words of arguments, value by value. */
export function wordsOfInput({ input, malformed }: ToolCallPart, into: Set<string>): void {
  if (malformed !== undefined) specificWords(malformed, into)
  else wordsOfValue(input, into)
}

function wordsOfValue(value: Json, into: Set<string>): void {
  if (typeof value === 'string') specificWords(value, into)
  else if (Array.isArray(value)) for (const one of value) wordsOfValue(one, into)
  else if (isObject(value)) for (const one of Object.values(value)) wordsOfValue(one ?? null, into)
  else if (typeof value === 'number') specificWords(String(value), into)
}

function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text
  const half = Math.floor((length - 1) / 2)
  return `${text.slice(0, half).toWellFormed()}…${text.slice(-half).toWellFormed()}`
}
