// Arguments nested so deep that a wire, or our own reading of them, would fail: one such call would make every later
// request of its conversation fail. They are sent as text, like arguments that are no JSON object. Messages that need
// it are changed once and remembered, so that what was written for them can be kept.

import type { Note } from '../core/context.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Message, Part } from '../core/message.ts'

/** Far more than any tool asks for; JSON readers of providers stop at about 100. */
const maxDepth = 64

const checked = new WeakMap<Message, Message>()

/** The same list where nothing is nested too deep. */
export function withoutDeepInputs(history: readonly Message[], first: number, notes: Note[]): readonly Message[] {
  let changed: Message[] | undefined
  for (const [index, message] of history.entries()) {
    if (message.role !== 'assistant') continue
    const flat = checked.get(message) ?? flattened(message)
    if (flat === message) continue
    changed ??= [...history]
    changed[index] = flat
    const what = `arguments nested deeper than ${maxDepth} levels to text`
    const why = 'readers of JSON refuse them, and every later request with them'
    notes.push({ kind: 'changed', what, why, at: `messages[${first + index}]` })
  }
  return changed ?? history
}

function flattened(message: Extract<Message, { role: 'assistant' }>): Message {
  const isFine = message.parts.every((part) => part.type !== 'tool-call' || !isDeep(part.input))
  const flat = isFine ? message : { ...message, parts: message.parts.map(flatPart) }
  checked.set(message, flat)
  return flat
}

function flatPart(part: Part): Part {
  if (part.type !== 'tool-call' || !isDeep(part.input)) return part
  return { ...part, input: {}, malformed: part.malformed ?? textOf(part.input) }
}

function textOf(input: Json): string {
  try {
    return JSON.stringify(input)
  } catch {
    return '(nested too deep to be written)'
  }
}

/** Without recursion, which is what would fail. */
function isDeep(input: Json): boolean {
  let level: Json[] = [input]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap(childrenOf)
  }
  return false
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value
  return isObject(value) ? Object.values(value).filter((child) => child !== undefined) : []
}
