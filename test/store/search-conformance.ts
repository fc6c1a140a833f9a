// What every store must find, and in which order.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from '../property.ts'
import type { Message } from '../../src/core/message.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { SearchQuery, Store, StoreOptions } from '../../src/store/store.ts'
import { fails } from './conformance/given.ts'
import { call, reply, result, user } from './messages.ts'

export function searchConformance(name: string, open: (options?: StoreOptions) => Promise<Store>): void {
  const given = (title: string, work: (store: Store, owner: string) => Promise<void>) =>
    test(title, async () => {
      const store = await open()
      try {
        await work(store, `owner-${randomUUID()}`)
      } finally {
        await store.close()
      }
    })

  describe(`${name}: search`, () => {
    given('finds what was said, asked of tools and given back, the last written first', async (store, owner) => {
      const entries = await talk(store, owner, [
        user('Where is the zebra?'),
        reply('I will look for the ZEBRA', [call('c1', 'look_up', { animal: 'zebra', tags: ['striped', 7] })]),
        result('c1', 'look_up', 'One zebra at the gate'),
        reply('At the gate.'),
      ])
      const { items } = await store.search(owner, { text: 'zebra' })
      assert.deepEqual(
        items.map(({ entryId, kind, tool }) => ({ entryId, kind, tool })),
        [
          { entryId: entries[2], kind: 'output', tool: 'look_up' },
          { entryId: entries[1], kind: 'input', tool: 'look_up' },
          { entryId: entries[1], kind: 'reply', tool: undefined },
          { entryId: entries[0], kind: 'user', tool: undefined },
        ],
      )
      const [output, , said] = items
      assert.equal(output?.snippet, 'One zebra at the gate')
      assert.deepEqual(output?.marks, [[4, 9]])
      assert.deepEqual(said?.marks, [[20, 25]])
    })

    given('finds conversations by their titles, first and once', async (store, owner) => {
      const make = async (title: string, said: string, at: string) => {
        const { id } = await store.createConversation(owner, { title, labels: [said], at })
        const [entry] = await store.appendAll(owner, id, [{ message: user(said), at }])
        return { conversationId: id, entryId: entry?.id ?? '' }
      }
      const old = await make('Trip to Málaga', 'plans', '2023-12-19T10:00:00.000Z')
      const both = await make('Malaga again', 'More about malaga', '2024-01-19T10:00:00.000Z')
      await store.createConversation(owner, { title: 'malaga, without a message' })
      const { items } = await store.search(owner, { text: 'malaga' })
      assert.deepEqual(
        items.map(({ conversationId, entryId, kind }) => ({ conversationId, entryId, kind })),
        [
          { ...old, kind: 'title' },
          { ...both, kind: 'user' },
        ],
      )
      assert.equal(items[0]?.snippet, 'Trip to Málaga')
      assert.deepEqual(items[0]?.marks, [[8, 14]])
      const titled = async (query: Partial<SearchQuery>) =>
        (await store.search(owner, { text: 'malaga', kind: 'title', ...query })).items.map((hit) => hit.conversationId)
      assert.deepEqual(await titled({}), [both.conversationId, old.conversationId])
      assert.deepEqual(await titled({ limit: 1 }), [both.conversationId])
      assert.deepEqual(await titled({ label: 'plans' }), [old.conversationId])
      assert.deepEqual(await titled({ after: '2024-01-01T00:00:00Z' }), [both.conversationId])
      const others = await store.search(`${owner}-other`, { text: 'malaga' })
      assert.deepEqual(others.items, [])
    })

    given('all words must be there; phrases in order; the begin of a word with a star', async (store, owner) => {
      await talk(store, owner, [user('the quick brown fox'), user('the brown quick dog'), user('call get_time now')])
      const found = async (text: string) => (await store.search(owner, { text })).items.map((hit) => hit.snippet)
      assert.deepEqual(await found('brown quick'), ['the brown quick dog', 'the quick brown fox'])
      assert.deepEqual(await found('"quick brown"'), ['the quick brown fox'])
      assert.deepEqual(await found('"quick brown'), ['the quick brown fox'])
      assert.deepEqual(await found('qui*'), ['the brown quick dog', 'the quick brown fox'])
      assert.deepEqual(await found('qui'), [])
      assert.deepEqual(await found('qu*'), [])
      assert.deepEqual(await found('fox dog'), [])
      assert.deepEqual(await found('get_time'), ['call get_time now'])
      assert.deepEqual(await found('get_tim*'), ['call get_time now'])
      assert.deepEqual(await found('time_get'), [])
    })

    given('no text is a syntax error', async (store, owner) => {
      await talk(store, owner, [user('AND or NOT near column')])
      const texts = [
        '',
        '   ',
        '"',
        '""',
        '***',
        'a" OR "b',
        "'; DROP TABLE entries; --",
        '(',
        'NOT',
        'text:',
        'filters : x',
        '\0',
        '\ud800',
        ':*',
        '&|!',
        'a <-> b',
      ]
      for (const text of texts) await store.search(owner, { text })
      assert.equal((await store.search(owner, { text: 'near AND not' })).items.length, 1)
      assert.deepEqual(await store.search(owner, { text: '?!' }), { items: [] })
    })

    given(
      'case, accents and width do not matter, and scripts without spaces are searched by character',
      async (store, owner) => {
        await talk(store, owner, [
          user('Crème Brûlée für ÅSA'),
          user('東京都に行きます'),
          user('ｆｕｌｌ width'),
          user('сыр и ЙОД'),
          user('한국어 검색'),
        ])
        const count = async (text: string) => (await store.search(owner, { text })).items.length
        for (const text of ['creme', 'BRULEE', 'asa', '京都', '東京', 'full', 'йод', '검색', 'сыр']) {
          assert.equal(await count(text), 1, text)
        }
        assert.equal(await count('都京'), 0)
      },
    )

    given('filters narrow by provider, tool, kind, conversation, label and date', async (store, owner) => {
      const one = await store.createConversation(owner, { labels: ['work'], title: 'One' })
      const two = await store.createConversation(owner)
      const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T12:00:00Z`
      await store.append(owner, one.id, { message: user('apple'), at: at(1) })
      await store.append(owner, one.id, { message: reply('apple', [call('a', 'buy', { what: 'apple' })]), at: at(2) })
      await store.append(owner, one.id, { message: result('a', 'buy', 'apple bought'), at: at(3) })
      await store.append(owner, two.id, {
        message: reply('apple', [call('b', 'eat', { what: 'apple' })], 'anthropic'),
        at: at(4),
      })
      const days = async (query: Partial<SearchQuery>) =>
        (await store.search(owner, { text: 'apple', ...query })).items.map((hit) => Number(hit.at.slice(8, 10)))
      assert.deepEqual(await days({}), [4, 4, 3, 2, 2, 1])
      assert.deepEqual(await days({ provider: 'openai' }), [2, 2])
      assert.deepEqual(await days({ provider: 'anthropic' }), [4, 4])
      assert.deepEqual(await days({ tool: 'buy' }), [3, 2])
      assert.deepEqual(await days({ tool: 'buy', provider: 'openai' }), [2])
      assert.deepEqual(await days({ kind: 'user' }), [1])
      assert.deepEqual(await days({ conversationId: two.id }), [4, 4])
      assert.deepEqual(await days({ label: 'work' }), [3, 2, 2, 1])
      assert.deepEqual(await days({ label: 'play' }), [])
      assert.deepEqual(await days({ after: at(2), before: at(4) }), [3, 2, 2])
      await store.updateConversation(owner, two.id, { labels: ['work'] })
      assert.deepEqual(await days({ label: 'work', kind: 'reply' }), [4, 2])
      assert.equal((await store.search(owner, { text: 'apple', kind: 'user' })).items[0]?.title, 'One')
      await fails(store.search(owner, { text: 'apple', after: 'long ago' }), 'bad-input')
    })

    given('hits come in pages, each once', async (store, owner) => {
      await talk(
        store,
        owner,
        Array.from({ length: 7 }, (_, i) => user(`needle ${i}`)),
      )
      const seen: string[] = []
      for (let cursor: string | undefined; ;) {
        const page = await store.search(owner, { text: 'needle', limit: 3, ...(cursor !== undefined && { cursor }) })
        seen.push(...page.items.map((hit) => hit.snippet))
        cursor = page.next
        if (cursor === undefined) break
      }
      assert.deepEqual(
        seen,
        [6, 5, 4, 3, 2, 1, 0].map((i) => `needle ${i}`),
      )
      await fails(store.search(owner, { text: 'needle', cursor: 'x' }), 'bad-input')
    })

    given('all branches are searched', async (store, owner) => {
      const { id } = await store.createConversation(owner)
      const first = await store.append(owner, id, { message: user('root') })
      await store.append(owner, id, { message: reply('pearl one') })
      await store.append(owner, id, { message: reply('pearl two'), parentId: first.id, head: 'move' })
      assert.equal((await store.search(owner, { text: 'pearl' })).items.length, 2)
    })

    given('long texts are found to their end, with a snippet around the match', async (store, owner) => {
      const long = `${'filler words continue '.repeat(20_000)} finally a Quagga appears ${'and then more '.repeat(50)}`
      await talk(store, owner, [result('c', 'read_file', long)])
      const [hit] = (await store.search(owner, { text: 'quagga' })).items
      assert.ok(hit && hit.snippet.length < 250)
      assert.match(hit.snippet, /^….*finally a Quagga appears.*…$/)
      assert.deepEqual(
        hit.marks.map(([start, end]) => hit.snippet.slice(start, end)),
        ['Quagga'],
      )
      const dense = `${'山川'.repeat(30_000)}終端`
      await talk(store, owner, [user(dense)])
      assert.equal((await store.search(owner, { text: '終端' })).items.length, 1)
      const run = 'x'.repeat(70_000)
      await talk(store, owner, [user(`before ${run} after`)])
      assert.ok((await store.search(owner, { text: run })).items.length > 0)
      assert.equal((await store.search(owner, { text: 'after' })).items.length, 1)
    })

    given('what was not said is not found: reasoning, system text, media', async (store, owner) => {
      const hidden: Message[] = [
        { role: 'system', parts: [{ type: 'text', text: 'okapi' }] },
        { ...reply(''), parts: [{ type: 'reasoning', text: 'okapi' }] },
        {
          role: 'user',
          parts: [
            { type: 'media', mediaType: 'image/png', name: 'okapi', data: { kind: 'url', url: 'https://okapi.test' } },
          ],
        },
      ]
      await talk(store, owner, hidden)
      assert.deepEqual(await store.search(owner, { text: 'okapi' }), { items: [] })
    })

    given('finds the same as the plain search in memory, whatever the words', async (store, owner) => {
      const word = fc.constantFrom(
        'ab',
        'abc',
        'abcd',
        'Äbc',
        'x-y',
        '東',
        '東京',
        '12',
        "it's",
        'a_b',
        '½',
        'ﬁn',
        'İ',
        '…',
      )
      const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
      const asked = fc.oneof(
        text,
        text.map((words) => `"${words}"`),
        word.map((one) => `${one}*`),
      )
      await fc.assert(
        fc.asyncProperty(
          fc.array(text, { minLength: 1, maxLength: 5 }),
          fc.array(asked, { minLength: 1, maxLength: 3 }),
          async (said, queries) => {
            const plain = openMemoryStore()
            const someone = `${owner}-${randomUUID()}`
            await talk(plain, someone, said.map(user))
            await talk(store, someone, said.map(user))
            for (const query of queries) {
              const [a, b] = [
                await plain.search(someone, { text: query }),
                await store.search(someone, { text: query }),
              ]
              assert.deepEqual(
                b.items.map(({ snippet, marks }) => ({ snippet, marks })),
                a.items.map(({ snippet, marks }) => ({ snippet, marks })),
              )
            }
          },
        ),
        { numRuns: 40 },
      )
    })
  })
}

async function talk(store: Store, owner: string, messages: Message[]): Promise<string[]> {
  const { id } = await store.createConversation(owner)
  return (
    await store.appendAll(
      owner,
      id,
      messages.map((message) => ({ message })),
    )
  ).map((entry) => entry.id)
}
