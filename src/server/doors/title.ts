// The title of a conversation of a client. Coding agents send what they know about the folder and the machine as messages
// of the user, before the question.

import type { Message } from '../../core/message.ts'
import { titleOf } from '../../core/title.ts'

/** Codex, Claude Code and Gemini CLI mark such text with a tag, or with the name of the file (checked 2026-11). */
const context = /^\s*(?:<[a-z][\w-]*>|# AGENTS\.md)/i

/** The first line of the first question. */
export function titleFrom(messages: readonly Message[]): string {
  let other = ''
  for (const message of messages) {
    if (message.role !== 'user') continue
    const parts = message.parts.filter((part) => part.type !== 'text' || !context.test(part.text))
    const title = titleOf({ ...message, parts })
    if (title) return title
    other ||= titleOf(message)
  }
  return other
}
