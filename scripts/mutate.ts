// Mutation testing: `npm run test:mutation [-- files]`. Changes the source in one small way, runs the tests that cover
// it, and reports every change that no test has noticed. --sample=N takes N changes at random, --seed=N the same ones
// again, --lanes=N runs several at once. What was found last time is in docs/testing.md.

import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { coverageOf, covers, type TestCoverage } from './mutation/coverage.ts'
import { mutantsOf, type Mutant } from './mutation/mutants.ts'
import { runTest } from './mutation/run-test.ts'

const root = join(import.meta.dirname, '..')

/** Where a mistake costs most, and the folders of the tests for it. */
const areas: Record<string, string[]> = {
  'src/run/*.ts': ['run'],
  'src/context/*.ts': ['context', 'run', 'properties'],
  'src/transport/*.ts': ['transport'],
  'src/wires/shared/*.ts': ['wire', 'wire/*', 'properties', 'transcripts', 'transport', 'emulator'],
  'src/store/{fence,*/leases}.ts': ['store', 'crash'],
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '1' },
  },
})

const chosen = Object.entries(areas).flatMap(([pattern, folders]) => {
  const files = globSync(pattern, { cwd: root }).filter(
    (file) => positionals.length === 0 || positionals.includes(file),
  )
  return files.map((file) => ({ file, folders }))
})
const mutants = sampled(chosen.flatMap(({ file }) => mutantsOf(file, readFileSync(join(root, file), 'utf8'))))
const paths = new Set(mutants.map(({ file }) => join(root, file)))
const folders = new Set(chosen.filter(({ file }) => paths.has(join(root, file))).flatMap((one) => one.folders))
const tests = globSync(
  [...folders].map((folder) => `test/${folder}/*.test.ts`),
  { cwd: root },
).filter((file) => !/\.(all|clients)\.test\.ts$/.test(file))

const coverage: TestCoverage[] = []
await inLanes([...new Set(tests)], async (test) => {
  const found = await coverageOf(test, paths)
  if (found) coverage.push(found)
  else console.error(`${test} fails without any change, and is left out.`)
})
// The fastest first: most changes fail most tests that run them.
coverage.sort((a, b) => a.ms - b.ms)

let tried = 0
let unnoticed = 0
await inLanes(mutants, async (mutant) => {
  const near = coverage.filter((one) => covers(one, join(root, mutant.file), mutant.start))
  if (!(await isNoticed(mutant, near))) {
    unnoticed++
    const by = near.length === 0 ? 'no test runs it' : `${near.length} test files run it`
    const { file, line, was, replacement } = mutant
    // At once: a run takes long, and what it has found so far is of use if it is stopped.
    console.log(`${relative(root, join(root, file))}:${line} ${oneLine(was)} → ${oneLine(replacement)} (${by})`)
  }
  if (++tried % 25 === 0) console.error(`${tried} of ${mutants.length}, ${unnoticed} unnoticed`)
})

const share = ((100 * (mutants.length - unnoticed)) / mutants.length).toFixed(1)
console.log(`${mutants.length - unnoticed} of ${mutants.length} changes were noticed (${share} %).`)

async function isNoticed(mutant: Mutant, near: readonly TestCoverage[]): Promise<boolean> {
  const url = pathToFileURL(join(root, mutant.file)).href
  const hook = pathToFileURL(join(import.meta.dirname, 'mutation', 'hook.ts')).href
  const env = { NODE_OPTIONS: `--import=${hook}`, MUTANT: JSON.stringify({ ...mutant, url }) }
  for (const { test, ms } of near) {
    if (!(await runTest(test, { env, timeoutMs: 20_000 + 5 * ms })).passed) return true
  }
  return false
}

function sampled(all: Mutant[]): Mutant[] {
  if (values.sample === undefined) return all
  let state = Number(values.seed)
  const keyed = all.map((mutant) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return { mutant, key: state }
  })
  return keyed
    .toSorted((a, b) => a.key - b.key)
    .slice(0, Number(values.sample))
    .map(({ mutant }) => mutant)
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(
    Array.from({ length: Number(values.lanes) }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
    }),
  )
}

function oneLine(text: string): string {
  return text === '' ? '(nothing)' : text.replaceAll(/\s+/g, ' ').slice(0, 80)
}
