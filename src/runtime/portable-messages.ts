// The result of a provider's own compaction, as far as others can read it: OpenAI returns the user messages unchanged,
// next to a summary that only it can read. Those become ordinary messages again; the rest is not changed.

import type { Message, UserMessage } from '../core/message.ts'
import { readTranscript } from '../transcripts/index.ts'

const format = 'openai-responses'
const kind = `${format}/message`

export function portableMessages(messages: readonly Message[]): Message[] {
  return messages.flatMap((message) => (message.role === 'user' ? readable(message) : [message]))
}

function readable(message: UserMessage): Message[] {
  const out: Message[] = []
  let rest: UserMessage['parts'] = []
  for (const part of message.parts) {
    if (part.type !== 'opaque' || part.kind !== kind || part.data === undefined) {
      rest.push(part)
      continue
    }
    flush()
    for (const { source: _, ...read } of readTranscript([part.data], { format }).messages) out.push(read)
  }
  flush()
  return out

  function flush(): void {
    if (rest.length > 0) out.push({ ...message, parts: rest })
    rest = []
  }
}
