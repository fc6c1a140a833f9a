// Compaction on request: a model summarises the conversation, and the client gets one item that represents it. The item
// contains a token: the summary stays in the store, and is read from there when the item is sent back.

import { SynapseError } from '../../core/error.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Message, Reply } from '../../core/message.ts'
import { textOf } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { hasOne } from '../../context/prefix-memo.ts'
import { historyAsText, summaryPrompt, defaultBudget } from '../../context/summary.ts'
import type { Store } from '../../store/store.ts'
import type { StoredItems } from '../../wires/service.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import { tokensIn } from '../../wires/shared/sealed-token.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import { responseOf } from './match-records.ts'
import type { DoorRequest } from './read-request.ts'
import { emptyReply } from './reply.ts'
import type { DoorRun } from './run.ts'
import { sealOf } from './seal.ts'

interface Place {
  store: Store
  owner: string
}

/** If the window of a model is unknown. */
const usualRoom = 100_000

/** The request for a summary of another request's messages. */
export async function summaryRequest(request: DoorRequest, window: number): Promise<DoorRequest> {
  const room = window > 0 ? Math.floor(window * 0.7) : usualRoom
  const text = await historyAsText(request.messages, undefined, room)
  return {
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    system: summaryPrompt,
    tools: [],
    serverTools: [],
    notes: [],
    options: { maxOutput: defaultBudget },
    stream: false,
    isAside: true,
  }
}

/** What a run wrote as a summary, and the exchange that a token for it names. */
export interface Summary {
  text: string
  exchangeId: string
  usage: Usage
}

export async function summaryOf(run: DoorRun): Promise<Summary> {
  const { failure, reply, replyUsage: usage = noUsage } = await run.ended
  if (failure) throw new SynapseError(failure)
  const exchangeId = run.exchangeId()
  const text = reply ? textOf(reply.parts) : ''
  if (text === '' || exchangeId === undefined) {
    throw new SynapseError({ kind: 'malformed-reply', message: 'The model returned no summary.' })
  }
  return { text, exchangeId, usage }
}

/** A reply that consists of a summary. */
export function summaryReply(text: string): Reply {
  return { ...emptyReply({ reason: 'paused' }), parts: [{ type: 'compaction', text }] }
}

export async function compactBody(
  place: Place,
  items: StoredItems,
  { run, replyId, body }: { run: DoorRun; replyId: string; body: JsonObject },
): Promise<Json> {
  const { exchangeId, usage } = await summaryOf(run)
  const item = await compactionItem(place, items, exchangeId)
  return items.compacted(body, { replyId, createdAt: Math.floor(Date.now() / 1000), item, usage })
}

/** The item that represents everything before it. */
async function compactionItem(
  { store, owner }: Place,
  { compaction }: StoredItems,
  exchangeId: string,
): Promise<JsonObject> {
  return compaction(exchangeId, (await sealOf(store)).token(owner, exchangeId))
}

/** The item of a stored response that consists of a summary; undefined: it is another response. */
export async function storedSummary(
  place: Place,
  items: StoredItems,
  { id, memory }: { id: string; memory: ConnectionMemory | undefined },
): Promise<JsonObject | undefined> {
  const data = memory?.find(id) ?? (await responseOf(place.store, place.owner, id))?.data
  return data?.isSummary === true ? compactionItem(place, items, textIn(data.exchangeId)) : undefined
}

/** The messages with summaries in place of the items that represent them. Other items are not changed. */
export async function withSummaries(store: Store, owner: string, messages: Message[]): Promise<Message[]> {
  if (!hasCompaction(messages)) return messages
  const out: Message[] = []
  for (const message of messages) {
    const summary = isCompaction(message) ? await summaryIn(store, owner, message) : undefined
    if (summary === undefined) out.push(message)
    else out.push({ role: 'user', parts: [{ type: 'compaction', text: summary }] })
  }
  return out
}

function isCompaction(message: Message): message is Reply {
  return message.role === 'assistant' && message.parts.every(({ type }) => type === 'compaction')
}

const hasCompaction = hasOne(isCompaction)

async function summaryIn(store: Store, owner: string, message: Reply): Promise<string | undefined> {
  const [token] = tokensIn(JSON.stringify(message.native))
  const exchangeId = token === undefined ? undefined : (await sealOf(store)).open(owner, token)
  return exchangeId === undefined ? undefined : summaryBy(store, owner, exchangeId)
}

/** The summary that an exchange wrote; undefined: it is gone. */
export async function summaryBy(store: Store, owner: string, exchangeId: string): Promise<string | undefined> {
  const exchange = await store.exchange(owner, exchangeId)
  const entry = exchange?.replyEntryId === undefined ? undefined : await store.entry(owner, exchange.replyEntryId)
  if (entry?.message.role !== 'assistant') return undefined
  const { parts } = entry.message
  // A provider may have written it itself, before its answer.
  return parts.find((part) => part.type === 'compaction')?.text || textOf(parts) || undefined
}
