// `synapse usage`: requests and cost, by day, provider and model, from the exchanges in the store.

import { badInput } from '../../core/error.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { leftOut, type SavedRow } from '../../run/usage.ts'
import { everyConversation, withLocalStore, storeOptions, type LocalStore } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { styleFor, widthOf } from '../terminal.ts'
import { addUp, offlineLine, savedLine, usageTable, type Grouping, type Saved } from '../usage-rows.ts'

const groupings: readonly Grouping[] = ['day', 'provider', 'model']

export const usage: Command = {
  usage: `synapse usage [ID] [--days N] [--by day|provider|model] [--json] [--db FILE]

Shows requests, tokens, the share read from prompt caches, and cost for the last 30 days (or N), by day, provider and
model, or by only one of them. Days are in UTC. Costs are list prices; answers of the built-in emulator are counted
but free. It also estimates what folding, cutting and summarising saved compared with sending the whole history. With
an ID or a row number of "synapse log": the same for one conversation.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...storeOptions,
      days: { type: 'string', default: '30' },
      by: { type: 'string' },
      json: { type: 'boolean' },
    })
    const days = Number(values.days)
    if (!Number.isInteger(days) || days < 1 || days > 100_000) {
      throw badInput(`--days takes a whole number, not "${values.days}".`)
    }
    const by = values.by === undefined ? groupings : groupings.filter((grouping) => grouping === values.by)
    if (by.length === 0) throw badInput(`--by must be one of ${groupings.join(', ')}, not "${values.by}".`)
    return withLocalStore(values, async (local) => {
      const after = new Date(Date.now() - days * 86_400_000).toISOString()
      const [id] = positionals
      const conversationId = id === undefined ? undefined : (await local.find(id)).id
      const rows = await local.store.usage(local.owner, conversationId === undefined ? { after } : { conversationId })
      const saved = await savedSince(local, after, conversationId)
      if (values.json) {
        const groups = Object.fromEntries(by.map((group) => [group, addUp(rows, group, saved.rows)]))
        printJson({ ...groups, saved: saved.saved, recalls: saved.recalls }, 2)
      } else if (rows.length === 0) {
        printError(conversationId === undefined ? `No requests in the last ${days} days.\n` : 'No requests yet.\n')
      } else {
        const style = styleFor(process.stdout, process.env)
        const tables = by.map((group) =>
          usageTable(addUp(rows, group, saved.rows), group, widthOf(process.stdout), style).join('\n'),
        )
        const offline = offlineLine(rows)
        const notes = [savedLine(rows, saved), offline].filter((line) => line !== undefined)
        print(`${[...tables, ...notes.map(style.dim)].join('\n\n')}\n`)
      }
      return exitCode.ok
    })
  },
}

/** The savings of one conversation, or of all that have changed since then. */
async function savedSince(
  local: LocalStore,
  after: string,
  id: string | undefined,
): Promise<Saved & { rows: SavedRow[] }> {
  const total: Saved & { rows: SavedRow[] } = { saved: 0, recalls: 0, rows: [] }
  const add = async (conversationId: string) => {
    const { saved, recalls, rows } = await leftOut(local.store, local.owner, conversationId)
    total.saved += saved
    total.recalls += recalls
    total.rows.push(...rows)
  }
  if (id !== undefined) await add(id)
  else {
    for await (const conversation of everyConversation(local)) {
      // The most recently changed come first.
      if (conversation.updatedAt < after) break
      await add(conversation.id)
    }
  }
  return total
}
