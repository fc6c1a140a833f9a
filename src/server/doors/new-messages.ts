// The new messages of a request in the form for the store: our replies unchanged, and results under the ids of our calls.

import { callsOf, type Message, type Reply, type ToolCallPart } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import { holdsSignature, holdsToken } from '../../wires/shared/sealed-token.ts'
import { clientIdsOf } from './call-ids.ts'
import { nextHash, type Group } from './canonical.ts'
import { ourReplyIn } from './match-records.ts'

export interface Appended {
  message: Message
  /** If it is a reply of ours: see `Match`. */
  passedBy?: string | undefined
  isOurs?: boolean
  /** The digest up to here, at the end of a unit of comparison. */
  hash?: string
}

/** `before`: the calls that results may be for. */
export async function messagesToStore(
  store: Store,
  owner: string,
  groups: readonly Group[],
  before: KnownCalls,
): Promise<Appended[]> {
  const calls = new Map(before.map(({ clientId, call }) => [clientId, call]))
  const out: Appended[] = []
  for (const group of groups) {
    const own = isReply(group) ? await storedReply(store, owner, group) : undefined
    if (own) {
      for (const { clientId, call } of pairedFromEnd(group.messages.flatMap(callsOf), callsOf(own.message))) {
        calls.set(clientId, call)
      }
      out.push({ message: own.message, hash: group.hash, isOurs: true, passedBy: own.passedBy })
      continue
    }
    for (const [i, message] of group.messages.entries()) {
      const isLast = i === group.messages.length - 1
      out.push({ message: withoutUnknownNative(withOurCallIds(message, calls)), ...(isLast && { hash: group.hash }) })
    }
  }
  return out
}

async function storedReply(
  store: Store,
  owner: string,
  group: Group,
): Promise<{ message: Message; passedBy: string | undefined } | undefined> {
  const known = await ourReplyIn(store, owner, group)
  const entry = known && (await store.entry(owner, known.entryId))
  // A client may have edited the reply: then its version counts.
  if (!entry || nextHash('', [entry.message]) !== nextHash('', group.messages)) return undefined
  return { message: entry.message, passedBy: known.passedBy }
}

function withOurCallIds(message: Message, calls: ReadonlyMap<string, ToolCallPart>): Message {
  if (message.role !== 'tool') return message
  const parts = message.parts.map((part) => {
    const call = calls.get(part.callId)
    return call ? { ...part, callId: call.callId, name: call.name } : part
  })
  return { ...message, parts }
}

/**
 * A reply that is not in the store is not replayed as provider data, because no provider would know ids invented by a
 * server like this one, unless it contains data that only a provider can have produced.
 */
function withoutUnknownNative(message: Message): Message {
  if (message.role !== 'assistant' || message.native.length === 0) return message
  if (!holdsToken(message.native) && holdsSignature(message.native)) return message
  return { ...message, native: [], parts: message.parts.map((part) => withoutPlace(part)) }
}

function withoutPlace<P extends Reply['parts'][number]>(part: P): P {
  if (!('from' in part)) return part
  const { from: _from, ...rest } = part
  return rest as P
}

export type KnownCalls = readonly { clientId: string; call: ToolCallPart }[]

/** Results name their calls by the client's ids: the ids of these calls in the store. */
export async function callsBefore(
  store: Store,
  owner: string,
  entryId: string,
  groups: readonly Group[],
): Promise<KnownCalls> {
  const path = await store.history(owner, entryId, { last: 64 })
  const stored = path.flatMap(({ message }) => callsOf(message))
  const sent = groups.flatMap(({ messages }) => messages.flatMap(callsOf))
  const names = new Set(sent.map(({ name }) => name))
  // Results produced here were never sent to the client.
  const known = stored.filter(({ name }) => names.has(name))
  const named = stored.flatMap((call) => clientIdsOf(call).map((clientId) => ({ clientId, call })))
  return [...named, ...pairedFromEnd(sent, known)]
}

/** Some clients send no ids back: then the order decides. */
function pairedFromEnd(sent: readonly ToolCallPart[], stored: readonly ToolCallPart[]): KnownCalls {
  const length = Math.min(sent.length, stored.length)
  return Array.from({ length }, (_, i) => {
    const [theirs, ours] = [sent.at(i - length), stored.at(i - length)]
    return theirs && ours && theirs.name === ours.name ? [{ clientId: theirs.callId, call: ours }] : []
  }).flat()
}

export function isReply({ messages }: Group): boolean {
  return messages[0]?.role === 'assistant'
}
