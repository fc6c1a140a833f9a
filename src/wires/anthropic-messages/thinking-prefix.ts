// Thinking that is bound to its prefix: the newest models accept a thinking block back only if `system`, `tools` and
// all messages before it are what they were when it was made. Cache marks, effort and the like do not count.
//
// The API merges adjacent messages of one role, so the digest runs over blocks and changes of role, not messages.

import { createHash } from 'node:crypto'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import type { Turn } from '../shared/turns.ts'
import { isThinking } from './types.ts'
import type { Item } from './writer.ts'

export interface ThinkingPrefix {
  /** The messages whose thinking was made for another prefix, and is dropped. What was made after that stays valid. */
  broken: ReadonlySet<number>
  /** Some thinking has no proof of its prefix. */
  unproven: boolean
  basis: string
}

export function checkThinkingPrefix(
  head: { system: readonly JsonObject[]; tools: readonly JsonObject[] },
  turns: readonly Turn<Item>[],
  messages: readonly Message[],
): ThinkingPrefix {
  const hash = createHash('sha256').update(JSON.stringify([head.system, head.tools]))
  const seen = new Set<number>()
  let role: string | undefined
  const broken = new Set<number>()
  let unproven = false

  for (const turn of turns) {
    const wireRole = turn.role === 'tool' ? 'user' : turn.role
    for (const { block, message } of turn.items) {
      const reply = messages[message]
      if (reply?.role === 'assistant' && !seen.has(message)) {
        seen.add(message)
        const { basis } = reply.origin
        const thinks = turn.items.some((item) => item.message === message && isThinking(item.block))
        if (thinks && basis === undefined && broken.size === 0) unproven = true
        else if (thinks && basis !== hash.copy().digest('base64url')) broken.add(message)
      }
      // Dropped thinking is not part of the prefix for the next thinking block.
      if (broken.has(message) && isThinking(block)) continue
      if (wireRole !== role) hash.update(`\n${wireRole}`)
      role = wireRole
      hash.update(`\n${JSON.stringify(block)}`)
    }
  }
  return { broken, unproven, basis: hash.digest('base64url') }
}
