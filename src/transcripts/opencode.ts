// What `opencode export` prints, as a transcript: one document with the session and its messages.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { opencodeSession } from './opencode-session.ts'
import { objectLines, readSession, writeSession } from './session-file.ts'
import { unreadable, type TranscriptFormat } from './transcript.ts'

const id = 'opencode'

export const opencodeFormat: TranscriptFormat = {
  id,
  recognise(json) {
    return isObject(json) && isObject(json.info) && typeof json.info.id === 'string' && Array.isArray(json.messages)
  },
  read: (json) => readSession(opencodeSession, opencodeLines(json), []),
  write(messages) {
    const [info = {}, ...rest] = writeSession(opencodeSession, messages)
    return { info, messages: rest }
  },
}

export function opencodeLines(json: Json): JsonObject[] {
  if (!isObject(json) || !isObject(json.info)) throw unreadable(id, '$.info', 'an object')
  if (!Array.isArray(json.messages)) throw unreadable(id, '$.messages', 'a list')
  return objectLines(id, [json.info, ...json.messages])
}
