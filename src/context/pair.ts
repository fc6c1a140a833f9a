// Every call gets a result, and every result has a call (P2). A crash, an abort, an edit or a cut leaves calls without results
// and results without calls, and most providers refuse the whole history for it. The log is never changed: only the
// copy for the request is repaired, and each step adds a note (P3).
//
// After this, a reply with calls is directly followed by one result per call, in the order of the calls.

import type { Note } from '../core/context.ts'
import type { Message, Part, Reply, ToolCallPart, ToolMessage, ToolResultPart, UserMessage } from '../core/message.ts'
import { flatResult, orphanLabel, unansweredText } from '../wires/shared/injected-text.ts'
import { prefixes } from './prefix-memo.ts'

export interface Paired {
  messages: Message[]
  /** The position of each message in the history; -1 = added. */
  places: number[]
  notes: Note[]
}

interface PlacedResult {
  part: ToolResultPart
  place: number
}

/** `first` is the position of the first given message in the history. */
export function pair(given: readonly Message[], first = 0): Paired {
  const { end, asked } = orderly(given)
  const messages = given.slice(0, end)
  const places = placesFrom(first, end)
  if (end === given.length) return { messages, places, notes: [] }
  const rest = given.slice(end)
  if (rest.some(({ parts }) => parts.some((part) => 'callId' in part && asked.has(part.callId)))) {
    return putInOrder(given, first)
  }
  const paired = putInOrder(rest, first + end)
  for (const message of paired.messages) messages.push(message)
  for (const place of paired.places) places.push(place)
  return { messages, places, notes: paired.notes }
}

/** All positions up to the longest history so far: copying is much faster than counting. */
const counted: number[] = []

function placesFrom(first: number, count: number): number[] {
  while (counted.length < first + count) counted.push(counted.length)
  return counted.slice(first, first + count)
}

function putInOrder(given: readonly Message[], first: number): Paired {
  const notes: Note[] = []
  const at = (index: number): string => `messages[${first + index}]`
  const messages = withUniqueCallIds(given, notes, at)
  const answers = matchResults(messages)
  const out: Paired = { messages: [], places: [], notes }

  for (const [place, message] of messages.entries()) {
    if (message.role === 'tool') {
      const left = message.parts.filter((part) => answers.get(part.callId)?.part !== part)
      if (left.length > 0) pushText(left, place)
      continue
    }
    out.messages.push(message)
    out.places.push(first + place)
    if (message.role === 'assistant') pushResults(message, place)
  }
  return out

  /**
   * The results of one reply, collected from wherever they occur. Messages that are already in order are not changed.
   */
  function pushResults(reply: Reply, place: number): void {
    let next = place + 1
    const expected = reply.parts.filter((part) => part.type === 'tool-call')
    for (let i = 0; i < expected.length;) {
      const inPlace = messages[next]
      if (inPlace?.role === 'tool' && answersInOrder(inPlace, expected.slice(i, i + inPlace.parts.length))) {
        out.messages.push(inPlace)
        out.places.push(first + next)
        i += inPlace.parts.length
        next++
        continue
      }
      const call = expected[i++]
      if (!call) break
      const answer = answers.get(call.callId)
      out.messages.push(answer ? alone(answer.part) : unanswered(call))
      out.places.push(answer ? first + answer.place : -1)
      if (!answer) {
        const why = 'the log has no result for it, and a call without a result is refused'
        notes.push({
          kind: 'added',
          what: `failed result for the call of ${call.name}`,
          why,
          at: at(place),
          rule: 'pair',
        })
      } else if (answer.place !== next) {
        const why = 'results must come right after their call, in order'
        notes.push({
          kind: 'changed',
          what: `place of the result of ${call.name}`,
          why,
          at: at(answer.place),
          rule: 'pair',
        })
      }
    }
  }

  function answersInOrder(message: ToolMessage, calls: { callId: string }[]): boolean {
    return (
      message.parts.length > 0 &&
      message.parts.every((part, i) => part.callId === calls[i]?.callId && answers.get(part.callId)?.part === part)
    )
  }

  /** A result without a call is written as text, content intact: dropping it would lose what the model knows. */
  function pushText(results: ToolResultPart[], place: number): void {
    const parts: UserMessage['parts'] = []
    for (const result of results) {
      const answered = answers.get(result.callId)?.part
      if (answered && sameOutput(answered, result)) {
        notes.push({
          kind: 'dropped',
          what: `second result of ${result.name}`,
          why: 'it repeats the first',
          at: at(place),
          rule: 'pair',
        })
        continue
      }
      const text = result.output.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
      parts.push({ type: 'text', text: flatResult(orphanLabel, result.name, text, result.failed === true) })
      parts.push(...result.output.filter((part) => part.type === 'media'))
      const why = answered ? 'its call has another result already' : 'its call is not part of this request'
      notes.push({ kind: 'changed', what: `result of ${result.name} to text`, why, at: at(place), rule: 'pair' })
    }
    if (parts.length === 0) return
    out.messages.push({ role: 'user', parts })
    out.places.push(first + place)
  }
}

interface Orderly {
  messages: readonly Message[]
  /** How far the history is already in order: for a history that a loop has written, to its end. */
  end: number
  /** The calls up to there. */
  asked: Set<string>
}

