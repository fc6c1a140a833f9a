import type { Archives } from '../archive.ts'
import { cleanLabels, givenId, jsonText, plainText, prepareEntry } from '../new-entry.ts'
import { idTaken, isoTime } from '../store-errors.ts'
import { insertUnique, mustHave, placeOf, setLabels, writable } from './conversations.ts'
import type { Database } from './database.ts'
import { appendWhole } from './entries.ts'
import { tokenFields } from './exchanges.ts'
import { indexIfMany } from './search-index.ts'

export function archiveMethods(db: Database): Archives {
  return {
    async importConversation(owner, { conversation: about, branches, entries, exchanges, toolRuns, overlays }) {
      const now = db.options.now()
      const id = givenId(about.id, now)
      const createdAt = isoTime(about.createdAt, 'The time of a conversation')
      const title = about.title === undefined ? null : plainText(about.title)
      const settings = jsonText(about.settings, 'The settings')
      const prepared = entries.map((entry) => prepareEntry({ ...entry, head: 'stay' }, now))
      return db.transaction(async (queries) => {
        const made = await queries.get<{ n: number }>(
          `INSERT INTO synapse.conversations (id, owner, created_at, updated_at, title, settings)
           VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING n`,
          [id, owner, createdAt, title, settings],
        )
        if (!made) throw idTaken('conversation', id)
        const { n } = made
        const labels = cleanLabels(about.labels)
        if (labels.length > 0) await setLabels(queries, n, labels)
        const conversation = await writable(db, queries, owner, id, undefined)
        for (const entry of prepared) {
          await appendWhole(db, queries, { owner, conversationId: id, entry, write: undefined })
        }
        await indexIfMany(queries, n, prepared.length)
        const at = (entryId: string): Promise<number> => placeOf(queries, conversation, entryId)
        const maybe = async (entryId: string | null | undefined): Promise<number | null> =>
          entryId ? at(entryId) : null
        for (const { name, entryId } of branches) {
          await queries.all('INSERT INTO synapse.branches (conversation, name, entry) VALUES ($1, $2, $3)', [
            n,
            plainText(name),
            await at(entryId),
          ])
        }
        for (const one of exchanges) {
          const { usage } = one
          const values = [
            givenId(one.id, now),
            n,
            await at(one.basedOn),
            await maybe(one.replyEntryId),
            one.outcome,
            one.provider,
            one.protocol,
            one.model,
            one.bodySha256,
            one.startedAt,
            one.endedAt ?? null,
            one.attempts,
            one.cost ?? null,
            usage ? jsonText(usage, 'The usage') : null,
            usage ? tokenFields.map((field) => Number(usage[field] ?? 0)) : null,
            one.failure ? jsonText(one.failure, 'The failure') : null,
            jsonText(one.notes, 'The notes'),
          ]
          await insertUnique(
            queries.all(
              `INSERT INTO synapse.exchanges (id, conversation, based_on, reply, outcome, provider, protocol, model,
                 body_sha256, started_at, ended_at, attempts, cost, usage, tokens, failure, notes)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
              values,
            ),
            () => idTaken('exchange', one.id),
          )
        }
        for (const run of toolRuns) {
          await queries.all(
            `INSERT INTO synapse.tool_runs (conversation, call_id, entry, result, name, args_sha256, idempotency_key,
               repeatable, starts, started_at, ended_at, outcome)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
            [
              n,
              run.callId,
              await at(run.entryId),
              await maybe(run.resultEntryId),
              run.name,
              run.argsSha256,
              run.idempotencyKey,
              run.repeatable,
              run.starts,
              run.startedAt,
              run.endedAt ?? null,
              run.outcome ?? null,
            ],
          )
        }
        for (const overlay of overlays) {
          const { kind, undone, data } = overlay
          const place = await at(overlay.entryId)
          const values = [givenId(overlay.id, now), n, place, kind, undone, overlay.at, jsonText(data, 'The overlay')]
          await insertUnique(
            queries.all(
              `INSERT INTO synapse.overlays (id, conversation, entry, kind, undone, at, data)
               VALUES ($1, $2, $3, $4, $5, $6, $7)`,
              values,
            ),
            () => idTaken('overlay', overlay.id),
          )
        }
        await queries.all('UPDATE synapse.conversations SET head = $1, branch = $2 WHERE n = $3', [
          await maybe(about.head),
          about.branch ?? null,
          n,
        ])
        return mustHave(queries, owner, id)
      })
    },
  }
}
