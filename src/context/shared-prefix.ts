// How long the common prefix of two requests is: what a prompt cache can provide for the second.

import type { Context } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import { estimateMessage, sizesOf } from './count.ts'

type Sent = Pick<Context, 'messages' | 'places'>

/** Tokens by estimate; `head` are those of system and tools, which both share. */
export function sharedTokens(before: Sent, now: Sent, head: number): number {
  let tokens = head
  const sizes = sizesOf(before.messages)
  for (let index = 0; index < before.messages.length; index++) {
    const message = before.messages[index] as Message
    const other = now.messages[index]
    if (!other || !isSame(message, other, before.places?.[index], now.places?.[index])) break
    tokens += sizes[index] as number
  }
  return tokens
}

/** Policies rebuild a message from the same position of the log; if its length is the same, it is the same message. */
function isSame(a: Message, b: Message, placeOfA: number | undefined, placeOfB: number | undefined): boolean {
  // It does not read them, as `===` does.
  if (Object.is(a, b)) return true
  return placeOfA === placeOfB && a.role === b.role && estimateMessage(a) === estimateMessage(b)
}

/** The first byte at which two bodies differ, or undefined if they are the same. */
export function firstDifference(before: string, now: string): number | undefined {
  const most = Math.min(before.length, now.length)
  let at = 0
  while (at < most && before.charCodeAt(at) === now.charCodeAt(at)) at++
  if (at === before.length && at === now.length) return undefined
  return Buffer.byteLength(now.slice(0, at))
}
