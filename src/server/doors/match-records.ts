// The records by which requests find the conversation that they continue, and its replies. They are stored per owner,
// so they survive a restart.

import type { JsonObject } from '../../core/json.ts'
import { callsOf, type Message, type Reply } from '../../core/message.ts'
import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { holdsToken, tokensIn } from '../../wires/shared/sealed-token.ts'
import { keyOfCall, keysOfReply, nextHash, textHash, type Group } from './canonical.ts'
import { sealOf } from './seal.ts'

export const kinds = {
  prefix: 'door-prefix',
  call: 'door-call',
  text: 'door-text',
  response: 'door-response',
  exchange: 'door-exchange',
} as const

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

export function responseOf(store: Store, owner: string, id: string): Promise<StoredRecord | undefined> {
  return store.record(owner, kinds.response, id)
}

export function forgetResponse(store: Store, owner: string, id: string): Promise<boolean> {
  return store.deleteRecord(owner, kinds.response, id)
}

/** A reply of ours that the messages of a group contain: by a token, a call, or its text. */
export async function anchorOf(
  store: Store,
  owner: string,
  group: Group | undefined,
): Promise<StoredRecord | undefined> {
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
export async function sealedReply(store: Store, owner: string, message: Message): Promise<StoredRecord | undefined> {
  if (message.role !== 'assistant' || !holdsToken(message.native)) return undefined
  const { open } = await sealOf(store)
  for (const token of tokensIn(JSON.stringify(message.native))) {
    const exchangeId = open(owner, token)
    const record = exchangeId === undefined ? undefined : await store.record(owner, kinds.exchange, exchangeId)
    if (record) return record
  }
  return undefined
}

/** The provider whose reply the client received unchanged. */
export function passedBy({ data }: Pick<StoredRecord, 'data'>): string | undefined {
  return typeof data['passedBy'] === 'string' ? data['passedBy'] : undefined
}

export function textIn({ data }: StoredRecord, name: string): string {
  const value = data[name]
  return typeof value === 'string' ? value : ''
}
