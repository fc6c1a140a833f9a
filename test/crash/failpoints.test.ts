// P5: killed at any commit boundary and opened again, a conversation continues as if nothing had happened. Real processes,
// real files, SIGKILL. SYNAPSE_CRASH=full kills before, inside and after every write, `npm run test:all` at the most
// telling places, `npm test` at some of them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { examine } from '../../src/store/doctor/doctor.ts'
import { reads } from '../../src/store/failpoint.ts'
import { migrations } from '../../src/store/sqlite/migrations.ts'
import { tempFolder } from '../store/temp.ts'
import { thorough } from '../thorough.ts'
import { runWorker } from './child.ts'
import { checkRecovered, checkSendable, inOrder, inspectWreck } from './invariants.ts'
import { play, scenarios, type Scenario, type Stage } from './play.ts'
import { kinds, newPlace, openPlace, reasonToSkip, type Kind, type Place } from './stores.ts'

const full = process.env['SYNAPSE_CRASH'] === 'full'
const src = join(import.meta.dirname, '..', '..', 'src')

test('every write of a run passes a failpoint', () => {
  const contract =
    readFileSync(join(src, 'store/store.ts'), 'utf8') + readFileSync(join(src, 'store/records.ts'), 'utf8')
  for (const file of globSync('run/**/*.ts', { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8')
    for (const [, method = ''] of text.matchAll(/\bstore\.(\w+)\(/g)) {
      if (!reads.has(method)) continue
      const declared = new RegExp(`^  ${method}\\(([\\s\\S]*?)\\): Promise`, 'm').exec(contract)?.[1] ?? ''
      assert.ok(!/\bwrite\??:/.test(declared), `${file}: ${method} takes a Write, so it is no read`)
    }
    // Nothing in run/ may open its own store, bypassing the failpoints.
    assert.ok(!/open\w+Store/.test(text), file)
  }
})

test('a file whose process was killed during its creation or migration is complete when it is opened again', async (t) => {
  const source = globSync('**/*.ts', { cwd: src }).map((file) => readFileSync(join(src, file), 'utf8'))
  const names = new Set(
    source.flatMap((text) => [...text.matchAll(/failpoint\('([^']+)'\)/g)].map(([, name = '']) => name)),
  )
  assert.ok(names.size >= 5, [...names].join(' '))
  const folder = tempFolder(t)
  const files = {
    owner: 'ada',
    effects: join(folder, 'effects'),
    requests: join(folder, 'requests'),
    conversations: [],
  }
  for (const name of names) {
    for (const isOld of [false, true]) {
      if (isOld && name.startsWith('sqlite-new-file')) continue
      const url = join(folder, `${name.replaceAll(/\W/g, '-')}-${isOld}.db`)
      if (isOld) oldFile(url)
      const ran = await runWorker({ url, ...files }, { failpoint: name })
      assert.ok(ran.killed, `${name}: ${ran.errors}`)
      const store = await openPlace({ url })
      await store.createConversation('ada')
      assert.equal((await store.conversations('ada')).items.length, isOld ? 2 : 1)
      await store.close()
      const { findings } = await examine(url)
      assert.ok(
        findings.every(({ level }) => level === 'fine'),
        `${name}: ${JSON.stringify(findings)}`,
      )
    }
  }
})

/** As the first version of Synapse left it. */
function oldFile(path: string): void {
  const db = new DatabaseSync(path)
  db.exec(migrations[0] ?? '')
  db.exec(`PRAGMA application_id = 0x53796e61; PRAGMA user_version = 1; INSERT INTO conversations (id, owner, created_at,
    updated_at, settings) VALUES ('old', 'ada', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', '{}')`)
  db.close()
}

for (const kind of kinds) {
  test(`killed at a commit boundary on ${kind}`, { skip: reasonToSkip(kind) }, async (t) => {
    const place = await newPlace(t, kind)
    for (const [name, scenario] of Object.entries(scenarios)) {
      if (!isTried(kind, name)) continue
      await t.test(`${name}: nothing is lost, nothing runs twice, and the conversation ends the same`, async (tt) => {
        await killEverywhere(tt, kind, place, name, scenario)
      })
    }
  })
}

/** What is recovered, and how, is the same on both stores: `npm test` kills every scenario on one, some on the other. */
function isTried(kind: Kind, name: string): boolean {
  return full || thorough || kind === 'sqlite' || name === 'one tool' || name === 'switching'
}

async function killEverywhere(
  t: TestContext,
  kind: Kind,
  place: Place,
  name: string,
  scenario: Scenario,
): Promise<void> {
  const folder = tempFolder(t)
  const calm = await stageAt(place, folder, 'calm')
  const ran = await runWorker(taskFor(place, calm, name), { failpoint: '?' })
  assert.ok(ran.done, ran.errors)
  const expected = await historyOf(calm)
  const passed = [...ran.errors.matchAll(/^failpoint (\S+)$/gm)].map(([, point = '']) => point)
  const times = new Map<string, number>()
  const points = passed.map((point) => {
    const time = (times.get(point) ?? 0) + 1
    times.set(point, time)
    return { point, place: `${point}@${time}` }
  })
  const chosen = full ? points : telling(points, kind, name)
  assert.ok(chosen.length >= 3, passed.join(' '))

  let killed = 0
  await inParallel(chosen, async ({ place: failpoint }) => {
    const stage = await stageAt(place, folder, failpoint.replaceAll(/\W/g, '-'))
    const { entries, killed: wasKilled, done, errors } = await runWorker(taskFor(place, stage, name), { failpoint })
    assert.ok(wasKilled || done, `${failpoint}: ${errors}`)
    if (wasKilled) killed++
    try {
      const wreck = await inspectWreck(stage, entries.get(stage.conversationId) ?? [])
      checkSendable(wreck.entries.map((entry) => entry.message))
      await play(stage, scenario)
      await checkRecovered(stage, wreck, expected)
    } catch (error) {
      throw new Error(`killed at ${failpoint}`, { cause: error })
    }
    await stage.store.close()
  })
  t.diagnostic(`${killed} kills at ${new Set(chosen.map(({ point }) => point)).size} different places`)
  const sure = chosen.filter(({ point }) => !byTheClock.test(point))
  assert.ok(killed >= sure.length, `${killed} of ${chosen.length} were killed`)
  await calm.store.close()
}

/** Another run may pass these less often: how much of a reply is kept at once depends on how quickly it comes. */
const byTheClock = /^(journal|renewLease|sqlite-commit):/

/** When the caller was notified of each commit; for one tool also inside the transaction. Otherwise some of them. */
function telling<P extends { point: string }>(points: readonly P[], kind: Kind, name: string): P[] {
  const afterCommit = points.filter(({ point }) => /^[a-z]\w+:after$/i.test(point))
  if (name === 'one tool' && (thorough || kind === 'sqlite')) {
    const inside = points.filter((one) => one.point === 'sqlite-commit:before' || afterCommit.includes(one))
    return thorough ? inside : inside.filter(({ point }, i) => inside.findIndex((one) => one.point === point) === i)
  }
  const isShort = name === 'parallel tools' || (name === 'text' && kind === 'sqlite')
  if (thorough && isShort) return afterCommit
  const some = (every: number) => afterCommit.filter((_, i) => i % every === 0)
  const isLong = name === 'switching' || name === 'compaction'
  return some(thorough || name === 'text' || name === 'one tool' ? 3 : isLong ? 8 : 5)
}

async function stageAt(place: Place, folder: string, name: string): Promise<Stage> {
  const store = await openPlace(place)
  const { id } = await store.createConversation('ada')
  const files = { effects: join(folder, `${name}.effects`), requests: join(folder, `${name}.requests`) }
  return { store, owner: 'ada', conversationId: id, ...files }
}

function taskFor({ url }: Place, { owner, conversationId, effects, requests }: Stage, scenario: string) {
  return { url, owner, effects, requests, conversations: [{ id: conversationId, scenario }] }
}

async function historyOf({ store, owner, conversationId }: Stage): Promise<string[]> {
  const { head } = (await store.conversation(owner, conversationId)) ?? {}
  return inOrder((await store.history(owner, head ?? '')).map((entry) => entry.message))
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const lanes = Array.from({ length: Math.max(2, availableParallelism()) }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  })
  await Promise.all(lanes)
}
