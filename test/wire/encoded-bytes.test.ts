// What is copied from earlier requests, and what is written again.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, Note } from '../../src/core/context.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import {
  bodyBytes,
  cachedElement,
  cachedList,
  originsIn,
  type CachedElement,
} from '../../src/wires/shared/body-bytes.ts'
import { encodeCache } from '../../src/wires/shared/encode-cache.ts'
import type { Target } from '../../src/wires/wire.ts'
import { user } from '../histories.ts'
import { targetFor } from './target-for.ts'

describe('the bytes of a body', () => {
  /** How many elements are written for a body, after the bodies before it. */
  const counting = () => {
    const written = new Set<string>()
    const element = (name: string) =>
      cachedElement({
        get name() {
          written.add(name)
          return name
        },
      })
    const write = (list: readonly CachedElement[]) => {
      written.clear()
      const bytes = bodyBytes({ a: 1, list: cachedList(list), z: 'é' })
      const count = written.size
      const names = list.map((one) => JSON.stringify(one.value))
      assert.equal(Buffer.from(bytes).toString(), `{"a":1,"list":[${names.join()}],"z":"é"}`)
      return count
    }
    return { element, write }
  }

  test('of elements that were written before are copied; a change writes only what was cached with it', () => {
    const rewritten = (changed: number) => {
      const { element, write } = counting()
      const list = Array.from({ length: 40 }, (_, i) => element(`e${i}`))
      assert.equal(write(list), 40)
      return write(list.with(changed, element('new')))
    }
    // The last sixteen are cached in spans of half of what is left.
    const rows = { 0: 24, 23: 24, 24: 8, 31: 8, 32: 4, 35: 4, 36: 2, 37: 2, 38: 1, 39: 1 }
    for (const [changed, count] of Object.entries(rows)) assert.equal(rewritten(Number(changed)), count, changed)
  })

  test('of a list that grows, shrinks or loses its beginning are those of the elements that are left', () => {
    const { element, write } = counting()
    const list = Array.from({ length: 30 }, (_, i) => element(`e${i}`))
    assert.equal(write(list.slice(0, 20)), 20)
    assert.equal(write(list), 10)
    assert.equal(write(list), 0)
    assert.equal(write([]), 0)
    assert.equal(write(list.slice(0, 29)), 29, 'what was sent twice together is one span')
    assert.equal(write(list.slice(2)), 12, 'what is left of the first span, and the new one')
    assert.equal(write(list.slice(2)), 0)
    const [only] = list
    assert.ok(only)
    write([only])
    assert.equal(write([only]), 0)
  })

  test('are those of the list as it is now, and of values that JSON leaves out', () => {
    const list = cachedList([cachedElement({ a: 1 }), cachedElement({ b: 2 })])
    const text = (body: JsonObject) => Buffer.from(bodyBytes(body)).toString()
    const same = (body: JsonObject) => assert.equal(text(body), JSON.stringify(body))
    same({ list })
    list.push({ c: 3 })
    same({ list })
    list.splice(0, 3, { d: 4 }, { e: 5 })
    same({ list })
    same({})
    same({ a: undefined, b: null })
    same({ a: undefined, list: cachedList([]) })
    same({ list: cachedList([]), other: cachedList([cachedElement({ a: [] })]) })
    same({ list: [{ a: 1 }] })
    const long = 'x'.repeat(256)
    const deep = { list: cachedList([cachedElement({ a: [long, { b: [[long]] }, 'é'.repeat(300), long.slice(1)] })]) }
    const conversation = [{}, {}]
    for (let i = 0; i < 3; i++) {
      assert.equal(Buffer.from(bodyBytes({ ...deep, i }, conversation)).toString(), JSON.stringify({ ...deep, i }))
    }
    assert.deepEqual(originsIn('list', list), { field: 'list', from: [[], []] })
    const named = cachedList([cachedElement({ a: 1 }, ['messages[1]']), cachedElement({ b: 1 })])
    assert.deepEqual(originsIn('list', named), { field: 'list', from: [['messages[1]'], []] })
    assert.deepEqual(originsIn('list', [{ a: 1 }]), { field: 'list', from: [] })
  })
})

describe('the encoding of a message', () => {
  const target = { ...targetFor({}), options: {} } as Target
  const messages = [user('a'), user('b'), user('c')]
  const cacheOf = (
    change: Partial<Context> = {},
    lookups: Record<string, (key: string) => unknown> = {},
    to = target,
  ) => {
    const notes: Note[] = []
    const context = { system: [], tools: [], messages, fromLog: true, ...change } as unknown as Context
    const cache = encodeCache(context, to, 'how', { name: (key: string) => key, ...lookups }, notes)
    let writes = 0
    const write = (index: number, ...asks: [keyof typeof cache.lookups, string][]) =>
      cache.cached(context.messages[index] as Message, index, (_, place) => {
        writes++
        notes.push({ kind: 'added', what: place, why: '' })
        return asks.map(([lookup, key]) => cache.lookups[lookup]?.(key))
      })
    return { write, notes, cache, count: () => writes }
  }

  test('of a log is made once for each place and target, with its notes each time', () => {
    const first = cacheOf()
    const made = first.write(0)
    const again = cacheOf()
    assert.equal(again.write(0), made)
    assert.deepEqual([again.count(), again.notes.map(({ what }) => what)], [0, ['messages[0]']])
    again.write(1)
    assert.equal(again.count(), 1)
    const other = cacheOf({}, {}, { ...target, model: 'n' })
    other.write(0)
    assert.equal(other.count(), 1)
    const moved = cacheOf({ places: [4, 5, 6] })
    moved.write(0)
    assert.deepEqual([moved.count(), moved.notes[0]?.what], [1, 'messages[4]'])
  })

  test('of a list that is not a log is made each time', () => {
    const { write, count, cache } = cacheOf({ fromLog: false })
    write(0)
    write(0)
    assert.deepEqual([count(), cache.lookups.name('x')], [2, 'x'])
  })

  test('is made again when what it has looked up has changed, and only then', () => {
    const fresh = [user('d'), user('e')]
    const answers: Record<string, string> = { a: '1', b: '2', unused: '3' }
    const given = { of: (key: string) => answers[key] }
    const at = () => cacheOf({ messages: fresh }, given)
    const asks: ['of', string][] = [
      ['of', 'a'],
      ['of', 'b'],
    ]
    const writes = () => {
      const { write, count, cache } = at()
      ;(cache.lookups as unknown as typeof given).of('unused')
      write(0, ...(asks as never[]))
      write(1)
      return count()
    }
    assert.equal(writes(), 2)
    assert.equal(writes(), 0)
    answers['unused'] = '9'
    assert.equal(writes(), 0, 'asked outside of a message')
    answers['b'] = '8'
    assert.equal(writes(), 1)
    answers['a'] = '7'
    assert.equal(writes(), 1)
    assert.equal(writes(), 0)
  })

  test('is found by the second message too, if the first was made again', () => {
    const [x, y] = [user('x'), user('y')]
    cacheOf({ messages: [x, y] }).write(1)
    const { write, count } = cacheOf({ messages: [user('x'), y] })
    write(1)
    assert.equal(count(), 0)
    const third = cacheOf({ messages: [user('1'), user('2'), y] })
    third.write(2)
    assert.equal(third.count(), 1)
  })
})
