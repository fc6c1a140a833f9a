// `npm run bench [-- --quick] [name…]`: prints the tables, and puts what was measured in its place in RESULTS.md.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sectionOf, writeResults } from './report.ts'
import { holds, type Mode, type Row } from './row.ts'

const loaders: Record<string, () => Promise<Row>> = {
  money: async () => (await import('./rows/money.ts')).money,
  knowledge: async () => (await import('./rows/knowledge.ts')).knowledge,
  render: async () => (await import('./rows/render.ts')).render,
  stream: async () => (await import('./rows/stream.ts')).stream,
  events: async () => (await import('./rows/events.ts')).events,
  turn: async () => (await import('./rows/turn.ts')).turn,
  loop: async () => (await import('./rows/loop.ts')).loop,
  'long-run': async () => (await import('./rows/long-run.ts')).longRun,
  growth: async () => (await import('./rows/growth.ts')).growth,
  plan: async () => (await import('./rows/plan.ts')).plan,
  memory: async () => (await import('./rows/memory.ts')).memory,
  store: async () => (await import('./rows/store.ts')).store,
  doors: async () => (await import('./rows/doors.ts')).doors,
  relay: async () => (await import('./rows/relay.ts')).relay,
  server: async () => (await import('./rows/server.ts')).server,
  start: async () => (await import('./rows/start.ts')).start,
  validity: async () => (await import('./rows/validity.ts')).validity,
  tokens: async () => (await import('./rows/tokens.ts')).tokens,
}

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true })
const mode: Mode = { quick: values.quick === true }
const unknown = positionals.find((name) => !Object.hasOwn(loaders, name))
if (unknown !== undefined) {
  console.error(`There is no bench "${unknown}". There are ${Object.keys(loaders).join(', ')}.`)
  process.exit(2)
}

// Each time: with an earlier build of the package, the figures would be those of an earlier source.
if (!mode.quick) execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', 'build.ts')])

const sections = new Map<string, string>()
for (const [name, load] of Object.entries(loaders)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const row = await load()
  const outcome = await row.run(mode)
  const section = sectionOf(row, outcome, mode)
  console.log(section)
  sections.set(name, section)
  if (outcome.checks.some((check) => !holds(check, mode))) process.exitCode = 1
}
if (!mode.quick) writeResults(Object.keys(loaders), sections)
