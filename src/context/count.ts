// Estimates the number of tokens in a text: one pass over the characters, no tables, nothing to load. It counts the
// units that tokenizers split at (words, groups of digits, runs of punctuation and blanks, ideographs), and weighs
// them.
//
// The weights are a non-negative least-squares fit against o200k over English, code, JSON, tool output, Chinese,
// Japanese, Korean and Cyrillic samples (2026-11); each class comes out within 3 %. Other tokenizers differ by a nearly
// constant factor, which follows from the usage that a provider reports.

import { isObject, type Json } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply, ToolMessage } from '../core/message.ts'
import { fileTokens } from './files.ts'
import { imageTokens } from './images.ts'
import { prefixes } from './prefix-memo.ts'

const weight = {
  word: 0.94,
  /** A word of more than four letters is sometimes two tokens; one of more than twelve usually. */
  longWord: 0.26,
  letterBeyond12: 0.54,
  capital: 0.04,
  digits: 1.34,
  punctuation: 0.71,
  morePunctuation: 0.05,
  newline: 0.35,
  indent: 1.6,
  accent: 0.03,
  ideograph: 0.79,
  kana: 0.76,
  hangul: 0.74,
  /** Cyrillic, Greek, Arabic and the like: counted by words, or they come out three times too high. */
  foreignWord: 1.52,
  other: 0.56,
}

/** Kinds of characters, as small numbers. */
const kind = {
  lower: 0,
  upper: 1,
  digit: 2,
  punctuation: 3,
  blank: 4,
  newline: 5,
  ideograph: 6,
  foreign: 7,
  other: 8,
}
const kinds = 9

/** Role, separators and the like around each message. */
const messageTokens = 4

const asciiClass = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return kind.lower
  if (code >= 65 && code <= 90) return kind.upper
  if (code >= 48 && code <= 57) return kind.digit
  if (code === 32 || code === 9) return kind.blank
  if (code === 10 || code === 13) return kind.newline
  return kind.punctuation
})

/** How long a run of characters of one kind is, as far as it matters. */
const longestRun = [13, 2, 3, 1, 3, 1, 1, 1, 1]
const runs = 13

/**
 * What a character adds, and the run that it is part of: by the run before it and its own kind. A table, because this
 * runs over every character that is ever sent.
 */
const costs = new Float64Array((kinds * runs + 1) * kinds)
const runsAfter = new Uint16Array(costs.length)
/** Before the first character. */
const start = kinds * runs * kinds

for (let before = 0; before < kinds; before++) {
  for (let run = 1; run <= (longestRun[before] as number); run++) addRun(before, run)
}
addRun(-1, 0)

function addRun(before: number, length: number): void {
  for (let now = 0; now < kinds; now++) {
    const isAfterCapital = now === kind.lower && before === kind.upper
    const run = isAfterCapital ? 2 : before === now ? nextRun(now, length) : 1
    const at = indexOf(before, length) + now
    costs[at] = isAfterCapital && length === 1 ? 0 : costOf(now, before, run)
    runsAfter[at] = indexOf(now, run)
  }
}

function indexOf(of: number, run: number): number {
  return of < 0 ? start : (of * runs + run - 1) * kinds
}

/** Digits are counted in groups of three. */
function nextRun(of: number, run: number): number {
  return of === kind.digit ? (run % 3) + 1 : Math.min(run + 1, longestRun[of] as number)
}

function costOf(now: number, before: number, run: number): number {
  const isFirst = before !== now
  switch (now) {
    case kind.lower:
      if (isFirst) return weight.word
      return run === 5 ? weight.longWord : run > 12 ? weight.letterBeyond12 : 0
    case kind.upper:
      return isFirst ? weight.word : weight.capital
    case kind.digit:
      return run === 1 ? weight.digits : 0
    case kind.punctuation:
      return isFirst ? weight.punctuation : weight.morePunctuation
    case kind.blank:
      return run === 2 ? weight.indent : 0
    case kind.newline:
      return isFirst ? weight.newline : 0
    case kind.foreign:
      return isFirst ? weight.foreignWord : 0
    case kind.other:
      return weight.other
    default:
      // Ideographs are counted one by one.
      return 0
  }
}

/** Stops once there are `enough`: the number is then less than that of the whole text. */
export function estimateTokens(text: string, enough = Infinity): number {
  let tokens = 0
  let run = start
  for (let i = 0; i < text.length && tokens < enough;) {
    for (const end = Math.min(text.length, i + stretch); i < end; i++) {
      const code = text.charCodeAt(i)
      let at = run
      if (code < 128) at += asciiClass[code] as number
      else {
        const now = kindOf(code)
        at += now
        if (now === kind.ideograph) tokens += ideographCost(code)
      }
      const cost = costs[at] as number
      // Always added in the same order: a sum of fractions is rounded up.
      if (code >= 0xc0 && code < 0x250)
        tokens = cost === weight.word ? tokens + cost + weight.accent : tokens + weight.accent + cost
      else tokens += cost
      run = runsAfter[at] as number
    }
  }
  return Math.ceil(tokens)
}

