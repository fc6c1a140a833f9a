// Session files of Gemini CLI: a head, then one record per line (older versions: one document with a list of records).

import type { Json, JsonObject } from '../core/json.ts'
import { geminiCliSession, isSession } from './gemini-cli-session.ts'
import { objectLines, readSession, writeSession } from './session-file.ts'
import type { TranscriptFormat } from '../wires/shared/transcript.ts'
import { objectIn, listIn } from '../wires/shared/json-fields.ts'

const id = 'gemini-cli'

export const geminiCliFormat: TranscriptFormat = {
  id,
  recognise: isSession,
  read: (json) => readSession(geminiCliSession, geminiLines(json), []),
  write: (messages) => writeSession(geminiCliSession, messages),
}

/** A document as the lines that a newer version would write. */
export function geminiLines(json: Json): JsonObject[] {
  if (Array.isArray(json)) return objectLines(id, json)
  const { messages, ...head } = objectIn(json)
  return objectLines(id, [head, ...listIn(messages)])
}
