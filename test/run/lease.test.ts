// The lease as a run holds it: renewed while it lasts, given back at its end, and taken over only from those who are gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { holdLease, isAbandoned, writeOverAbandonedLease, thisProcess } from '../../src/run/log/lease.ts'
import { recover } from '../../src/run/log/close-interrupted.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { conflict } from '../../src/store/store-errors.ts'

const owner = 'ada'
const elsewhere = { holder: 'another-host:1 (000000000000.1)', ttlMs: 30_000 }

const hasCode = (code: string) => (error: unknown) => error instanceof SynapseError && error.failure.code === code

async function place() {
  const store = openMemoryStore()
  const { id } = await store.createConversation(owner)
  return { store, id }
}

test('a lease is held for thirty seconds by this process, and free once it is released', async () => {
  const { store, id } = await place()
  const held = await holdLease(store, owner, id)
  const lease = await store.lease(owner, id)
  assert.equal(lease?.holder, thisProcess())
  assert.equal(Date.parse(lease.expiresAt) - Date.parse(lease.since), 30_000)
  assert.deepEqual(held.write(), { epoch: lease.epoch })
  await held.release()
  assert.equal(await store.lease(owner, id), undefined)
})

test('a lease is renewed every ten seconds, one renewal at a time, and not after its release', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store, id } = await place()
  let renewals = 0
  const done = Promise.withResolvers<void>()
  const slow = {
    ...store,
    async renewLease(...given: Parameters<typeof store.renewLease>) {
      renewals++
      await done.promise
      return store.renewLease(...given)
    },
  }
  const held = await holdLease(slow, owner, id, () => assert.fail('it was not lost'))
  t.mock.timers.tick(9999)
  assert.equal(renewals, 0)
  t.mock.timers.tick(1)
  assert.equal(renewals, 1)
  t.mock.timers.tick(20_000)
  assert.equal(renewals, 1, 'the first one still waits')
  done.resolve()
  await new Promise(setImmediate)
  t.mock.timers.tick(10_000)
  assert.equal(renewals, 2)
  await new Promise(setImmediate)
  await held.release()
  t.mock.timers.tick(60_000)
  assert.equal(renewals, 2)
})

test('a run learns that its lease was lost, and is not alarmed by a database that is away', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  for (const [code, times] of [
    ['lease-lost', 1],
    ['unavailable', 0],
  ] as const) {
    const { store, id } = await place()
    let lost = 0
    const failing = { ...store, renewLease: () => Promise.reject(conflict(code, 'no')) }
    const held = await holdLease(failing, owner, id, () => lost++)
    t.mock.timers.tick(10_000)
    await new Promise(setImmediate)
    assert.equal(lost, times, code)
    await held.release()
  }
})

test('a lease that could not be committed writes nothing, and does not release that of another with its number', async () => {
  const { store, id } = await place()
  const commit = Promise.withResolvers<never>()
  const failing: Store = {
    ...store,
    takeLease(_owner, conversationId, { holder, onTaken }) {
      onTaken?.({ conversationId, holder, epoch: 1, since: '', expiresAt: '' })
      return commit.promise
    },
  }
  const held = await holdLease(failing, owner, id, () => {}, true)
  assert.deepEqual(held.write(), { epoch: 1 })
  commit.reject(new Error('disk full'))
  await assert.rejects(held.committed, /disk full/)
  const other = await store.takeLease(owner, id, elsewhere)
  assert.equal(other.epoch, 1)
  assert.throws(() => held.write(), /disk full/)
  await held.release()
  assert.equal((await store.lease(owner, id))?.holder, elsewhere.holder)
})

test('a lease that cannot be released fails nothing', async () => {
  const { store, id } = await place()
  const failing = { ...store, releaseLease: () => Promise.reject(conflict('unavailable', 'no')) }
  await (await holdLease(failing, owner, id)).release()
})

test('a lease that this process could not release is taken over, one that it still holds is not', async () => {
  const { store, id } = await place()
  const stuck = { ...store, releaseLease: () => Promise.reject(conflict('unavailable', 'no')) }
  const first = await holdLease(stuck, owner, id)
  await assert.rejects(holdLease(store, owner, id), hasCode('lease-held'))
  await first.release()
  const second = await holdLease(store, owner, id)
  assert.ok((second.write().epoch ?? 0) > (first.write().epoch ?? 0))
  await assert.rejects(
    store.append(owner, id, { message: { role: 'user', parts: [] } }, first.write()),
    hasCode('lease-lost'),
  )
  await second.release()
})

test('a writer who lost the lease learns whether it was released or who took it', async () => {
  const { store, id } = await place()
  const { epoch } = await store.takeLease(owner, id, elsewhere)
  await store.releaseLease(owner, id, epoch)
  const late = () => store.renewLease(owner, id, epoch, 1000)
  await assert.rejects(late, /has expired: it was released, or expired\./)
  await store.takeLease(owner, id, elsewhere)
  await assert.rejects(late, /has expired: another-host:1 .* took over at \d{4}-/)
})

