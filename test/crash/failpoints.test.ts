// P5: killed at any commit boundary and opened again, a conversation goes on as if nothing had happened. Real processes,
// real files, SIGKILL. SYNAPSE_CRASH=full kills before, inside and after every write; else once on each side of it.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { reads } from '../../src/store/failpoint.ts'
import { tempFolder } from '../store/temp.ts'
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
    // Nobody in run/ may open a store of its own, past the failpoints.
    assert.ok(!/open\w+Store/.test(text), file)
  }
})

for (const kind of kinds) {
  test(`killed at a commit boundary on ${kind}`, { skip: reasonToSkip(kind) }, async (t) => {
    const place = await newPlace(t, kind)
    for (const [name, scenario] of Object.entries(scenarios)) {
      await t.test(`${name}: nothing is lost, nothing runs twice, and the conversation ends the same`, async (tt) => {
        await killEverywhere(tt, kind, place, name, scenario)
      })
    }
  })
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
  const points = passed.map((point, i) => ({ point, n: i + 1 })).filter(({ point }) => full || isTelling(point, kind))
  assert.ok(points.length >= 8, passed.join(' '))
  // The longer ones pass the same places several times.
  const chosen = full || scenario.turns.length === 1 ? points : points.filter((_, i) => i % 3 === 0)

  let killed = 0
  await inParallel(chosen, async ({ point, n }) => {
    const stage = await stageAt(place, folder, `kill-${n}`)
    const {
      entries,
      killed: wasKilled,
      done,
      errors,
    } = await runWorker(taskFor(place, stage, name), { failpoint: `*@${n}` })
    assert.ok(wasKilled || done, `${point}: ${errors}`)
    if (wasKilled) killed++
    try {
      const wreck = await inspectWreck(stage, entries.get(stage.conversationId) ?? [])
      checkSendable(wreck.entries.map((entry) => entry.message))
      await play(stage, scenario)
      await checkRecovered(stage, wreck, expected)
    } catch (error) {
      throw new Error(`killed at ${point} (${n} of ${passed.length})`, { cause: error })
    }
    await stage.store.close()
  })
  t.diagnostic(`${killed} kills at ${new Set(chosen.map(({ point }) => point)).size} different places`)
  assert.ok(killed >= chosen.length * 0.8, `${killed} of ${chosen.length} were killed`)
  await calm.store.close()
}

/** One place on each side of a commit: inside the transaction, and when the caller was told. */
function isTelling(point: string, kind: Kind): boolean {
  return kind === 'sqlite'
    ? point === 'sqlite-commit:before' || /^[a-z]\w+:after$/i.test(point)
    : point.endsWith(':after')
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
