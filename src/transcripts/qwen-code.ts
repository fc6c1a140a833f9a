// Session files of Qwen Code, as transcripts.

import { isObject, type Json } from '../core/json.ts'
import { isMessageLine, qwenCodeSession } from './qwen-code-session.ts'
import { objectLines, readSession, writeSession } from './session-file.ts'
import type { TranscriptFormat } from '../wires/shared/transcript.ts'

const id = 'qwen-code'

export const qwenCodeFormat: TranscriptFormat = {
  id,
  recognise,
  read: (json) => readSession(qwenCodeSession, objectLines(id, json), []),
  write: (messages) => writeSession(qwenCodeSession, messages),
}

/** Like lines of Claude Code, but the content is in `parts`. */
function recognise(json: Json): boolean {
  if (!Array.isArray(json)) return false
  return json.slice(0, 200).some((line) => {
    if (!isObject(line) || !isMessageLine(line) || typeof line.uuid !== 'string') return false
    return isObject(line.message) && Array.isArray(line.message.parts)
  })
}
