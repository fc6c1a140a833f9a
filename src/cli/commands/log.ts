// `synapse log`: conversations and their messages, as stored.

import { badInput } from '../../core/error.ts'
import { sideCall, type Entry } from '../../core/log.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { messageLines } from '../slash/log-commands.ts'
import { withLocalStore, storeOptions, type LocalStore } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { neutralLine, styleFor } from '../terminal.ts'

export const log: Command = {
  usage: `synapse log [ID] [--json] [--limit N] [--db FILE]

Lists conversations, most recently changed first. With an ID it shows one: every message, tool call, argument and result
in the log, and what providers store of it. --json prints one entry per line.

Wherever a command takes an ID, it may be abbreviated, the row number of this list, or "last": synapse -c 3 "And then?"
Only "synapse delete" requires an id.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...storeOptions,
      json: { type: 'boolean' },
      limit: { type: 'string', default: '20' },
    })
    const limit = Number(values.limit)
    if (!Number.isInteger(limit) || limit < 1) throw badInput(`--limit takes a whole number, not "${values.limit}".`)
    return withLocalStore(values, async (local) => {
      const [id] = positionals
      if (id === undefined) await list(local, limit, values.json === true)
      else await show(local, id, values.json === true)
      return exitCode.ok
    })
  },
}

async function list(local: LocalStore, limit: number, json: boolean): Promise<void> {
  const { items } = await local.store.conversations(local.owner, { limit, withoutLabel: sideCall })
  if (items.length === 0 && !json) printError('No conversations yet. synapse "What time is it?" starts one.\n')
  const digits = String(items.length).length
  for (const [index, item] of items.entries()) {
    if (json) printJson(item)
    else {
      const at = item.updatedAt.slice(0, 16).replace('T', ' ')
      const title = neutralLine(item.title ?? '(no title)')
      // A pipe gets the id, which never changes.
      const row = process.stdout.isTTY ? `${String(index + 1).padStart(digits)}  ` : ''
      print(`${row}${item.id}  ${at}  ${String(item.entries).padStart(5)}  ${title}\n`)
    }
  }
}

async function show(local: LocalStore, id: string, json: boolean): Promise<void> {
  const conversation = await local.find(id)
  const entries: Entry[] = conversation.head ? await local.store.history(local.owner, conversation.head) : []
  const style = styleFor(process.stdout, process.env)
  for (const entry of entries) {
    if (json) printJson(entry)
    else for (const line of messageLines(entry.message, style)) print(`${line}\n`)
  }
  if (json) return
  const [{ heldState }, { stateLines }] = await Promise.all([
    import('../../run/request/state.ts'),
    import('../inspect/render.ts'),
  ])
  const state = await heldState(local, conversation.id, conversation.head)
  for (const line of stateLines(state, entries)) print(`${style.dim(line)}\n`)
}
