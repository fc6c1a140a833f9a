// Mutation testing: `npm run test:mutation [-- AREA… | FILE… | FILE:LINE…]`. Changes the source in one small way, runs the
// tests that reach the place, and reports every change that no test has noticed. --sample=N takes N changes of each area,
// chosen by --seed=N; --tests=FOLDER,… or files runs only these tests. What was found last time is in docs/testing.md.
//
// All changes of an area are compiled into its sources at once, each of them off. So one process stays warm, every test is
// run once to learn what it reaches, and a change is tried by the tests that reach it, the quickest first, until one fails.

import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { findPostgres, makePostgres, removeLeftServers, sharedPostgres } from '../test/store/postgres-server.ts'
import { instrumented, mutantsOf, type Mutant } from './mutation/mutants.ts'
import { startTests, type Request, type Tests } from './mutation/tests.ts'

interface Area {
  files: string
  /** Folders of `test/`, or files of them. */
  tests: string[]
  /** Those that take longer: they are run for what the others have not noticed. */
  wider?: string[]
}

/** Where a mistake costs most, and the tests for it. */
const areas: Record<string, Area> = {
  run: { files: 'src/run/**/*.ts', tests: ['run'], wider: ['doors', 'crash/leases'] },
  context: {
    files: 'src/context/*.ts',
    tests: ['context', 'run/context-*', 'run/answer'],
    wider: ['properties', 'run'],
  },
  transport: { files: 'src/transport/*.ts', tests: ['transport'], wider: ['replay', 'run'] },
  shared: {
    files: 'src/wires/shared/*.ts',
    tests: ['wire', 'wire/*'],
    wider: ['properties', 'transcripts', 'transport', 'emulator', 'replay', 'doors'],
  },
  doors: { files: 'src/server/doors/*.ts', tests: ['doors'], wider: ['server'] },
  fencing: {
    files: 'src/store/{fence,*/leases}.ts',
    tests: ['store/memory', 'store/sqlite', 'store/postgres'],
    wider: ['store', 'run/lease', 'crash/leases'],
  },
}

/**
 * Files and functions that only keep what was computed before. Most changes there make it be computed again, which no test
 * can notice, so they are tried and listed but counted apart. That nothing outdated is used is a rule, with tests.
 */
const caches = new Set([
  'src/server/doors/known-bodies.ts',
  'src/server/doors/known-messages.ts',
  'src/run/request/plan-ahead.ts',
  'src/run/log/path-cache.ts pathCache',
  'src/run/request/plan-request.ts rememberSent',
  'src/run/request/plan-request.ts sentBefore',
  'src/run/request/plan-request.ts digestOf',
  'src/context/prefix-memo.ts',
  'src/context/along-path.ts alongPath',
  'src/context/assemble.ts onceFor',
  'src/context/assemble.ts pairedOnce',
  'src/context/assemble.ts estimateTool',
  'src/context/count.ts sizesOf',
  'src/context/count.ts rememberSizes',
  'src/context/still-visible.ts nearest',
])

interface Recorded {
  tests: Test[]
  /** What ran while files were loaded. */
  early: Set<number>
}

interface Test {
  file: string
  index: number
  ms: number
  cpuMs: number
  reached: Set<number>
  /** How many changes it was the first to notice. */
  noticed: number
}

type Numbered = Mutant & { id: number }

/** How much processor time the tests of one change may take together: a change that all of them let pass ends there. */
const mostMs = 30_000

