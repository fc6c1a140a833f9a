// Moments in which two things happen to a conversation at once: two servers, a store that answers late or not at all.

import assert from 'node:assert/strict'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { runSource } from '../../src/server/runs/source.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { gate, newConversation, readEvents, runIn, say, serving, str, type ServingOptions } from './serving.ts'

/** Each request to a model goes through the next gate. */
function inTurn(...gates: ReturnType<typeof gate>[]): ServingOptions['between'] & {} {
  return (next) => {
    const ways = gates.map((one) => one.between(next))
    return (input, init) => (ways.shift() ?? next)(input, init)
  }
}

const away = () => new SynapseError({ kind: 'storage', code: 'unavailable', message: 'The database is away.' })

test('a slow client that checked before a run ended does not free the conversation of the next run', async (t) => {
  const store = openMemoryStore()
  const slow = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  let isSlow = false
  const late: Store = {
    ...store,
    async record(owner, kind, id) {
      const found = await store.record(owner, kind, id)
      if (kind === 'active-run' && isSlow) {
        isSlow = false
        read.resolve()
        await slow.promise
      }
      return found
    },
  }
  const [first, second] = [gate(0), gate(0)]
  const { api, url } = await serving(t, { store: late, between: inTurn(first, second) })
  const id = await newConversation(api)
  const before = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'one' }))
  await first.held
  isSlow = true
  const looking = api('GET', `/api/conversations/${id}`)
  await read.promise
  first.open()
  await readEvents(`${url}/api/runs/${before}/events`)
  const now = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'two' }))
  await second.held
  slow.resolve()
  await looking
  assert.deepEqual((await api('GET', `/api/conversations/${id}`)).body['run'], { id: now, state: 'running' })
  second.open()
  await readEvents(`${url}/api/runs/${now}/events`)
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['run'], undefined)
})

test('a server that was too slow does not end a run that another one has taken over', async (t) => {
  const held = gate(2)
  const { api, store, server } = await serving(t, { between: held.between })
  const id = await newConversation(api)
  const runId = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' }))
  await held.held
  const { conversationId: _, ...kept } = (await store.record('local', 'run', runId)) ?? assert.fail()
  const data = { ...kept.data, holder: 'another server' }
  await store.putRecords([{ owner: 'local', kind: 'run', id: runId, conversationId: id, data, version: kept.version }])
  const { epoch } = (await store.lease('local', id)) ?? assert.fail()
  await store.takeLease('local', id, { holder: 'another server', ttlMs: 60_000, over: epoch })
  held.open()
  await server.stop(60_000)
  const now = await store.record('local', 'run', runId)
  assert.deepEqual([now?.data['state'], now?.data['holder']], ['running', 'another server'])
})

test('a server that was too slow to take over a run leaves its events to the other one', async (t) => {
  const store = openMemoryStore()
  const first = await serving(t, { store: { ...store, openStream: () => Promise.reject(away()) } })
  const id = await newConversation(first.api)
  await first.api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' })
  await first.server.stop(0)
  let opened = 0
  const quicker: Store = {
    ...store,
    async putRecords(records) {
      const [record] = records
      if (record?.kind === 'run' && record.data['state'] === 'running') {
        await store.putRecords([{ ...record, data: { ...record.data, holder: 'another server' } }])
      }
      return store.putRecords(records)
    },
    openStream(...asked) {
      opened++
      return store.openStream(...asked)
    },
  }
  const lost = Promise.withResolvers<void>()
  await serving(t, { store: quicker, log: ({ event }) => event === 'run-lost' && lost.resolve() })
  await lost.promise
  assert.equal(opened, 0)
})

test('a start that is refused for lack of capacity changes nothing', async (t) => {
  const [open, held] = [gate(0), gate(0)]
  open.open()
  const server = await serving(t, { between: inTurn(open, held), limits: { runs: 1, queued: 0 } })
  const { api } = server
  const [id, busy, fresh] = [await newConversation(api), await newConversation(api), await newConversation(api)]
  await say(server, id, 'Hello')
  await api('POST', `/api/conversations/${busy}/messages`, { text: 'Hello' })
  await held.held
  const { head } = (await api('GET', `/api/conversations/${id}`)).body
  assert.equal((await api('POST', `/api/conversations/${id}/entries/${str(head)}/retry`, {})).status, 503)
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['head'], head)
  assert.equal((await api('POST', `/api/conversations/${fresh}/messages`, { text: 'Hello' })).status, 503)
  assert.equal((await api('GET', `/api/conversations/${fresh}`)).body['title'], undefined)
  held.open()
})

