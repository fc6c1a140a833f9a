// `synapse migrate`: the store in the format of this version. Every command that opens the store does the same; this
// one says what happened, and can be run before a new version is let loose on many machines.

import { formatOf } from '../../store/format.ts'
import { openStore } from '../../store/open.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { storeAddress, storeOptions } from '../local-store.ts'
import { print } from '../print.ts'
import { progressOn } from '../progress.ts'

export const migrate: Command = {
  usage: `synapse migrate [--check] [--db FILE]

Upgrades the store to the format of this version, in one transaction. There is no downgrade, so keep a copy. --check only
reports, with exit code 1, whether an upgrade is needed.`,

  async run(argv) {
    const { values } = parse(argv, 0, { ...storeOptions, check: { type: 'boolean' } })
    const place = storeAddress(values)
    const { is, known } = await formatOf(place)
    if (is === known) return say(`The format is ${known}: up to date.`)
    const from = is === undefined ? 'There is no store yet' : `The format is ${is}`
    if (values.check) {
      say(`${from}; this version writes ${known}.`)
      return exitCode.failed
    }
    const progress = progressOn()
    progress.tell(`${from}; bringing it to ${known} …`)
    const store = await openStore(place).finally(progress.done)
    await store.close()
    return say(`${from}; now it is ${known}.`)
  },
}

function say(line: string): number {
  print(`${line}\n`)
  return exitCode.ok
}
