// Which conversation a request continues. Clients of these APIs send the whole history each time and no id of ours, so
// the conversation is found by a token of ours or by its content: the longest stored prefix, or else our newest reply.
// What differs after that becomes a branch. Everything is stored per owner, as records, so it survives a restart.

import { badInput, SynapseError } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { sideCall } from '../../core/log.ts'
import { callsOf, type Message, type Reply, type ToolCallPart } from '../../core/message.ts'
import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { StoredReplies } from '../../wires/service.ts'
import { holdsToken, tokensIn } from '../../wires/shared/sealed-token.ts'
import { grouped, keyOfCall, keysOfReply, nextHash, quotedHashes, textHash, type Group } from './canonical.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import type { DoorRequest } from './read-request.ts'
import { sealOf } from './seal.ts'

export interface Match {
  /** Absent: unknown. */
  conversationId?: string
  /** The entry before the new messages; null: they begin the conversation, or a branch from its beginning. */
  parentId: string | null
  append: Appended[]
  /** The digest of the whole request. */
  hash: string
  /**
   * The provider whose replies the client received unchanged; empty if there is no reply of ours. Absent: some of them
   * were translated, so the request has to be too.
   */
  passedBy?: string
}

interface Appended {
  message: Message
  /** If it is a reply of ours: see `Match`. */
  passedBy?: string | undefined
  isOurs?: boolean
  /** The digest up to here, at the end of a unit of comparison. */
  hash?: string
}

const kinds = {
  prefix: 'door-prefix',
  call: 'door-call',
  text: 'door-text',
  response: 'door-response',
  exchange: 'door-exchange',
} as const

/** Where a request continues, if it says so itself. */
export interface StartingPoint {
  conversationId: string
  entryId?: string
  hash: string
  passedBy?: string
}

export async function match(
  store: Store,
  owner: string,
  request: DoorRequest,
  start: StartingPoint | undefined,
): Promise<Match> {
  const groups = grouped(request.messages, start?.hash)
  const at = start ? { ...start, count: 0 } : await placeOf(store, owner, groups, request.session)
  const fresh = groups.slice(at.count)
  const hasResults = fresh.some(({ messages }) => messages.some(({ role }) => role === 'tool'))
  const known =
    at.entryId === undefined || !hasResults
      ? []
      : await callsBefore(store, owner, at.entryId, groups.slice(0, at.count))
  if (start) checkResults(request.messages, known)
  const append = await adopted(store, owner, fresh, known)
  const passedBy = commonOf([
    ...(at.entryId === undefined ? [] : [at.passedBy]),
    ...append.flatMap((one) => (one.isOurs ? [one.passedBy] : [])),
  ])
  return {
    ...(at.conversationId !== undefined && { conversationId: at.conversationId }),
    parentId: at.entryId ?? null,
    append,
    ...(passedBy !== undefined && { passedBy }),
    hash: groups.at(-1)?.hash ?? start?.hash ?? '',
  }
}

/** A client that sends only new messages has seen the calls: a result for none of them is its own mistake. */
function checkResults(messages: readonly Message[], known: KnownCalls): void {
  const ids = new Set([
    ...known.map(({ clientId }) => clientId),
    ...messages.flatMap(callsOf).map(({ callId }) => callId),
  ])
  for (const { callId } of messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))) {
    if (ids.has(callId)) continue
    throw badInput(`No tool call found for function call output with call_id ${callId.slice(0, 100)}.`)
  }
}

/** A translated reply has nothing in common with others; messages without a reply of ours are common to all. */
function commonOf(passed: readonly (string | undefined)[]): string | undefined {
  const [first = '', ...others] = new Set(passed.filter((one) => one !== ''))
  return passed.includes(undefined) || others.length > 0 ? undefined : first
}

/** The records by which requests find these entries. */
export function prefixRecord(
  owner: string,
  place: { conversationId: string; entryId: string },
  hash: string,
  { session, passedBy }: { session: string | undefined; passedBy?: string | undefined },
): NewRecord {
  const { conversationId, entryId } = place
  const data: JsonObject = {
    entryId,
    conversationId,
    ...(session !== undefined && { session }),
    ...(passedBy !== undefined && { passedBy }),
  }
  return { owner, kind: kinds.prefix, id: hash, conversationId, data }
}

