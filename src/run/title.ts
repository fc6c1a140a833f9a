// What a conversation is called that no one has named.

import { textOf, type UserMessage } from '../core/message.ts'

/** The first line that was said, not too long; empty where there are no words. */
export function titleOf({ parts }: UserMessage): string {
  const [line = ''] = textOf(parts).trim().split('\n', 1)
  return line.slice(0, 80).toWellFormed()
}
