// The title of a conversation that the user has not named.

import { textOf, type UserMessage } from '../core/message.ts'

/** The first line of the first message, shortened; empty if it has no text. */
export function titleOf({ parts }: UserMessage): string {
  const [line = ''] = textOf(parts).trim().split('\n', 1)
  return line.slice(0, 80).toWellFormed()
}
