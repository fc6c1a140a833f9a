import type { JsonObject } from '../../core/json.ts'
import type { Overlay } from '../../core/log.ts'
import { givenId, jsonText } from '../new-entry.ts'
import { idTaken, notFound } from '../store-errors.ts'
import type { Overlays } from '../store.ts'
import { insertUnique, placeOf, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'

export function overlayMethods(db: Database): Overlays {
  return {
    async addOverlay(owner, conversationId, overlay, write) {
      const now = db.options.now()
      const id = givenId(overlay.id, now)
      const data = jsonText(overlay.data, 'The overlay')
      return db.transaction(async (queries) => {
        const conversation = await writable(db, queries, owner, conversationId, write)
        const n = await placeOf(queries, conversation, overlay.entryId)
        await insertUnique(
          queries.all(
            `INSERT INTO synapse.overlays (id, conversation, entry, kind, at, data) VALUES ($1, $2, $3, $4, $5, $6)`,
            [id, conversation.n, n, overlay.kind, new Date(now).toISOString(), data],
          ),
          () => idTaken('overlay', id),
        )
        return mustHave(queries, owner, id)
      })
    },

    setOverlayUndone: (owner, overlayId, undone, write) =>
      db.transaction(async (queries) => {
        const { conversationId } = await mustHave(queries, owner, overlayId)
        await writable(db, queries, owner, conversationId, write)
        await queries.all('UPDATE synapse.overlays SET undone = $1 WHERE id = $2', [undone, overlayId])
        return mustHave(queries, owner, overlayId)
      }),

    async overlays(owner, conversationId) {
      const rows = await db.all<OverlayRow>(`${select} WHERE c.id = $1 AND c.owner = $2 ORDER BY o.n`, [
        conversationId,
        owner,
      ])
      return rows.map(toOverlay)
    },
  }
}

interface OverlayRow {
  id: string
  conversation_id: string
  entry: string
  kind: string
  undone: boolean
  at: string
  data: string
}

const select = `
  SELECT o.id, c.id AS conversation_id, e.id AS entry, o.kind, o.undone, o.at, o.data
  FROM synapse.overlays o JOIN synapse.conversations c ON c.n = o.conversation
  JOIN synapse.entries e ON e.n = o.entry`

async function mustHave(queries: Queries, owner: string, overlayId: string): Promise<Overlay> {
  const row = await queries.get<OverlayRow>(`${select} WHERE o.id = $1 AND c.owner = $2`, [overlayId, owner])
  if (!row) throw notFound('overlay', overlayId)
  return toOverlay(row)
}

function toOverlay(row: OverlayRow): Overlay {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    entryId: row.entry,
    kind: row.kind,
    data: JSON.parse(row.data) as JsonObject,
    undone: row.undone,
    at: row.at,
  }
}
