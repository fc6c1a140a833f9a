// Estimates the number of tokens in a text: one pass over the characters, no tables, nothing to load. It counts the
// units that tokenizers split at (words, groups of digits, runs of punctuation and blanks, ideographs), and weighs
// them.
//
// The weights are a non-negative least-squares fit against o200k over English, code, JSON, tool output, Chinese,
// Japanese, Korean and Cyrillic samples (2026-11); each class comes out within 3 %. Other tokenizers differ by a nearly
// constant factor, which follows from the usage that a provider reports.

import { isObject, type Json } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply } from '../core/message.ts'
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

/** Kinds of characters, as small numbers: this loop runs over every character that is ever sent. */
const kind = {
  none: 0,
  lower: 1,
  upper: 2,
  digit: 3,
  punctuation: 4,
  blank: 5,
  newline: 6,
  ideograph: 7,
  foreign: 8,
  other: 9,
}

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

export function estimateTokens(text: string): number {
  let tokens = 0
  let before = kind.none
  let run = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const now = code < 128 ? (asciiClass[code] as number) : kindOf(code)
    switch (now) {
      case kind.lower:
        if (before === kind.lower) run++
        else if (before === kind.upper && run === 1) run = 2
        else {
          tokens += weight.word
          run = before === kind.upper ? 2 : 1
        }
        if (code >= 128) tokens += weight.accent
        if (run === 5) tokens += weight.longWord
        else if (run > 12) tokens += weight.letterBeyond12
        break
      case kind.upper:
        if (before === kind.upper) {
          tokens += weight.capital
          run++
        } else {
          tokens += weight.word
          run = 1
        }
        break
      case kind.digit:
        run = before === kind.digit ? run + 1 : 1
        if (run % 3 === 1) tokens += weight.digits
        break
      case kind.punctuation:
        tokens += before === kind.punctuation ? weight.morePunctuation : weight.punctuation
        break
      case kind.blank:
        run = before === kind.blank ? run + 1 : 1
        if (run === 2) tokens += weight.indent
        break
      case kind.newline:
        if (before !== kind.newline) tokens += weight.newline
        break
      case kind.ideograph:
        tokens += code >= 0xac00 && code < 0xd7b0 ? weight.hangul : code < 0x3100 ? weight.kana : weight.ideograph
        break
      case kind.foreign:
        if (before !== kind.foreign) tokens += weight.foreignWord
        break
      default:
        tokens += weight.other
    }
    before = now
  }
  return Math.ceil(tokens)
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