const before = prefixes<Orderly>()

function orderly(messages: readonly Message[]): Orderly {
  const last = before.longest(messages)
  const found = last ? goneBack(last.value, last.shared) : { end: 0, asked: new Set<string>() }
  const { asked } = found
  let { end } = found
  for (let next = endOfTurn(messages, end, asked); next !== undefined; next = endOfTurn(messages, end, asked))
    end = next
  const reached = { messages, end, asked }
  before.keep(messages, reached)
  return reached
}

/** To the last turn that begins among the shared messages; the calls after it are not looked up any more. */
function goneBack({ messages, end, asked: all }: Orderly, shared: number): Omit<Orderly, 'messages'> {
  if (shared >= end) return { end, asked: all }
  let start = shared
  while (start > 0 && messages[start]?.role === 'tool') start--
  const asked = new Set(all)
  for (let index = start; index < end; index++) {
    for (const part of messages[index]?.parts ?? []) if (part.type === 'tool-call') asked.delete(part.callId)
  }
  return { end: start, asked }
}

/** After the message at `start` and the results that answer it; undefined if these are not in order, or at the end. */
function endOfTurn(messages: readonly Message[], start: number, asked: Set<string>): number | undefined {
  const message = messages[start]
  if (!message || message.role === 'tool') return undefined
  let end = start + 1
  let results: readonly ToolResultPart[] = []
  let answered = 0
  const own: string[] = []
  let isInOrder = true
  for (const part of message.parts) {
    if (part.type !== 'tool-call') continue
    if (answered === results.length) {
      const answer = messages[end++]
      results = answer?.role === 'tool' ? answer.parts : []
      answered = 0
    }
    isInOrder = results[answered++]?.callId === part.callId && !asked.has(part.callId)
    if (!isInOrder) break
    own.push(part.callId)
    asked.add(part.callId)
  }
  if (isInOrder && answered >= results.length) return end
  for (const callId of own) asked.delete(callId)
  return undefined
}

/** Which result answers which call: the last one after it, otherwise one before it. */
function matchResults(messages: readonly Message[]): Map<string, PlacedResult> {
  const asked = new Map<string, number>()
  for (const [place, message] of messages.entries()) {
    for (const part of message.parts) if (part.type === 'tool-call') asked.set(part.callId, place)
  }
  const answers = new Map<string, PlacedResult>()
  for (const [place, message] of messages.entries()) {
    if (message.role !== 'tool') continue
    for (const part of message.parts) {
      const call = asked.get(part.callId)
      if (call === undefined) continue
      const best = answers.get(part.callId)
      if (best && sameOutput(best.part, part)) continue
      if (!best || place > call || best.place < call) answers.set(part.callId, { part, place })
    }
  }
  return answers
}

/**
 * Imported histories may use a call id twice; results then belong to the last reply before them that used it, in the
 * order of its calls.
 */
function withUniqueCallIds(
  given: readonly Message[],
  notes: Note[],
  at: (index: number) => string,
): readonly Message[] {
  const uses = new Map<string, number>()
  const current = new Map<string, { reply: number; open: string[]; last: string }>()
  const renamed = <P extends Part>(part: P, place: number): P => {
    if (part.type !== 'tool-call' && part.type !== 'tool-result') return part
    const callId = part.type === 'tool-call' ? nextId(part.callId, place) : answeredId(part.callId)
    return callId === part.callId ? part : { ...part, callId }
  }
  return given.map((message, place): Message => {
    const parts = message.parts.map((part) => renamed(part, place))
    if (parts.every((part, i) => part === message.parts[i])) return message
    if (message.role === 'assistant') {
      notes.push({
        kind: 'changed',
        what: 'call ids that were used before',
        why: 'ids must be unique in a request',
        at: at(place),
        rule: 'pair',
      })
    }
    return { ...message, parts } as Message
  })

  function nextId(callId: string, reply: number): string {
    const use = (uses.get(callId) ?? 0) + 1
    uses.set(callId, use)
    const last = use === 1 ? callId : `${callId}~${use}`
    const before = current.get(callId)
    current.set(callId, { reply, open: before?.reply === reply ? [...before.open, last] : [last], last })
    return last
  }

  function answeredId(callId: string): string {
    const asked = current.get(callId)
    return asked?.open.shift() ?? asked?.last ?? callId
  }
}

const made = new WeakMap<ToolResultPart | ToolCallPart, ToolMessage>()

/** A result as a separate message. Made once, so that cached values for it are found again. */
function alone(part: ToolResultPart): ToolMessage {
  return remembered(part, () => part)
}

function unanswered(call: ToolCallPart): ToolMessage {
  const { callId, name } = call
  const output = [{ type: 'text' as const, text: unansweredText(name) }]
  return remembered(call, () => ({ type: 'tool-result', callId, name, output, failed: true }))
}

function remembered(key: ToolResultPart | ToolCallPart, result: () => ToolResultPart): ToolMessage {
  let message = made.get(key)
  if (!message) {
    message = { role: 'tool', parts: [result()] }
    made.set(key, message)
  }
  return message
}

function sameOutput(a: ToolResultPart, b: ToolResultPart): boolean {
  return JSON.stringify(a.output) === JSON.stringify(b.output) && Boolean(a.failed) === Boolean(b.failed)
}
