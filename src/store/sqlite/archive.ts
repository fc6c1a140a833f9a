import type { Archives } from '../archive.ts'
import { cleanLabels, givenId, jsonText, plainText, prepareEntry } from '../new-entry.ts'
import { idTaken, isoTime } from '../store-errors.ts'
import type { Connection } from './connection.ts'
import { insertUnique, mustHave, setLabels, writable } from './conversations.ts'
import { appendEntry, placeOf } from './entries.ts'

export function archiveMethods(db: Connection): Archives {
  return {
    async importConversation(owner, { conversation: about, branches, entries, exchanges, toolRuns, overlays }) {
      const now = db.options.now()
      const id = givenId(about.id, now)
      const createdAt = isoTime(about.createdAt, 'The time of a conversation')
      const settings = jsonText(about.settings, 'The settings')
      const prepared = entries.map((entry) => prepareEntry({ ...entry, head: 'stay' }, now))
      return db.write(() => {
        insertUnique(
          () =>
            db.run(
              'INSERT INTO conversations (id, owner, created_at, updated_at, title, settings) VALUES (?, ?, ?, ?, ?, ?)',
              id,
              owner,
              createdAt,
              createdAt,
              about.title === undefined ? null : plainText(about.title),
              settings,
            ),
          () => idTaken('conversation', id),
        )
        setLabels(db, id, cleanLabels(about.labels))
        const conversation = writable(db, owner, id, undefined)
        for (const entry of prepared) appendEntry(db, conversation, entry)
        const at = (entryId: string): number => placeOf(db, conversation, entryId).n
        const maybe = (entryId: string | null | undefined): number | null => (entryId ? at(entryId) : null)
        const { n } = conversation
        for (const { name, entryId } of branches) {
          db.run('INSERT INTO branches (conversation, name, entry) VALUES (?, ?, ?)', n, plainText(name), at(entryId))
        }
        for (const one of exchanges) {
          insertUnique(
            () =>
              db.run(
                `INSERT INTO exchanges (id, conversation, based_on, reply, outcome, provider, protocol, model,
                   body_sha256, started_at, ended_at, attempts, cost, usage, failure, notes)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
                givenId(one.id, now),
                n,
                at(one.basedOn),
                maybe(one.replyEntryId),
                one.outcome,
                one.provider,
                one.protocol,
                one.model,
                one.bodySha256,
                one.startedAt,
                one.endedAt ?? null,
                one.attempts,
                one.cost ?? null,
                one.usage ? jsonText(one.usage, 'The usage') : null,
                one.failure ? jsonText(one.failure, 'The failure') : null,
                jsonText(one.notes, 'The notes'),
              ),
            () => idTaken('exchange', one.id),
          )
        }
        for (const run of toolRuns) {
          db.run(
            `INSERT INTO tool_runs (conversation, call_id, entry, result, name, args_sha256, idempotency_key, repeatable,
               starts, started_at, ended_at, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
            n,
            run.callId,
            at(run.entryId),
            maybe(run.resultEntryId),
            run.name,
            run.argsSha256,
            run.idempotencyKey,
            Number(run.repeatable),
            run.starts,
            run.startedAt,
            run.endedAt ?? null,
            run.outcome ?? null,
          )
        }
        for (const overlay of overlays) {
          insertUnique(
            () =>
              db.run(
                'INSERT INTO overlays (id, conversation, entry, kind, undone, at, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
                givenId(overlay.id, now),
                n,
                at(overlay.entryId),
                overlay.kind,
                Number(overlay.undone),
                overlay.at,
                jsonText(overlay.data, 'The overlay'),
              ),
            () => idTaken('overlay', overlay.id),
          )
        }
        db.run('UPDATE conversations SET head = ?, branch = ? WHERE n = ?', maybe(about.head), about.branch ?? null, n)
        return mustHave(db, owner, id)
      })
    },
  }
}
