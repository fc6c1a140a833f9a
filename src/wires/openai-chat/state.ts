// Stored chat completions: what OpenAI stores, and how they are read, changed and deleted.

import type { Json, JsonObject } from '../../core/json.ts'
import { pageOf } from '../shared/item-pages.ts'
import { objectIn, objectsIn } from '../shared/json-fields.ts'
import { storesCompletions } from './service.ts'
import { openaiRefusal } from '../shared/refusal.ts'
import type { Endpoint, EndpointRequest, ServerState } from '../service.ts'
import { createExpiringMap, type ExpiringMap } from '../shared/expiring-map.ts'

interface Stored {
  whole: JsonObject
  messages: JsonObject[]
}

interface CompletionsState extends ServerState {
  stored: ExpiringMap<Stored>
  /** The ids of an owner's stored completions, oldest first. */
  idsOf(owner: string): string[]
}

const month = 30 * 24 * 3_600_000

export function createCompletionsState(): CompletionsState {
  const stored = createExpiringMap<Stored>(month)
  const ids = new Map<string, string[]>()
  const state: CompletionsState = {
    visit: (endpoint, request) => ({ body: visitCompletion(state, endpoint, request) }),
    stored,
    idsOf: (owner) => ids.get(owner) ?? [],
    open({ body, provider, owner, now, replyId }) {
      const commit = (reply: JsonObject) => {
        const metadata = objectIn(body.metadata)
        const messages = objectsIn(body.messages).map((message, i) => ({ ...message, id: `${replyId}-${i}` }))
        stored.put(replyId, owner, { whole: { ...reply, metadata }, messages }, now)
        ids.set(owner, [...(ids.get(owner) ?? []), replyId])
      }
      const keeps = body.store === true && storesCompletions(provider)
      return { body, see: () => ({ view: body, ...(keeps && { commit }) }) }
    },
    expire: (id) => stored.expire(id),
    clear() {
      stored.clear()
      ids.clear()
    },
  }
  return state
}

function visitCompletion(
  service: CompletionsState,
  { id, part }: Endpoint,
  { method, body, owner, now, query }: EndpointRequest,
): Json {
  const find = (completionId: string) => service.stored.get(completionId, owner, now)
  if (id === undefined) {
    const model = query.get('model')
    const list = service.idsOf(owner).flatMap((completionId) => {
      const completion = find(completionId)?.whole
      return completion ? [completion] : []
    })
    return pageOf(model === null ? list : list.filter((completion) => completion.model === model), ascending(query))
  }
  const stored = find(id)
  if (!stored) throw openaiRefusal(404, `Completion with id '${id}' not found.`)
  if (part === 'messages') return pageOf(stored.messages, ascending(query))
  if (method === 'DELETE') {
    service.stored.delete(id, owner)
    return { object: 'chat.completion.deleted', id, deleted: true }
  }
  if (method === 'POST') {
    stored.whole = { ...stored.whole, metadata: body.metadata ?? {} }
    service.stored.put(id, owner, stored, now)
  }
  return stored.whole
}

/** These lists are oldest first by default. */
function ascending(query: URLSearchParams): URLSearchParams {
  const parameters = new URLSearchParams(query)
  if (!parameters.has('order')) parameters.set('order', 'asc')
  return parameters
}
