// What a conversation knows of its history from the run before.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import type { Conversation, Entry } from '../../src/core/log.ts'
import { endpointFinder } from '../../src/runtime/open.ts'
import { conversationOf, type Conversation as Chat } from '../../src/run/conversation.ts'
import { cachedPath, pathCache } from '../../src/run/log/path-cache.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator } from '../../src/testing.ts'

const owner = 'local'

/** A conversation as two processes have it open, and how many entries the first has read. */
async function openTwice() {
  const store = openMemoryStore()
  let read = 0
  const watched: Store = {
    ...store,
    async history(...args) {
      const entries = await store.history(...args)
      read += entries.length
      return entries
    },
  }
  const emulator = createEmulator()
  const endpoint = await endpointFinder({ offline: emulator, env: {} })
  const { id } = await store.createConversation(owner)
  const open = (over: Store): Chat =>
    conversationOf({ store: over, owner, endpoint }, id, { model: 'mistral/mistral-large-latest', policy: 'full' })
  const bodies = (): unknown[] => emulator.requests.map(({ body }) => body)
  return { here: open(watched), there: open(store), bodies, entriesRead: () => read }
}

test('the messages of a run are not read again for the next one', async () => {
  const { here, entriesRead } = await openTwice()
  for (const text of ['one', 'two', 'three']) await here.send(text).ended
  assert.equal(entriesRead(), 0)
})

test('entries of another process are read, and not the known ones', async () => {
  const { here, there, bodies, entriesRead } = await openTwice()
  for (let n = 0; n < 20; n++) await here.send(`message ${n}`).ended
  await there.send('from elsewhere').ended
  await here.send('What did I say?').ended
  assert.ok(entriesRead() > 0 && entriesRead() < 20, `${entriesRead()} were read`)
  assert.match(JSON.stringify(bodies().at(-1)), /message 0.*message 19.*from elsewhere.*What did I say/)
})

test('after a retry, an edit and a fork the next request is the one that a new process would send', async () => {
  const { here, there, bodies } = await openTwice()
  for (const text of ['one', 'two', 'three']) await here.send(text).ended
  await here.retry().ended
  const [, , second] = await here.history()
  await here.edit(second?.id ?? '', 'another two').ended
  const [, answer] = await here.history()
  await here.fork(answer?.id ?? '')
  await here.send('other than two').ended
  await there.retry().ended
  const [ours, fresh] = bodies().slice(-2)
  assert.deepEqual(ours, fresh)
})

test('the path is that of the log, wherever in the tree the conversation continues', async () => {
  const step = fc.record({ back: fc.nat(), added: fc.nat({ max: 40 }), seen: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const store = openMemoryStore()
      const { id } = await store.createConversation(owner)
      const pathTo = cachedPath(store, owner)
      const all: Entry[] = []
      let path = await pathTo({ id, head: null, entries: 0 })
      for (const { back, added, seen } of steps) {
        const from = all.length === 0 ? null : (all[back % all.length]?.id ?? null)
        await store.setHead(owner, id, { entryId: from })
        path = await pathTo({ id, head: from, entries: 0 })
        assert.deepEqual(path, from === null ? [] : await store.history(owner, from))
        for (let n = 0; n < added; n++) {
          const entry = await store.append(owner, id, { message: { role: 'user', parts: [] } })
          all.push(entry)
          if (seen) path.push(entry)
        }
      }
    }),
  )
})

test('a process with many conversations caches the most recent paths, separately for each owner', async () => {
  const read: string[] = []
  const store: Pick<Store, 'history' | 'overlays'> = {
    overlays: async () => [],
    async history(asker, entryId) {
      read.push(`${asker} ${entryId}`)
      return [entryAt(entryId)]
    },
  }
  const paths = pathCache(store)
  const go = (asker: string, n: number) => paths(asker, `conversation ${n}`)(headAt(`entry ${n}`))
  for (let n = 0; n < 65; n++) await go(owner, n)
  read.length = 0
  await go(owner, 64)
  await go(owner, 1)
  await go(owner, 0)
  await go('ada', 1)
  assert.deepEqual(read, ['local entry 0', 'ada entry 1'])
})

test('a path longer than the cache limit is cached anyway, and the others are not', async () => {
  let read = 0
  const store: Pick<Store, 'history' | 'overlays'> = {
    overlays: async () => [],
    async history(_, entryId) {
      read++
      return Array<Entry>(20_001).fill(entryAt(entryId))
    },
  }
  const paths = pathCache(store)
  await paths(owner, 'long')(headAt('a'))
  await paths(owner, 'long')(headAt('a'))
  assert.equal(read, 1)
  await paths(owner, 'also long')(headAt('b'))
  await paths(owner, 'also long')(headAt('b'))
  assert.equal(read, 2)
  await paths(owner, 'long')(headAt('a'))
  assert.equal(read, 3)
})

function headAt(head: string): Pick<Conversation, 'id' | 'head' | 'entries'> {
  return { id: '', head, entries: 1 }
}

function entryAt(id: string): Entry {
  return { id, conversationId: '', parentId: null, depth: 0, message: { role: 'user', parts: [] }, at: '' }
}
