// From a history to the request that carries it: policies decide what is sent, the protocol decides how it is written.
// Pure, and the only way to a body: what `inspect` shows is what would be sent.

import type { Context, ToolSpec } from '../core/context.ts'
import type { Message, TextPart } from '../core/message.ts'
import type { Encoded, Protocol, Target } from '../protocols/protocol.ts'
import { estimateJson, estimateMessage } from './count.ts'
import { settingsOf, type Policy, type PolicySettings } from './policy.ts'
import { findToolTurns, foldToolTurns, turnsToFold } from './tool-turns.ts'
import { wholeView, type View } from './view.ts'
import { window } from './window.ts'

export interface Draft {
  history: readonly Message[]
  system?: string | readonly TextPart[]
  tools?: readonly ToolSpec[]
  policy?: Policy
  protocol: Protocol
  target: Target
}

export interface Assembled extends Encoded {
  context: Context
  estimate: Estimate
}

export interface Estimate {
  /** Tokens of the whole prompt, by estimate. */
  input: number
}

export function assemble(draft: Draft): Assembled {
  const first = draft.history.findIndex((message) => message.role !== 'system')
  const opening = draft.history.slice(0, first < 0 ? draft.history.length : first)
  const view = applyPolicies(
    wholeView(draft.history.slice(opening.length), opening.length),
    settingsOf(draft.policy ?? 'full'),
  )
  const context: Context = {
    system: systemOf(draft.system, opening),
    messages: view.messages,
    tools: [...(draft.tools ?? [])],
    cacheAfter: draft.target.capabilities.cacheMarks ? cacheMarks(view.messages) : [],
    places: view.places,
  }
  const encoded = draft.protocol.encode(context, draft.target)
  return { ...encoded, notes: [...view.notes, ...encoded.notes], context, estimate: estimate(context) }
}

/** System messages that open a history are the system prompt; every wire has its own place for that. */
function systemOf(given: Draft['system'], opening: readonly Message[]): TextPart[] {
  const system: TextPart[] = typeof given === 'string' ? [{ type: 'text', text: given }] : [...(given ?? [])]
  for (const message of opening) if (message.role === 'system') system.push(...message.parts)
  return system
}

function applyPolicies(view: View, settings: PolicySettings): View {
  let next = view
  const { maxToolTurns, maxMessages, maxTokens } = settings
  if (maxToolTurns !== undefined && maxToolTurns !== null) {
    const turns = findToolTurns(next.messages)
    const count = turnsToFold(turns.length, maxToolTurns, settings.step ?? Math.max(1, Math.ceil(maxToolTurns / 2)))
    const why = `older than the last ${maxToolTurns} tool turns`
    next = foldToolTurns(next, turns.slice(0, count), settings.fold ?? 'stub', why)
  }
  if (maxMessages !== undefined && maxMessages !== null) {
    const step = Math.min(settings.step ?? Math.floor(maxMessages / 2), maxMessages)
    next = window(next, { most: maxMessages, downTo: maxMessages - step + 1 }, `over ${maxMessages} messages`)
  }
  if (maxTokens !== undefined && maxTokens !== null) {
    const sizes = next.messages.map(estimateMessage)
    next = window(next, { most: maxTokens, downTo: maxTokens / 2, sizes }, `over ${maxTokens} tokens`)
  }
  return next
}

/** Marks at the end of system and tools, at the end of the previous request, and at the newest message. */
function cacheMarks(messages: readonly Message[]): number[] {
  const lastReply = messages.findLastIndex((message) => message.role === 'assistant')
  const marks = [-1, lastReply - 1, messages.length - 1]
  return [...new Set(marks)].filter((mark) => mark >= -1).sort((a, b) => a - b)
}

function estimate(context: Context): Estimate {
  let input = 0
  for (const part of context.system) input += estimateJson(part.text)
  for (const tool of context.tools) input += estimateJson({ ...tool })
  for (const message of context.messages) input += estimateMessage(message)
  return { input }
}