/** Characters between two checks whether it is enough. */
const stretch = 256

function ideographCost(code: number): number {
  return code >= 0xac00 && code < 0xd7b0 ? weight.hangul : code < 0x3100 ? weight.kana : weight.ideograph
}

function kindOf(code: number): number {
  if (code >= 0xc0 && code < 0x250) return kind.lower
  if (code >= 0x370 && code < 0x1100) return kind.foreign
  if (code >= 0x3040 && code < 0x3100) return kind.ideograph
  if (code >= 0x3400 && code < 0xa000) return kind.ideograph
  if (code >= 0xac00 && code < 0xd7b0) return kind.ideograph
  if (code >= 0xf900 && code < 0xfb00) return kind.ideograph
  return kind.other
}

const counted = new WeakMap<Message, number>()
const countedInPart = new WeakMap<Message, number>()

/** The tokens of a message on most wires. Counted once: messages of the log never change. */
export function estimateMessage(message: Message): number {
  let tokens = counted.get(message)
  if (tokens === undefined) {
    tokens = messageTokens
    for (const part of message.parts) tokens += estimatePart(part)
    if (message.role === 'assistant') tokens += estimateHidden(message)
    counted.set(message, tokens)
  }
  return tokens
}

/** The same for results, which may be long, where it only matters whether there are `enough`: counted up to there. */
export function estimateResults(message: ToolMessage, enough: number): number {
  const known = counted.get(message)
  if (known !== undefined) return known
  const inPart = countedInPart.get(message) ?? 0
  if (inPart >= enough) return inPart
  let tokens = messageTokens
  for (const { output } of message.parts) {
    for (const part of output) {
      if (tokens >= enough) break
      tokens += part.type === 'text' ? estimateTokens(part.text, enough - tokens) : estimatePart(part)
    }
  }
  const isWhole = tokens < enough
  ;(isWhole ? counted : countedInPart).set(message, tokens)
  return tokens
}

const sizes = new WeakMap<readonly Message[], readonly number[]>()
const counts = prefixes<readonly number[]>()

/** The tokens of each of them. */
export function sizesOf(messages: readonly Message[]): readonly number[] {
  let known = sizes.get(messages)
  if (!known) {
    const before = counts.longest(messages)
    const all = before ? before.value.slice(0, before.shared) : []
    for (let index = all.length; index < messages.length; index++) all.push(estimateMessage(messages[index] as Message))
    counts.keep(messages, all)
    sizes.set(messages, (known = all))
  }
  return known
}

const totals = prefixes<{ count: number; tokens: number }>()

/** The tokens of all of them; of a list that continues an earlier one, only the rest is added. */
export function totalOf(messages: readonly Message[]): number {
  const before = totals.longest(messages)
  let { count, tokens } = before && before.shared === before.value.count ? before.value : { count: 0, tokens: 0 }
  for (; count < messages.length; count++) tokens += estimateMessage(messages[count] as Message)
  totals.keep(messages, { count, tokens })
  return tokens
}

/** How many of them, from the first one on, were counted with an earlier list. */
export function countedBefore(messages: readonly Message[]): number {
  return sizes.has(messages) ? messages.length : (counts.longest(messages)?.shared ?? 0)
}

/** For a list derived from counted ones. */
export function rememberSizes(messages: readonly Message[], known: readonly number[]): void {
  sizes.set(messages, known)
}

/** Of sealed thinking, as the recorded usage of Claude 4.7 and 4.8 compares with ours (2026-11). */
const tokensPerSealedCharacter = 0.25

/**
 * Thinking that the provider encrypts is billed when it is sent back, and the signature grows with it; a readable
 * summary next to it is not billed. So the larger of signature and text counts. A call may carry a signature too.
 */
function estimateHidden({ parts, native }: Reply): number {
  let tokens = 0
  for (const part of parts) {
    if ((part.type !== 'reasoning' && part.type !== 'tool-call') || part.from === undefined) continue
    const item = native[part.from]
    if (!isObject(item)) continue
    let characters = 0
    for (const seal of [item.signature, item.encrypted_content, item.data, item.thoughtSignature]) {
      if (typeof seal === 'string') characters += seal.length
    }
    const seal = Math.ceil(characters * tokensPerSealedCharacter)
    tokens += part.type === 'reasoning' ? Math.max(0, seal - estimateTokens(part.text)) : seal
  }
  return tokens
}

export function estimateJson(value: Json): number {
  return estimateTokens(JSON.stringify(value))
}

function estimatePart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return estimateTokens(part.text)
    case 'compaction':
      return estimateTokens(part.text ?? '')
    case 'media':
      return estimateMedia(part)
    case 'tool-call':
      return estimateTokens(part.name) + estimateTokens(part.malformed ?? JSON.stringify(part.input))
    case 'tool-result':
      return part.output.reduce((sum, output) => sum + estimatePart(output), 0)
    default:
      return estimateTokens(JSON.stringify(part))
  }
}

function estimateMedia(part: MediaPart): number {
  return part.mediaType.startsWith('image/') ? imageTokens(part) : fileTokens(part)
}
