// Summaries: the prompt for a model, the history as its input, and a summary without a model in case that fails. The
// request must itself fit, so the history is written as text, with each message as long as space allows.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { textOf, type Message, type Part } from '../core/message.ts'
import { inSlices } from '../core/slices.ts'
import { mediaStandIn } from '../wires/shared/injected-text.ts'
import { estimateMessage, estimateTokens } from './count.ts'
import type { CompactionSettings } from '../settings/policy.ts'
import { wordsOfInput } from './fold-text.ts'
import { specificWords } from './specific-words.ts'
import { findToolTurns, foldedTurns } from './tool-turns.ts'
import type { View } from './view.ts'
import { startOfLast } from './window.ts'

export const defaultBudget = 2000
const defaultKeep = 20
/** How much of the context window may stay next to a summary. */
const recentShare = 0.25

export const summaryPrompt = `You keep the memory of a conversation between a user and an assistant with tools.
Write down what someone who continues with it must know: what the user wants and has said to mind, what was decided and why,
what was done and found (names, paths, numbers and identifiers exactly as they are), what is still open, and what was tried and failed.
Where a summary of earlier parts is given, bring it up to date instead of writing a new one: keep what still holds.
Answer with the summary alone, in plain text. Do not answer or continue the conversation.`

/** The end of the range that a summary replaces: an index of the view, or undefined if there is too little. */
export function stretchEnd(view: View, { keep = defaultKeep }: CompactionSettings, limit: number): number | undefined {
  const sizes = view.messages.map(estimateMessage)
  const byCount = startOfLast(view.messages, keep)
  const bySize = Number.isFinite(limit) ? startOfLast(view.messages, limit * recentShare, sizes) : 0
  const end = Math.max(byCount, bySize)
  const hasNew = view.places.slice(0, end).some((place) => place >= 0)
  return hasNew ? end : undefined
}

/** Characters of a message, if there is little space. */
const shortest = 100

/** The input of the summarising model, in at most `mostTokens` tokens. Between two attempts everything else continues. */
export async function historyAsText(
  messages: readonly Message[],
  previous: string | undefined,
  mostTokens: number,
): Promise<string> {
  const head = [...(previous === undefined ? [] : [`Summary of what came before:\n${previous}`]), 'The conversation:']
  for (const length of [8000, 3000, 1000, 300, shortest]) {
    const lines = linesWithin(messages, length, mostTokens)
    const text = lines && [...head, ...lines].join('\n\n')
    if (text !== undefined && estimateTokens(text) <= mostTokens) return text
    await nextTurn()
  }
  const lines = endsOf(messages, Math.max(200, Math.floor(mostTokens * 2)))
  return shortened([...head, ...lines].join('\n\n'), Math.max(200, Math.floor(mostTokens * 2)))
}

/** Undefined as soon as they are certainly longer: most of a long history need not be written then. */
function linesWithin(messages: readonly Message[], length: number, mostTokens: number): string[] | undefined {
  const lines: string[] = []
  let tokens = 0
  for (const message of messages) {
    for (const line of linesOf(message, length)) {
      lines.push(line)
      // An estimate is rounded up.
      tokens += estimateTokens(line) - 1
    }
    if (tokens > mostTokens) return undefined
  }
  return lines
}

/** The short lines of as many messages at the beginning and at the end as have so many characters each. */
function endsOf(messages: readonly Message[], length: number): string[] {
  const first: string[] = []
  let start = 0
  for (let size = 0; start < messages.length && size <= length; start++) {
    for (const line of linesOf(messages[start] as Message, shortest)) {
      first.push(line)
      size += line.length
    }
  }
  const last: string[][] = []
  for (let [size, end] = [0, messages.length - 1]; end >= start && size <= length; end--) {
    const lines = linesOf(messages[end] as Message, shortest)
    for (const line of lines) size += line.length
    last.push(lines)
  }
  return [...first, ...last.toReversed().flat()]
}

