// `synapse doctor`: whether the store is intact, and what to do if it is not.

import { examine, repair, type Report } from '../../store/doctor/doctor.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { storeAddress, storeOptions } from '../local-store.ts'
import { print, printError, printJson, progressOn } from '../print.ts'
import { neutral, styleFor } from '../terminal.ts'

export const doctor: Command = {
  usage: `synapse doctor [--repair] [--json] [--db FILE]

Checks that the log is intact, that the search index and other derived data match it, and that commits are durable.
Changes nothing. --repair rebuilds everything derived from the log; from a damaged file, everything readable is written
to a copy next to it and the file itself is left alone. Exit code 1: problems were found.`,

  async run(argv) {
    const { values } = parse(argv, 0, { ...storeOptions, repair: { type: 'boolean' }, json: { type: 'boolean' } })
    const place = storeAddress(values)
    const progress = progressOn()
    const checkup = await examine(place, (share) => progress.tell(`Checking: ${percent(share)}`))
    progress.done()
    const isWell = !checkup.findings.some(({ level }) => level === 'stale' || level === 'broken')
    if (values.json) printJson(checkup)
    else printFindings(checkup, isWell, values.repair === true)
    if (isWell) return exitCode.ok
    if (!values.repair) return exitCode.failed

    const { done, copy } = await repair(place, checkup.findings, (share) =>
      progress.tell(`Repairing: ${percent(share)}`),
    )
    progress.done()
    for (const line of done) printError(`${line}\n`)
    if (copy !== undefined) {
      printError(
        `Everything readable was written to ${copy}; ${place} is unchanged. ` +
          `Inspect the copy with --db ${copy}; to use it, move it to the place of the damaged file.\n`,
      )
      return exitCode.failed
    }
    const after = await examine(place)
    const remaining = after.findings.filter(({ level }) => level === 'stale' || level === 'broken')
    for (const { what } of remaining) printError(`Still wrong: ${neutral(what)}\n`)
    return remaining.length === 0 ? exitCode.ok : exitCode.failed
  },
}

function printFindings({ place, findings }: Report, isWell: boolean, repairs: boolean): void {
  const style = styleFor(process.stdout, process.env)
  const marks = { fine: style.green('ok'), warning: '!!', stale: style.red('no'), broken: style.red('no') }
  print(`${neutral(place)}\n`)
  for (const { level, what, examples = [] } of findings) {
    print(`${marks[level]}  ${neutral(what)}\n`)
    for (const example of examples) print(`      ${neutral(example)}\n`)
  }
  if (!isWell && !repairs) printError('Problems found. "synapse doctor --repair" repairs what it can.\n')
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`
}
