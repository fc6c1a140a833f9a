// Processes under load, killed at random moments, again and again, also while they settle what the last kill left.
// SYNAPSE_KILLS says how many kills (500 for the full proof); SYNAPSE_SEED repeats a run.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { tempFolder } from '../store/temp.ts'
import { thorough } from '../thorough.ts'
import { runWorker } from './child.ts'
import { checkRecovered, inspectWreck, type Wreck } from './invariants.ts'
import { calmHistories } from './outlive.ts'
import { play, scenarios, type Stage } from './play.ts'
import { kinds, newPlace, openPlace, reasonToSkip, type Place } from './stores.ts'

const full = process.env['SYNAPSE_KILLS'] !== undefined
const kills = Number(process.env['SYNAPSE_KILLS'] ?? (thorough ? 64 : 4))
const { SYNAPSE_SEED: given = 'new' } = process.env
const seed = given === 'new' ? Date.now() % 1_000_000 : Number(given)
const killsPerGroup = 4
const names = [...Object.keys(scenarios), 'text']

for (const kind of kinds) {
  test(`killed at random moments on ${kind}, conversations continue`, { skip: reasonToSkip(kind) }, async (t) => {
    t.diagnostic(`seed ${seed}`)
    const place = await newPlace(t, kind)
    const expected = await expectedHistories(t, place)
    const random = randomFrom(seed + kind.length)
    const wanted = kind === 'sqlite' || full || thorough ? kills : kills / 2
    let [killed, group] = [0, 0]
    const lanes = Array.from({ length: Math.min(2, Math.ceil(wanted / killsPerGroup)) }, async () => {
      while (killed < wanted) killed += await oneGroup(t, place, group++, random, expected)
    })
    await Promise.all(lanes)
    t.diagnostic(`${killed} kills, each with ${names.length} conversations under way`)
    assert.ok(killed >= wanted)
  })
}

async function oneGroup(
  t: TestContext,
  place: Place,
  group: number,
  random: () => number,
  expected: ReadonlyMap<string, string[]>,
): Promise<number> {
  const store = await openPlace(place)
  const folder = tempFolder(t)
  const files = { effects: join(folder, 'effects'), requests: join(folder, 'requests') }
  const owner = `group-${group}`
  const conversations: { id: string; scenario: string }[] = []
  for (const scenario of names) conversations.push({ id: (await store.createConversation(owner)).id, scenario })
  const stages = conversations.map(({ id }): Stage => ({ store, owner, conversationId: id, ...files }))
  const wrecks = new Map<string, Wreck>()
  const acknowledged = new Map<string, string[]>()
  let killed = 0

  for (let round = 0; round < killsPerGroup; round++) {
    // Some by the clock, which hits also between commits; some by the number of commits, which a slow machine reaches too.
    const how =
      round % 2 === 0 ? { killAfterMs: 200 + random() * 400 } : { failpoint: `*@${1 + Math.floor(random() * 80)}` }
    const began = performance.now()
    const ran = await runWorker({ url: place.url, owner, ...files, conversations }, how)
    const ms = performance.now() - began
    assert.ok(ran.killed || ran.done || isCutOff(place, ran.errors, ms), `after ${Math.round(ms)} ms: ${ran.errors}`)
    if (ran.killed) killed++
    for (const [id, entries] of ran.entries) acknowledged.set(id, [...(acknowledged.get(id) ?? []), ...entries])
    for (const stage of stages) {
      const wreck = await inspectWreck(stage, acknowledged.get(stage.conversationId) ?? [])
      wrecks.set(stage.conversationId, joined(wrecks.get(stage.conversationId), wreck))
    }
  }
  for (const [i, stage] of stages.entries()) {
    const name = conversations[i]?.scenario ?? ''
    const wreck = wrecks.get(stage.conversationId) ?? assert.fail()
    try {
      await play(stage, scenarios[name] ?? { turns: [] })
      await checkRecovered(stage, wreck, expected.get(name) ?? [])
    } catch (error) {
      throw new Error(`${name}, group ${group}, seed ${seed}`, { cause: error })
    }
  }
  await store.close()
  return killed
}

/**
 * On a busy machine a process may also lose its connection to the database, or wait for the file as long as a store does:
 * one more way to die.
 */
function isCutOff({ url }: Place, errors: string, ms: number): boolean {
  if (url.startsWith('postgres:')) return /cannot be reached/.test(errors)
  return /has locked .* for too long\. Nothing was saved/.test(errors) && ms > 5000
}

/** What several kills left, one after the other. */
function joined(before: Wreck | undefined, after: Wreck): Wreck {
  return {
    entries: after.entries,
    unknown: [...new Set([...(before?.unknown ?? []), ...after.unknown])],
    partial: new Map([...(before?.partial ?? []), ...after.partial]),
  }
}

async function expectedHistories(t: TestContext, place: Place): Promise<Map<string, string[]>> {
  const store = await openPlace(place)
  const folder = tempFolder(t)
  const expected = await calmHistories(store, { effects: join(folder, 'effects'), requests: join(folder, 'requests') })
  await store.close()
  return expected
}

/** Mulberry32: a seed that failed can be run again. */
function randomFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
