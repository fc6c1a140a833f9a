// References to items of earlier answers, which clients send in place of the items: by their ids, or by the id of the
// response if that is a summary. They are replaced by the items, so that every provider gets them.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Store } from '../../store/store.ts'
import { loadService, loadTranscript } from '../../wires/list.ts'
import type { StoredItems } from '../../wires/service.ts'
import { objectsIn, textIn } from '../../wires/shared/json-fields.ts'
import { answeredItems } from './client-items.ts'
import { storedSummary } from './compact.ts'
import { replyAt } from './hidden-calls.ts'
import type { AuthenticatedRequest } from './incoming-request.ts'
import { itemRecord } from './match-records.ts'

export interface ReferencedItems {
  body: JsonObject
  /**
   * The providers that can read the references too, because they sent the items; an empty one for items of ours, and for
   * unknown ones that the caller may not read.
   */
  storedBy: ReadonlySet<string>
}

/**
 * A reference that is not known here stays as it is. With a key of the server it is not sent to the provider, whose items
 * are those of all owners.
 */
export async function withReferencedItems(
  { server: { store }, principal: { owner, keyId }, door: { wire }, memory }: AuthenticatedRequest,
  given: JsonObject,
): Promise<ReferencedItems> {
  const { listField, door } = await loadService(wire)
  const form = door?.stored?.items
  const previousId = door?.stored?.previousId(given)
  const summary =
    form && previousId !== undefined && (await storedSummary({ store, owner }, form, { id: previousId, memory }))
  const body = summary ? form.continuing(summary, given) : given
  const storedBy = new Set(summary ? [''] : [])
  const list = body[listField]
  if (!form || !Array.isArray(list) || !list.some((item) => form.referenceIn(item) !== undefined)) {
    return { body, storedBy }
  }
  const replies = new Map<string, Promise<JsonObject[]>>()
  const items: Json[] = []
  for (const item of list) {
    const id = form.referenceIn(item)
    const data = id === undefined ? undefined : (await itemRecord(store, owner, id))?.data
    if (!data) {
      items.push(item)
      if (id !== undefined && keyId !== undefined) storedBy.add('')
      continue
    }
    const entryId = textIn(data.entryId)
    const known = replies.get(entryId) ?? itemsOf({ store, owner, wire, items: form }, data)
    replies.set(entryId, known)
    const found = (await known).find((one) => one.id === id)
    items.push(found ?? item)
    if (found) storedBy.add(textIn(data.passedBy))
  }
  return { body: { ...body, [listField]: items }, storedBy }
}

/** The items of an answer, with their ids. */
async function itemsOf(
  { store, owner, wire, items }: { store: Store; owner: string; wire: string; items: StoredItems },
  { entryId, replyId, passedBy }: JsonObject,
): Promise<JsonObject[]> {
  const reply = await replyAt(store, owner, textIn(entryId))
  if (!reply || passedBy === undefined) return answeredItems({ wire, items }, reply, textIn(replyId))
  return objectsIn((await loadTranscript(wire)).write([reply]))
}
