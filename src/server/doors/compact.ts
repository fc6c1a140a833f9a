// Compaction on request: a model summarises the conversation, and the client gets one item that represents it. The item
// contains a token: the summary stays in the store, and is read from there when the item is sent back.

import { SynapseError } from '../../core/error.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Message, Reply } from '../../core/message.ts'
import { textOf } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { hasOne } from '../../context/prefix-memo.ts'
import { historyAsText, summaryPrompt, defaultBudget } from '../../context/summary.ts'
import type { Store } from '../../store/store.ts'
import type { StoredItems } from '../../wires/service.ts'
import { tokensIn } from '../../wires/shared/sealed-token.ts'
import type { DoorRequest } from './read-request.ts'
import type { DoorRun } from './run.ts'
import { sealOf } from './seal.ts'

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
    includeUsage: false,
    isAside: true,
  }
}

/** The item that represents everything before it. */
export async function compactionItem(
  { store, owner }: { store: Store; owner: string },
  { compaction }: StoredItems,
  run: DoorRun,
): Promise<JsonObject> {
  const end = await run.ended
  const exchangeId = run.exchangeId()
  if (end.failure) throw new SynapseError(end.failure)
  if (!end.reply || end.reply.parts.length === 0 || exchangeId === undefined) {
    throw new SynapseError({ kind: 'malformed-reply', message: 'The model returned no summary.' })
  }
  return compaction(exchangeId, (await sealOf(store)).token(owner, exchangeId))
}

export async function compactBody(
  place: { store: Store; owner: string },
  items: StoredItems,
  { run, replyId, body }: { run: DoorRun; replyId: string; body: JsonObject },
): Promise<Json> {
  const item = await compactionItem(place, items, run)
  const { replyUsage: usage = noUsage } = await run.ended
  return items.compacted(body, { replyId, createdAt: Math.floor(Date.now() / 1000), item, usage })
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
  const exchange = exchangeId === undefined ? undefined : await store.exchange(owner, exchangeId)
  const entry = exchange?.replyEntryId === undefined ? undefined : await store.entry(owner, exchange.replyEntryId)
  return entry?.message.role === 'assistant' ? textOf(entry.message.parts) : undefined
}
