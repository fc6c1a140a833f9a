// Messages given by a caller, checked before they are written: what is in the log stays there.

import { badInput } from '../core/error.ts'
import type { Message } from '../core/message.ts'

const roles: ReadonlySet<unknown> = new Set<Message['role']>(['system', 'user', 'assistant', 'tool'])

/** Throws one sentence for the first invalid message. */
export function checkMessages(messages: readonly Partial<Message>[]): void {
  for (const [index, message] of messages.entries()) {
    if (!roles.has(message?.role)) {
      throw badInput(
        `messages[${index}].role: must be system, user, assistant or tool. readTranscript reads other formats.`,
      )
    }
    if (!Array.isArray(message.parts)) {
      throw badInput(`messages[${index}].parts: must be a list of parts. readTranscript reads other formats.`)
    }
    if (message.role === 'assistant' && !(message.origin && message.stop && Array.isArray(message.native))) {
      throw badInput(`messages[${index}]: a reply has origin, stop and native. readTranscript reads other formats.`)
    }
  }
}