test('of several that want a lease at once one gets it', async () => {
  const { store, id } = await place()
  const tries = await Promise.allSettled([1, 2, 3].map(() => holdLease(store, owner, id)))
  assert.deepEqual(tries.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected', 'rejected'])
})

test('a lease of a process of this host that has ended is abandoned, one of another host is not', async () => {
  const { store, id } = await place()
  const gone = thisProcess().replace(/:\d+ /, ':4194305 ')
  await store.takeLease(owner, id, { holder: gone, ttlMs: 30_000 })
  const held = await holdLease(store, owner, id)
  await held.release()
  const lease = await store.takeLease(owner, id, elsewhere)
  assert.equal(isAbandoned(lease), false)
  await assert.rejects(holdLease(store, owner, id), hasCode('lease-held'))
})

test('a write without a lease is made once, past an abandoned lease but never past a living one', async () => {
  const { store, id } = await place()
  let writes = 0
  const write = () => {
    writes++
    return store.append(owner, id, { message: { role: 'user', parts: [] } })
  }
  await writeOverAbandonedLease(store, owner, id, write)
  assert.equal(writes, 1)
  await store.takeLease(owner, id, { holder: thisProcess(), ttlMs: 30_000 })
  await writeOverAbandonedLease(store, owner, id, write)
  assert.equal((await store.outline(owner, id)).length, 2)
  await store.takeLease(owner, id, elsewhere)
  await assert.rejects(writeOverAbandonedLease(store, owner, id, write), hasCode('lease-held'))
  const broken = () => Promise.reject(conflict('head-moved', 'no'))
  await assert.rejects(writeOverAbandonedLease(store, owner, id, broken), hasCode('head-moved'))
  assert.equal((await store.outline(owner, id)).length, 2)
})

test('what a killed process left open is closed on opening, but not while its run is active elsewhere', async () => {
  const { store, id } = await place()
  const asked = await store.append(owner, id, { message: { role: 'user', parts: [{ type: 'text', text: 'Hi' }] } })
  const about = { provider: 'openai', protocol: 'openai-chat', model: 'gpt', basedOn: asked.id, body: '{}' }
  const { id: exchangeId } = await store.openExchange(owner, id, about)
  const { epoch } = await store.takeLease(owner, id, elsewhere)
  await recover(store, owner, id)
  assert.equal((await store.exchange(owner, exchangeId))?.outcome, 'open')
  await store.releaseLease(owner, id, epoch)
  await recover(store, owner, id)
  assert.equal((await store.exchange(owner, exchangeId))?.outcome, 'interrupted')
  assert.equal(await store.lease(owner, id), undefined)
})

test('a conversation with nothing open is not leased on opening', async () => {
  const { store, id } = await place()
  await recover({ ...store, takeLease: () => assert.fail('a lease was taken') }, owner, id)
})

test('on opening, a call that may be repeated is left for its repetition, and a failing store is an error', async () => {
  const { store, id } = await place()
  const asked = await store.append(owner, id, { message: { role: 'user', parts: [{ type: 'text', text: 'Go.' }] } })
  const about = { basedOn: asked.id, provider: 'openai', protocol: 'openai-chat', model: 'gpt', body: '{}' }
  await store.openExchange(owner, id, about)
  const run = { callId: 'c', entryId: asked.id, name: 'look', argsSha256: 'x', repeatable: true }
  await store.startTool(owner, id, run)
  const away = new SynapseError({ kind: 'storage', message: 'The database is away.' })
  await assert.rejects(recover({ ...store, takeLease: () => Promise.reject(away) }, owner, id), /is away/)
  await recover(store, owner, id)
  assert.equal((await store.exchanges(owner, id)).items[0]?.outcome, 'interrupted')
  assert.deepEqual(
    (await store.toolRuns(owner, id)).map(({ outcome }) => outcome),
    [undefined],
  )
})

test('a lease that is not to share the first commit is committed before it is held', async () => {
  const { store, id } = await place()
  const full: Store = {
    ...store,
    takeLease(_owner, conversationId, { holder, onTaken }) {
      onTaken?.({ conversationId, holder, epoch: 1, since: '', expiresAt: '' })
      return Promise.reject(new Error('disk full'))
    },
  }
  await assert.rejects(holdLease(full, owner, id), /disk full/)
})

test('the renewal of a lease does not keep a process alive', async (t) => {
  const started = t.mock.method(globalThis, 'setInterval')
  const { store, id } = await place()
  const held = await holdLease(store, owner, id)
  assert.deepEqual(
    started.mock.calls.map(({ result }) => result?.hasRef()),
    [false],
  )
  await held.release()
})

test('a lease of this process is not abandoned while a run acquires the conversation, and is once none does', async () => {
  const { store, id } = await place()
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  const slow: Store = {
    ...store,
    async takeLease(...given) {
      await gates[asked++]?.promise
      return store.takeLease(...given)
    },
  }
  const left = { conversationId: id, holder: thisProcess(), epoch: 99 }
  assert.equal(isAbandoned(left), true)
  const [first, second] = [holdLease(slow, owner, id), holdLease(slow, owner, id)]
  assert.equal(isAbandoned(left), false)
  gates[0]?.resolve()
  const held = await first
  assert.equal(isAbandoned(left), false, 'the second still waits')
  gates[1]?.resolve()
  await assert.rejects(second, hasCode('lease-held'))
  assert.equal(isAbandoned(left), true)
  await held.release()
})

test('a store that does not say who holds a lease is believed', async () => {
  const { store, id } = await place()
  const silent = { ...store, takeLease: () => Promise.reject(conflict('lease-held', 'no')) }
  await assert.rejects(holdLease(silent, owner, id), hasCode('lease-held'))
})
