// Ids of tool calls on the wire. Ours are canonical; a provider's own id is used only if its own reply is sent back to
// it unchanged. Everything else gets an id that is a hash of ours: truncated ids would collide.

import { hash } from 'node:crypto'
import type { Message, Reply } from '../../core/message.ts'

export interface IdGrammar {
  prefix: string
  /** Length of what follows the prefix. */
  length: number
  /** What the wire accepts. */
  fits: RegExp
}

/** The wire id of every call in the messages. `replayed` says which replies are sent unchanged. */
export function wireIds(
  messages: readonly Message[],
  grammar: IdGrammar,
  replayed: (reply: Reply) => boolean,
): (callId: string) => string {
  const ids = new Map<string, string>()
  const taken = new Set<string>()

  for (const message of messages) {
    if (message.role !== 'assistant') continue
    // Once per reply, not per call: the check reads all of its calls.
    let isReplayed: boolean | undefined
    for (let index = 0; index < message.parts.length; index++) {
      const part = message.parts[index]
      if (part?.type !== 'tool-call' || ids.has(part.callId)) continue
      const alias = part.alias && (isReplayed ??= replayed(message)) ? part.alias : undefined
      const isFree = alias && grammar.fits.test(alias) && !taken.has(alias)
      const id = isFree ? alias : free(part.callId, derivedId(message, index, part.callId))
      ids.set(part.callId, id)
      taken.add(id)
    }
  }
  return (callId) => ids.get(callId) ?? hashedId(callId, grammar)

  function derivedId(reply: Reply, index: number, callId: string): string {
    const derived = derivedIds(reply, grammar)
    let own = derived[index]
    if (own?.of !== callId) derived[index] = own = { of: callId, id: hashedId(callId, grammar) }
    return own.id
  }

  function free(callId: string, derived: string): string {
    let id = derived
    for (let salt = 1; taken.has(id); salt++) id = hashedId(`${callId}#${salt}`, grammar)
    return id
  }
}

interface Derived {
  of: string
  id: string
}

/** By the index of the call. Cached, because hashing costs more than everything else here. */
const derivations = new WeakMap<Reply, { grammar: IdGrammar; ids: Derived[] }>()

function derivedIds(reply: Reply, grammar: IdGrammar): Derived[] {
  let known = derivations.get(reply)
  if (known?.grammar !== grammar) derivations.set(reply, (known = { grammar, ids: [] }))
  return known.ids
}

const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

export function hashedId(callId: string, grammar: Pick<IdGrammar, 'prefix' | 'length'>): string {
  const digest = hash('sha256', callId, 'buffer')
  let id = grammar.prefix
  for (let i = 0; i < grammar.length; i++) id += letters[(digest[i] ?? 0) % letters.length]
  return id
}
