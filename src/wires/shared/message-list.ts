// What Mistral's and Ollama's chats have in common with each other as files: a list of messages, alone or in the body of
// a request, with tools written as functions, and replies that the wire itself can read.

import type { ToolSpec } from '../../core/context.ts'
import { fold } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Message, Origin, Reply } from '../../core/message.ts'
import type { Wire } from '../wire.ts'
import { callRegistry, type CallRegistry } from './call-registry.ts'
import { sourced, unreadable, type Transcript } from './transcript.ts'

export function listIn(json: Json): { messages: Json[]; path: string } | undefined {
  if (Array.isArray(json)) return { messages: json, path: '$' }
  if (isObject(json) && Array.isArray(json.messages)) return { messages: json.messages, path: '$.messages' }
  return undefined
}

export type ReadMessage = (value: JsonObject, at: string, model: string, book: CallRegistry) => Message

export function readList(json: Json, format: string, readMessage: ReadMessage): Transcript {
  const list = listIn(json)
  if (!list) throw unreadable(format, '$', 'a list of messages, or an object with one in messages')
  const body = isObject(json) ? json : {}
  const model = typeof body.model === 'string' ? body.model : ''
  const book = callRegistry()
  const messages = list.messages.flatMap((value, index) => {
    const at = `${list.path}[${index}]`
    if (!isObject(value)) throw unreadable(format, at, 'an object')
    return sourced(format, value, [readMessage(value, at, model, book)])
  })
  const tools = Array.isArray(body.tools) ? body.tools.flatMap(readTool) : undefined
  return { messages, notes: [], ...(tools && { tools }) }
}

function readTool(tool: Json): ToolSpec[] {
  const fn = isObject(tool) ? tool.function : undefined
  if (!isObject(fn) || typeof fn.name !== 'string') return []
  const description = typeof fn.description === 'string' ? { description: fn.description } : {}
  return [{ name: fn.name, ...description, input: isObject(fn.parameters) ? fn.parameters : { type: 'object' } }]
}

export function callsIn(message: JsonObject): JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

/** Read as the wire reads it, from a whole answer with `message` in it; the words stay as they stand in the file. */
export function readReply(wire: Wire, origin: Origin, message: JsonObject, whole: Json, book: CallRegistry): Reply {
  const calls = callsIn(message)
  book.turn()
  const decoder = wire.decoder(origin, {
    callId: (position, alias) => {
      const fn = calls[position]?.function
      return book.register(alias, isObject(fn) && typeof fn.name === 'string' ? fn.name : '')
    },
  })
  const chunks = wire.split(whole, 1 << 20)
  const { reply } = fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
  return { ...reply, native: [message], stop: { reason: reply.stop.reason } }
}
