// Ids of tool calls on the wire. Ours are canonical; a provider's own id is used only if its own reply is sent back to
// it unchanged. Everything else gets an id that is a hash of ours: truncated ids would collide.

import { hash } from 'node:crypto'
import type { Context } from '../../core/context.ts'
import type { Message, Reply } from '../../core/message.ts'
import type { Target } from '../wire.ts'
import { ByCall, continuedState } from './continued.ts'

export interface IdGrammar {
  prefix: string
  /** Length of what follows the prefix. */
  length: number
  /** What the wire accepts. */
  fits: RegExp
}

/** Whether a reply is sent unchanged. */
type IsReplayed = (reply: Reply) => boolean

/** The wire id of every call in the messages. */
export function wireIds(
  messages: readonly Message[],
  grammar: IdGrammar,
  replayed: IsReplayed,
): (callId: string) => string {
  const ids = new Ids()
  for (const [index, message] of messages.entries()) addIds(ids, message, index, grammar, replayed)
  return (callId) => ids.values.get(callId) ?? hashedId(callId, grammar)
}

/** The same for a request, continued from the last one of its conversation to the same target. */
export function requestIds(
  { messages, fromLog }: Pick<Context, 'messages' | 'fromLog'>,
  { provider, model, quirks, capabilities }: Target,
  protocol: string,
  grammar: IdGrammar,
  replayed: IsReplayed,
): (callId: string) => string {
  if (!fromLog) return wireIds(messages, grammar, replayed)
  const key = JSON.stringify([protocol, provider, model, quirks, capabilities])
  const ids = idsOf(messages, key, (state, message, index) => addIds(state, message, index, grammar, replayed))
  return (callId) => ids.values.get(callId) ?? hashedId(callId, grammar)
}

class Ids extends ByCall<string> {
  readonly taken = new Set<string>()

  protected override remove(callId: string): void {
    this.taken.delete(this.values.get(callId) as string)
    super.remove(callId)
  }
}

const idsOf = continuedState(() => new Ids())

function addIds(state: Ids, message: Message, at: number, grammar: IdGrammar, replayed: IsReplayed): void {
  if (message.role !== 'assistant') return
  const { values: ids, taken } = state
  // Once per reply, not per call: the check reads all of its calls.
  let isReplayed: boolean | undefined
  for (let index = 0; index < message.parts.length; index++) {
    const part = message.parts[index]
    if (part?.type !== 'tool-call' || ids.has(part.callId)) continue
    const alias = part.alias && (isReplayed ??= replayed(message)) ? part.alias : undefined
    const isFree = alias && grammar.fits.test(alias) && !taken.has(alias)
    const id = isFree ? alias : freeId(part.callId, derivedId(message, index, part.callId, grammar), taken, grammar)
    state.add(part.callId, id, at)
    taken.add(id)
  }
}

function derivedId(reply: Reply, index: number, callId: string, grammar: IdGrammar): string {
  const derived = derivedIds(reply, grammar)
  let entry = derived[index]
  if (entry?.of !== callId) derived[index] = entry = { of: callId, id: hashedId(callId, grammar) }
  return entry.id
}

function freeId(callId: string, derived: string, taken: ReadonlySet<string>, grammar: IdGrammar): string {
  let id = derived
  for (let salt = 1; taken.has(id); salt++) id = hashedId(`${callId}#${salt}`, grammar)
  return id
}

interface Derived {
  of: string
  id: string
}

/** By the index of the call. Cached, because hashing costs more than everything else here. */
const derivations = new WeakMap<Reply, { grammar: IdGrammar; ids: Derived[] }>()

function derivedIds(reply: Reply, grammar: IdGrammar): Derived[] {
  let cached = derivations.get(reply)
  if (cached?.grammar !== grammar) derivations.set(reply, (cached = { grammar, ids: [] }))
  return cached.ids
}

const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

export function hashedId(callId: string, grammar: Pick<IdGrammar, 'prefix' | 'length'>): string {
  const digest = hash('sha256', callId, 'buffer')
  let id = grammar.prefix
  for (let i = 0; i < grammar.length; i++) id += letters[(digest[i] ?? 0) % letters.length]
  return id
}
