// Long conversations are read on a thread of their own, with the same answers.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { spent } from './held.ts'
import { serving, type Answer, type Api } from './serving.ts'

test('a long conversation gives the same result on a separate thread, and leaves the server free', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-long-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'log.db')
  const { id, firstId, entryId } = await longConversation(file)
  const [apart, inPlace] = [await serving(t, { file, address: file }), await serving(t, { file })]
  const requests: [string, string, { targets: { model: string }[]; text: string }?][] = [
    ['GET', `/api/conversations/${id}/tree`],
    ['GET', `/api/conversations/${id}/entries?around=${entryId}`],
    ['GET', `/api/conversations/${id}/entries?after=${firstId}&limit=3`],
    ['GET', `/api/conversations/${id}/export?format=openai-chat`],
    ['GET', `/api/conversations/${id}/export?format=markdown`],
    [
      'POST',
      `/api/conversations/${id}/prepare`,
      { targets: [{ model: 'openai/gpt-5.1' }, { model: 'no-such-model' }], text: 'Next.' },
    ],
  ]
  for (const [method, path, body] of requests) {
    const [here, there] = [await inPlace.api(method, path, body), await apart.api(method, path, body)]
    assert.equal(there.status, 200)
    assert.equal(there.text, here.text, path)
    assert.deepEqual(headersOf(there), headersOf(here))
  }
  const prepare = (api: Api) =>
    api('POST', `/api/conversations/${id}/prepare`, { targets: [{ model: 'openai/gpt-5.1' }] })
  // A collection of garbage in one of them is not its own cost; work in this thread is there every time.
  let [busy, free] = [Infinity, Infinity]
  for (let times = 0; times < 3; times++) {
    busy = Math.min(busy, await spent(() => prepare(inPlace.api)))
    free = Math.min(free, await spent(() => prepare(apart.api)))
  }
  assert.ok(free < busy / 2, `${free} ms against ${busy} ms`)
  assert.equal((await apart.api('GET', `/api/conversations/${id}/tree`, undefined)).status, 200)
  const missing = await apart.api('POST', `/api/conversations/${id}/prepare`, {
    targets: [{ model: 'openai/gpt-5.1' }],
    entryId: `${entryId}-not`,
  })
  assert.equal(missing.status, 404)
  assert.equal((await apart.api('GET', `/api/conversations/${id}/entries?around=${id}`)).status, 404)
})

async function longConversation(file: string): Promise<{ id: string; firstId: string; entryId: string }> {
  const store = await openSqliteStore(file)
  const { id } = await store.createConversation('local')
  const messages = Array.from({ length: 3000 }, (_, i): Message => ({
    role: 'user',
    parts: [{ type: 'text', text: `Note ${i}: ${'the deployment of service-7 failed in src/app.ts. '.repeat(20)}` }],
  }))
  const entries = await store.appendAll(
    'local',
    id,
    messages.map((message) => ({ message })),
  )
  await store.close()
  return { id, firstId: entries[0]?.id ?? '', entryId: entries.at(-1)?.id ?? '' }
}

function headersOf({ headers }: Answer): (string | null)[] {
  return ['content-type', 'content-disposition', 'cache-control'].map((name) => headers.get(name))
}
