// Which conversation a request continues. Clients of these APIs send the whole history each time and no id of ours, so
// the conversation is found by what it says: the longest beginning that is in the store, or else the newest reply of ours.
// What differs from there on becomes a branch. Everything is kept per owner, as records, so it survives a restart.

import { SynapseError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { callsOf, type Message, type Reply, type ToolCallPart } from '../../core/message.ts'
import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { grouped, keyOfCall, keysOfReply, nextHash, textHash, type Group } from './canonical.ts'
import type { DoorRequest } from './read-request.ts'

export interface Match {
  /** Absent: nothing of it is known. */
  conversationId?: string
  /** The entry that the messages come after; null: they begin the conversation, or a branch from its beginning. */
  parentId: string | null
  append: Appended[]
  /** The digest of the whole request. */
  hash: string
}

interface Appended {
  message: Message
  /** The digest up to here, where something that is compared as one ends. */
  hash?: string
}

const kinds = { prefix: 'door-prefix', call: 'door-call', text: 'door-text', response: 'door-response' } as const

export async function match(store: Store, owner: string, request: DoorRequest): Promise<Match> {
  const { previousResponseId, messages } = request
  const earlier = previousResponseId === undefined ? undefined : await responseOf(store, owner, previousResponseId)
  const groups = grouped(messages, earlier && textIn(earlier, 'hash'))
  const at = earlier ? placeIn(earlier, 0) : await placeOf(store, owner, groups, request.session)
  const known = at.entryId === undefined ? [] : await callsBefore(store, owner, at.entryId, groups.slice(0, at.count))
  return {
    ...(at.conversationId !== undefined && { conversationId: at.conversationId }),
    parentId: at.entryId ?? null,
    append: await adopted(store, owner, groups.slice(at.count), known),
    hash: groups.at(-1)?.hash ?? (earlier ? textIn(earlier, 'hash') : ''),
  }
}

/** What lets requests find these entries. */
export function prefixRecord(
  owner: string,
  place: { conversationId: string; entryId: string },
  hash: string,
  session: string | undefined,
): NewRecord {
  const { conversationId, entryId } = place
  const data: JsonObject = { entryId, conversationId, ...(session !== undefined && { session }) }
  return { owner, kind: kinds.prefix, id: hash, conversationId, data }
}

/** What lets requests find a reply: everything up to it, its calls, its words, the id of the response. */
export function replyRecords(
  owner: string,
  place: { conversationId: string; entryId: string },
  reply: Reply,
  about: { hash: string; session: string | undefined; responseId?: string; response?: JsonObject },
): NewRecord[] {
  const { conversationId, entryId } = place
  const hash = nextHash(about.hash, [reply])
  const data: JsonObject = { entryId, conversationId, hash }
  const record = (kind: string, id: string, more: JsonObject = {}): NewRecord => ({
    owner,
    kind,
    id,
    conversationId,
    data: { ...data, ...more },
  })
  const words = textHash(reply)
  return [
    prefixRecord(owner, place, hash, about.session),
    ...keysOfReply(reply).map((key) => record(kinds.call, key)),
    ...(words === undefined ? [] : [record(kinds.text, words)]),
    ...(about.responseId === undefined ? [] : [record(kinds.response, about.responseId, about.response)]),
  ]
}

export async function responseOf(store: Store, owner: string, id: string): Promise<StoredRecord> {
  const record = await store.record(owner, kinds.response, id)
  if (record) return record
  const message = `Previous response with id '${id.slice(0, 100)}' not found.`
  throw new SynapseError({ kind: 'bad-input', code: notFound, message })
}

/** The code that OpenAI's clients know. */
export const notFound = 'previous_response_not_found'

export function forgetResponse(store: Store, owner: string, id: string): Promise<boolean> {
  return store.deleteRecord(owner, kinds.response, id)
}

interface Place {
  conversationId?: string
  entryId?: string
  /** How many groups of the request are in the store up to there. */
  count: number
}

function placeIn(record: StoredRecord, count: number): Place {
  return { conversationId: textIn(record, 'conversationId'), entryId: textIn(record, 'entryId'), count }
}

async function placeOf(
  store: Store,
  owner: string,
  groups: readonly Group[],
  session: string | undefined,
): Promise<Place> {
  const prefix = await longestPrefix(store, owner, groups)
  const newestReply = groups.findLastIndex(isReply)
  const anchor = (prefix?.count ?? 0) > newestReply ? undefined : await anchorOf(store, owner, groups[newestReply])
  if (anchor && (!prefix || textIn(prefix.record, 'conversationId') !== textIn(anchor, 'conversationId'))) {
    return { conversationId: textIn(anchor, 'conversationId'), count: 0 }
  }
  if (!prefix) return { count: 0 }
  // Many conversations begin with the same question: a reply of ours tells them apart, or the client does.
  const isTold = anchor !== undefined || groups.slice(0, prefix.count).some(isReply)
  const isSameSession = session !== undefined && textIn(prefix.record, 'session') === session
  return isTold || isSameSession ? placeIn(prefix.record, prefix.count) : { count: 0 }
}

/** A stored prefix has all shorter ones, so it is searched by halves once it is not near the end, where it usually is. */
async function longestPrefix(
  store: Store,
  owner: string,
  groups: readonly Group[],
): Promise<{ record: StoredRecord; count: number } | undefined> {
  const look = async (count: number) => {
    const group = groups[count - 1]
    return group && store.record(owner, kinds.prefix, group.hash)
  }
  let high = groups.length
  for (const near = Math.max(0, high - 4); high > near; high--) {
    const record = await look(high)
    if (record) return { record, count: high }
  }
  let found: { record: StoredRecord; count: number } | undefined
  for (let low = 1; low <= high;) {
    const middle = (low + high) >> 1
    const record = await look(middle)
    if (record) {
      found = { record, count: middle }
      low = middle + 1
    } else {
      high = middle - 1
    }
  }
  return found
}

async function anchorOf(store: Store, owner: string, group: Group | undefined): Promise<StoredRecord | undefined> {
  for (const message of group?.messages ?? []) {
    for (const { callId } of callsOf(message)) {
      const key = keyOfCall(callId)
      const record = key === undefined ? undefined : await store.record(owner, kinds.call, key)
      if (record) return record
    }
    const words = textHash(message)
    const record = words === undefined ? undefined : await store.record(owner, kinds.text, words)
    if (record) return record
  }
  return undefined
}

type KnownCalls = readonly { clientId: string; call: ToolCallPart }[]

/** Results that follow name their calls as the client knows them: how those are called in the store. */
async function callsBefore(
  store: Store,
  owner: string,
  entryId: string,
  groups: readonly Group[],
): Promise<KnownCalls> {
  const path = await store.history(owner, entryId, { last: 64 })
  const stored = path.flatMap(({ message }) => callsOf(message))
  const sent = groups.flatMap(({ messages }) => messages.flatMap(callsOf))
  return [...named(stored), ...pairedFromEnd(sent, stored)]
}

function named(calls: readonly ToolCallPart[]): KnownCalls {
  return calls.flatMap((call) => {
    const [key = ''] = keysOfReply(replyOf(call))
    return [`call_${key}`, `toolu_${key}`].map((clientId) => ({ clientId, call }))
  })
}

function replyOf(call: ToolCallPart): Reply {
  const origin = { protocol: '', provider: '', model: '' }
  return { role: 'assistant', parts: [call], native: [], origin, stop: { reason: 'tool-calls' } }
}

/** Some clients send no ids back: then the order tells. */
function pairedFromEnd(sent: readonly ToolCallPart[], stored: readonly ToolCallPart[]): KnownCalls {
  const length = Math.min(sent.length, stored.length)
  return Array.from({ length }, (_, i) => {
    const [theirs, ours] = [sent.at(i - length), stored.at(i - length)]
    return theirs && ours && theirs.name === ours.name ? [{ clientId: theirs.callId, call: ours }] : []
  }).flat()
}

/** The new messages as they are stored: replies of ours as they were, and results under the names of our calls. */
async function adopted(store: Store, owner: string, groups: readonly Group[], before: KnownCalls): Promise<Appended[]> {
  const calls = new Map(before.map(({ clientId, call }) => [clientId, call]))
  const out: Appended[] = []
  for (const group of groups) {
    const own = isReply(group) ? await storedReply(store, owner, group) : undefined
    if (own) {
      for (const { clientId, call } of pairedFromEnd(group.messages.flatMap(callsOf), callsOf(own))) {
        calls.set(clientId, call)
      }
      out.push({ message: own, hash: group.hash })
      continue
    }
    for (const [i, message] of group.messages.entries()) {
      const isLast = i === group.messages.length - 1
      out.push({ message: ownWords(withCalls(message, calls)), ...(isLast && { hash: group.hash }) })
    }
  }
  return out
}

async function storedReply(store: Store, owner: string, group: Group): Promise<Message | undefined> {
  const anchor = await anchorOf(store, owner, group)
  const entry = anchor && (await store.entry(owner, textIn(anchor, 'entryId')))
  // A client may have changed what the model said: then its words count.
  if (!entry || nextHash('', [entry.message]) !== nextHash('', group.messages)) return undefined
  return entry.message
}

function withCalls(message: Message, calls: ReadonlyMap<string, ToolCallPart>): Message {
  if (message.role !== 'tool') return message
  const parts = message.parts.map((part) => {
    const call = calls.get(part.callId)
    return call ? { ...part, callId: call.callId, name: call.name } : part
  })
  return { ...message, parts }
}

/**
 * A reply that is not in the store is not replayed as a provider's own words, for no provider would know the ids that a
 * server like this one made up, except where it holds what only a provider can have written.
 */
function ownWords(message: Message): Message {
  if (message.role !== 'assistant' || message.native.length === 0) return message
  const isSealed = /"(?:signature|encrypted_content|thoughtSignature)":"[^"]/.test(JSON.stringify(message.native))
  if (isSealed) return message
  return { ...message, native: [], parts: message.parts.map((part) => withoutPlace(part)) }
}

function withoutPlace<P extends Reply['parts'][number]>(part: P): P {
  if (!('from' in part)) return part
  const { from: _from, ...rest } = part
  return rest as P
}

function isReply({ messages }: Group): boolean {
  return messages[0]?.role === 'assistant'
}

function textIn({ data }: StoredRecord, name: string): string {
  const value = data[name]
  return typeof value === 'string' ? value : ''
}
