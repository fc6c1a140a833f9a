// `synapse migrate`: upgrades the store to the format of this version. Every command that opens the store does the
// same; this one reports it, and can be run before a new version is deployed to many machines.

import { formatOf } from '../../store/format.ts'
import { openStore } from '../../store/open.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { storeAddress, storeOptions } from '../local-store.ts'
import { print, progressOn } from '../print.ts'

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
    const tell = (step: number, steps: number): void => {
      // A new line each time: nothing else can be shown while a step runs.
      progress.done()
      const next = Math.min(step + 1, steps)
      progress.tell(`Upgrading the store, step ${next} of ${steps}: ${Math.floor((step / steps) * 100)} %`)
    }
    const began = performance.now()
    const steps = known - (is ?? 0)
    tell(0, steps)
    const store = await openStore(place, { migrating: tell }).finally(progress.done)
    await store.close()
    const took = `${steps} ${steps === 1 ? 'step' : 'steps'} in ${((performance.now() - began) / 1000).toFixed(1)} s`
    return say(`${from}; now it is ${known} (${took}).`)
  },
}

function say(line: string): number {
  print(`${line}\n`)
  return exitCode.ok
}
