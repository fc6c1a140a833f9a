// Overlays in SQLite: decisions about what is sent.

import type { Overlay } from '../../core/log.ts'
import { checkId, jsonText } from '../new-entry.ts'
import { toOverlay, type OverlayRow } from '../sql/rows.ts'
import { sqliteSelects as selects } from '../sql/selects.ts'
import { idTaken, notFound } from '../store-errors.ts'
import type { Overlays } from '../store.ts'
import type { Connection } from './connection.ts'
import { insertUnique, writable } from './conversations.ts'
import { findEntry } from './entries.ts'

export function overlayMethods(db: Connection): Overlays {
  return {
    async addOverlay(owner, conversationId, overlay, write) {
      const now = db.options.now()
      const id = checkId(overlay.id, now)
      const data = jsonText(overlay.data, 'The overlay')
      const at = new Date(now).toISOString()
      return db.write(() => {
        const conversation = writable(db, owner, conversationId, write)
        const { n } = findEntry(db, conversation, overlay.entryId)
        insertUnique(
          () =>
            db.run(
              'INSERT INTO overlays (id, conversation, entry, kind, at, data) VALUES (?, ?, ?, ?, ?, ?)',
              id,
              conversation.n,
              n,
              overlay.kind,
              at,
              data,
            ),
          () => idTaken('overlay', id),
        )
        const { entryId, kind } = overlay
        return { id, conversationId, entryId, kind, data: JSON.parse(data) as Overlay['data'], undone: false, at }
      })
    },

    setOverlayUndone: (owner, overlayId, undone, write) =>
      db.write(() => {
        writable(db, owner, mustHave(db, owner, overlayId).conversationId, write)
        db.run('UPDATE overlays SET undone = ? WHERE id = ?', Number(undone), overlayId)
        return mustHave(db, owner, overlayId)
      }),

    overlays: (owner, conversationId) =>
      db.read(() =>
        db
          .all<OverlayRow<number>>(
            `${selects.overlays} WHERE c.id = ? AND c.owner = ? ORDER BY o.n`,
            conversationId,
            owner,
          )
          .map(toOverlay),
      ),
  }
}

function mustHave(db: Connection, owner: string, overlayId: string): Overlay {
  const row = db.get<OverlayRow<number>>(`${selects.overlays} WHERE o.id = ? AND c.owner = ?`, overlayId, owner)
  if (!row) throw notFound('overlay', overlayId)
  return toOverlay(row)
}
