// The records of Gemini CLI's session files, for `carry`: a record with an existing id replaces the earlier one, and a
// rewind removes what followed.

import { isObject, type JsonObject } from '../core/json.ts'
import { sessionEntries } from './gemini-cli-session.ts'
import { geminiCliWriter, isOurMark, projectHash } from './gemini-cli-write.ts'
import { readContents } from '../wires/gemini-generate/transcript.ts'
import { headOf, stringAt, timeAt, type SessionFormat, type SessionMessage, type SessionScan } from './session.ts'

export const geminiCliSession: SessionFormat = {
  id: 'gemini-cli',
  joinsResults: true,
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

/** What was put before the user's text when the session was carried is not part of it. */
function withoutMark(record: JsonObject): JsonObject {
  const [first, ...rest] = record.type === 'user' && Array.isArray(record.content) ? record.content : []
  return rest.length > 0 && isOurMark(stringAt(first, 'text') ?? '') ? { ...record, content: rest } : record
}

function recordsIn(line: JsonObject): JsonObject[] {
  const list = isObject(line.$set) && Array.isArray(line.$set.messages) ? line.$set.messages.filter(isObject) : [line]
  return list.filter((record) => typeof record.type === 'string' && !isContext(record))
}

/** What Gemini CLI tells the model about itself at each start; it leaves the old one out when it resumes. */
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
  let left = 0
  const drop = (key: string): void => {
    const line = records.get(key)
    if (line !== undefined) superseded.add(`${line} ${key}`)
  }
  return {
    see(line, index) {
      for (const about of [line, isObject(line.$set) ? line.$set : {}]) {
        if (about === line && line.sessionId === undefined) continue
        set({ id: stringAt(about, 'sessionId'), title: stringAt(about, 'summary') })
        const [directory] = Array.isArray(about.directories) ? about.directories : []
        if (typeof directory === 'string') head.cwd ??= directory
        for (const at of [about.startTime, about.lastUpdated]) time(timeAt(at))
      }
      if (typeof line.$rewindTo === 'string') {
        const keys = [...records.keys()]
        for (const key of keys.slice(Math.max(0, keys.indexOf(line.$rewindTo)))) {
          drop(key)
          records.delete(key)
          left++
        }
      }
      if (isObject(line.$set) && Array.isArray(line.$set.messages)) {
        const remaining = new Set(recordsIn(line).map((record) => keyOf(record, index)))
        for (const key of records.keys()) {
          drop(key)
          if (!remaining.has(key)) left++
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
        notes: left > 0 ? [{ kind: 'dropped', what: `${left} records`, why }] : [],
      }
    },
  }
}
