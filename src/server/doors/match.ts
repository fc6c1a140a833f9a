// Which conversation a request continues. Clients of these APIs send the whole history each time and no id of ours, so
// the conversation is found by a token of ours or by its content: the longest stored prefix, or else our newest reply.
// What differs after that becomes a branch.

import { badInput, SynapseError } from '../../core/error.ts'
import { sideCall } from '../../core/log.ts'
import { callsOf, type Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { StoredReplies } from '../../wires/service.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import { grouped, quotedHashes, type Group } from './canonical.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import {
  ourReplyIn,
  entryWithPrefix,
  namedReply,
  recordedEntry,
  replyWithText,
  responseOf,
  type RecordedEntry,
} from './match-records.ts'
import { messagesToStore, callsBefore, isReply, type Appended, type KnownCalls } from './new-messages.ts'
import type { DoorRequest } from './read-request.ts'

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

/** Where a request continues, if it says so itself. */
export interface StartingPoint {
  conversationId: string
  entryId?: string
  hash: string
  passedBy?: string
  /** The last entry of the conversation, if the client named the conversation. */
  head?: string | null
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
  const append = await messagesToStore(store, owner, fresh, known)
  const common = commonOf([
    ...(at.entryId === undefined ? [] : [at.passedBy]),
    ...append.flatMap((one) => (one.isOurs ? [one.passedBy] : [])),
  ])
  return {
    ...(at.conversationId !== undefined && { conversationId: at.conversationId }),
    parentId: at.entryId ?? null,
    append,
    ...(common !== undefined && { passedBy: common }),
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

/** After a response that is stored, or that the client's connection remembers. */
export async function startAfter(
  store: Store,
  owner: string,
  responseId: string,
  { stored, memory }: { stored: StoredReplies; memory: ConnectionMemory | undefined },
): Promise<StartingPoint> {
  const data = memory?.find(responseId) ?? (await responseOf(store, owner, responseId))?.data
  if (!data) throw new SynapseError(stored.unknownPrevious(responseId.slice(0, 100)))
  if (data.entryId === undefined) {
    throw badInput(`${responseId.slice(0, 100)} has no reply to continue from: its status is ${textIn(data.status)}.`)
  }
  return recordedEntry(data)
}

interface Place extends Partial<RecordedEntry> {
  /** How many groups of the request are stored up to there. */
  count: number
}

async function placeOf(
  store: Store,
  owner: string,
  groups: readonly Group[],
  session: string | undefined,
): Promise<Place> {
  const prefix = await longestPrefix(store, owner, groups)
  const newestReply = groups.findLastIndex(isReply)
  const named = await namedPlace(store, owner, groups, newestReply)
  if (named && named.conversationId !== prefix?.conversationId) return named
  const ourReply = (prefix?.count ?? 0) > newestReply ? undefined : await ourReplyIn(store, owner, groups[newestReply])
  if (ourReply && ourReply.conversationId !== prefix?.conversationId) {
    return { conversationId: ourReply.conversationId, count: 0 }
  }
  // Many conversations begin with the same question, after the same greeting or examples of the client: they are
  // distinguished by our reply, or by the client.
  const hasReply = groups.slice(0, prefix?.count ?? 0).some(isReply)
  const isIdentified = ourReply !== undefined || (hasReply && prefix?.passedBy !== '')
  const isSameSession = session !== undefined && prefix?.session === session
  if (prefix && (isIdentified || isSameSession)) return prefix
  const quoted = newestReply < 0 && session !== undefined ? await quotedReply(store, owner, groups, session) : undefined
  return quoted ? { conversationId: quoted.conversationId, count: 0 } : { count: 0 }
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
): Promise<RecordedEntry | undefined> {
  for (const { messages } of groups.toReversed()) {
    for (const words of messages.flatMap(quotedHashes)) {
      const reply = await replyWithText(store, owner, words)
      if (reply?.session !== session) continue
      const found = await store.conversation(owner, reply.conversationId)
      // One that is not listed is not the conversation of which it is a summary.
      if (found && !found.labels.includes(sideCall)) return reply
    }
  }
  return undefined
}

/** After the reply that a token or a call names, if all before it is as stored: the same words can be in others. */
async function namedPlace(
  store: Store,
  owner: string,
  groups: readonly Group[],
  newestReply: number,
): Promise<Place | undefined> {
  const group = groups[newestReply]
  for (const message of group?.messages ?? []) {
    const reply = await namedReply(store, owner, message)
    if (reply && reply.hash === group?.hash) return { ...reply, count: newestReply + 1 }
  }
  return undefined
}

/** A stored prefix has all shorter ones, so a binary search is used if it is not near the end, where it usually is. */
async function longestPrefix(
  store: Store,
  owner: string,
  groups: readonly Group[],
): Promise<(RecordedEntry & { count: number }) | undefined> {
  const look = async (count: number) => {
    const group = groups[count - 1]
    const entry = group && (await entryWithPrefix(store, owner, group.hash))
    return entry && { ...entry, count }
  }
  let high = groups.length
  for (const near = Math.max(0, high - 4); high > near; high--) {
    const prefix = await look(high)
    if (prefix) return prefix
  }
  let longest: Awaited<ReturnType<typeof look>>
  for (let low = 1; low <= high;) {
    const middle = (low + high) >> 1
    const prefix = await look(middle)
    if (prefix) {
      longest = prefix
      low = middle + 1
    } else {
      high = middle - 1
    }
  }
  return longest
}
