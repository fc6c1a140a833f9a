// The title of a conversation that the user has not named.

import { textOf, type UserMessage } from './message.ts'

/** The first line of the first message, shortened; empty if it has no text. */
export function titleOf({ parts }: Pick<UserMessage, 'parts'>): string {
  const [line = ''] = textOf(parts).trim().split('\n', 1)
  return shortTitle(line)
}

export function shortTitle(text: string): string {
  return text.slice(0, 80).toWellFormed()
}
