// The session files of gemini-cli, one JSON object or one record per line, as Gemini contents. A record holds the words
// of one side; the calls of a model and their results are both in the model's record.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { listOf } from '../wires/gemini-generate/types.ts'

export interface SessionContent {
  content: Json
  model?: string
}

export function isSession(json: Json): boolean {
  const head = Array.isArray(json) ? json[0] : json
  if (!isObject(head) || typeof head.sessionId !== 'string') return false
  return Array.isArray(json) ? typeof head.projectHash === 'string' : Array.isArray(head.messages)
}

/** The records that count: a record under an id that was there replaces it, and a rewind takes back what followed. */
export function sessionContents(json: Json, notes: Note[]): SessionContent[] {
  const records = new Map<string, JsonObject>()
  const put = (record: Json | undefined, index: number) => {
    if (isObject(record)) records.set(typeof record.id === 'string' ? record.id : `#${index}`, record)
  }
  if (isObject(json)) for (const [index, record] of listOf(json.messages).entries()) put(record, index)
  for (const [index, line] of (Array.isArray(json) ? json : []).entries()) {
    if (!isObject(line)) continue
    if (typeof line.$rewindTo === 'string') {
      const ids = [...records.keys()]
      for (const gone of ids.slice(Math.max(0, ids.indexOf(line.$rewindTo)))) records.delete(gone)
    } else if (isObject(line.$set) && Array.isArray(line.$set.messages)) {
      records.clear()
      for (const [place, record] of line.$set.messages.entries()) put(record, place)
    } else if (typeof line.type === 'string') {
      put(line, index)
    }
  }
  return [...records.values()].flatMap((record) => sessionEntries(record, notes))
}

export function sessionEntries(record: JsonObject, notes: Note[]): SessionContent[] {
  const said = listOf(record.content).map((part): Json => (typeof part === 'string' ? { text: part } : part))
  if (record.type === 'user') return [{ content: { role: 'user', parts: said } }]
  if (record.type !== 'gemini') {
    const what = typeof record.type === 'string' ? record.type : 'record'
    notes.push({
      kind: 'dropped',
      what,
      why: 'the model never saw it',
      at: `record ${JSON.stringify(record.id ?? null)}`,
    })
    return []
  }
  const calls = listOf(record.toolCalls).filter(isObject)
  const parts: Json[] = [
    ...listOf(record.thoughts).filter(isObject).map(thoughtPart),
    ...said.filter((part) => !isObject(part) || part.text !== ''),
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