/** The records by which requests find a reply: everything up to it, its calls, its text, the id of the response. */
export function replyRecords(
  owner: string,
  place: { conversationId: string; entryId: string },
  reply: Reply,
  about: {
    hash: string
    session: string | undefined
    passedBy?: string | undefined
    exchangeId: string
    responseId?: string
    response?: JsonObject
  },
): NewRecord[] {
  const { conversationId, entryId } = place
  const { passedBy, session } = about
  const hash = nextHash(about.hash, [reply])
  const data: JsonObject = { entryId, conversationId, hash, ...(passedBy !== undefined && { passedBy }) }
  const record = (kind: string, id: string, more: JsonObject = {}): NewRecord => ({
    owner,
    kind,
    id,
    conversationId,
    data: { ...data, ...more },
  })
  const words = textHash(reply)
  return [
    prefixRecord(owner, place, hash, about),
    record(kinds.exchange, about.exchangeId),
    ...keysOfReply(reply).map((key) => record(kinds.call, key)),
    ...(words === undefined ? [] : [record(kinds.text, words, session === undefined ? {} : { session })]),
    ...(about.responseId === undefined ? [] : [record(kinds.response, about.responseId, about.response)]),
  ]
}

/** After a response that is stored, or that the client's connection remembers. */
export async function startAfter(
  store: Store,
  owner: string,
  responseId: string,
  { stored, memory }: { stored: StoredReplies; memory: ConnectionMemory | undefined },
): Promise<StartingPoint> {
  const data = memory?.find(responseId) ?? (await responseOf(store, owner, responseId))?.data
  if (!data) throw new SynapseError(stored.unknownPrevious(responseId.slice(0, 100)))
  const { conversationId, entryId, hash, passedBy } = data
  return {
    conversationId: String(conversationId),
    entryId: String(entryId),
    hash: String(hash),
    ...(typeof passedBy === 'string' && { passedBy }),
  }
}

export function responseOf(store: Store, owner: string, id: string): Promise<StoredRecord | undefined> {
  return store.record(owner, kinds.response, id)
}

export function forgetResponse(store: Store, owner: string, id: string): Promise<boolean> {
  return store.deleteRecord(owner, kinds.response, id)
}

interface Place {
  conversationId?: string
  entryId?: string
  /** How many groups of the request are stored up to there. */
  count: number
  passedBy?: string | undefined
}

function placeIn(record: StoredRecord, count: number): Place {
  const { passedBy } = record.data
  return {
    conversationId: textIn(record, 'conversationId'),
    entryId: textIn(record, 'entryId'),
    count,
    ...(typeof passedBy === 'string' && { passedBy }),
  }
}

async function placeOf(
  store: Store,
  owner: string,
  groups: readonly Group[],
  session: string | undefined,
): Promise<Place> {
  const prefix = await longestPrefix(store, owner, groups)
  const newestReply = groups.findLastIndex(isReply)
  const sealed = await sealedPlace(store, owner, groups, newestReply)
  if (sealed && sealed.conversationId !== (prefix && textIn(prefix.record, 'conversationId'))) return sealed
  const anchor = (prefix?.count ?? 0) > newestReply ? undefined : await anchorOf(store, owner, groups[newestReply])
  if (anchor && (!prefix || textIn(prefix.record, 'conversationId') !== textIn(anchor, 'conversationId'))) {
    return { conversationId: textIn(anchor, 'conversationId'), count: 0 }
  }
  // Many conversations begin with the same question: they are distinguished by our reply, or by the client.
  const isIdentified = anchor !== undefined || groups.slice(0, prefix?.count ?? 0).some(isReply)
  const isSameSession = session !== undefined && prefix && textIn(prefix.record, 'session') === session
  if (prefix && (isIdentified || isSameSession)) return placeIn(prefix.record, prefix.count)
  const quoted = newestReply < 0 && session !== undefined ? await quotedReply(store, owner, groups, session) : undefined
  return quoted ? { conversationId: textIn(quoted, 'conversationId'), count: 0 } : { count: 0 }
}

/**
 * A summary that we wrote in the same session, if that is all that the client has left of our replies. Without the
 * session, it could be an answer that the user has copied into another conversation.
 */
