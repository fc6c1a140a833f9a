// What was measured, as Markdown. RESULTS.md has one section for each row; a run of some rows leaves the others as they
// are, so every section says itself when and under what load it was measured.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform } from 'node:os'
import { join } from 'node:path'
import { holds, isMet, type Check, type Mode, type Outcome, type Row, type Table } from './row.ts'

const file = join(import.meta.dirname, 'RESULTS.md')

export function sectionOf(row: Row, { tables, checks, remarks = [] }: Outcome, mode: Mode): string {
  const load = loadavg()[0] ?? 0
  const busy = load > cpus().length ? ', above the number of cores' : ''
  const blocks = [
    `## ${row.name}`,
    row.about,
    `Measured ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${platform()} ${arch()}, ${cpus().length} cores, load ${load.toFixed(1)}${busy}.`,
    ...tables.flatMap(tableOf),
    checks.map((check) => boundOf(check, mode)).join('\n'),
    ...remarks,
  ]
  return `${blocks.join('\n\n')}\n`
}

/** In the order of `names`; sections that were not measured now stay as they were. */
export function writeResults(names: readonly string[], measured: ReadonlyMap<string, string>): void {
  const old = existsSync(file) ? sectionsIn(readFileSync(file, 'utf8')) : new Map<string, string>()
  const sections = names.flatMap((name) => measured.get(name) ?? old.get(name) ?? [])
  writeFileSync(file, [head(), ...sections].join('\n'))
}

function tableOf({ title, head, lines }: Table): string[] {
  const table = [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n')
  return title === undefined ? [table] : [`### ${title}`, table]
}

function boundOf(check: Check, mode: Mode): string {
  const relation = check.atLeast ? '≥' : '≤'
  const isHeld = holds(check, mode)
  const why = !isHeld && check.excuse !== undefined ? `: ${check.excuse}` : ''
  const value = Number.isFinite(check.value) ? Number(check.value.toPrecision(3)) : 'not measured'
  return `- ${check.what}: ${value} (bound ${relation} ${check.bound}), ${!isHeld ? '**not met**' : isMet(check) ? 'met' : 'within a tenth'}${why}`
}

function sectionsIn(text: string): Map<string, string> {
  const parts = text.split(/^(?=## )/m).slice(1)
  return new Map(parts.map((part) => [part.slice(3, part.indexOf('\n')), `${part.trimEnd()}\n`]))
}

function head(): string {
  const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const peers = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)
  return `# Results

Made by \`npm run bench\`. Figures are ratios within one run: medians of rounds in which all candidates take turns. Times are
given only for orientation. Each section ends with its targets: met, **not met**, or within a tenth of the bound, which is
about as exact as the clock.

Peers: ${peers.join(', ')}.
`
}
