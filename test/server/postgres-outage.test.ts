// A server whose PostgreSQL goes away and comes back: it answers at once all the while, its runs wait and say so, and no
// conversation stays locked.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { ownTime } from '../own-time.ts'
import { faultProxyTo, type FaultProxy } from '../store/fault-proxy.ts'
import { findPostgres, makeDatabase } from '../store/postgres-server.ts'
import {
  gate,
  newConversation,
  readEvents,
  runIn,
  serving,
  type Answer,
  type Received,
  type Serving,
} from './serving.ts'

const programs = findPostgres()
const skip = programs === undefined && 'needs the programs of a PostgreSQL server (postgres, initdb)'

interface Scene {
  server: Serving
  now: () => number
  proxy: FaultProxy
  held: ReturnType<typeof gate>
}

async function scene(
  t: TestContext,
  { wrap = (store) => store, ...patience }: { waitMs?: number; wrap?: (store: Store) => Store } = {},
): Promise<Scene> {
  const database = await makeDatabase(programs ?? '')
  t.after(() => database.remove())
  const proxy = await faultProxyTo(t, database)
  const store = await openPostgresStore(proxy.url, { connections: 6, ...patience })
  const held = gate(6)
  const server = await serving(t, { store: wrap(store), between: held.between })
  t.after(() => store.close())
  return { server, now: ownTime(t), proxy, held }
}

async function timed(now: () => number, work: Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const began = now()
  const answer = await work
  return { answer, ms: now() - began }
}

/** The server gives up a request by the clock on the wall: one that did not have this time is sent again. */
async function accepted({ api }: Serving, now: () => number, id: string, round: number): Promise<Answer> {
  const key = { 'idempotency-key': `${id}-${round}` }
  const ask = () => api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }, key)
  for (;;) {
    const { answer, ms } = await timed(now, ask())
    if (answer.status !== 503 || ms > 1800) return answer
  }
}

