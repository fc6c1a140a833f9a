// Conversations that are played, one after the other and several at once, while the database goes away and comes back:
// none of them may fail, and each must read as if nothing had been.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { faultProxyTo } from '../store/fault-proxy.ts'
import { findPostgres, makeDatabase, makePostgres } from '../store/postgres-server.ts'
import { tempFolder } from '../store/temp.ts'
import { checkRecovered, inOrder } from './invariants.ts'
import { play, scenarios, type Stage } from './play.ts'

/** How a database goes away, and how it comes back. */
export interface OutageKind {
  url: string
  begin(): Promise<void>
  end(): Promise<void>
}

export const outageKinds = {
  'a fast restart': (t: TestContext) => restarts(t, 'SIGINT'),
  'an immediate restart': (t: TestContext) => restarts(t, 'SIGQUIT'),
  'refused connections': (t: TestContext) =>
    throughProxy(t, (proxy) => ({ begin: () => proxy.refuse(), end: () => proxy.pass() })),
  'swallowed packets': (t: TestContext) =>
    throughProxy(t, (proxy) => ({ begin: async () => proxy.swallow(), end: () => proxy.pass() })),
  'silent connections beside new ones that work': (t: TestContext) =>
    throughProxy(t, (proxy) => ({ begin: async () => proxy.swallowOpen(), end: () => proxy.pass() })),
  'packets that come late': (t: TestContext) =>
    throughProxy(t, (proxy) => ({ begin: async () => proxy.hold(), end: () => proxy.pass() })),
  'a failover to a synchronous standby': failsOver,
} satisfies Record<string, (t: TestContext) => Promise<OutageKind>>

async function restarts(t: TestContext, how: 'SIGINT' | 'SIGQUIT'): Promise<OutageKind> {
  const server = await startedServer(t)
  return { url: server.url, begin: () => server.stop(how), end: () => server.start() }
}

async function throughProxy(
  t: TestContext,
  plan: (proxy: Awaited<ReturnType<typeof faultProxyTo>>) => Omit<OutageKind, 'url'>,
): Promise<OutageKind> {
  const database = await makeDatabase(findPostgres() ?? '')
  t.after(() => database.remove())
  const proxy = await faultProxyTo(t, database)
  return { url: proxy.url, ...plan(proxy) }
}

/** The address stays, as with a virtual address; first it leads nowhere, then to the standby. */
async function failsOver(t: TestContext): Promise<OutageKind> {
  const primary = await startedServer(t)
  const standby = await primary.standby()
  t.after(() => standby.remove())
  await standby.start()
  const proxy = await faultProxyTo(t, primary)
  return {
    url: proxy.url,
    begin: () => primary.stop('SIGQUIT'),
    async end() {
      // For a moment the address leads to a server that accepts no writes yet.
      await proxy.pass(standby.socket)
      await wait(300)
      standby.promote()
    },
  }
}

async function startedServer(t: TestContext) {
  const server = await makePostgres(findPostgres() ?? '')
  t.after(() => server.remove())
  await server.start()
  return server
}

export interface Outlived {
  conversations: number
  /** Runs that said that they wait. */
  waited: number
  /** From the moment the database was back to the first write of the last run that waited for it. */
  lockedMs: number
  /** The longest time between two writes of a run before that: a busy machine takes its time anyway. */
  usualMs: number
}

const names = Object.keys(scenarios)

/** `lanes`: so many conversations at once. */
export async function outlive(
  t: TestContext,
  store: Store,
  { begin, end }: Pick<OutageKind, 'begin' | 'end'>,
  { ms, lanes }: { ms: number; lanes: number },
): Promise<Outlived> {
  const folder = tempFolder(t)
  const files = { effects: join(folder, 'effects'), requests: join(folder, 'requests') }
  const expected = await calmHistories(store, files)
  const played: { stage: Stage; name: string }[] = []
  /** When each lane has written something. */
  const writes = Array.from({ length: lanes }, (): number[] => [])
  let [isOver, waited, next] = [false, 0, 0]

  const lane = async (own: number[]): Promise<void> => {
    for (let isLast = false; !isLast;) {
      isLast = isOver
      const name = names[next++ % names.length] ?? ''
      const { id } = await store.createConversation('ada')
      const stage: Stage = { store, owner: 'ada', conversationId: id, ...files }
      played.push({ stage, name })
      await play(stage, scenarios[name] ?? assert.fail(), ({ type }) => {
        if (type === 'store-waiting') waited++
        if (type === 'message' || type === 'request' || type === 'tool-start') own.push(performance.now())
      })
    }
  }
  const all = Promise.all(writes.map(lane))
  while (writes.some((own) => own.length < 2)) await Promise.race([wait(Math.random() * 200), all])
  const usualMs = Math.max(...writes.flatMap((own) => own.map((at, i) => at - (own[i - 1] ?? at))))
  await begin()
  await Promise.race([wait(ms), all])
  await end()
  const backAt = performance.now()
  const afterwards = () => writes.map((own) => own.find((at) => at > backAt))
  while (afterwards().includes(undefined)) await Promise.race([wait(10), all])
  const lockedMs = Math.max(...afterwards().map((at) => (at ?? Infinity) - backAt))
  isOver = true
  await all
  for (const { stage, name } of played) {
    const calm = { entries: [], unknown: [], partial: new Map<string, string>() }
    await checkRecovered(stage, calm, expected.get(name) ?? [])
  }
  return { conversations: played.length, waited, lockedMs, usualMs }
}

/** What each scenario comes to when nothing happens. */
export async function calmHistories(
  store: Store,
  files: Pick<Stage, 'effects' | 'requests'>,
): Promise<Map<string, string[]>> {
  const expected = new Map<string, string[]>()
  for (const [name, scenario] of Object.entries(scenarios)) {
    const { id } = await store.createConversation('calm')
    await play({ store, owner: 'calm', conversationId: id, ...files }, scenario)
    const { head } = (await store.conversation('calm', id)) ?? {}
    expected.set(name, inOrder((await store.history('calm', head ?? '')).map((entry) => entry.message)))
  }
  return expected
}