test('a request repeated while the first one is still running gets the events of its run', async (t) => {
  const store = openMemoryStore()
  const opening = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const late: Store = {
    ...store,
    async openStream(...asked) {
      opening.resolve()
      await open.promise
      return store.openStream(...asked)
    },
  }
  const { api, url } = await serving(t, { store: late })
  const id = await newConversation(api)
  const key = { 'idempotency-key': 'k-1' }
  const first = api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' }, key)
  await opening.promise
  const again = await fetch(`${url}/api/conversations/${id}/messages`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ text: 'Hello' }),
  })
  assert.equal(again.status, 200)
  open.resolve()
  assert.match(await again.text(), /^id: 1\nevent: run-start\n[^]*\nevent: run-end\n/)
  assert.equal((await first).status, 202)
})

test('the events of a run that a killed server had not started are awaited, not treated as missing', async (t) => {
  const store = openMemoryStore()
  const first = await serving(t, { store: { ...store, openStream: () => Promise.reject(away()) } })
  const id = await newConversation(first.api)
  // The message and the run are saved by then.
  assert.equal((await first.api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' })).status, 202)
  const runId = str(
    ((await first.api('GET', `/api/conversations/${id}/runs`)).body['items'] as { id: string }[])[0]?.id,
  )
  await first.server.stop(0)
  const open = Promise.withResolvers<void>()
  const late: Store = {
    ...store,
    async openStream(...asked) {
      await open.promise
      return store.openStream(...asked)
    },
  }
  const { url } = await serving(t, { store: late })
  const response = await fetch(`${url}/api/runs/${runId}/events`)
  assert.equal(response.status, 200)
  open.resolve()
  assert.match(await response.text(), /^id: 1\nevent: run-start\n[^]*\nevent: run-end\n/)
})

test('an unreadable run blocks neither the start of the server nor another run', async (t) => {
  const store = openMemoryStore()
  const first = await serving(t, { store: { ...store, openStream: () => Promise.reject(away()) } })
  const runIds = []
  for (const text of ['one', 'two', 'three']) {
    const id = await newConversation(first.api)
    await first.api('POST', `/api/conversations/${id}/messages`, { text })
    const { run } = (await first.api('GET', `/api/conversations/${id}`)).body as { run?: { id: string } }
    runIds.push(run?.id ?? assert.fail())
  }
  await first.server.stop(0)
  const [before = '', damaged = '', behind = ''] = runIds
  const partly: Store = {
    ...store,
    record: (owner, kind, id) => (id === damaged ? Promise.reject(away()) : store.record(owner, kind, id)),
  }
  const { url } = await serving(t, { store: partly })
  for (const runId of [before, behind]) {
    assert.equal((await readEvents(`${url}/api/runs/${runId}/events`)).at(-1)?.data['outcome'], 'done')
  }
})

test('a run that was interrupted because the store was unreachable is resumed by the same server', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const store = openMemoryStore()
  let isAway = true
  const flaky: Store = {
    ...store,
    openStream: (...asked) => (isAway ? Promise.reject(away()) : store.openStream(...asked)),
  }
  const { api, url } = await serving(t, { store: flaky })
  const id = await newConversation(api)
  assert.equal((await api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' })).status, 202)
  isAway = false
  const { run } = (await api('GET', `/api/conversations/${id}`)).body as { run?: { id: string } }
  const events = readEvents(`${url}/api/runs/${run?.id}/events`)
  t.mock.timers.tick(10_000)
  assert.equal((await events).at(-1)?.data['outcome'], 'done')
})

test('the branches of a tree that grows while it is read are among its entries', async (t) => {
  const store = openMemoryStore()
  const growing: Store = {
    ...store,
    async branches(owner, id) {
      await store.append(owner, id, { message: { role: 'user', parts: [{ type: 'text', text: 'Meanwhile' }] } })
      return store.branches(owner, id)
    },
  }
  const { api } = await serving(t, { store: growing })
  const { entries, branches } = (await api('GET', `/api/conversations/${await newConversation(api)}/tree`)).body
  const known = (entries as { id: string }[]).map((entry) => entry.id)
  assert.deepEqual(
    (branches as { entryId: string }[]).map((branch) => branch.entryId),
    known,
  )
})

test('a watcher of a run that another server has taken over continues reading from the store', async () => {
  const store = openMemoryStore()
  const { id } = await store.createConversation('ada')
  const { epoch } = await store.openStream('ada', id, 'run-1')
  await store.appendStreams([{ owner: 'ada', streamId: 'run-1', epoch, offset: 0, events: ['{"type":"run-resumed"}'] }])
  const fenced = {
    recent: () => ({ frames: [], next: 0, ended: false }),
    lost: { kind: 'conflict', code: 'stream-taken', message: 'Another writer has taken over.' },
  } as const
  const nothing = {
    before: 0,
    push: () => {},
    flushed: async () => {},
    end: async () => {},
    breakOff: () => {},
    watch: () => () => {},
  }
  const source = runSource(store, 'ada', 'run-1', {
    live: () => ({ ...nothing, ...fenced }),
    isUnderWay: async () => true,
  })
  assert.equal((await source.read(0)).frames.length, 1)
})
