// What every store must do with records, streams and sums of usage: run with each of them.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Store, StoreOptions } from '../../src/store/store.ts'
import { fails, request } from './conformance/given.ts'
import { reply, user } from './messages.ts'

type Open = (options?: StoreOptions) => Promise<Store>
type Work = (store: Store, owner: string, conversationId: string) => Promise<void>

export function recordsConformance(name: string, open: Open): void {
  const given = (title: string, work: Work, options?: StoreOptions) =>
    test(title, async () => {
      const store = await open(options)
      const owner = `owner-${randomUUID()}`
      try {
        await work(store, owner, (await store.createConversation(owner)).id)
      } finally {
        await store.close()
      }
    })

  describe(`${name}: records`, () => recordTests(given, open))
  describe(`${name}: streams`, () => streamTests(given))
  describe(`${name}: usage`, () => usageTests(given))
}

function recordTests(given: (title: string, work: Work) => Promise<void>, open: Open): void {
  given('a record is read back as it was put, and put again it has the next version', async (store, owner) => {
    const [made] = await store.putRecords([{ owner, kind: 'note', id: 'a', data: { x: [1, null, 'ü'] } }])
    assert.deepEqual(made, await store.record(owner, 'note', 'a'))
    assert.deepEqual([made?.version, made?.data], [1, { x: [1, null, 'ü'] }])
    const [again] = await store.putRecords([{ owner, kind: 'note', id: 'a', data: {} }])
    assert.deepEqual([again?.version, again?.data, again?.at], [2, {}, made?.at])
    assert.equal(await store.record(owner, 'other', 'a'), undefined)
    assert.equal(await store.deleteRecord(owner, 'note', 'a'), true)
    assert.equal(await store.deleteRecord(owner, 'note', 'a'), false)
    assert.equal(await store.record(owner, 'note', 'a'), undefined)
  })

  given('any text can be looked for, and one that cannot be an id is nowhere', async (store, owner) => {
    for (const text of ['\0', 'a\0b', '\ud800', '', '../a', 'x'.repeat(10_000)]) {
      assert.equal(await store.record(owner, 'note', text), undefined)
      assert.deepEqual(await store.records(owner, 'note', { conversationId: text }), { items: [] })
      assert.equal(await store.conversation(owner, text), undefined)
      assert.deepEqual(await store.conversations(owner, { label: text }), { items: [] })
      assert.deepEqual(await store.search(owner, { text: 'word', label: text }), { items: [] })
      assert.deepEqual(await store.search(owner, { text }), { items: [] })
    }
  })

  given(
    'a version that is not the expected one is a conflict, and nothing of the list is put',
    async (store, owner) => {
      const record = { owner, kind: 'note', data: {} }
      await store.putRecords([{ ...record, id: 'a', version: 0 }])
      const both = [
        { ...record, id: 'b', version: 0 },
        { ...record, id: 'a', version: 0 },
      ]
      await fails(store.putRecords(both), 'conflict', 'record-changed')
      assert.equal(await store.record(owner, 'note', 'b'), undefined)
      await fails(store.putRecords([{ ...record, id: 'b', version: 1 }]), 'conflict', 'record-changed')
      await store.putRecords([{ ...record, id: 'a', version: 1 }])
      await fails(store.putRecords([{ ...record, id: "x'; --" }]), 'bad-input')
    },
  )

  given(
    'records are listed page by page, the last made first, each exactly once',
    async (store, owner, conversationId) => {
      for (let i = 0; i < 5; i++) {
        const of = i % 2 ? { conversationId } : {}
        await store.putRecords([{ owner, kind: 'note', id: `n${i}`, data: { i }, ...of }])
      }
      await store.putRecords([{ owner, kind: 'note', id: 'n2', data: { i: 2 } }])
      const first = await store.records(owner, 'note', { limit: 3 })
      const second = await store.records(owner, 'note', { limit: 3, cursor: first.next ?? '' })
      assert.deepEqual(
        [...first.items, ...second.items].map(({ data }) => data['i']),
        [4, 3, 2, 1, 0],
      )
      assert.equal(second.next, undefined)
      const mine = await store.records(owner, 'note', { conversationId })
      assert.deepEqual(
        mine.items.map(({ id }) => id),
        ['n3', 'n1'],
      )
    },
  )

  given('records go with their conversation, and belong to its owner', async (store, owner, conversationId) => {
    const record = { kind: 'note', id: 'a', data: {}, conversationId }
    await fails(store.putRecords([{ ...record, owner: `${owner}-2` }]), 'not-found')
    await store.putRecords([
      { ...record, owner },
      { owner, kind: 'note', id: 'b', data: {} },
    ])
    assert.equal(await store.record(`${owner}-2`, 'note', 'a'), undefined)
    assert.deepEqual((await store.records(`${owner}-2`, 'note')).items, [])
    await store.deleteConversation(owner, conversationId)
    assert.equal(await store.record(owner, 'note', 'a'), undefined)
    assert.ok(await store.record(owner, 'note', 'b'))
  })

  test('an expired record is not found, and its name is free again', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const store = await open({ now: () => now })
    try {
      const record = { owner: `owner-${randomUUID()}`, kind: 'note', id: 'a', data: {}, version: 0 }
      await store.putRecords([{ ...record, expiresAt: '2026-01-01T00:00:10Z' }])
      now += 9_999
      assert.ok(await store.record(record.owner, 'note', 'a'))
      now += 1
      assert.equal(await store.record(record.owner, 'note', 'a'), undefined)
      assert.deepEqual((await store.records(record.owner, 'note')).items, [])
      assert.equal((await store.putRecords([record]))[0]?.version, 1)
    } finally {
      await store.close()
    }
  })

  given('entries and records are written together or not at all', async (store, owner, conversationId) => {
    const record = { owner, kind: 'key', id: 'k', data: {}, version: 0 }
    await store.appendAll(owner, conversationId, [{ message: user('one') }], {}, [record])
    assert.ok(await store.record(owner, 'key', 'k'))
    const again = store.appendAll(owner, conversationId, [{ message: user('two') }], {}, [record])
    await fails(again, 'conflict', 'record-changed')
    const wrong = { message: user('two'), parentId: 'nobody' }
    await fails(store.appendAll(owner, conversationId, [wrong], {}, [{ ...record, id: 'l' }]), 'conflict')
    assert.equal(await store.record(owner, 'key', 'l'), undefined)
    assert.equal((await store.conversation(owner, conversationId))?.entries, 1)
  })

  given('a reply and records are written together or not at all', async (store, owner, conversationId) => {
    const record = { owner, kind: 'key', id: 'k', data: {}, conversationId, version: 0 }
    const entry = await store.append(owner, conversationId, { message: user('one') })
    const open = () => store.openExchange(owner, conversationId, request(entry.id, '{}'))
    const [first, second] = [await open(), await open()]
    const done = { outcome: 'done', reply: { message: reply('answer'), parentId: entry.id } } as const
    await store.finishExchange(owner, first.id, { ...done, records: [record] })
    assert.ok(await store.record(owner, 'key', 'k'))
    const beside = { ...done, reply: { ...done.reply, head: 'stay' } } as const
    await fails(store.finishExchange(owner, second.id, { ...beside, records: [record] }), 'conflict', 'record-changed')
    // The head has moved, so this reply cannot be written.
    await fails(store.finishExchange(owner, second.id, { ...done, records: [{ ...record, id: 'l' }] }), 'conflict')
    assert.equal(await store.record(owner, 'key', 'l'), undefined)
    assert.equal((await store.exchange(owner, second.id))?.outcome, 'open')
    assert.equal((await store.conversation(owner, conversationId))?.entries, 2)
    await store.finishExchange(owner, second.id, { ...beside, records: [{ ...record, id: 'l' }] })
    assert.ok(await store.record(owner, 'key', 'l'))
  })
}

