// Thinking that is bound to its prefix: the newest models take a thinking block back only if `system`, `tools` and all
// messages before it are what they were when it was made. Cache marks, effort and the like do not count.
//
// The API joins neighbouring messages of one role, so the digest runs over blocks and changes of role, not messages.

import { createHash } from 'node:crypto'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import type { Turn } from '../shared/turns.ts'
import { isThinking } from './types.ts'
import type { Item } from './writer.ts'

export interface ThinkingPrefix {
  /** The first message whose thinking was made for another prefix; from there on all thinking is lost. */
  brokenFrom: number
  /** Some thinking before that has no proof of its prefix. */
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
  let brokenFrom = Infinity
  let unproven = false

  for (const turn of turns) {
    const wireRole = turn.role === 'tool' ? 'user' : turn.role
    for (const { block, message } of turn.items) {
      const reply = messages[message]
      if (reply?.role === 'assistant' && !seen.has(message)) {
        const { basis } = reply.origin
        const thinks = turn.items.some((item) => item.message === message && isThinking(item.block))
        if (thinks && basis === undefined && message < brokenFrom) unproven = true
        if (thinks && basis !== undefined && basis !== hash.copy().digest('base64url')) {
          brokenFrom = Math.min(brokenFrom, message)
        }
        seen.add(message)
      }
      if (wireRole !== role) hash.update(`\n${wireRole}`)
      role = wireRole
      hash.update(`\n${JSON.stringify(block)}`)
    }
  }
  return { brokenFrom, unproven, basis: hash.digest('base64url') }
}
