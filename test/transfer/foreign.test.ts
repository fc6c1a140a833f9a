// Exports of ChatGPT, Claude and others.

import assert from 'node:assert/strict'
import test from 'node:test'
import { textOf } from '../../src/core/message.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { readForeign } from '../../src/transfer/foreign.ts'

const now = '2026-11-15T00:00:00.000Z'

function node(id: string, parent: string | null, role: string, text: string) {
  return {
    id,
    parent,
    children: [],
    message: { id, author: { role }, content: { content_type: 'text', parts: [text] }, metadata: {} },
  }
}

const chatgpt = {
  title: 'Weather',
  create_time: 1_700_000_000,
  update_time: 1_700_000_100,
  current_node: 'd',
  mapping: {
    root: { id: 'root', parent: null, children: ['a'], message: null },
    a: node('a', 'root', 'user', 'How is the weather?'),
    b: node('b', 'a', 'assistant', 'Fine.'),
    c: node('c', 'a', 'assistant', 'Rainy.'),
    d: node('d', 'c', 'user', 'Thanks.'),
  },
}

test('a ChatGPT export is imported with all its conversations and all their branches', async () => {
  const empty = { ...chatgpt, mapping: { root: chatgpt.mapping.root } }
  const read = readForeign([chatgpt, empty, { ...chatgpt, title: 'Again' }], undefined, now)
  assert.deepEqual(
    read.map(({ archive }) => archive.conversation.title),
    ['Weather', 'Again'],
  )
  const store = openMemoryStore()
  const { id, head, createdAt, entries } = await store.importConversation('ada', read[0]?.archive ?? assert.fail())
  assert.equal(createdAt, '2023-11-14T22:13:20.000Z')
  assert.equal(entries, 4)
  const texts = (await store.history('ada', head ?? '')).map((entry) => textOf(entry.message.parts))
  assert.deepEqual(texts, ['How is the weather?', 'Rainy.', 'Thanks.'])
  assert.equal((await store.branches('ada', id)).length, 2)
  assert.equal((await store.search('ada', { text: 'fine' })).items.length, 1)
  assert.deepEqual(read[0]?.notes, [])
})

test('a ChatGPT tree that bites its tail ends where it begins to repeat', () => {
  const mapping = { ...chatgpt.mapping, a: { ...chatgpt.mapping.a, parent: 'd' } }
  const [read] = readForeign({ ...chatgpt, mapping }, undefined, now)
  assert.ok((read?.archive.entries.length ?? 0) <= 8)
})

test('a Claude export is imported with all its conversations', () => {
  const one = (name: string) => ({
    uuid: name,
    name,
    created_at: '2026-01-02T03:04:05Z',
    chat_messages: [
      { uuid: `${name}-1`, sender: 'human', text: 'Hello', content: [{ type: 'text', text: 'Hello' }] },
      { uuid: `${name}-2`, sender: 'assistant', text: 'Hi', content: [{ type: 'text', text: 'Hi' }] },
    ],
  })
  const read = readForeign([one('First'), one('Second')], undefined, now)
  assert.deepEqual(
    read.map(({ archive }) => [archive.conversation.title, archive.entries.length, archive.conversation.createdAt]),
    [
      ['First', 2, '2026-01-02T03:04:05.000Z'],
      ['Second', 2, '2026-01-02T03:04:05.000Z'],
    ],
  )
})

test('the request of a provider becomes a conversation with its system prompt', () => {
  const [read] = readForeign(
    {
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'What is the capital of France?' },
        { role: 'assistant', content: [{ type: 'text', text: 'Paris.' }] },
      ],
    },
    'anthropic-messages',
    now,
  )
  assert.deepEqual(read?.archive.conversation.settings, { system: 'Be brief.' })
  assert.equal(read?.archive.conversation.title, 'What is the capital of France?')
  assert.equal(read?.archive.conversation.head, read?.archive.entries.at(-1)?.id)
})