// At the same time: they wait most of the time, for limits of seconds.
describe('an outage of PostgreSQL', { skip, concurrency: true }, () => {
  for (const how of ['refuse', 'swallow'] as const) {
    test(`while PostgreSQL is unreachable (${how}) every request is answered, and the runs wait for it`, async (t) => {
      const { server, now, proxy, held } = await scene(t)
      const { api, url } = server
      const [id, other] = [await newConversation(api), await newConversation(api)]
      const runId = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }))
      const noticed = Promise.withResolvers<Received>()
      const seen = readEvents(`${url}/api/runs/${runId}/events`, {}, (event) => {
        if (event.event === 'store-waiting') noticed.resolve(event)
        return false
      })
      await held.held
      await proxy[how]()
      held.open()

      const posted = timed(now, api('POST', `/api/conversations/${other}/messages`, { text: 'Are you there?' }))
      const [health, ready] = await Promise.all([timed(now, api('GET', '/health')), timed(now, api('GET', '/ready'))])
      assert.equal(health.answer.status, 200)
      assert.ok(health.ms < 1000, `/health took ${health.ms} ms`)
      assert.ok(ready.ms < 1000, `/ready took ${ready.ms} ms`)
      const { answer, ms } = await posted
      assert.equal(answer.status, 503, answer.text)
      assert.ok(ms < 3000, `the message was refused after ${ms} ms`)
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)

      const notice = await noticed.promise
      assert.ok(Number.isNaN(notice.id), 'it is in no log, so it has no number')
      assert.equal((notice.data['failure'] as JsonObject)['code'], 'unavailable')
      const later = await timed(now, api('GET', '/ready'))
      assert.ok(later.ms < 1000, `/ready took ${later.ms} ms`)
      assert.equal(later.answer.status, 503)
      assert.equal(later.answer.body['why'], 'storage')
      assert.match(String(later.answer.body['reason']), /unreachable since \d{4}-/)
      assert.doesNotMatch(later.answer.text, /127\.0\.0\.1/, 'anybody may ask, and need not know where it is')
      const paths = ['/api/conversations', `/api/conversations/${id}`, `/api/runs/${runId}`]
      const reads = await Promise.all(paths.map((path) => timed(now, api('GET', path))))
      for (const [i, read] of reads.entries()) {
        assert.equal(read.answer.status, 503, paths[i])
        assert.ok(read.ms < 3000, `${paths[i]} took ${read.ms} ms`)
      }

      await proxy.pass()
      const backAt = now()
      let again = await api('POST', `/api/conversations/${other}/messages`, { text: 'Are you there?' })
      while (again.status === 503)
        again = await api('POST', `/api/conversations/${other}/messages`, { text: 'Are you there?' })
      assert.equal(again.status, 202, again.text)
      assert.ok(now() - backAt < 2000, 'a message was taken within two seconds')
      const events = await seen
      assert.equal(events.at(-1)?.event, 'run-end')
      assert.equal(events.at(-1)?.data['outcome'], 'done', events.at(-1)?.raw)
      assert.ok(events.some(({ event }) => event === 'store-back'))
      const numbers = events.map((event) => event.id).filter((number) => !Number.isNaN(number))
      assert.deepEqual(
        numbers,
        numbers.map((_, i) => i + 1),
        'each event once, in order',
      )
      await readEvents(`${url}/api/runs/${runIn(again)}/events`)
      for (const one of [id, other]) {
        const next = await api('POST', `/api/conversations/${one}/messages`, { text: 'What is 17 + 25?' })
        assert.equal(next.status, 202, next.text)
        const end = (await readEvents(`${url}/api/runs/${runIn(next)}/events`)).at(-1)
        assert.equal(end?.data['outcome'], 'done', end?.raw)
      }
    })
  }

  test('pooled connections that go silent are replaced, while new ones work', async (t) => {
    const { server, now, proxy, held } = await scene(t)
    held.open()
    const { api } = server
    const ids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => newConversation(api)))
    for (let round = 0; round < 2; round++) {
      proxy.swallowOpen()
      const answers = await Promise.all(ids.map((id) => timed(now, accepted(server, now, id, round))))
      for (const { answer, ms } of answers) {
        assert.equal(answer.status, 202, answer.text)
        assert.ok(ms < 3000, `a message was taken after ${ms} ms`)
      }
      for (const { answer } of answers) {
        const end = (await readEvents(`${server.url}/api/runs/${runIn(answer)}/events`)).at(-1)
        assert.equal(end?.data['outcome'], 'done', end?.raw)
      }
      const ready = await timed(now, api('GET', '/ready'))
      assert.equal(ready.answer.status, 200, ready.answer.text)
      assert.ok(ready.ms < 1000)
    }
  })

  test('a server accepts a message although its own run could not release its lease', async (t) => {
    const tried = Promise.withResolvers<void>()
    const wrap = (store: Store): Store => ({
      ...store,
      releaseLease: (...given) => store.releaseLease(...given).finally(tried.resolve),
    })
    // Less patience than the outage takes: the run fails, and cannot give its lease back.
    const { server, now, proxy, held } = await scene(t, { waitMs: 200, wrap })
    const { api, url } = server
    const id = await newConversation(api)
    const runId = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }))
    await held.held
    await proxy.refuse()
    held.open()
    await tried.promise
    await proxy.pass()
    const backAt = now()
    const end = (await readEvents(`${url}/api/runs/${runId}/events`)).at(-1)
    assert.equal(end?.event, 'run-end')
    let next = await api('POST', `/api/conversations/${id}/messages`, { text: 'And now?' })
    while (next.status !== 202 && now() - backAt < 10_000) {
      assert.notEqual(next.body['error'] && (next.body['error'] as JsonObject)['code'], 'lease-held', next.text)
      next = await api('POST', `/api/conversations/${id}/messages`, { text: 'And now?' })
    }
    assert.ok(now() - backAt < 5000, 'it is free soon')
    const last = (await readEvents(`${url}/api/runs/${runIn(next)}/events`)).at(-1)
    assert.equal(last?.data['outcome'], 'done', last?.raw)
  })
})
