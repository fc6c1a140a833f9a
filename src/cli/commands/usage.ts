// `synapse usage`: what was asked and what it cost, by day, provider and model, from the exchanges in the store.

import { badInput } from '../../core/error.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { openLocalStore, storeOptions } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { styleFor, widthOf } from '../terminal.ts'
import { addUp, offlineLine, usageTable, type Grouping } from '../usage-rows.ts'

const groupings: readonly Grouping[] = ['day', 'provider', 'model']

export const usage: Command = {
  usage: `synapse usage [--days N] [--by day|provider|model] [--json] [--db FILE]

Shows requests, tokens, the share read from prompt caches, and cost for the last 30 days (or N), by day, provider and
model, or by only one of them. Days are in UTC. Costs are list prices; answers of the built-in emulator are counted but
free.`,

  async run(argv) {
    const { values } = parse(argv, 0, {
      ...storeOptions,
      days: { type: 'string', default: '30' },
      by: { type: 'string' },
      json: { type: 'boolean' },
    })
    const days = Number(values.days)
    if (!Number.isInteger(days) || days < 1 || days > 100_000) {
      throw badInput(`--days takes a whole number, not "${values.days}".`)
    }
    const by = values.by === undefined ? groupings : groupings.filter((one) => one === values.by)
    if (by.length === 0) throw badInput(`--by is one of ${groupings.join(', ')}, not "${values.by}".`)
    const local = await openLocalStore(values)
    try {
      const after = new Date(Date.now() - days * 86_400_000).toISOString()
      const rows = await local.store.usage(local.owner, { after })
      if (values.json) {
        const groups = Object.fromEntries(by.map((one) => [one, addUp(rows, one)]))
        printJson(groups, 2)
      } else if (rows.length === 0) {
        printError(`Nothing was asked in the last ${days} days.\n`)
      } else {
        const style = styleFor(process.stdout, process.env)
        const tables = by.map((one) => usageTable(addUp(rows, one), one, widthOf(process.stdout), style).join('\n'))
        const offline = offlineLine(rows)
        print(`${[...tables, ...(offline ? [style.dim(offline)] : [])].join('\n\n')}\n`)
      }
      return exitCode.ok
    } finally {
      await local.close()
    }
  },
}
