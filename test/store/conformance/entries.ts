// The store contract: entries, paths and trees.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc, { character } from '../../property.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Message } from '../../../src/core/message.ts'
import type { NewEntry } from '../../../src/store/store.ts'
import { call, reply, result, textsOf, user } from '../messages.ts'
import { fails, type Given } from './given.ts'

export function entryTests(given: Given): void {
  given('messages come back exactly as they were given', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const messages: Message[] = [
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      { ...user('What time is it?'), source: { format: 'openai-chat', value: { role: 'user' }, index: 0, of: 1 } },
      reply('', [
        call('c1', 'get_time', {
          zone: 'Asia/Tokyo',
          n: 1e21,
          deep: JSON.parse('[[{"__proto__":1,"a":null}]]') as Json,
        }),
      ]),
      result('c1', 'get_time', '12:00', { at: '12:00', precise: 0.1, list: [1, 'two', null] }),
      reply('noon', [
        { type: 'reasoning', text: 'think', hidden: true, from: 1 },
        { type: 'opaque', kind: 'openai-chat/hologram', data: { any: ['thing'] } },
        { type: 'tool-call', callId: 'c2', name: 'x', input: {}, malformed: '{"a":' },
      ]),
      user('\0 lone \ud800 half, \u2028, 日本語, e\u0301, 👩‍👩‍👧'),
      user(''),
    ]
    for (const message of messages) {
      const entry = await store.append(owner, id, { message })
      assert.deepEqual(entry.message, message)
    }
    const head = (await store.conversation(owner, id))?.head ?? ''
    const history = await store.history(owner, head)
    assert.deepEqual(
      history.map((entry) => entry.message),
      messages,
    )
    assert.deepEqual(
      history.map((entry) => entry.depth),
      [0, 1, 2, 3, 4, 5, 6],
    )
    assert.deepEqual(
      history.map((entry) => entry.parentId),
      [null, ...history.slice(0, -1).map((entry) => entry.id)],
    )
    assert.deepEqual(await store.entry(owner, head), history.at(-1))
  })

  given('what the caller does to a message later does not reach the log', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const message = user('before')
    const entry = await store.append(owner, id, { message })
    message.parts.push({ type: 'text', text: 'after' })
    entry.message.parts.length = 0
    assert.deepEqual((await store.entry(owner, entry.id))?.message, user('before'))
  })

  given('the head moves with each entry, and a stale writer gets a conflict', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const first = await store.append(owner, id, { message: user('one'), parentId: null })
    const second = await store.append(owner, id, { message: reply('two'), parentId: first.id })
    const error = await fails(
      store.append(owner, id, { message: user('late'), parentId: first.id }),
      'conflict',
      'head-moved',
    )
    assert.deepEqual(error.failure.raw, { head: second.id, expected: first.id })
    await fails(store.append(owner, id, { message: user('late'), parentId: null }), 'conflict', 'head-moved')
    const now = await store.conversation(owner, id)
    assert.equal(now?.head, second.id)
    assert.equal(now?.entries, 2)
  })

  given('an entry can be written beside the head without moving it', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const first = await store.append(owner, id, { message: user('one') })
    const second = await store.append(owner, id, { message: reply('two') })
    const beside = await store.append(owner, id, { message: reply('other'), parentId: first.id, head: 'stay' })
    assert.equal((await store.conversation(owner, id))?.head, second.id)
    assert.deepEqual(textsOf(await store.history(owner, beside.id)), ['one', 'other'])
  })

  given('an entry can take the head with it to any place', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const first = await store.append(owner, id, { message: user('one') })
    await store.append(owner, id, { message: reply('two') })
    const moved = await store.append(owner, id, { message: reply('other'), parentId: first.id, head: 'move' })
    assert.equal((await store.conversation(owner, id))?.head, moved.id)
    const root = await store.append(owner, id, { message: user('new root'), parentId: null, head: 'move' })
    assert.equal(root.depth, 0)
    assert.deepEqual(textsOf(await store.children(owner, id, null)), ['one', 'new root'])
  })

  given('a parent that is not of this conversation is not found', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const other = await store.createConversation(owner)
    const elsewhere = await store.append(owner, other.id, { message: user('x') })
    await fails(store.append(owner, id, { message: user('x'), parentId: elsewhere.id, head: 'stay' }), 'not-found')
    await fails(store.append(owner, id, { message: user('x'), parentId: randomUUID(), head: 'move' }), 'not-found')
    assert.equal((await store.conversation(owner, id))?.entries, 0)
  })

  given('several entries are written all or not at all', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const [a, b] = [randomUUID(), randomUUID()]
    const tree: NewEntry[] = [
      { id: a, message: user('a'), parentId: null, at: '2020-01-01T00:00:00Z' },
      { id: b, message: reply('b'), parentId: a },
      { message: reply('b2'), parentId: a, head: 'stay' },
      { message: user('c'), parentId: b },
    ]
    const written = await store.appendAll(owner, id, tree)
    assert.deepEqual(
      written.map((entry) => entry.depth),
      [0, 1, 1, 2],
    )
    assert.equal(written[0]?.at, '2020-01-01T00:00:00.000Z')
    assert.deepEqual(textsOf(await store.history(owner, written[3]?.id ?? '')), ['a', 'b', 'c'])

    const before = [await store.conversation(owner, id), await store.outline(owner, id)]
    const bad: NewEntry[] = [{ message: user('lost') }, { message: user('x'), parentId: randomUUID() }]
    await fails(store.appendAll(owner, id, bad), 'conflict')
    assert.deepEqual([await store.conversation(owner, id), await store.outline(owner, id)], before)
    assert.deepEqual((await store.search(owner, { text: 'lost' })).items, [])
    await fails(store.append(owner, id, { id: a, message: user('again') }), 'conflict', 'id-taken')
    assert.deepEqual([await store.conversation(owner, id), await store.outline(owner, id)], before)
  })

  given('a message that is no message, or no JSON, is refused and changes nothing', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const circular: { [key: string]: never } = {}
    Object.assign(circular, { self: circular })
    await fails(store.append(owner, id, { message: result('c', 't', 'x', circular) }), 'bad-input')
    const odd = JSON.parse('{"role":"robot","parts":[]}') as Message
    await fails(store.append(owner, id, { message: odd }), 'bad-input')
    await fails(store.append(owner, id, { message: user('x'), at: 'yesterday' }), 'bad-input')
    assert.equal((await store.conversation(owner, id))?.entries, 0)
  })

  given('the end of a history can be read alone', async (store, owner) => {
    const { id } = await store.createConversation(owner)
    const texts = Array.from({ length: 30 }, (_, i) => `m${i}`)
    const entries = await store.appendAll(
      owner,
      id,
      texts.map((text) => ({ message: user(text) })),
    )
    const last = entries.at(-1)?.id ?? ''
    assert.deepEqual(textsOf(await store.history(owner, last, { last: 3 })), ['m27', 'm28', 'm29'])
    assert.equal((await store.history(owner, last, { last: 3 }))[0]?.parentId, entries[26]?.id)
    assert.deepEqual(textsOf(await store.history(owner, last, { last: 100 })), texts)
    assert.deepEqual(textsOf(await store.history(owner, last)), texts)
    assert.deepEqual(await store.history(owner, randomUUID()), [])
  })

  given('any tree of any text is walked as it was written', async (store, owner) => {
    const steps = fc.array(fc.record({ parent: fc.nat(), text: fc.string({ unit: character }) }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, async (tree) => {
        const { id } = await store.createConversation(owner)
        const made: { id: string; parentId: string | null; path: string[] }[] = []
        for (const { parent, text } of tree) {
          const above = parent % (made.length + 1) === 0 ? undefined : made[(parent % (made.length + 1)) - 1]
          const entry = await store.append(owner, id, {
            message: user(text),
            parentId: above?.id ?? null,
            head: 'move',
          })
          made.push({ id: entry.id, parentId: above?.id ?? null, path: [...(above?.path ?? []), text] })
        }
        for (const { id: entryId, path } of made) {
          assert.deepEqual(textsOf(await store.history(owner, entryId)), path)
          const children = await store.children(owner, id, entryId)
          assert.deepEqual(
            children.map((child) => child.id),
            made.filter((one) => one.parentId === entryId).map((one) => one.id),
          )
        }
        const outline = await store.outline(owner, id)
        assert.deepEqual(
          outline.map((entry) => entry.id),
          made.map((one) => one.id),
        )
        assert.deepEqual(await store.outline(owner, id, { last: 2 }), outline.slice(-2))
        for (const [place, { id: before }] of outline.entries()) {
          const part = await store.outline(owner, id, { last: 3, before })
          assert.deepEqual(part, outline.slice(Math.max(0, place - 3), place))
        }
        const inner = new Set(made.map((one) => one.parentId))
        const leaves = made.filter((one) => !inner.has(one.id)).map((one) => one.id)
        assert.deepEqual(
          (await store.branches(owner, id)).map((branch) => branch.entryId),
          leaves.toReversed(),
        )
      }),
      { numRuns: 15 },
    )
  })
}
