import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { createKey, revokeKey } from '../../src/server/keys.ts'
import { apiAt, clock, newConversation, say, serving, str, type Answer } from './serving.ts'

const said = [
  { role: 'user', content: 'My name is Ada.' },
  { role: 'assistant', content: 'Hello, Ada.' },
]

function imported({ body, status, text }: Answer): string {
  assert.equal(status, 201, text)
  const [item] = body['items'] as JsonObject[]
  const conversation = item?.['conversation'] as JsonObject | undefined
  return str(conversation?.['id'])
}

test('a transcript from elsewhere becomes a conversation that continues here', async (t) => {
  const server = await serving(t)
  const { api } = server
  const id = imported(await api('POST', '/api/import', { content: said, format: 'openai-chat', labels: ['old'] }))
  const view = (await api('GET', `/api/conversations/${id}`)).body
  assert.deepEqual([view['title'], view['labels'], view['entries']], ['My name is Ada.', ['old'], 2])
  await say(server, id, 'What did I say first?')
  assert.match((await api('GET', `/api/conversations/${id}/entries`)).text, /My name is Ada/)
})

test('JSON Lines are accepted as text, and an export can be imported again', async (t) => {
  const server = await serving(t)
  const { api } = server
  const id = await newConversation(api)
  await say(server, id, 'What time is it?')
  const file = (await api('GET', `/api/conversations/${id}/export`)).text
  const again = imported(await api('POST', '/api/import', { content: file }))
  const messages = async (of: string) => {
    const { items } = (await api('GET', `/api/conversations/${of}/entries`)).body
    return (items as JsonObject[]).map((entry) => (entry['message'] as JsonObject)['parts'])
  }
  assert.deepEqual(await messages(again), await messages(id))
})

test('an unanswered call in an imported conversation is not run', async (t) => {
  let runs = 0
  const server = await serving(t, { tools: [{ ...clock, run: () => ++runs }] })
  const call = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{}' } }
  const content = [said[0] ?? {}, { role: 'assistant', content: null, tool_calls: [call] }]
  const id = imported(await server.api('POST', '/api/import', { content }))
  const started = await server.api('POST', `/api/conversations/${id}/runs`, {})
  assert.equal(started.status, 202, started.text)
  await server.api('GET', `/api/runs/${str((started.body['run'] as JsonObject)['id'])}/events`)
  assert.equal(runs, 0)
  assert.match((await server.api('GET', `/api/conversations/${id}/entries`)).text, /so clock was not run here/)
})

test('an import without a conversation, or with too many, is refused and leaves nothing behind', async (t) => {
  const { api } = await serving(t, { limits: { body: 100_000 } })
  for (const content of [null, 42, 'not JSON at all', {}, [], [{ role: 'nobody' }], { conversations: [] }]) {
    const { status } = await api('POST', '/api/import', { content })
    assert.equal(status, 400, JSON.stringify(content))
  }
  assert.equal((await api('POST', '/api/import', { content: said, format: 'no-such' })).status, 400)
  assert.equal((await api('POST', '/api/import', { content: 'x'.repeat(200_000) })).status, 413)
  const many = Array.from({ length: 1001 }, (_, i) => ({
    chat_messages: [{ uuid: `${i}`, sender: 'human', text: 'x' }],
  }))
  assert.equal((await api('POST', '/api/import', { content: many })).status, 400)
  assert.deepEqual((await api('GET', '/api/conversations')).body['items'], [])
})

test('deletions, exports and imports, and their keys, are in the audit log, without message content', async (t) => {
  const lines: string[] = []
  const server = await serving(t, { log: (line) => lines.push(JSON.stringify(line)) })
  const { key, about } = await createKey(server.store, { owner: 'ada' })
  const ada = apiAt(server.url, { 'x-api-key': key })
  const id = imported(await ada('POST', '/api/import', { content: said }))
  await ada('GET', `/api/conversations/${id}/export`)
  await ada('DELETE', `/api/conversations/${id}`)
  assert.equal((await ada('DELETE', `/api/conversations/${id}`)).status, 404)
  const { body, text } = await ada('GET', '/api/audit')
  assert.deepEqual(
    (body['items'] as JsonObject[]).map(({ what, to, by }) => [what, to, by]),
    [
      ['deleted', id, about.id],
      ['exported', id, about.id],
      ['imported', id, about.id],
      ['key-created', about.id, undefined],
    ],
  )
  for (const { at } of body['items'] as { at: string }[]) assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000)
  assert.doesNotMatch(text, /Ada|syn_/)
  assert.deepEqual((await server.api('GET', '/api/audit')).body['items'], [], 'it is ada’s alone')
  const { key: second } = await createKey(server.store, { owner: 'ada' })
  await revokeKey(server.store, about.id)
  assert.equal((await ada('GET', '/api/audit')).status, 401)
  assert.ok(lines.some((line) => line.includes('"refused"')))
  assert.ok(lines.every((line) => !line.includes('syn_')))
  const [last] = (await apiAt(server.url, { 'x-api-key': second })('GET', '/api/audit')).body['items'] as JsonObject[]
  assert.deepEqual([last?.['what'], last?.['to']], ['key-revoked', about.id])
})