/** A summary without a model: the questions, each tool call as its fold, and the last answer. */
export function plainSummary(view: View, end: number, previous: string | undefined, budget: number): string {
  const messages = view.messages.slice(0, end)
  const questions = messages.flatMap((message) => (message.role === 'user' ? [textOf(message.parts).trim()] : []))
  const answers = messages.flatMap((message) => (message.role === 'assistant' ? [textOf(message.parts).trim()] : []))
  const length = Math.max(60, Math.floor((budget * 2) / (questions.filter(Boolean).length + 6)))
  const lines = [
    previous === undefined ? '' : shortened(previous, budget),
    `${messages.length} earlier messages are not shown here; this was put together without a model.`,
    ...questions.filter((text) => text !== '').map((text) => `The user said: ${shortened(text, length)}`),
    ...answers
      .filter((text) => text !== '')
      .slice(-3)
      .map((text) => `The assistant said: ${shortened(text, length)}`),
  ]
  const text = lines.filter((line) => line !== '').join('\n')
  const most = Math.max(400, budget * 4)
  // The newest calls are the most likely to be needed.
  const calls = foldedCalls(view, end)
  let left = most - Math.min(text.length, most)
  let first = calls.length
  while (first > 0 && left >= (calls[first - 1]?.length ?? 0) + 1) left -= (calls[--first]?.length ?? 0) + 1
  return [shortened(text, most), ...calls.slice(first)].join('\n')
}

function foldedCalls(view: View, end: number): string[] {
  const at = view.places[end - 1] ?? 0
  const turns = findToolTurns(view.messages).filter((turn) => turn.end <= end)
  const foldings = turns.map((turn) => ({ turn, style: 'stub' as const, why: '', at }))
  const folded = foldedTurns(view, foldings).flat()
  return folded.flatMap(({ message }) => (message.role === 'user' ? textOf(message.parts).split('\n') : []))
}

/** The most tokens of words that are added to a summary, as a share of its budget. */
const shareForWords = 0.25

/**
 * A summary plus the specific words that it left out and that the remaining messages still use: a model that continues
 * will look for their meaning. They are a list at its end.
 */
export async function withForgotten(summary: string, view: View, end: number, budget: number): Promise<string> {
  const covered = new Set<string>()
  await inSlices(0, (from, most) => {
    for (const message of view.messages.slice(from, Math.min(end, from + most))) wordsOfMessage(message, covered)
    return from + most < end ? from + most : undefined
  })
  const later = new Set<string>()
  for (const message of view.messages.slice(end)) wordsOfMessage(message, later)
  const included = specificWords(summary)
  const forgotten = [...later].filter((word) => covered.has(word) && !included.has(word))
  const words: string[] = []
  let tokens = 0
  for (const word of forgotten) {
    tokens += estimateTokens(word) + 1
    if (tokens > budget * shareForWords) break
    words.push(word)
  }
  return words.length === 0 ? summary : `${summary}\n\nAlso mentioned: ${words.join(' ')}`
}

function wordsOfMessage({ parts }: Message, into: Set<string>): void {
  for (const part of parts as readonly Part[]) {
    if (part.type === 'text' || part.type === 'compaction') specificWords(part.text ?? '', into)
    else if (part.type === 'tool-call') wordsOfInput(part, into)
    else if (part.type === 'tool-result') {
      for (const piece of part.output) if (piece.type === 'text') specificWords(piece.text, into)
    }
  }
}

function linesOf(message: Message, length: number): string[] {
  const role = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' }[message.role]
  return message.parts.flatMap((part): string[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return part.text.trim() === '' ? [] : [`${role}: ${shortened(part.text, length)}`]
      case 'compaction':
        return part.text ? [`Earlier summary: ${part.text}`] : []
      case 'media':
        return [`${role}: ${mediaStandIn(part.mediaType, part.name)}`]
      case 'tool-call':
        return [`Assistant calls ${part.name} with ${shortened(part.malformed ?? JSON.stringify(part.input), length)}`]
      case 'tool-result': {
        const text = part.output.map((piece) =>
          piece.type === 'text' ? piece.text : mediaStandIn(piece.mediaType, piece.name),
        )
        return [`${part.name} ${part.failed ? 'failed' : 'answered'}: ${shortened(text.join('\n'), length)}`]
      }
      case 'server-tool':
        return [`The provider ran ${part.name}: ${shortened(JSON.stringify(part.output ?? part.input ?? {}), length)}`]
      default:
        return []
    }
  })
}

/** Both ends, because the beginning of a result says what it is and the end how it went. */
function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const half = Math.floor(length / 2)
  return `${text.slice(0, half).toWellFormed()} … ${text.slice(-half).toWellFormed()}`
}
