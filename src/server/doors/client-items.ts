// The items of a history as the client has them: its own as it sent them, and those of an answer with the ids that they
// had in it. In the log, calls have the ids of the provider that made them, and other items may have none.

import type { JsonObject } from '../../core/json.ts'
import type { Entry } from '../../core/log.ts'
import type { Reply } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import type { Store } from '../../store/store.ts'
import { loadService, loadTranscript } from '../../wires/list.ts'
import type { StoredItems, WireService } from '../../wires/service.ts'
import { objectIn, objectsIn, textIn } from '../../wires/shared/json-fields.ts'
import type { TranscriptFormat } from '../../wires/shared/transcript.ts'
import { lastShown, withoutAnswered } from './hidden-calls.ts'
import { replyIdsIn } from './match-records.ts'
import { shownParts } from './client-parts.ts'
import { wholeBody } from './reply.ts'

export interface ClientItem {
  entry: Entry
  /** With its id, if it has one. */
  value: JsonObject
}

/** `path`: from the beginning to an entry of a conversation. */
export async function clientItems(
  { store, owner, wire, items: form }: { store: Store; owner: string; wire: string; items: StoredItems },
  path: readonly Entry[],
): Promise<ClientItem[]> {
  const format = await loadTranscript(wire)
  const shown = withoutAnswered(path)
  const written = objectsIn(format.write(shown.map(({ message }) => message)))
  const conversationId = path.at(-1)?.conversationId
  const replies = conversationId === undefined ? new Map() : await replyIdsIn(store, owner, conversationId)
  /** The client's id of a call, by the one that the log has. */
  const callIds = new Map<string, string>()
  let next = 0
  const items: ClientItem[] = []
  for (const entry of shown) {
    const own = written.slice(next, (next += itemsIn(format, entry).length))
    const { message } = entry
    const isOurs = message.role === 'assistant' && !message.source
    const { replyId, isPassed = false } = replies.get(entry.id) ?? {}
    const answered =
      isOurs && !isPassed ? await answeredItems({ wire, items: form }, wholeReplyAt(path, entry), replyId) : []
    items.push(...asAnswered(own, answered, { form, callIds }).map((value) => ({ entry, value })))
  }
  return items
}

/** What a message is on its own. */
export function itemsIn({ write }: TranscriptFormat, { message }: Pick<Entry, 'message'>): JsonObject[] {
  return objectsIn(write([message]))
}

/** Its client has several replies as one if the server answered calls between them. */
function wholeReplyAt(path: readonly Entry[], { id }: Entry): Reply | undefined {
  const end = path.findIndex((entry) => entry.id === id) + 1
  return lastShown(path.slice(Math.max(0, end - mostEntries), end)).reply
}

/** A reply, and what the server looked up for it. */
const mostEntries = 64

/** The items of an answer. Without the id of the reply, they have none either. */
export async function answeredItems(
  { wire, items: form }: { wire: string; items: StoredItems },
  reply: Reply | undefined,
  replyId: string | undefined,
): Promise<JsonObject[]> {
  if (!reply) return []
  const profile = { model: '', replyId: replyId ?? '', createdAt: 0, inputTokens: 0 }
  const body = await wholeBody({ wire, service: await loadService(wire) }, reply, profile, noUsage)
  const items = form.inBody(objectIn(body))
  return replyId === undefined ? items.map(({ id: _id, ...item }) => item) : items
}

/** The ids of the items of an answer; none if the API has no items. */
export function itemIdsOf(
  { wire, service }: { wire: string; service: WireService },
  reply: Reply,
  { replyId, isPassed }: { replyId: string | undefined; isPassed: boolean },
): string[] {
  const form = service.door?.stored?.items
  if (!form || replyId === undefined) return []
  const ids = isPassed
    ? objectsIn(reply.native).map(({ id }) => id)
    : form.idsOf(shownParts({ wire, service }, reply, isPassed), replyId)
  return ids.filter((id) => typeof id === 'string')
}

/** Written items in the form that they had in an answer, which may begin with others. */
function asAnswered(
  written: readonly JsonObject[],
  answered: readonly JsonObject[],
  { form, callIds }: { form: StoredItems; callIds: Map<string, string> },
): JsonObject[] {
  let end = answered.length
  return written
    .toReversed()
    .map((item) => {
      const at = answered.slice(0, end).findLastIndex((one) => typeOf(one) === typeOf(item))
      const found = answered[at]
      const id = form.callIdIn(item)
      if (!found) {
        const answeredId = id === undefined ? undefined : callIds.get(id)
        return answeredId === undefined ? item : form.withCallId(item, answeredId)
      }
      end = at
      if (id !== undefined) callIds.set(id, form.callIdIn(found) ?? '')
      return item.id === undefined || found.id !== undefined ? found : { ...found, id: item.id }
    })
    .toReversed()
}

function typeOf({ type }: JsonObject): string {
  return textIn(type) || 'message'
}
