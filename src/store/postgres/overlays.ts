// Overlays in PostgreSQL: decisions about what is sent.

import type { Overlay } from '../../core/log.ts'
import { checkId, jsonText } from '../new-entry.ts'
import { toOverlay, type OverlayRow } from '../sql/rows.ts'
import { postgresSelects as selects } from '../sql/selects.ts'
import { idTaken, notFound } from '../store-errors.ts'
import type { Overlays } from '../store.ts'
import { entryIn, insertUnique, lockConversation, writable } from './conversations.ts'
import type { Database, Queries } from './database.ts'

export function overlayMethods(db: Database): Overlays {
  return {
    async addOverlay(owner, conversationId, overlay, write) {
      const now = db.options.now()
      const id = checkId(overlay.id, now)
      const data = jsonText(overlay.data, 'The overlay')
      return db.transaction(async (queries) => {
        const [conversation, n] = await Promise.all([
          lockConversation(db, queries, owner, conversationId, write),
          entryIn(queries, conversationId, overlay.entryId),
        ])
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
      const rows = await db.all<OverlayRow<boolean>>(
        `${selects.overlays} WHERE c.id = $1 AND c.owner = $2 ORDER BY o.n`,
        [conversationId, owner],
      )
      return rows.map(toOverlay)
    },
  }
}

async function mustHave(queries: Queries, owner: string, overlayId: string): Promise<Overlay> {
  const row = await queries.get<OverlayRow<boolean>>(`${selects.overlays} WHERE o.id = $1 AND c.owner = $2`, [
    overlayId,
    owner,
  ])
  if (!row) throw notFound('overlay', overlayId)
  return toOverlay(row)
}
