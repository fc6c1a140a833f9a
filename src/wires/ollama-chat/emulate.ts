// What an Ollama server would have sent: a reply, complete or as the lines of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply } from '../../core/message.ts'
import { assistantMessage } from '../message-list/emulate.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { callIdGrammar, protocolId } from './types.ts'

/** `first`: milliseconds until the first piece of the reply. */
export function whole(reply: Reply, profile: WholeProfile, first = 0): JsonObject {
  const total = profile.elapsed?.() ?? 0
  return {
    model: profile.model,
    created_at: new Date(profile.createdAt * 1000).toISOString(),
    message: messageOf(reply),
    done: true,
    done_reason: reply.stop.reason === 'length' ? 'length' : 'stop',
    total_duration: nanoseconds(total),
    load_duration: 0,
    prompt_eval_count: profile.usage.input,
    prompt_eval_duration: nanoseconds(first),
    eval_count: profile.usage.output,
    // Clients divide by it.
    eval_duration: nanoseconds(total - first),
  }
}

function nanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e6)
}

export function messageOf(reply: Reply): JsonObject {
  return assistantMessage(reply, protocolId, callIdGrammar, messageFromParts)
}

/** An assistant message in the server's form; what this wire does not support is left out. */
export function messageFromParts(reply: Reply, idOf: (callId: string) => string): JsonObject {
  let content = ''
  let thinking = ''
  const calls: JsonObject[] = []
  for (const part of reply.parts) {
    if (part.type === 'text' || part.type === 'refusal') content += part.text
    else if (part.type === 'reasoning') thinking += part.text
    else if (part.type === 'tool-call') {
      const args = part.malformed ?? part.input
      calls.push({ id: idOf(part.callId), function: { index: calls.length, name: part.name, arguments: args } })
    }
  }
  return { role: 'assistant', content, ...(thinking && { thinking }), ...(calls.length > 0 && { tool_calls: calls }) }
}

export function errorBody(issue: Issue): Json {
  return { error: issue.message }
}

export function split(body: Json, piece = 40): Json[] {
  if (!isObject(body) || !isObject(body.message)) return [body]
  const { role = 'assistant', content, thinking, tool_calls: calls, ...others } = body.message
  const head: JsonObject = {
    ...(body.model !== undefined && { model: body.model }),
    ...(body.created_at !== undefined && { created_at: body.created_at }),
  }
  const line = (message: JsonObject): JsonObject => ({ ...head, message: { role, ...message }, done: false })

  const lines: JsonObject[] = []
  if (typeof thinking === 'string') {
    for (const text of splitText(thinking, piece)) lines.push(line({ content: '', thinking: text }))
  }
  if (typeof content === 'string') for (const text of splitText(content, piece)) lines.push(line({ content: text }))
  if (Array.isArray(calls)) for (const call of calls) lines.push(line({ content: '', tool_calls: [call] }))
  lines.push({ ...body, message: { role, content: '', ...others }, done: true })
  return lines
}
