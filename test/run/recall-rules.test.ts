// What recall reads and finds, and what it refuses.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { recallTool } from '../../src/run/tools/recall.ts'
import type { Store } from '../../src/store/store.ts'
import { call, entriesOf, onePixel, reply, user } from '../histories.ts'

describe('recall', () => {
  const history = entriesOf(
    user('q'),
    reply(call('a', 'read', { path: 'p' })),
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'a',
          name: 'read',
          output: [{ type: 'text', text: 'short' }],
          value: 'x'.repeat(9000),
        },
      ],
    },
    reply('done', { type: 'refusal', text: 'no' }, { type: 'compaction', text: 'c' }, onePixel, {
      ...onePixel,
      name: 'cat.png',
    }),
    {
      role: 'tool',
      parts: [
        { type: 'tool-result', callId: 'b', name: 'read', output: [{ type: 'text', text: 'broken' }], failed: true },
        {
          type: 'tool-result',
          callId: 'c',
          name: 'read',
          output: [{ type: 'text', text: 'n is 1' }],
          value: { n: 1, m: 2 },
        },
      ],
    },
  )
  const hit = (n: number) => ({ entryId: `e${n}`, kind: 'text', at: 't', snippet: `s${n}` })
  const store = (found: Record<string, object[]>) =>
    ({
      search: async (_: string, { text, limit }: { text: string; limit: number }) => ({
        items: (found[text] ?? []).slice(0, limit),
      }),
      entry: async (_: string, id: string) => history.find((entry) => entry.id === id),
      conversation: async () => ({ head: 'e3' }),
      history: async () => history,
    }) as unknown as Store
  const ask = async (input: Json, found = {}) =>
    recallTool(store(found), 'o', 'c').run(input, {} as never) as Promise<JsonObject>

  test('reads a result in full by its number, page by page, with the arguments of its call', async () => {
    const first = await ask({ id: '2' })
    assert.deepEqual([first['id'], first['tool']], ['2', 'read'])
    assert.match(String(first['text']), /^read was called with \{"path":"p"\}\nread gave: x+$/)
    assert.equal(String(first['text']).length, 8000)
    const whole = 'read was called with {"path":"p"}\nread gave: '.length + 9000
    assert.equal(first['more'], `${whole - 8000} characters are left: continue with offset 8000.`)
    const second = await ask({ id: '[Tool use #2]', offset: 8000 })
    assert.deepEqual([String(second['text']).length, 'more' in second], [whole - 8000, false])
    assert.equal((await ask({ id: '0' }))['role'], 'user', 'a message by its position')
    await assert.rejects(async () => ask({ id: '9' }), /no tool use #9/)
  })

  test('only reads, so that a call of it that was interrupted is run again', () => {
    assert.equal(recallTool(store({}), 'o', 'c').repeatable, true)
  })

  test('reads an entry by its id, and refuses one that is not there', async () => {
    assert.deepEqual(await ask({ entry: 'e3' }), {
      entry: 'e3',
      role: 'assistant',
      at: '',
      text: 'done\nno\nc\n[image/png]\n[image/png cat.png]',
    })
    assert.equal((await ask({ id: 'e0' }))['text'], 'q', 'even under the name of a number')
    assert.equal((await ask({ entry: 'e1' }))['text'], 'read was called with {"path":"p"}')
    assert.equal((await ask({ entry: 'e4' }))['text'], 'read failed: broken\nread gave: {"n":1,"m":2}')
    await assert.rejects(async () => ask({ entry: 'zz' }), /no entry zz/)
    for (const nothing of [{}, { query: ' ' }, 'text', { id: 1 }] as Json[]) {
      await assert.rejects(async () => ask(nothing), /give a query/)
    }
  })

  test('finds entries with all the words, or else with some of them, at most ten', async () => {
    const shown = (n: number) => ({ entry: `e${n}`, kind: 'text', at: 't', snippet: `s${n}` })
    assert.deepEqual(await ask({ query: 'one two' }, { 'one two': [hit(1)] }), { found: [shown(1)] })
    const some = await ask({ query: 'one two of' }, { one: [hit(1), hit(2)], two: [hit(2), hit(3)], of: [hit(4)] })
    assert.deepEqual(some['found'], [shown(1), shown(2), shown(3)])
    assert.match(String(some['note']), /some/)
    assert.match(String(await ask({ query: 'none' })), /Nothing in this conversation/)
    const more = await ask({ query: 'one two' }, { one: [hit(1), hit(2), hit(3), hit(4)] })
    assert.deepEqual(more['found'], [shown(1), shown(2), shown(3)], 'three for each word')
    const words = ['aaa', 'bbb', 'ccc', 'ddd', 'eee']
    const many = Object.fromEntries(words.map((word, i) => [word, [hit(3 * i), hit(3 * i + 1), hit(3 * i + 2)]]))
    assert.equal(((await ask({ query: words.join(' ') }, many))['found'] as Json[]).length, 10)
    const tool = await ask({ query: 'x' }, { x: [{ ...hit(1), tool: 'read' }] })
    assert.deepEqual(tool['found'], [{ ...shown(1), tool: 'read' }])
  })
})
