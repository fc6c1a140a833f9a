// Whom the tests of this wire write to, and short ways to say what they expect.

import type { Context, Note } from '../../../src/core/context.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import type { Message, Part, Reply, StopReason } from '../../../src/core/message.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import { readItem } from '../../../src/wires/openai-responses/read-reply.ts'
import type { Capabilities, Encoded, Target } from '../../../src/wires/wire.ts'

export type Changes = Partial<Omit<Target, 'capabilities'>> & { capabilities?: Partial<Capabilities> }

export function targetWith({ capabilities, ...changes }: Changes = {}): Target {
  return {
    provider: 'openai',
    model: 'gpt-5.5',
    options: {},
    quirks: {},
    ...changes,
    capabilities: { ...openaiResponses.capabilities, efforts: ['none', 'low', 'medium', 'high'], ...capabilities },
  }
}

export function encoded(messages: Message[], changes: Changes = {}, context: Partial<Context> = {}): Encoded {
  return openaiResponses.encode({ system: [], messages, tools: [], cacheAfter: [], ...context }, targetWith(changes))
}

/** The input items, and the notes as short as a table needs them. */
export function written(messages: Message[], changes: Changes = {}, context: Partial<Context> = {}) {
  const { body, notes } = encoded(messages, changes, context)
  const input = Array.isArray(body.input) ? body.input.map(withoutNewId) : body.input
  return { input, notes: notes.map(short) }
}

/** Ids that were made for the request are in no table; `stable ids` in replay.test.ts is about them. */
export const newId = /^(msg|ws)_[0-9A-Za-z]{24}$/

function withoutNewId(item: Json): Json {
  if (!isObject(item) || !newId.test(String(item.id))) return item
  const { id: _, status, ...rest } = item
  return item.type === 'message' && status === 'completed' ? rest : { ...rest, status }
}

export function short({ kind, what, rule }: Note): string {
  return `${kind} ${what}${rule ? ` (${rule})` : ''}`
}

/** A reply that this wire gave, read as the decoder reads it. */
export function native(items: JsonObject[], origin: Partial<Reply['origin']> = {}, reason: StopReason = 'done'): Reply {
  const ids = new Set<string>()
  const callId = (alias: string | undefined) => {
    let id = alias ?? 'call'
    while (ids.has(id)) id += '+'
    ids.add(id)
    return id
  }
  const parts = items.flatMap((item, from): Part[] => readItem(item, from, { callId, toolName: (name) => name }))
  return {
    role: 'assistant',
    parts,
    native: items,
    origin: { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.5', ...origin },
    stop: { reason },
  }
}

export const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA', content: [] }

export function textItem(text: string, id = 'msg_1'): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { type: 'message', id, role: 'assistant', status: 'completed', content, phase: 'final_answer' }
}

export function called(callId: string, name = 'clock', args = '{}', id = `fc_${callId}`): JsonObject {
  return { type: 'function_call', id, status: 'completed', call_id: callId, name, arguments: args }
}
