// Ids of tool calls on the wire. Ours are canonical; a provider's own id is kept only where its own reply is sent back
// to it as it was. Everything else gets an id that is hashed from ours: cutting ids to a length makes them collide.

import { createHash } from 'node:crypto'
import type { Message, Reply } from '../core/message.ts'

export interface IdGrammar {
  prefix: string
  /** Length of what follows the prefix. */
  length: number
  /** What the wire accepts. */
  fits: RegExp
}

/** The wire id of every call in the messages. `replayed` says which replies are sent in the provider's own words. */
export function wireIds(
  messages: readonly Message[],
  grammar: IdGrammar,
  replayed: (reply: Reply) => boolean,
): (callId: string) => string {
  const ids = new Map<string, string>()
  const taken = new Set<string>()

  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const keepsAlias = replayed(message)
    for (const part of message.parts) {
      if (part.type !== 'tool-call' || ids.has(part.callId)) continue
      const alias = keepsAlias ? part.alias : undefined
      const id = alias && grammar.fits.test(alias) && !taken.has(alias) ? alias : free(part.callId)
      ids.set(part.callId, id)
      taken.add(id)
    }
  }
  return (callId) => ids.get(callId) ?? hashedId(callId, grammar)

  function free(callId: string): string {
    let id = hashedId(callId, grammar)
    for (let salt = 1; taken.has(id); salt++) id = hashedId(`${callId}#${salt}`, grammar)
    return id
  }
}

const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

function hashedId(callId: string, grammar: IdGrammar): string {
  const digest = createHash('sha256').update(callId).digest()
  let id = grammar.prefix
  for (let i = 0; i < grammar.length; i++) id += letters[(digest[i] ?? 0) % letters.length]
  return id
}
