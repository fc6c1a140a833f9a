// The path of a conversation, read once and then only at its end.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Entry } from '../../src/core/log.ts'
import type { Message } from '../../src/core/message.ts'
import { cachedPath, outlineEnd, pathCache, readWhole } from '../../src/run/log/path-cache.ts'
import type { Store } from '../../src/store/store.ts'
import { entriesOf, reply, user } from '../histories.ts'

describe('the path of a conversation', () => {
  const path = entriesOf(...Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? user(`${i}`) : reply(`${i}`))))
  const outline = (message: Message): Message => ({ ...message, parts: [], outline: true }) as never
  const store = (entries: Entry[], overlays: object[] = []) => {
    const reads: object[] = []
    return {
      reads,
      async history(_: string, head: string, options: { last?: number; outlineThrough?: string } = {}) {
        reads.push({ head, ...options })
        const end = entries.findIndex(({ id }) => id === head) + 1
        const whole = entries.slice(0, end)
        return options.last === undefined ? whole : whole.slice(-options.last)
      },
      overlays: async () => overlays as never,
    }
  }
  const at = (head: string | null, entries = 40) => ({ id: 'c', head, entries })

  test('is read once, and then only what is new', async () => {
    const db = store(path)
    const pathTo = cachedPath(db, 'o')
    assert.deepEqual(await pathTo(at(null)), [])
    assert.equal((await pathTo(at('e20'))).length, 21)
    assert.equal((await pathTo(at('e20'))).length, 21)
    assert.equal((await pathTo(at('e10'))).length, 11, 'back to an earlier one')
    assert.equal(db.reads.length, 1)
    assert.equal((await pathTo(at('e20'))).length, 21)
    assert.deepEqual(db.reads.slice(1), [{ head: 'e20', last: 16 }], 'the end is enough')
    assert.equal((await pathTo(at('e39'))).length, 40)
    assert.deepEqual(db.reads.slice(2), [{ head: 'e39', last: 16 }, { head: 'e39' }], 'too far for its end')
    const found = await pathTo(at('e39'))
    assert.deepEqual(
      found.map(({ id }) => id),
      path.map(({ id }) => id),
    )
    assert.deepEqual(await pathTo(at(null)), [])
  })

  test('of a long conversation is read in outline up to a summary, if it has one that every model can read', async () => {
    const summary = { kind: 'compaction', undone: false, data: { text: 's', through: 'e9' }, entryId: 'e11' }
    const long = async (overlays: object[], head = 'e39', entries = 1000) => {
      const db = store(path, overlays)
      await cachedPath(db, 'o')(at(head, entries))
      return db.reads.map((read) => ('outlineThrough' in read ? read.outlineThrough : 'whole'))
    }
    assert.deepEqual(await long([summary]), ['e9'])
    assert.deepEqual(await long([]), ['whole'])
    assert.deepEqual(await long([summary], 'e39', 999), ['whole'])
    assert.deepEqual(await long([{ ...summary, undone: true }]), ['whole'])
    assert.deepEqual(await long([{ ...summary, kind: 'fold' }]), ['whole'])
    assert.deepEqual(await long([{ ...summary, data: { through: 'e9' } }]), ['whole'])
    assert.deepEqual(await long([{ ...summary, data: { text: 's' } }]), ['whole'])
    const db = store(path, [summary])
    const pathTo = cachedPath(db, 'o')
    await pathTo(at('e39', 1000), true)
    assert.deepEqual(db.reads, [{ head: 'e39' }])
  })

  test('has content from its first message that is no outline on, and is read in full where that is needed', async () => {
    const outlined = path.map((entry, i) => (i > 0 && i < 10 ? { ...entry, message: outline(entry.message) } : entry))
    const isRead = outlineEnd(outlined)
    assert.ok(isRead === 9 || isRead === -1)
    assert.equal(outlineEnd(path), -1)
    assert.equal(outlineEnd([]), -1)
    assert.equal(outlineEnd(path.slice(0, 1)), -1)
    const same = await readWhole({ store: store(path), owner: 'o' }, path)
    assert.equal(same, path)
  })
})

describe('the paths of many conversations', () => {
  const known = (sizes: Record<string, number> = {}) => {
    const reads: string[] = []
    const store = {
      async history(_: string, head: string) {
        reads.push(head)
        const length = sizes[head] ?? 1
        return Array.from({ length }, (__, depth) => ({ id: depth === length - 1 ? head : `${head}-${depth}`, depth }))
      },
      overlays: async () => [],
    } as unknown as Store
    const cache = pathCache(store)
    const read = async (...names: string[]) => {
      reads.length = 0
      for (const name of names) await cache('o', name)({ id: name, head: name, entries: 1 })
      return [...reads]
    }
    return { read }
  }

  test('are cached for the 64 that were used last', async () => {
    const { read } = known()
    const names = Array.from({ length: 64 }, (_, i) => `c${i}`)
    assert.deepEqual(await read(...names), names)
    assert.deepEqual(await read(...names), [])
    assert.deepEqual(await read('c0', 'new'), ['new'])
    assert.deepEqual(await read('c0', ...names.slice(2)), [])
    assert.deepEqual(await read('c1'), ['c1'])
  })

  test('are cached up to 20,000 entries, and the last one whatever its length', async () => {
    const { read } = known({ a: 15_000, b: 5000, c: 5001, d: 30_000 })
    await read('a', 'b')
    assert.deepEqual(await read('b', 'a'), [])
    await read('c')
    assert.deepEqual(await read('c', 'a'), ['a'], 'one entry too many')
    await read('d')
    assert.deepEqual(await read('d'), [])
    assert.deepEqual(await read('c'), ['c'])
  })
})
