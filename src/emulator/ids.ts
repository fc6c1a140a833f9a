// Ids of the emulator: the same for the same request, so that runs can be compared, and never twice, because a repeated
// request gets a number.

import { createHash } from 'node:crypto'
import type { WireService } from '../wires/service.ts'
import { lettersFrom } from '../wires/shared/letters.ts'

export interface Ids {
  /** The id of the reply to this request. */
  reply(prefix: string, request: string): string
}

export function createIds(): Ids {
  const seen = new Map<string, number>()
  return {
    reply(prefix, request) {
      const name = createHash('sha256').update(request).digest('base64url')
      const times = (seen.get(name) ?? 0) + 1
      seen.set(name, times)
      return `${prefix}${lettersFrom(`${name} ${times}`, 24)}`
    },
  }
}

/** The id of a reply's n-th call, in the form of the wire. */
export function callId({ callId: inForm }: WireService, replyId: string, n: number): string {
  const letters = (length: number) => lettersFrom(`${replyId} ${n}`, length)
  return inForm?.(letters) ?? `call_${letters(24)}`
}
