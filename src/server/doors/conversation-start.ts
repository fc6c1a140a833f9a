// Where a request continues that names its conversation: at the end of the conversation, or at the
// last question if that has no answer and is repeated.

import type { Entry } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { StoredItems } from '../../wires/service.ts'
import { isInterrupted } from '../../wires/shared/replayable.ts'
import { grouped } from './canonical.ts'
import { conversationLocked, conversationOf } from './conversations.ts'
import type { StartingPoint } from './match.ts'

/** `id`: as the client names the conversation. `messages`: of the request. */
export async function startInConversation(
  place: { store: Store; items: StoredItems },
  owner: string,
  id: string,
  messages: readonly Message[],
): Promise<StartingPoint> {
  const { store } = place
  const { id: conversationId, head } = await conversationOf(place, owner, id)
  if (head === null) return { conversationId, hash: '', head }
  const path = await store.history(owner, head)
  const unanswered = await unansweredPath(store, owner, conversationId, path)
  // A retry: the messages of the request are stored, but have no answer. It continues there, and nothing is stored
  // twice.
  const before = unanswered.slice(0, -messages.length)
  const isRetry = unanswered.length > 0 && hashOf(messages, hashOf(before)) === hashOf(unanswered)
  const start = isRetry ? before : path
  const entryId = start.at(-1)?.id
  return { conversationId, ...(entryId !== undefined && { entryId }), hash: hashOf(start), head }
}

/** Refuses a request that was read before another one was answered: it would leave that turn out. */
export async function checkUnchanged(store: Store, owner: string, start: StartingPoint | undefined): Promise<void> {
  if (!start) return
  const head = (await store.conversation(owner, start.conversationId))?.head ?? null
  if (head === start.head) return
  const last = head === null ? undefined : await store.entry(owner, head)
  // What a killed server has received of its answer is stored by the next run.
  const isRest = last?.parentId === start.head && last?.message.role === 'assistant' && isInterrupted(last.message.stop)
  if (!isRest) throw conversationLocked()
}

/** The path up to the last question, if the provider gave no complete reply to it. Empty: it did. */
async function unansweredPath(
  store: Store,
  owner: string,
  conversationId: string,
  path: readonly Entry[],
): Promise<readonly Entry[]> {
  const [exchange] = (await store.exchanges(owner, conversationId, { limit: 1 })).items
  if (!exchange || exchange.outcome === 'done') return []
  const last = path.at(-1)
  const isPartial = last?.message.role === 'assistant' && isInterrupted(last.message.stop)
  const asked = isPartial ? path.slice(0, -1) : path
  return asked.at(-1)?.id === exchange.basedOn ? asked : []
}

function hashOf(messages: readonly (Message | Entry)[], before: string = ''): string {
  const list = messages.map((one) => ('message' in one ? one.message : one))
  return grouped(list, before).at(-1)?.hash ?? before
}
