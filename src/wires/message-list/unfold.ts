// Replies with calls as the turns that a model's chat template can render. What a template does not render, the model
// never sees, without an error: Llama 3 renders the calls of a reply and not its text, and supports one call at a time.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import type { Message, Part, Reply, ToolMessage, ToolResultPart } from '../../core/message.ts'
import type { Quirks } from '../wire.ts'

/** The same context if nothing has to be split. Messages are the same objects for the same reply (P4). */
export function unfold(context: Context, quirks: Quirks, notes: Note[]): Context {
  if (!quirks.separateCalls && !quirks.oneCallPerTurn) return context
  const messages: Message[] = []
  const places: number[] = []
  /** By the index of a message, the index of the last one that was made from it. */
  const ends: number[] = []
  const add = (message: Message, index: number) => {
    messages.push(message)
    places.push(context.places?.[index] ?? index)
  }
  for (let index = 0; index < context.messages.length; index++) {
    const message = context.messages[index] as Message
    const results = message.role === 'assistant' ? resultsAfter(context.messages, index) : []
    const turns = message.role === 'assistant' ? turnsOf(message, quirks, placeOf(context, index), notes) : [message]
    for (const turn of turns) {
      add(turn, index)
      if (turns.length > 1) for (const { result, at } of answersTo(turn, results)) add(resultMessage(result), at)
    }
    const count = turns.length > 1 ? (results.at(-1)?.at ?? index) - index : 0
    for (let i = 0; i <= count; i++) ends.push(messages.length - 1)
    index += count
  }
  const cacheAfter = context.cacheAfter.map((index) => (index < 0 ? index : (ends[index] ?? index)))
  return { ...context, messages, places, cacheAfter: [...new Set(cacheAfter)] }
}

/** Roles whose adjacent messages are merged if roles must alternate; not replies that were split. */
export function joinedRoles({ separateCalls }: Quirks): ('user' | 'assistant')[] {
  return separateCalls ? ['user'] : ['user', 'assistant']
}

interface Answer {
  result: ToolResultPart
  /** The index of its message. */
  at: number
}

function resultsAfter(messages: readonly Message[], index: number): Answer[] {
  const answers: Answer[] = []
  for (let at = index + 1; messages[at]?.role === 'tool'; at++) {
    for (const result of (messages[at] as ToolMessage).parts) answers.push({ result, at })
  }
  return answers
}

function answersTo(turn: Message, answers: readonly Answer[]): Answer[] {
  if (turn.role !== 'assistant') return []
  const callIds = new Set(turn.parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : [])))
  return answers.filter(({ result }) => callIds.has(result.callId))
}

function turnsOf(reply: Reply, quirks: Quirks, at: string, notes: Note[]): readonly Reply[] {
  const calls = reply.parts.filter((part) => part.type === 'tool-call')
  const content = reply.parts.filter((part) => part.type !== 'tool-call')
  const isApart = quirks.separateCalls === true && calls.length > 0 && content.some(isShown)
  const isSerial = quirks.oneCallPerTurn === true && calls.length > 1
  if (!isApart && !isSerial) return [reply]
  if (isApart) {
    const why = "the model's chat template shows only the calls of such a message"
    notes.push({ kind: 'changed', what: 'text next to calls to a separate message', why, at })
  }
  if (isSerial) {
    const why = "the model's chat template supports one call at a time"
    notes.push({ kind: 'changed', what: `${calls.length} calls at once to consecutive turns`, why, at })
  }
  const cached = splitMessage.get(reply)
  if (cached?.isApart === isApart && cached.isSerial === isSerial) return cached.turns
  const asking: Part[][] = isSerial ? calls.map((call) => [call]) : [calls]
  const groups = isApart ? [content, ...asking] : [[...content, ...(asking[0] ?? [])], ...asking.slice(1)]
  const turns = groups.map((parts) => ({ ...reply, parts, native: [] }))
  splitMessage.set(reply, { isApart, isSerial, turns })
  return turns
}

/** Reasoning goes with the text, but is not text. */
function isShown(part: Part): boolean {
  return part.type === 'text' || part.type === 'refusal' ? part.text.trim() !== '' : part.type !== 'reasoning'
}

const splitMessage = new WeakMap<Reply, { isApart: boolean; isSerial: boolean; turns: readonly Reply[] }>()

const singles = new WeakMap<ToolResultPart, ToolMessage>()

function resultMessage(result: ToolResultPart): ToolMessage {
  let message = singles.get(result)
  if (!message) singles.set(result, (message = { role: 'tool', parts: [result] }))
  return message
}
