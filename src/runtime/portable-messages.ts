// OpenAI's own compaction returns the user messages next to a summary that only OpenAI can read. The user messages become
// ordinary messages again, so that other providers can read them.

import type { Message, UserMessage } from '../core/message.ts'
import { readTranscript } from '../transcripts/index.ts'

const format = 'openai-responses'
const kind = `${format}/message`

export function portableMessages(messages: readonly Message[]): Message[] {
  return messages.flatMap((message) => (message.role === 'user' ? portable(message) : [message]))
}

function portable(message: UserMessage): Message[] {
  const out: Message[] = []
  let others: UserMessage['parts'] = []
  for (const part of message.parts) {
    if (part.type !== 'opaque' || part.kind !== kind || part.data === undefined) {
      others.push(part)
      continue
    }
    flush()
    for (const { source: _, ...read } of readTranscript([part.data], { format }).messages) out.push(read)
  }
  flush()
  return out

  function flush(): void {
    if (others.length > 0) out.push({ ...message, parts: others })
    others = []
  }
}
