// The index of a store is written some entries at a time: a search must not tell which are in it already.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import type { Store } from '../../src/store/store.ts'
import { user } from './messages.ts'

export interface Place {
  open(): Promise<Store>
  /** How many documents are in the index, when no store is open. */
  indexed(): Promise<number>
}

const owner = 'someone'

/** `make`: an empty place. */
export function searchIndexConformance(name: string, make: (t: TestContext) => Promise<Place>): void {
  describe(`${name}: the search index`, () => {
    test('a search finds every entry once, page by page, wherever the index ends', async (t) => {
      const place = await make(t)
      let store = await place.open()
      const { id } = await store.createConversation(owner)
      for (let i = 0; i < 150; i++) await store.append(owner, id, { message: user(`zebra number${i}`) })
      const all = Array.from({ length: 150 }, (_, i) => `zebra number${149 - i}`)
      assert.deepEqual(await found(store, 'zebra'), all)
      await store.close()
      assert.ok((await place.indexed()) >= 128)

      store = await place.open()
      assert.deepEqual(await found(store, 'zebra'), all)
      assert.deepEqual(await found(store, 'number127'), ['zebra number127'])
      assert.deepEqual(await found(store, 'number128'), ['zebra number128'])
      await store.vacuum()
      assert.deepEqual(await found(store, 'zebra'), all)
      await store.close()
      assert.equal(await place.indexed(), 150)
    })

    test('a few messages wait, and a large one is indexed with all that wait before it', async (t) => {
      const place = await make(t)
      let store = await place.open()
      const { id } = await store.createConversation(owner)
      await store.append(owner, id, { message: user('zebra small') })
      await store.close()
      assert.equal(await place.indexed(), 0)

      store = await place.open()
      await store.append(owner, id, { message: user(`zebra large ${'word '.repeat(20_000)}`) })
      assert.equal((await found(store, 'zebra')).length, 2)
      await store.close()
      assert.equal(await place.indexed(), 3, 'the large one is two documents')
    })

    test('a text with more words than an index has positions for is found by each of them', async (t) => {
      const place = await make(t)
      const store = await place.open()
      const { id } = await store.createConversation(owner)
      await store.append(owner, id, { message: user(`${'a bb '.repeat(12_000)}zebra`) })
      await store.vacuum()
      for (const text of ['bb', 'zebra', '"a bb"', 'zeb*']) assert.equal((await found(store, text)).length, 1, text)
      await store.close()
      assert.equal(await place.indexed(), 1)
    })

    test('a very long message is indexed as it was written, by whichever process does it', async (t) => {
      const place = await make(t)
      const [store, other] = [await place.open(), await place.open()]
      const { id } = await store.createConversation(owner)
      const long = (word: string) => user(`${word} ${'word '.repeat(300_000)}`)
      await store.append(owner, id, { id: 'taken', message: user('zebra') })
      // Refused after it was prepared: nothing of it may be found.
      await assert.rejects(store.append(owner, id, { id: 'taken', message: long('lion') }))
      const message = long('tiger')
      await store.append(owner, id, { message })
      for (const part of message.parts) if (part.type === 'text') part.text = 'changed by its owner'
      await other.append(owner, id, { message: long('puma') })
      await other.vacuum()
      await store.vacuum()
      for (const [word, count] of Object.entries({ tiger: 1, puma: 1, lion: 0, owner: 0 }))
        assert.equal((await found(store, word)).length, count, word)
      await store.close()
      await other.close()
      assert.equal(await place.indexed(), 1 + 2 * Math.ceil(1_500_006 / 65_536))
    })

    test('two that write at once share the indexing', async (t) => {
      const place = await make(t)
      const stores = [await place.open(), await place.open()]
      await Promise.all(
        stores.map(async (store) => {
          const { id } = await store.createConversation(owner)
          for (let i = 0; i < 150; i++) await store.append(owner, id, { message: user('zebra') })
        }),
      )
      for (const store of stores) {
        assert.equal((await found(store, 'zebra')).length, 300)
        await store.vacuum()
        assert.equal((await found(store, 'zebra')).length, 300)
      }
      for (const store of stores) await store.close()
      assert.equal(await place.indexed(), 300)
    })

    test('entries written in one transaction are indexed with it', async (t) => {
      const place = await make(t)
      const store = await place.open()
      await talk(store, 'zebra', 200)
      assert.equal((await found(store, 'zebra')).length, 200)
      await store.close()
      assert.ok((await place.indexed()) >= 192)
    })

    test('a message without words blocks nothing', async (t) => {
      const place = await make(t)
      const store = await place.open()
      const { id } = await store.createConversation(owner)
      const odd: unknown = {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'c', name: 7, output: user('words').parts }],
      }
      await store.append(owner, id, { message: odd as Message })
      for (let i = 0; i < 70; i++) await store.append(owner, id, { message: user('zebra') })
      assert.equal((await found(store, 'zebra')).length, 70)
      await store.vacuum()
      assert.equal((await found(store, 'zebra')).length, 70)
      await store.close()
      assert.equal(await place.indexed(), 70)
    })

    test('deleted entries are no longer found, and later ones are', async (t) => {
      const place = await make(t)
      let store = await place.open()
      await talk(store, 'horse', 10)
      const last = await talk(store, 'zebra', 90)
      await store.close()
      assert.ok((await place.indexed()) >= 64)

      store = await place.open()
      await store.deleteConversation(owner, last)
      await talk(store, 'donkey', 100)
      assert.deepEqual(await found(store, 'zebra'), [])
      assert.equal((await found(store, 'donkey')).length, 100)
      assert.equal((await found(store, 'horse')).length, 10)
      await store.vacuum()
      await store.close()
      assert.equal(await place.indexed(), 110, 'nothing of it is left in the index')
    })
  })
}

async function talk(store: Store, word: string, length: number): Promise<string> {
  const { id } = await store.createConversation(owner)
  const entries = Array.from({ length }, () => ({ message: user(word) }))
  await store.appendAll(owner, id, entries)
  return id
}

async function found(store: Store, text: string): Promise<string[]> {
  const snippets: string[] = []
  let cursor: string | undefined
  do {
    const page = await store.search(owner, { text, limit: 7, ...(cursor !== undefined && { cursor }) })
    snippets.push(...page.items.map((hit) => hit.snippet))
    cursor = page.next
  } while (cursor !== undefined)
  return snippets
}
