// Requests that a client makes for its own purposes: titles, topics, summaries, memories. They are answered and logged
// like any other, but they are neither listed nor continued from.

import { isObject } from '../../core/json.ts'
import { textOf } from '../../core/message.ts'
import type { DoorRequest } from './read-request.ts'

/** Coding agents always offer tools with user messages. */
const agents = /\b(?:codex|claude-cli|opencode|geminicli|qwencode)/i

/** Whether the client shortens its history itself. */
export function shortensItself(client: string): boolean {
  return agents.test(client)
}

const asksForTitle =
  /\b(?:title generator|(?:generate|write|create) (?:a|an) [\w ,-]{0,60}\btitle\b|conversation title)/i

/** `systemBefore`: the system prompt of the conversation that the request continues; empty if there is none. */
export function isSideCall(request: DoorRequest, client: string, systemBefore: string): boolean {
  if (request.isAside) return true
  const { system, tools, messages, options } = request
  if (agents.test(client) && tools.length === 0) return true
  if (agents.test(client) && isTitle(options.answerSchema)) return true
  if (tools.length === 0 && messages.length <= 3 && asksForTitle.test(`${system}\n${firstWords(request)}`)) return true
  // An agent of the client that reads the conversation with its own task.
  return agents.test(client) && systemBefore !== '' && system !== '' && opening(system) !== opening(systemBefore)
}

/** The answer has one field, a title: interactive Codex asks for it with all of its tools (checked 2026-11). */
function isTitle(schema: unknown): boolean {
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) && Object.keys(properties).join() === 'title'
}

function firstWords({ messages }: DoorRequest): string {
  const [first] = messages
  return first?.role === 'user' ? textOf(first.parts).slice(0, 500) : ''
}

/** System prompts change during a session, but not at their beginning. */
function opening(system: string): string {
  return system.trim().slice(0, 60)
}
