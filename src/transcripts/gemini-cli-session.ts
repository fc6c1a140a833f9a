// The records of Gemini CLI's session files, for `carry`: a record with an existing id replaces the earlier one, and a
// rewind removes what followed.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { type GivenContent, readContents } from '../wires/gemini-generate/transcript.ts'
import { valuesIn } from '../wires/shared/json-fields.ts'
import {
  headOf,
  type NewSession,
  type ReplyStep,
  type SessionFormat,
  type SessionMessage,
  type SessionScan,
  type Step,
  type StepResult,
  stringAt,
  timeAt,
  type UserStep,
  uuidFor,
} from './session.ts'
import { listIn } from '../wires/shared/json-fields.ts'

export const geminiCliSession: SessionFormat = {
  id: 'gemini-cli',
  joinsResults: true,
  adaptUser,
  scan,
  reader: (_, { superseded } = {}) => {
    return (line, index) =>
      recordsIn(line).flatMap((record): SessionMessage[] => {
        if (superseded?.has(`${index} ${keyOf(record, index)}`)) return []
        const at = timeAt(record.timestamp)
        const messages = readContents(sessionEntries(withoutMark(record)), `line ${index + 1}`)
        return messages.map((message) => ({ message, ...(at !== undefined && { at }) }))
      })
  },
  writer: geminiCliWriter,
  rehome(line, _, to) {
    if (line.sessionId === undefined) return line
    return { ...line, sessionId: to.id, projectHash: projectHash(to.cwd) }
  },
}

/** Without the texts that were added before the user's text when the session was carried. */
function withoutMark(record: JsonObject): JsonObject {
  const [first, ...rest] = record.type === 'user' && Array.isArray(record.content) ? record.content : []
  return rest.length > 0 && isOurMark(stringAt(first, 'text') ?? '') ? { ...record, content: rest } : record
}

function recordsIn(line: JsonObject): JsonObject[] {
  const list = isObject(line.$set) && Array.isArray(line.$set.messages) ? line.$set.messages.filter(isObject) : [line]
  return list.filter((record) => typeof record.type === 'string' && !isContext(record))
}

/** The context that Gemini CLI adds at each start; it replaces the old one when it resumes. */
function isContext({ type, content }: JsonObject): boolean {
  const [first] = Array.isArray(content) ? content : [content]
  const text = typeof first === 'string' ? first : (stringAt(first, 'text') ?? '')
  return type === 'user' && /^\s*<(session|hook)_context>/.test(text)
}

function keyOf(record: JsonObject, index: number): string {
  return stringAt(record, 'id') ?? `#${index}`
}

function scan(): SessionScan {
  const { head, time, set } = headOf()
  const records = new Map<string, number>()
  const superseded = new Set<string>()
  /** Those that were not replaced. */
  let omitted = 0
  const drop = (key: string): void => {
    const line = records.get(key)
    if (line !== undefined) superseded.add(`${line} ${key}`)
  }
  return {
    see(line, index) {
      for (const about of [line, isObject(line.$set) ? line.$set : {}]) {
        if (about === line && line.sessionId === undefined) continue
        set({ id: stringAt(about, 'sessionId'), title: stringAt(about, 'summary') })
        const [directory] = listIn(about.directories)
        if (typeof directory === 'string') head.cwd ??= directory
        for (const at of [about.startTime, about.lastUpdated]) time(timeAt(at))
      }
      if (typeof line.$rewindTo === 'string') {
        const keys = [...records.keys()]
        for (const key of keys.slice(Math.max(0, keys.indexOf(line.$rewindTo)))) {
          drop(key)
          records.delete(key)
          omitted++
        }
      }
      if (isObject(line.$set) && Array.isArray(line.$set.messages)) {
        const remaining = new Set(recordsIn(line).map((record) => keyOf(record, index)))
        for (const key of records.keys()) {
          drop(key)
          if (!remaining.has(key)) omitted++
        }
        records.clear()
      }
      for (const record of recordsIn(line)) {
        const key = keyOf(record, index)
        drop(key)
        records.set(key, index)
        time(timeAt(record.timestamp))
        if (record.type === 'gemini') set({ model: stringAt(record, 'model'), provider: 'google' })
      }
    },
    end() {
      const lines = [...new Set(records.values())]
      const why = 'they were taken back, or a summary represents them'
      return {
        head,
        lines,
        superseded,
        messages: records.size,
        notes: omitted > 0 ? [{ kind: 'dropped', what: `${omitted} records`, why }] : [],
      }
    },
  }
}

/**
 * The session files of gemini-cli, one JSON object or one record per line, as Gemini contents. A record has the text of
 * one side; the calls of a model and their results are both in the model's record.
 */
