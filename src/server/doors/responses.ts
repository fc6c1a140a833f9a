// Replies that clients retrieve later by their ids. Only what cannot be derived from the conversation is stored
// separately.

import { badInput, SynapseError, type Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Entry } from '../../core/log.ts'
import type { Reply, Stop } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { isAbandoned } from '../../run/log/lease.ts'
import { randomHex } from '../../store/ids.ts'
import type { StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { loadService } from '../../wires/list.ts'
import type { RetrievedReplies, StoredItems, UnfinishedReply, WireService } from '../../wires/service.ts'
import { objectsIn, textIn } from '../../wires/shared/json-fields.ts'
import { pageOf } from '../../wires/shared/item-pages.ts'
import { Refusal } from '../../wires/shared/refusal.ts'
import type { StreamProfile } from '../../wires/shared/stream-writer.ts'
import { json } from '../answer.ts'
import type { Supervisor } from '../runs/supervisor.ts'
import { clientItems } from './client-items.ts'
import { summaryBy, summaryReply } from './compact.ts'
import { requestBody } from './first-request.ts'
import { lastShown, replyAt } from './hidden-calls.ts'
import { forgetResponse, responseOf } from './match-records.ts'
import { completeReply, emptyReply, unfinishedBody } from './reply.ts'
import { sealOf } from './seal.ts'

/** The requested replies: those of an owner, in the format of a wire. */
export interface Replies {
  store: Store
  runs: Supervisor
  owner: string
  wire: string
  retrieval: RetrievedReplies
}

/** An id for a reply, in the form of its wire. */
export function newId({ replyPrefix = '' }: Pick<WireService, 'replyPrefix'>): string {
  return replyPrefix + randomHex(48)
}

export async function storedResponse(replies: Replies, id: string, query: URLSearchParams): Promise<Response> {
  const { store, owner, wire, retrieval } = replies
  const stream = query.get('stream') === 'true'
  const data = await current(replies, id)
  const state = unfinishedIn(data)
  if (state && stream) throw badInput(`${id} has no events: its status is ${state.status}. Retrieve it without stream.`)
  const service = await loadService(wire)
  if (state) return json(await unfinishedBody({ wire, service, profile: profileOf(data, id) }, state))
  const reply = await replyIn(replies, data)
  if (!reply) throw unknownReply(replies, id)
  const exchange = await store.exchange(owner, textIn(data.exchangeId))
  // The client has received the bytes of the provider.
  const isPassed = data.passedBy !== undefined
  const usual = profileOf(data, id)
  const profile = {
    ...usual,
    model: isPassed ? reply.origin.model || usual.model : usual.model,
    token: await sealOf(store).then((seal) => () => seal.token(owner, textIn(data.exchangeId))),
  }
  return completeReply({ wire, service, profile }, reply, exchange?.usage ?? noUsage, {
    stream,
    headers: { 'x-synapse-conversation': textIn(data.conversationId) },
    isPassed,
    missing: (events) => retrieval.missing?.(events, query) ?? events,
  })
}

function profileOf({ model, createdAt, fields }: JsonObject, replyId: string): StreamProfile {
  return {
    model: textIn(model),
    replyId,
    createdAt: typeof createdAt === 'number' ? createdAt : 0,
    inputTokens: 0,
    ...(isObject(fields) && { fields }),
  }
}

/** A response that has no reply yet, or that ended without one. */
function unfinishedIn({ entryId, status, failure }: JsonObject): UnfinishedReply | undefined {
  if (entryId !== undefined || typeof status !== 'string') return undefined
  return {
    status: status as UnfinishedReply['status'],
    ...(isObject(failure) && { failure: failure as unknown as Failure }),
  }
}

/** Its state now. A server that was killed could not store the end of what it was writing. */
async function current(replies: Replies, id: string): Promise<JsonObject> {
  const { data } = await storedRecord(replies, id)
  if (unfinishedIn(data)?.status !== 'in_progress') return data
  if (await writingRun(replies, data)) return data
  // It may have ended since it was read.
  const { data: now } = await storedRecord(replies, id)
  return unfinishedIn(now)?.status === 'in_progress' ? { ...now, status: 'failed', failure: { ...stopped } } : now
}

const stopped: Failure = {
  kind: 'aborted',
  message: 'The server stopped before the response was complete. Send the request again.',
}

async function replyIn(
  { store, owner }: Replies,
  { stop, isSummary, entryId, exchangeId }: JsonObject,
): Promise<Reply | undefined> {
  if (isObject(stop)) return emptyReply(stop as unknown as Stop)
  if (isSummary !== true) return replyAt(store, owner, textIn(entryId))
  const summary = await summaryBy(store, owner, textIn(exchangeId))
  return summary === undefined ? undefined : summaryReply(summary)
}

/** Only the id is deleted: the conversation stays, and is deleted like any other. */
export async function deletedResponse(replies: Replies, id: string): Promise<Json> {
  const { store, owner, retrieval } = replies
  await stopWriting(replies, id)
  if (!(await forgetResponse(store, owner, id))) throw unknownReply(replies, id)
  return retrieval.deleted(id)
}

/** A page of items in order of arrival. */
export function pageFor(items: readonly JsonObject[], query: URLSearchParams): Json {
  try {
    return pageOf(items, query)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { error: inner } = isObject(error.body) ? error.body : {}
    const { message, param, code } = isObject(inner) ? inner : {}
    throw new SynapseError({
      kind: 'bad-input',
      message: textIn(message) || 'The query is not valid.',
      ...(typeof param === 'string' && { param }),
      ...(typeof code === 'string' && { code }),
    })
  }
}

/** Only responses in the background can be cancelled. One that has ended stays as it is. */
export async function cancelledResponse(replies: Replies, id: string): Promise<Response> {
  const { data } = await storedRecord(replies, id)
  if (data.background !== true) throw badInput(replies.retrieval.notCancellable)
  await stopWriting(replies, id)
  return storedResponse(replies, id, new URLSearchParams())
}

/** Ends what is being written for a response in the background, on whichever server. */
async function stopWriting(replies: Replies, id: string): Promise<void> {
  const { runs, owner } = replies
  const data = await current(replies, id)
  const run = unfinishedIn(data)?.status === 'in_progress' ? await writingRun(replies, data) : undefined
  if (run?.id !== undefined) await runs.cancel(owner, run.id)
}

/** The run that writes a response, on whichever server; without an id between its requests to providers on another one. */
async function writingRun(
  { store, runs, owner }: Replies,
  { conversationId, runId, epoch }: JsonObject,
): Promise<{ id?: string | undefined } | undefined> {
  const local = await runs.run(owner, textIn(runId))
  if (local) return local
  const lease = await store.lease(owner, textIn(conversationId))
  if (lease?.epoch !== epoch || !lease || isAbandoned(lease)) return undefined
  return { id: (await runs.active(owner, textIn(conversationId)))?.id }
}

export async function inputItems(
  replies: Replies,
  form: StoredItems,
  id: string,
  query: URLSearchParams,
): Promise<Json> {
  const { data } = await storedRecord(replies, id)
  const items = data.isSummary === true ? await summarisedItems(replies, data) : await itemsBefore(replies, form, data)
  return pageFor(
    items.map((value, i) => form.withId(value, `${id}-${i}`)),
    query,
  )
}

/** The request for a summary is not a message of its conversation. */
async function summarisedItems({ store, owner, wire }: Replies, { exchangeId }: JsonObject): Promise<JsonObject[]> {
  const { listField } = await loadService(wire)
  return objectsIn((await requestBody(store, owner, textIn(exchangeId)))?.[listField])
}

async function itemsBefore(replies: Replies, form: StoredItems, data: JsonObject): Promise<JsonObject[]> {
  const { store, owner, wire } = replies
  const items = await clientItems({ store, owner, wire, items: form }, await inputPath(replies, data))
  return items.map(({ value }) => value)
}

/** The path to the last entry before the reply. */
async function inputPath({ store, owner }: Replies, { entryId, basedOn }: JsonObject): Promise<readonly Entry[]> {
  if (entryId === undefined) return store.history(owner, textIn(basedOn))
  const path = await store.history(owner, textIn(entryId))
  const end = lastShown(path).before.at(-1)?.id
  return path.slice(0, path.findIndex(({ id }) => id === end) + 1)
}

async function storedRecord(replies: Replies, id: string): Promise<StoredRecord> {
  const record = await responseOf(replies.store, replies.owner, id)
  if (!record) throw unknownReply(replies, id)
  return record
}

function unknownReply({ retrieval }: Replies, id: string): SynapseError {
  return new SynapseError(retrieval.unknown(id))
}
