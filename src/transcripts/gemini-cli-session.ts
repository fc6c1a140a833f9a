// The session files of gemini-cli, one JSON object or one record per line, as Gemini contents. A record has the text of
// one side; the calls of a model and their results are both in the model's record.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { GivenContent } from '../wires/gemini-generate/transcript.ts'
import { listOf } from '../wires/gemini-generate/types.ts'

export function isSession(json: Json): boolean {
  const head = Array.isArray(json) ? json[0] : json
  if (!isObject(head) || typeof head.sessionId !== 'string') return false
  return Array.isArray(json) ? typeof head.projectHash === 'string' : Array.isArray(head.messages)
}

export function sessionEntries(record: JsonObject): GivenContent[] {
  const content = listOf(record.content).map((part): Json => (typeof part === 'string' ? { text: part } : part))
  if (record.type === 'user') return [{ content: { role: 'user', parts: content } }]
  // What the model never saw: update notices, displayed errors.
  if (record.type !== 'gemini') return []
  const calls = listOf(record.toolCalls).filter(isObject)
  const parts: Json[] = [
    ...listOf(record.thoughts).filter(isObject).map(thoughtPart),
    ...content.filter((part) => !isObject(part) || part.text !== ''),
    ...calls.map(({ id, name, args }) => ({
      functionCall: { ...(id !== undefined && { id }), name, args: args ?? {} },
    })),
  ]
  const results = calls.flatMap(sessionResult)
  return [
    ...(parts.length > 0
      ? [{ content: { role: 'model', parts }, ...(typeof record.model === 'string' && { model: record.model }) }]
      : []),
    ...(results.length > 0 ? [{ content: { role: 'user', parts: results } }] : []),
  ]
}

function thoughtPart({ subject, description }: JsonObject): Json {
  const title = typeof subject === 'string' && subject !== '' ? [`**${subject}**`] : []
  const words = typeof description === 'string' && description !== '' ? [description] : []
  return { text: [...title, ...words].join('\n'), thought: true }
}

function sessionResult({ id, name, result }: JsonObject): Json[] {
  const parts = listOf(result)
  if (parts.length === 0) return []
  if (parts.some((part) => isObject(part) && part.functionResponse !== undefined)) return parts
  const texts = parts.map((part) => {
    const text = isObject(part) ? part.text : part
    return typeof text === 'string' ? text : JSON.stringify(part)
  })
  return [{ functionResponse: { ...(id !== undefined && { id }), name, response: { output: texts.join('\n') } } }]
}