function streamTests(given: (title: string, work: Work, options?: StoreOptions) => Promise<void>): void {
  given('events of a stream are read back from any number on, in order', async (store, owner, conversationId) => {
    const streamId = randomUUID()
    assert.equal(await store.stream(owner, streamId), undefined)
    const { epoch, next } = await store.openStream(owner, conversationId, streamId)
    assert.equal(next, 0)
    const all = Array.from({ length: 10 }, (_, i) => JSON.stringify({ i, text: 'a\nb' }))
    const one = { owner, streamId, epoch }
    assert.deepEqual(await store.appendStreams([{ ...one, offset: 0, events: all.slice(0, 4) }]), [undefined])
    assert.deepEqual(await store.stream(owner, streamId), { events: all.slice(0, 4), next: 4, ended: false })
    await store.appendStreams([
      { ...one, offset: 4, events: all.slice(4, 5) },
      { ...one, offset: 5, events: all.slice(5), end: true },
    ])
    for (let from = 0; from <= 11; from++) {
      const next = Math.max(from, 10)
      assert.deepEqual(await store.stream(owner, streamId, from), { events: all.slice(from), next, ended: true })
      const some = await store.stream(owner, streamId, from, 3)
      assert.deepEqual(some?.events, all.slice(from, from + 3))
      assert.equal(some?.ended, from + 3 >= 10)
    }
    assert.deepEqual((await store.stream(owner, streamId, 0, Number.MAX_SAFE_INTEGER))?.events, all)
    const beyond = 999_999_999_999_999
    assert.deepEqual(await store.stream(owner, streamId, beyond), { events: [], next: beyond, ended: true })
  })

  given('one refused write leaves the others alone', async (store, owner, conversationId) => {
    const [a, b] = [randomUUID(), randomUUID()]
    const first = await store.openStream(owner, conversationId, a)
    const { epoch } = await store.openStream(owner, conversationId, b)
    const second = await store.openStream(owner, conversationId, a)
    assert.ok(second.epoch > first.epoch)
    const failures = await store.appendStreams([
      { owner, streamId: a, epoch: first.epoch, offset: 0, events: ['"zombie"'] },
      { owner, streamId: b, epoch, offset: 1, events: ['"gap"'] },
      { owner, streamId: a, epoch: second.epoch, offset: 0, events: ['1', '2'], end: true },
      { owner, streamId: a, epoch: second.epoch, offset: 2, events: ['3'] },
      { owner: `${owner}-2`, streamId: b, epoch, offset: 0, events: ['"foreign"'] },
      { owner, streamId: b, epoch, offset: 0, events: ['"two\nlines"'] },
      { owner, streamId: b, epoch, offset: 0, events: ['4'] },
    ])
    assert.deepEqual(
      failures.map((failure) => failure?.code ?? failure?.kind),
      ['stream-taken', 'stream-gap', undefined, 'stream-ended', 'not-found', 'bad-input', undefined],
    )
    assert.deepEqual((await store.stream(owner, a))?.events, ['1', '2'])
    assert.deepEqual((await store.stream(owner, b))?.events, ['4'])
  })

  given('a stream taken over continues where it was', async (store, owner, conversationId) => {
    const streamId = randomUUID()
    const first = await store.openStream(owner, conversationId, streamId)
    await store.appendStreams([{ owner, streamId, epoch: first.epoch, offset: 0, events: ['1', '2', '3'] }])
    assert.equal((await store.openStream(owner, conversationId, streamId)).next, 3)
  })

  given('streams belong to the owner of their conversation and go with it', async (store, owner, conversationId) => {
    const streamId = randomUUID()
    await store.openStream(owner, conversationId, streamId)
    const other = `${owner}-2`
    const foreign = await store.createConversation(other)
    assert.equal(await store.stream(other, streamId), undefined)
    await fails(store.openStream(other, conversationId, streamId), 'not-found')
    await fails(store.openStream(other, foreign.id, streamId), 'not-found')
    await store.deleteConversation(owner, conversationId)
    assert.equal(await store.stream(owner, streamId), undefined)
  })

  given('the streams of a conversation that have not ended are listed, newest first', async (store, owner, id) => {
    const { id: elsewhere } = await store.createConversation(owner)
    const [first, ended, last, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    for (const streamId of [first, ended, last, other]) {
      const { epoch } = await store.openStream(owner, streamId === other ? elsewhere : id, streamId)
      await store.appendStreams([{ owner, streamId, epoch, offset: 0, events: ['1'], end: streamId === ended }])
    }
    assert.deepEqual(await store.currentStreams(owner, id), [last, first])
    assert.deepEqual(await store.currentStreams(owner, elsewhere), [other])
    assert.deepEqual(await store.currentStreams(`${owner}-2`, id), [])
    assert.deepEqual(await store.currentStreams(owner, randomUUID()), [])
  })

  given('streams that ended long ago can be taken away', async (store, owner, conversationId) => {
    const [old, open] = [randomUUID(), randomUUID()]
    for (const streamId of [old, open]) {
      const { epoch } = await store.openStream(owner, conversationId, streamId)
      await store.appendStreams([{ owner, streamId, epoch, offset: 0, events: ['1'], end: streamId === old }])
    }
    await store.dropStreams('2000-01-01T00:00:00Z')
    assert.ok(await store.stream(owner, old))
    assert.ok((await store.dropStreams('2999-01-01T00:00:00Z')) >= 1)
    assert.equal(await store.stream(owner, old), undefined)
    assert.ok(await store.stream(owner, open))
  })
}

function usageTests(given: (title: string, work: Work, options?: StoreOptions) => Promise<void>): void {
  let now = Date.parse('2026-03-01T23:00:00Z')
  given(
    'tokens and money are added up by day, provider and model, for their owner only',
    async (store, owner, conversationId) => {
      const { id: basedOn } = await store.append(owner, conversationId, { message: user('hi') })
      const usage = { input: 10, output: 5, cacheRead: 4, cacheWrite: 3, reasoning: 2 }
      const done = async (model: string, cost?: number, offline = false) => {
        const body = '{}'
        const { id } = await store.openExchange(owner, conversationId, {
          basedOn,
          provider: 'p',
          protocol: 'w',
          model,
          body,
        })
        const counted = offline ? { ...usage, offline } : usage
        await store.finishExchange(owner, id, {
          outcome: 'done',
          usage: counted,
          ...(cost !== undefined && { cost }),
        })
      }
      await done('m', 0.5)
      await done('m', 0.25)
      await done('n')
      now += 3_600_000
      await done('m', 1)
      await done('m', 0, true)
      await store.openExchange(owner, conversationId, { basedOn, provider: 'p', protocol: 'w', model: 'm', body: '{}' })
      const rows = await store.usage(owner)
      assert.deepEqual(
        rows.map((row) => [row.day, row.model, row.exchanges, row.input, row.cost, row.unpriced, row.offline]),
        [
          ['2026-03-01', 'm', 2, 20, 0.75, 0, 0],
          ['2026-03-01', 'n', 1, 10, 0, 1, 0],
          ['2026-03-02', 'm', 3, 20, 1, 0, 1],
        ],
      )
      assert.equal((await store.usage(owner, { before: '2026-03-02T00:00:00Z' })).length, 2)
      assert.equal((await store.usage(owner, { after: '2026-03-02' })).length, 1)
      assert.equal((await store.usage(owner, { conversationId })).length, 3)
      assert.deepEqual(await store.usage(owner, { conversationId: randomUUID() }), [])
      assert.deepEqual(await store.usage(`${owner}-2`), [])
    },
    { now: () => now },
  )
}