const root = join(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' }, tests: { type: 'string' } },
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
removeLeftServers()
const scratch = mkdtempSync(join(tmpdir(), 'synapse-mutation-'))
const sources = join(scratch, 'sources.json')
const programs = findPostgres()
const postgres = programs === undefined ? undefined : await makePostgres(programs)
try {
  if (postgres) {
    await postgres.start()
    process.env[sharedPostgres.url] = postgres.url
  }
  for (const [name, area] of Object.entries(areas)) {
    await tryArea(name, area, positionals.length === 0 || positionals.includes(name) ? () => true : isNamed)
  }
} finally {
  await postgres?.remove()
  rmSync(scratch, { recursive: true, force: true })
}

function isNamed({ file, line }: Mutant): boolean {
  return positionals.includes(file) || positionals.includes(`${file}:${line}`)
}

async function tryArea(name: string, area: Area, isWanted: (mutant: Mutant) => boolean): Promise<void> {
  const began = performance.now()
  const files = globSync(area.files, { cwd: root }).sort()
  const mutants = files
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')))
    .map((mutant, id) => ({ ...mutant, id }))
  const chosen = sampled(mutants.filter(isWanted))
  if (chosen.length === 0) return
  writeSources(files, mutants)

  const warm = startTests({ sources, scratch })
  let left = chosen
  const reaching = new Map<Numbered, number>()
  const seen = new Set<string>()
  try {
    for (const folders of values.tests === undefined ? [area.tests, area.wider ?? []] : [values.tests.split(',')]) {
      if (left.length === 0 || folders.length === 0) continue
      const fresh = testFiles(folders).filter((file) => !seen.has(file))
      for (const file of fresh) seen.add(file)
      const { tests, early } = await recorded(warm, fresh)
      console.error(`${name}: ${tests.length} tests recorded, ${left.length} changes, ${seconds(began)} s`)
      const unnoticed: Numbered[] = []
      for (const mutant of left) {
        const isEarly = mutant.isStatic || early.has(mutant.id)
        const reached = testsFor(isEarly ? mutants.filter(({ file }) => file === mutant.file) : [mutant], tests)
        // A file of constants has nothing that a test could reach.
        const near = isEarly && reached.length === 0 ? quickest(tests) : reached
        const by = await noticedBy(mutant, near, { warm, isEarly })
        if (by) by.noticed++
        else unnoticed.push(mutant)
        reaching.set(mutant, (reaching.get(mutant) ?? 0) + near.length)
        // At once: what was found so far is of use if the run is stopped.
        if (!by) console.error(`unnoticed so far: ${described(mutant)}`)
      }
      left = unnoticed
    }
  } finally {
    await warm.close()
  }
  for (const mutant of left) {
    const note = isInCache(mutant) ? ', in a cache' : ''
    console.log(`${described(mutant)} (${reaching.get(mutant)} tests${note})`)
  }
  const inCaches = chosen.filter(isInCache)
  if (inCaches.length > 0) console.log(`${name}, caches: ${shareNoticed(inCaches, left)}`)
  const others = chosen.filter((mutant) => !isInCache(mutant))
  console.log(`${name}: ${shareNoticed(others, left)}, ${seconds(began)} s`)
}

function isInCache({ file, within }: Mutant): boolean {
  return caches.has(file) || caches.has(`${file} ${within}`)
}

function shareNoticed(tried: readonly Numbered[], left: readonly Numbered[]): string {
  const noticed = tried.filter((mutant) => !left.includes(mutant)).length
  const share = tried.length === 0 ? '' : ` (${((100 * noticed) / tried.length).toFixed(1)} %)`
  return `${noticed} of ${tried.length} changes were noticed${share}`
}

function writeSources(files: readonly string[], mutants: readonly Numbered[]): void {
  const changed = files.map((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    const own = mutants.filter((mutant) => mutant.file === file)
    return [pathToFileURL(join(root, file)).href, instrumented(file, source, own)]
  })
  writeFileSync(sources, JSON.stringify(Object.fromEntries(changed)))
}

/** Without full matrices and third-party clients. */
function testFiles(names: readonly string[]): string[] {
  const found = globSync(
    names.flatMap((name) => [
      `test/${name}.test.ts`,
      `test/${name}/*.test.ts`,
      ...(name.endsWith('.ts') ? [name] : []),
    ]),
    { cwd: root },
  )
  return [...new Set(found)].filter((file) => !/\.(all|clients)\.test\.ts$/.test(file)).sort()
}

/** Every test, run once without a change: how long it takes, and what it reaches. */
async function recorded(warm: Tests, files: readonly string[]): Promise<Recorded> {
  const tests: Test[] = []
  const early = new Set<number>()
  for (const path of files) {
    const file = join(root, path)
    const { names = [], error, reached: atStart } = await warm.ask({ file, mutant: -1 }, 60_000)
    for (const id of atStart ?? []) early.add(id)
    if (error !== undefined) console.error(`${path} cannot be loaded, and is left out: ${error}`)
    for (const [index, test] of names.entries()) {
      const { passed, ms = 0, cpuMs = 0, reached, error: why } = await warm.ask({ file, index, mutant: -1 }, 180_000)
      if (passed) tests.push({ file, index, ms, cpuMs, reached: new Set(reached), noticed: 0 })
      else console.error(`${path} "${test}" fails without any change, and is left out: ${why}`)
    }
  }
  return { tests, early }
}

/** The tests that reach a change. What runs as a module is loaded concerns all that reach anything of its file. */
function testsFor(places: readonly Numbered[], tests: readonly Test[]): Test[] {
  return quickest(tests.filter(({ reached }) => places.some(({ id }) => reached.has(id))))
}

/** The quickest first, as many as may be tried. */
function quickest(tests: readonly Test[]): Test[] {
  let total = 0
  return tests
    .toSorted((a, b) => a.ms / (1 + a.noticed) - b.ms / (1 + b.noticed))
    .filter(({ cpuMs }) => (total += cpuMs) <= mostMs || total === cpuMs)
}

/** The test that fails with the change and passes without it. */
async function noticedBy(
  mutant: Numbered,
  near: readonly Test[],
  { warm, isEarly }: { warm: Tests; isEarly: boolean },
): Promise<Test | undefined> {
  for (const test of mutant.isStatic ? [] : near) {
    const first = await outcomeOf(warm, test, mutant.id)
    if (first === 'passed') continue
    if (first === 'failed' && (await passes(warm, test, -1))) return test
    // The change has left something behind, of this test or an earlier one, or the machine was busy.
    await warm.restart()
    if (await passes(warm, test, mutant.id)) continue
    await warm.restart()
    if (await passes(warm, test, -1)) return test
    console.error(`${test.file} "${test.index}" fails without any change now, and is not counted for it`)
  }
  if (!isEarly) return undefined
  // What ran before the first test needs a process that has the change from its start.
  const fresh = startTests({ sources, scratch, mutant: mutant.id })
  try {
    for (const test of near) {
      if (await passes(fresh, test, mutant.id)) continue
      await fresh.restart()
      if (!(await passes(fresh, test, mutant.id)) && (await passes(warm, test, -1))) return test
    }
    return undefined
  } finally {
    await fresh.close()
  }
}

async function passes(tests: Tests, test: Test, mutant: number): Promise<boolean> {
  return (await outcomeOf(tests, test, mutant)) === 'passed'
}

/** Too late is not failed: a test that does not end counts if it does so twice, and ends in the same time without the change. */
async function outcomeOf(
  tests: Tests,
  { file, index, ms }: Test,
  mutant: number,
): Promise<'passed' | 'failed' | 'late'> {
  const request: Request = { file, index, mutant }
  const { passed, error } = await tests.ask(request, 10_000 + 10 * ms)
  if (passed) return 'passed'
  return error === 'timeout' ? 'late' : 'failed'
}

/** By their text and not by their number, so that a sample stays the same while other places change. */
function sampled(all: Numbered[]): Numbered[] {
  if (values.sample === undefined) return all
  const seen = new Map<string, number>()
  const keyed = all.map((mutant) => {
    const text = `${mutant.file} ${mutant.was} ${mutant.replacement}`
    const count = (seen.get(text) ?? 0) + 1
    seen.set(text, count)
    return { mutant, key: createHash('sha256').update(`${values.seed} ${text} ${count}`).digest('hex') }
  })
  return keyed
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, Number(values.sample))
    .map(({ mutant }) => mutant)
    .toSorted((a, b) => a.id - b.id)
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 1000)
}

function described({ file, line, was, becomes }: Mutant): string {
  return `${file}:${line} ${oneLine(was)} → ${oneLine(becomes)}`
}

function oneLine(text: string): string {
  return text === '' ? '(nothing)' : text.replaceAll(/\s+/g, ' ').slice(0, 80)
}