export function isSession(json: Json): boolean {
  const head = Array.isArray(json) ? json[0] : json
  if (!isObject(head) || typeof head.sessionId !== 'string') return false
  return Array.isArray(json) ? typeof head.projectHash === 'string' : Array.isArray(head.messages)
}

function sessionEntries(record: JsonObject): GivenContent[] {
  const content = valuesIn(record.content).map((part): Json => (typeof part === 'string' ? { text: part } : part))
  if (record.type === 'user') return [{ content: { role: 'user', parts: content } }]
  // What the model never saw: update notices, displayed errors.
  if (record.type !== 'gemini') return []
  const calls = valuesIn(record.toolCalls).filter(isObject)
  const parts: Json[] = [
    ...valuesIn(record.thoughts).filter(isObject).map(thoughtPart),
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
  const body = typeof description === 'string' && description !== '' ? [description] : []
  return { text: [...title, ...body].join('\n'), thought: true }
}

function sessionResult({ id, name, result }: JsonObject): Json[] {
  const parts = valuesIn(result)
  if (parts.length === 0) return []
  if (parts.some((part) => isObject(part) && part.functionResponse !== undefined)) return parts
  const texts = parts.map((part) => {
    const text = isObject(part) ? part.text : part
    return typeof text === 'string' ? text : JSON.stringify(part)
  })
  return [{ functionResponse: { ...(id !== undefined && { id }), name, response: { output: texts.join('\n') } } }]
}

/**
 * Steps as Gemini contents, and as the records of Gemini CLI's session files. Confirmed with version 0.61.0: the head
 * needs sessionId, projectHash and startTime, every record an id; calls and their results are in the model's record.
 */
export function contentParts(parts: readonly (UserStep | ReplyStep)['parts'][number][]): JsonObject[] {
  return parts.map((part) => {
    if (part.type === 'call') return { functionCall: { id: part.id, name: part.name, args: part.input } }
    return part.type === 'text' ? { text: part.text } : picture(part)
  })
}

function picture(part: Extract<UserStep['parts'][number], { type: 'media' }>): JsonObject {
  return { inlineData: { mimeType: part.mediaType, data: part.data.kind === 'base64' ? part.data.base64 : '' } }
}

export function resultPart({ id, name, output, failed }: StepResult): JsonObject {
  const text = output.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const parts = output.flatMap((part) => (part.type === 'media' ? [picture(part)] : []))
  const response = failed ? { error: text } : { output: text }
  return { functionResponse: { id, name, response, ...(parts.length > 0 && { parts }) } }
}

/** Our own texts, in separate parts before the user's. */
const typed = 'The user typed: '
const sent = 'The user sent:'

export function isOurMark(text: string): boolean {
  return text === typed || text === sent
}

const ignored = /^\s*(\/|\?|<session_context>|<hook_context>)/

/** Gemini CLI treats some texts as commands and leaves them out, and messages without text as well. */
function adaptUser(parts: UserStep['parts']): UserStep['parts'] {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (text.trim() === '') return [{ type: 'text', text: sent }, ...parts]
  return ignored.test(text) ? [{ type: 'text', text: typed }, ...parts] : parts
}

function projectHash(cwd: string): string {
  return createHash('sha256').update(cwd).digest('hex')
}

function geminiCliWriter(session: NewSession, after?: JsonObject) {
  let count = 0
  const record = (at: string, more: JsonObject): JsonObject => {
    const id = uuidFor(`${session.id} ${JSON.stringify(after?.id ?? null)} ${count++}`)
    return { id, timestamp: at, ...more }
  }
  return {
    open(): JsonObject[] {
      if (after) return []
      const { id: sessionId, cwd, startedAt: startTime, updatedAt: lastUpdated, title: summary } = session
      const head = { sessionId, projectHash: projectHash(cwd), startTime, lastUpdated, kind: 'main' }
      return [{ ...head, ...(summary !== undefined && { summary }) }]
    },
    add(step: Step): JsonObject[] {
      if (step.kind === 'user') return [record(step.at, { type: 'user', content: contentParts(step.parts) })]
      const texts = step.parts.filter((part) => part.type === 'text')
      const calls = step.parts.filter((part) => part.type === 'call')
      const toolCalls = calls.map(({ id, name, input }, index): JsonObject => {
        const result = step.results[index] as StepResult
        const status = result.failed ? 'error' : 'success'
        return { id, name, args: input, result: [resultPart(result)], status, timestamp: result.at }
      })
      const model = step.model || 'unknown'
      return [
        record(step.at, {
          type: 'gemini',
          content: texts.length === 1 ? (texts[0]?.text ?? '') : contentParts(texts),
          thoughts: [],
          model,
          ...(toolCalls.length > 0 && { toolCalls }),
        }),
      ]
    },
    close: (): JsonObject[] => [],
  }
}
