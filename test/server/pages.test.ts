// Long answers come page by page, if a client asks for that.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { newConversation, serving, type Serving } from './serving.ts'

test('the tree is read page by page, newest entries first, and is whole without a limit', async (t) => {
  const server = await serving(t)
  const { id, ids } = await filled(server, 7)
  const tree = async (query = '') => (await server.api('GET', `/api/conversations/${id}/tree${query}`)).body
  const idsOf = ({ entries }: JsonObject) => (entries as JsonObject[]).map((entry) => entry['id'])
  const whole = await tree()
  assert.deepEqual([idsOf(whole), whole['before']], [ids, null])
  const first = await tree('?limit=3')
  assert.deepEqual([idsOf(first), first['before']], [ids.slice(4), ids[4]])
  assert.deepEqual(first['branches'], whole['branches'])
  const second = await tree(`?limit=3&before=${String(first['before'])}`)
  assert.deepEqual([idsOf(second), second['before'], second['branches']], [ids.slice(1, 4), ids[1], []])
  const last = await tree(`?limit=3&before=${String(second['before'])}`)
  assert.deepEqual([idsOf(last), last['before']], [ids.slice(0, 1), null])
  assert.deepEqual(idsOf(await tree('?limit=7')), ids)
  assert.equal((await tree('?limit=7'))['before'], null)
  const other = await filled(server, 1)
  const status = async (query: string) => (await server.api('GET', `/api/conversations/${id}/tree${query}`)).status
  assert.deepEqual(
    [await status(`?before=${ids[3]}`), await status(`?limit=3&before=${other.ids[0]}`), await status('?limit=0')],
    [400, 404, 400],
  )
})

test('what a request says about each message is read in parts, with the counts of all', async (t) => {
  const server = await serving(t)
  const { id } = await filled(server, 5)
  const prepare = async (messages?: JsonObject) => {
    const body = { targets: [{ model: 'openai/gpt-5.1' }], text: 'Next.', ...(messages && { messages }) }
    const { body: answer } = await server.api('POST', `/api/conversations/${id}/prepare`, body)
    return (answer['items'] as JsonObject[])[0] ?? {}
  }
  const placesOf = ({ messages }: JsonObject) => (messages as JsonObject[]).map((message) => message['place'])
  const whole = await prepare()
  assert.deepEqual([placesOf(whole), whole['counts']], [[0, 1, 2, 3, 4, 5], undefined])
  const end = await prepare({ limit: 2 })
  assert.deepEqual([placesOf(end), end['counts']], [[4, 5], { messages: 6, sent: 6 }])
  assert.deepEqual(end['body'], whole['body'])
  assert.deepEqual(placesOf(await prepare({ limit: 3, before: 4 })), [1, 2, 3])
  assert.deepEqual(placesOf(await prepare({ limit: 0 })), [])
  assert.deepEqual(placesOf(await prepare({ limit: 9, before: 1 })), [0])
})

async function filled({ api, store }: Serving, length: number): Promise<{ id: string; ids: string[] }> {
  const id = await newConversation(api)
  const entries = await store.appendAll(
    'local',
    id,
    Array.from({ length }, (_, i) => ({ message: { role: 'user', parts: [{ type: 'text', text: `Note ${i}` }] } })),
  )
  return { id, ids: entries.map((entry) => entry.id) }
}