async function quotedReply(
  store: Store,
  owner: string,
  groups: readonly Group[],
  session: string,
): Promise<StoredRecord | undefined> {
  for (const { messages } of groups.toReversed()) {
    for (const words of messages.flatMap(quotedHashes)) {
      const record = await store.record(owner, kinds.text, words)
      if (!record || textIn(record, 'session') !== session) continue
      const found = await store.conversation(owner, textIn(record, 'conversationId'))
      // One that is not listed is not the conversation of which it is a summary.
      if (found && !found.labels.includes(sideCall)) return record
    }
  }
  return undefined
}

/** After the reply that a token names, if everything before it is as stored: the same words can be in others. */
async function sealedPlace(
  store: Store,
  owner: string,
  groups: readonly Group[],
  newestReply: number,
): Promise<Place | undefined> {
  const group = groups[newestReply]
  for (const message of group?.messages ?? []) {
    const record = await sealedReply(store, owner, message)
    if (record && textIn(record, 'hash') === group?.hash) return placeIn(record, newestReply + 1)
  }
  return undefined
}

/** A stored prefix has all shorter ones, so a binary search is used if it is not near the end, where it usually is. */
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
    const sealed = await sealedReply(store, owner, message)
    if (sealed) return sealed
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

/** The reply that a token in a message names, if it was made for this owner. */
async function sealedReply(store: Store, owner: string, message: Message): Promise<StoredRecord | undefined> {
  if (message.role !== 'assistant' || !holdsToken(message.native)) return undefined
  const { open } = await sealOf(store)
  for (const token of tokensIn(JSON.stringify(message.native))) {
    const exchangeId = open(owner, token)
    const record = exchangeId === undefined ? undefined : await store.record(owner, kinds.exchange, exchangeId)
    if (record) return record
  }
  return undefined
}

type KnownCalls = readonly { clientId: string; call: ToolCallPart }[]

/** Results name their calls by the client's ids: the ids of these calls in the store. */
async function callsBefore(
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
  return [...named(stored), ...pairedFromEnd(sent, known)]
}

function named(calls: readonly ToolCallPart[]): KnownCalls {
  return calls.flatMap((call) => {
    const [key = ''] = keysOfReply(replyOf(call))
    const ids = [`call_${key}`, `toolu_${key}`, key.slice(0, 9), ...(call.alias === undefined ? [] : [call.alias])]
    return ids.map((clientId) => ({ clientId, call }))
  })
}

function replyOf(call: ToolCallPart): Reply {
  const origin = { protocol: '', provider: '', model: '' }
  return { role: 'assistant', parts: [call], native: [], origin, stop: { reason: 'tool-calls' } }
}

/** Some clients send no ids back: then the order decides. */
function pairedFromEnd(sent: readonly ToolCallPart[], stored: readonly ToolCallPart[]): KnownCalls {
  const length = Math.min(sent.length, stored.length)
  return Array.from({ length }, (_, i) => {
    const [theirs, ours] = [sent.at(i - length), stored.at(i - length)]
    return theirs && ours && theirs.name === ours.name ? [{ clientId: theirs.callId, call: ours }] : []
  }).flat()
}

/** The new messages in the form for the store: our replies unchanged, and results under the ids of our calls. */
async function adopted(store: Store, owner: string, groups: readonly Group[], before: KnownCalls): Promise<Appended[]> {
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
      out.push({ message: ownWords(withCalls(message, calls)), ...(isLast && { hash: group.hash }) })
    }
  }
  return out
}

async function storedReply(
  store: Store,
  owner: string,
  group: Group,
): Promise<{ message: Message; passedBy: string | undefined } | undefined> {
  const anchor = await anchorOf(store, owner, group)
  const entry = anchor && (await store.entry(owner, textIn(anchor, 'entryId')))
  // A client may have edited the reply: then its version counts.
  if (!entry || nextHash('', [entry.message]) !== nextHash('', group.messages)) return undefined
  return { message: entry.message, passedBy: anchor && placeIn(anchor, 0).passedBy }
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
 * A reply that is not in the store is not replayed as provider data, because no provider would know ids invented by a
 * server like this one, unless it contains data that only a provider can have produced.
 */
function ownWords(message: Message): Message {
  if (message.role !== 'assistant' || message.native.length === 0) return message
  const isSealed =
    !holdsToken(message.native) &&
    /"(?:signature|encrypted_content|thoughtSignature)":"[^"]/.test(JSON.stringify(message.native))
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
