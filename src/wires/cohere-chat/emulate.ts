// What Cohere would have sent: a reply, complete or as the events of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply, StopReason } from '../../core/message.ts'
import { assistantMessage } from '../message-list/emulate.ts'
import { listIn, objectIn } from '../shared/json-fields.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { type Block, callIdGrammar, protocolId, textBlock, thinkingBlock } from './types.ts'

export function whole(reply: Reply, { replyId, usage }: WholeProfile): Json {
  const tokens = { input_tokens: usage.input, output_tokens: usage.output }
  return {
    id: replyId,
    message: messageOf(reply),
    finish_reason: finishOf(reply),
    usage: {
      billed_units: tokens,
      tokens: { ...tokens, ...(usage.reasoning > 0 && { reasoning_tokens: usage.reasoning }) },
      cached_tokens: usage.cacheRead,
    },
  }
}

export function messageOf(reply: Reply): JsonObject {
  return assistantMessage(reply, protocolId, callIdGrammar, messageFromParts)
}

const finishReasons: Partial<Record<StopReason, string>> = {
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  failed: 'ERROR',
}

function finishOf({ stop }: Reply): string {
  if (stop.reason === 'done' && stop.sequence !== undefined) return 'STOP_SEQUENCE'
  return finishReasons[stop.reason] ?? 'COMPLETE'
}

/** An assistant message in the service's form; what this wire does not support is left out. */
export function messageFromParts(reply: Reply, idOf: (callId: string) => string): JsonObject {
  const content: Block[] = []
  const calls: JsonObject[] = []
  for (const part of reply.parts) {
    if (part.type === 'text' || part.type === 'refusal') content.push(textBlock(part.text))
    else if (part.type === 'reasoning') content.push(thinkingBlock(part.text))
    else if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && isObject(part.data)) {
      content.push(part.data)
    } else if (part.type === 'tool-call') {
      const args = part.malformed ?? JSON.stringify(part.input)
      calls.push({ id: idOf(part.callId), type: 'function', function: { name: part.name, arguments: args } })
    }
  }
  return {
    role: 'assistant',
    ...((content.length > 0 || calls.length === 0) && { content }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

export function errorBody({ message, type }: Issue): Json {
  return { message, ...(type !== undefined && { error_type: type }) }
}

// Splits a complete reply of Cohere into the events that would have carried it: the plan, the content with its
// citations, the calls.

export function split(body: Json, piece = 40): Json[] {
  if (!isObject(body) || !isObject(body.message)) return [body]
  const { content, tool_plan: plan, tool_calls: calls, citations, ...head } = body.message
  const events: Json[] = [messageStart(head, body.id)]
  if (typeof plan === 'string') {
    for (const text of splitText(plan, piece)) events.push(planDelta(text))
  }
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listIn(content)
  const cited = listIn(citations)
  let index = 0
  for (const [position, block] of blocks.entries()) {
    const inside = cited.filter((citation) => placeOf(citation, blocks) === position)
    events.push(...contentEvents(block, position, piece))
    for (const citation of inside) events.push(...citationEvents(citation, index++))
    events.push({ type: 'content-end', index: position })
  }
  for (const citation of cited.filter((candidate) => placeOf(candidate, blocks) === undefined)) {
    events.push(...citationEvents(citation, index++))
  }
  for (const [index, call] of listIn(calls).entries()) events.push(...callEvents(call, index, piece))
  const { finish_reason = null, usage } = body
  events.push({ type: 'message-end', delta: { finish_reason, ...(usage !== undefined && { usage }) } })
  return events
}

export function messageStart(head: JsonObject, id: Json | undefined): JsonObject {
  const message = { ...head, content: [], tool_plan: '', tool_calls: [], citations: [] }
  return { ...(id !== undefined && { id }), type: 'message-start', delta: { message } }
}

function planDelta(text: string): JsonObject {
  return { type: 'tool-plan-delta', delta: { message: { tool_plan: text } } }
}

export function contentStart(content: Json, index: number): JsonObject {
  return { type: 'content-start', index, delta: { message: { content } } }
}

export function contentDelta(content: Json, index: number): JsonObject {
  return { type: 'content-delta', index, delta: { message: { content } } }
}

export function callStart(call: Json, index: number): JsonObject {
  return { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } }
}

export function callDelta(text: string, index: number): JsonObject {
  return { type: 'tool-call-delta', index, delta: { message: { tool_calls: { function: { arguments: text } } } } }
}

/** The block of a citation: the one it names, otherwise the first text; none for one of the plan. */
function placeOf(citation: Json, blocks: readonly Json[]): number | undefined {
  const { content_index: named, type } = objectIn(citation)
  if (type === 'PLAN') return undefined
  if (typeof named === 'number') return named in blocks ? named : undefined
  const first = blocks.findIndex((block) => isObject(block) && block.type === 'text')
  return first < 0 ? undefined : first
}

function citationEvents(citation: Json, index: number): Json[] {
  const start = { type: 'citation-start', index, delta: { message: { citations: citation } } }
  return [start, { type: 'citation-end', index }]
}

function contentEvents(block: Json, index: number, piece: number): Json[] {
  const type = isObject(block) ? block.type : undefined
  const key = type === 'text' || type === 'thinking' ? type : undefined
  const text = isObject(block) && key !== undefined ? block[key] : undefined
  if (!isObject(block) || key === undefined || typeof text !== 'string') return [contentStart(block, index)]
  return [
    contentStart({ ...block, [key]: '' }, index),
    ...[...splitText(text, piece)].map((more) => contentDelta({ [key]: more }, index)),
  ]
}

function callEvents(call: Json, index: number, piece: number): Json[] {
  const fn = isObject(call) && isObject(call.function) ? call.function : undefined
  const text = fn?.arguments
  const end = { type: 'tool-call-end', index }
  if (!isObject(call) || !fn || typeof text !== 'string') return [callStart(call, index), end]
  return [
    callStart({ ...call, function: { ...fn, arguments: '' } }, index),
    ...[...splitText(text, piece)].map((more) => callDelta(more, index)),
    end,
  ]
}
