// However long a conversation is, no request about it holds the event loop for long: everything else on the server
// would wait.

import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, type TestContext } from 'node:test'
import type { Entry } from '../../src/core/log.ts'
import type { Message } from '../../src/core/message.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { held, spent } from './held.ts'
import { say, serving } from './serving.ts'

/** Written once, and copied for each test. */
const original = temporaryFile({ after: (clean) => after(clean) })
let written: Promise<string> | undefined

test('the first turn of a long conversation is read and planned in slices', async (t) => {
  // A collection of garbage can hold the thread once; a turn that is not sliced holds it every time.
  for (let triesLeft = 2; triesLeft >= 0; triesLeft--) {
    const { file, id } = await longConversation(t)
    const server = await serving(t, { file, address: file })
    await say(server, await addConversation(file, 10), 'Load the code of a turn.')
    const { longest, all } = await held(() => say(server, id, 'Continue.'))
    if (longest < all / 4) break
    assert.ok(triesLeft > 0, `${longest} ms of ${all} ms in one go`)
  }
})

test('calls that wait for approval are found without reading the whole conversation', async (t) => {
  const long = await longConversation(t)
  const file = temporaryFile(t)
  const short = { id: await addConversation(file, 10) }
  const [large, small] = [await serving(t, { file: long.file }), await serving(t, { file })]
  const ask = ({ api }: typeof large, id: string) =>
    spent(async () => {
      for (let i = 0; i < 10; i++) assert.equal((await api('GET', `/api/conversations/${id}/approvals`)).status, 200)
    })
  await ask(small, short.id)
  const [few, many] = [await ask(small, short.id), await ask(large, long.id)]
  assert.ok(many < 10 * few, `${many} ms against ${few} ms`)
})

test('a long transcript is parsed and imported on another thread', async (t) => {
  const [file, other] = [temporaryFile(t), temporaryFile(t)]
  const [apart, inPlace] = [await serving(t, { file, address: file }), await serving(t, { file: other })]
  const content = Array.from({ length: 5000 }, (_, i) => ({ role: 'user', content: `${i}: ${'word '.repeat(100)}` }))
  const send = async ({ api }: typeof apart) => {
    const { status, body, text } = await api('POST', '/api/import', { content })
    assert.equal(status, 201, text)
    const [item] = body['items'] as { conversation: { entries: number } }[]
    assert.equal(item?.conversation.entries, 5000)
  }
  const [free, busy] = [await spent(() => send(apart)), await spent(() => send(inPlace))]
  assert.ok(free < busy / 2, `${free} ms against ${busy} ms`)
  assert.equal((await apart.api('POST', '/api/import', { content: [], format: 'x'.repeat(200_000) })).status, 400)
})

test('a long conversation is copied in slices, complete or not at all', async (t) => {
  const { file, id } = await longConversation(t)
  const server = await serving(t, { file, address: file })
  const copy = async (conversationId: string, entries: number) => {
    const from = { conversationId }
    const { status, body, text } = await server.api('POST', '/api/conversations', {
      title: 'Copy',
      labels: ['b'],
      from,
    })
    assert.equal(status, 201, text)
    assert.deepEqual([body['title'], body['labels'], body['entries']], ['Copy', ['b'], entries])
    return String(body['head'])
  }
  await copy(await addConversation(file, 10), 10)
  let head = ''
  const { longest, all } = await held(async () => (head = await copy(id, 8000)))
  assert.ok(longest < all / 4, `${longest} ms of ${all} ms in one go`)
  const [made, given] = [await server.store.history('local', head), await originals(server.store, id)]
  assert.deepEqual(
    made.map(({ message, at }) => ({ message, at })),
    given.map(({ message, at }) => ({ message, at })),
  )
})

test('a long conversation is deleted on another thread', async (t) => {
  const [one, two] = [await longConversation(t), await longConversation(t)]
  const [apart, inPlace] = [
    await serving(t, { file: one.file, address: one.file }),
    await serving(t, { file: two.file }),
  ]
  const remove = async ({ api }: typeof apart, id: string) => {
    assert.equal((await api('DELETE', `/api/conversations/${id}`)).status, 204)
    assert.equal((await api('GET', `/api/conversations/${id}`)).status, 404)
    assert.equal((await api('DELETE', `/api/conversations/${id}`)).status, 404)
  }
  const [free, busy] = [await spent(() => remove(apart, one.id)), await spent(() => remove(inPlace, two.id))]
  assert.ok(free < busy / 2, `${free} ms against ${busy} ms`)
})

async function originals(store: Store, id: string): Promise<Entry[]> {
  return store.history('local', (await store.conversation('local', id))?.head ?? '')
}

/** A file of its own, with 8,000 messages. */
async function longConversation(t: TestContext): Promise<{ file: string; id: string }> {
  const file = temporaryFile(t)
  written ??= addConversation(original, 8000)
  const id = await written
  copyFileSync(original, file)
  return { file, id }
}

async function addConversation(file: string, length: number): Promise<string> {
  const store = await openSqliteStore(file)
  const { id } = await store.createConversation('local', { settings: { policy: { maxTokens: 20_000 } } })
  const messages = Array.from({ length }, (_, i): Message => {
    const text = `${i}: ${'the deployment of service-7 failed in src/app.ts. '.repeat(20)}`
    if (i % 2 === 0) return { role: 'user', parts: [{ type: 'text', text }] }
    const origin = { protocol: 'openai-chat', provider: 'openai', model: 'gpt-5.1' } as const
    return { role: 'assistant', parts: [{ type: 'text', text }], native: [], origin, stop: { reason: 'done' } }
  })
  await store.appendAll(
    'local',
    id,
    messages.map((message) => ({ message })),
  )
  await store.close()
  return id
}

function temporaryFile(t: { after: (clean: () => void) => void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-loop-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'log.db')
}
