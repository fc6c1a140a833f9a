// Tool turns: a reply with calls and all results that answer it. Old ones are most of a long history and the least
// missed, so they are folded first: to a line that names tool, arguments, size and outcome; or only their results; or
// away. What the model said beside the calls always stays. In batches, so that a prompt cache survives in between.

import type { Message, Reply, ToolCallPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import { placeIn, type View } from './view.ts'

export interface ToolTurn {
  /** Index of the reply. */
  start: number
  /** Index behind the last result. */
  end: number
}

export type FoldStyle = 'stub' | 'results' | 'remove'

/** In a paired history: all tool turns, oldest first. */
export function findToolTurns(messages: readonly Message[]): ToolTurn[] {
  const turns: ToolTurn[] = []
  for (let start = 0; start < messages.length;) {
    const message = messages[start]
    let end = start + 1
    if (message?.role === 'assistant' && message.parts.some((part) => part.type === 'tool-call')) {
      while (messages[end]?.role === 'tool') end++
      turns.push({ start, end })
    }
    start = end
  }
  return turns
}

/** How many of the oldest turns to fold: the last `keep` always stay whole, older ones go in batches of `step`. */
export function turnsToFold(total: number, keep: number, step: number): number {
  return Math.max(0, Math.floor((total - keep) / step) * step)
}

export function foldToolTurns(view: View, turns: readonly ToolTurn[], style: FoldStyle, why: string): View {
  if (turns.length === 0) return view
  const folded: View = { messages: [], places: [], notes: [...view.notes] }
  let next = 0
  for (const turn of turns) {
    copy(next, turn.start)
    const reply = view.messages[turn.start] as Reply
    const results = view.messages.slice(turn.start + 1, turn.end) as ToolMessage[]
    for (const { message, index } of foldTurn(reply, results, style)) {
      folded.messages.push(message)
      folded.places.push(view.places[turn.start + index] ?? -1)
    }
    const names = reply.parts.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []))
    folded.notes.push({
      kind: style === 'remove' ? 'dropped' : 'changed',
      what: `tool turn (${names.join(', ')})${style === 'remove' ? '' : style === 'stub' ? ' to one line' : ': results to one line'}`,
      why,
      at: placeIn(view, turn.start),
      rule: 'tool-turns',
    })
    next = turn.end
  }
  copy(next, view.messages.length)
  return folded

  function copy(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      folded.messages.push(view.messages[i] as Message)
      folded.places.push(view.places[i] ?? -1)
    }
  }
}

function foldTurn(reply: Reply, results: ToolMessage[], style: FoldStyle): { message: Message; index: number }[] {
  if (style === 'results') {
    return [
      { message: reply, index: 0 },
      ...results.map((message, i) => ({ message: withoutOutput(message), index: i + 1 })),
    ]
  }
  const said = reply.parts.filter((part) => part.type !== 'tool-call' && part.type !== 'reasoning')
  const kept: { message: Message; index: number }[] = []
  // Its own words hold the calls, so what is left of the reply is told from its parts.
  if (said.length > 0) kept.push({ message: { ...reply, parts: said, native: [] }, index: 0 })
  if (style === 'stub') {
    const outcomes = new Map(results.flatMap((message) => message.parts.map((part) => [part.callId, part])))
    const calls = reply.parts.filter((part) => part.type === 'tool-call')
    const text = calls.map((call) => stub(call, outcomes.get(call.callId))).join('\n')
    // The user's side tells it: a model that reads calls as text of its own begins to write such text.
    kept.push({ message: { role: 'user', parts: [{ type: 'text', text }] }, index: 0 })
  }
  return kept
}

function stub(call: ToolCallPart, result: ToolResultPart | undefined): string {
  const input = call.malformed ?? JSON.stringify(call.input)
  return `[Earlier tool use] ${call.name}(${shorten(input, 80)}): ${result ? outcome(result) : 'no result'}`
}

function withoutOutput(message: ToolMessage): ToolMessage {
  return {
    ...message,
    parts: message.parts.map((part) => ({ ...part, output: [{ type: 'text', text: `[Folded] ${outcome(part)}` }] })),
  }
}

function outcome(result: ToolResultPart): string {
  let size = 0
  let media = 0
  for (const part of result.output) {
    if (part.type === 'text') size += part.text.length
    else media++
  }
  return `${result.failed ? 'failed' : 'ok'}, ${size} characters${media > 0 ? `, ${media} media` : ''}`
}

function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`
}
