// A PostgreSQL that goes away in random ways, at random moments and for random times, from processes that play
// conversations: every process comes to its end, and every conversation reads as if nothing had been. SYNAPSE_OUTAGES says
// how many outages (200 for the full proof), SYNAPSE_OUTAGE_WAY in which one way only, SYNAPSE_PACKED on which package.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { openPostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { faultProxyTo, type FaultProxy } from '../store/fault-proxy.ts'
import { findPostgres, makePostgres, type PostgresServer } from '../store/postgres-server.ts'
import { tempFolder } from '../store/temp.ts'
import { runWorker } from './child.ts'
import { checkRecovered } from './invariants.ts'
import { calmHistories } from './outlive.ts'
import { scenarios, type Stage } from './play.ts'
import { reasonToSkip } from './stores.ts'

const outages = Number(process.env['SYNAPSE_OUTAGES'] ?? 10)
const mostMs = 4000
/** A process that takes longer hangs: it plays for seconds, also on a busy machine. */
const mostWorkMs = 10 * 60_000
const names = Array.from({ length: 4 }, () => Object.keys(scenarios)).flat()

interface Place {
  server: PostgresServer
  proxy: FaultProxy
}

const ways: Record<string, (place: Place, ms: number) => Promise<void>> = {
  'fast restart': ({ server }, ms) => restarted(server, 'SIGINT', ms),
  'immediate restart': ({ server }, ms) => restarted(server, 'SIGQUIT', ms),
  refused: ({ proxy }, ms) => during(ms, () => proxy.refuse(), proxy),
  swallowed: ({ proxy }, ms) => during(ms, async () => proxy.swallow(), proxy),
  'silent connections': ({ proxy }, ms) => during(ms, async () => proxy.swallowOpen(), proxy),
  late: ({ proxy }, ms) => during(ms, async () => proxy.hold(), proxy),
}

const onlyWay = process.env['SYNAPSE_OUTAGE_WAY']
const chosen = Object.keys(ways).filter((way) => onlyWay === undefined || way === onlyWay)

test('random outages fail no run', { skip: reasonToSkip('postgres'), timeout: 24 * 3_600_000 }, async (t) => {
  const server = await makePostgres(findPostgres() ?? '')
  t.after(() => server.remove())
  await server.start()
  const proxy = await faultProxyTo(t, server)
  const store = await openPostgresStore(server.url, { connections: 4 })
  const folder = tempFolder(t)
  const files = { effects: join(folder, 'effects'), requests: join(folder, 'requests') }
  const expected = await calmHistories(store, files)
  const counts = new Map<string, number>()
  for (let i = 0; i < outages; i++) {
    const [way = '', ms] = [chosen[i % chosen.length], 100 + Math.random() * mostMs]
    try {
      await oneGroup(t, { server, proxy }, store, i, (place) => ways[way]?.(place, ms) ?? assert.fail(), expected)
    } catch (error) {
      throw new Error(`outage ${i}: ${way} for ${Math.round(ms)} ms`, { cause: error })
    }
    counts.set(way, (counts.get(way) ?? 0) + 1)
  }
  t.diagnostic(
    `${outages} outages with ${names.length} conversations each: ${JSON.stringify(Object.fromEntries(counts))}`,
  )
  await store.close()
})

async function oneGroup(
  t: TestContext,
  place: Place,
  store: Store,
  group: number,
  goAway: (place: Place) => Promise<void>,
  expected: ReadonlyMap<string, string[]>,
): Promise<void> {
  const folder = tempFolder(t)
  const files = { effects: join(folder, 'effects'), requests: join(folder, 'requests') }
  const owner = `group-${group}`
  const conversations: { id: string; scenario: string }[] = []
  for (const scenario of names) conversations.push({ id: (await store.createConversation(owner)).id, scenario })
  const begun = Promise.withResolvers<void>()
  const task = { url: place.proxy.url, owner, ...files, conversations }
  const worker = runWorker(task, { onEntry: begun.resolve, killAfterMs: mostWorkMs })
  await Promise.race([begun.promise, worker])
  await wait(Math.random() * 1000)
  await goAway(place)
  const ran = await worker
  assert.ok(!ran.killed, `the process was not done after ${mostWorkMs / 1000} s: ${ran.errors}`)
  assert.ok(ran.done, `a run failed: ${ran.errors}`)
  for (const { id, scenario } of conversations) {
    const stage: Stage = { store, owner, conversationId: id, ...files }
    const ids = new Set((await store.outline(owner, id)).map((entry) => entry.id))
    for (const entry of ran.entries.get(id) ?? []) assert.ok(ids.has(entry), `entry ${entry} is lost`)
    const calm = { entries: [], unknown: [], partial: new Map<string, string>() }
    await checkRecovered(stage, calm, expected.get(scenario) ?? [])
  }
}

async function restarted(server: PostgresServer, how: 'SIGINT' | 'SIGQUIT', ms: number): Promise<void> {
  await server.stop(how)
  await wait(ms)
  await server.start()
}

async function during(ms: number, begin: () => Promise<void>, proxy: FaultProxy): Promise<void> {
  await begin()
  await wait(ms)
  await proxy.pass()
}
