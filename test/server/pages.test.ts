// Long answers come page by page, if a client asks for that.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Note } from '../../src/core/context.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { newConversation, say, serving, type Serving } from './serving.ts'

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

test('the exact bytes of a request and of media are read in ranges', async (t) => {
  const server = await serving(t)
  const id = await newConversation(server.api)
  const picture = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) & 0xff))
  const data = { kind: 'base64', base64: picture.toString('base64') } as const
  await say(server, id, 'Hello')
  const { message } = await server.store.append('local', id, {
    message: { role: 'user', parts: [{ type: 'media', mediaType: 'image/png', data }] },
  })
  const [exchange] = (await server.store.exchanges('local', id)).items
  const [part] = message.parts
  const sha256 = part?.type === 'media' && part.data.kind === 'blob' ? part.data.sha256 : ''
  for (const path of [`/api/exchanges/${exchange?.id}/body`, `/api/blobs/${sha256}`]) {
    const get = async (range?: string) => {
      const response = await fetch(server.url + path, { headers: range === undefined ? {} : { range } })
      const bytes = Buffer.from(await response.arrayBuffer())
      return { status: response.status, range: response.headers.get('content-range'), bytes }
    }
    const { status, bytes: whole } = await get()
    assert.equal(status, 200)
    const size = whole.length
    const pages: Buffer[] = []
    for (let from = 0; from < size; from += 100) {
      const page = await get(`bytes=${from}-${from + 99}`)
      assert.equal(page.status, 206)
      assert.equal(page.range, `bytes ${from}-${Math.min(size, from + 100) - 1}/${size}`)
      pages.push(page.bytes)
      if (from === 300) from = Math.max(300, Math.floor((size - 150) / 100) * 100)
    }
    assert.deepEqual(pages[1], whole.subarray(100, 200))
    assert.deepEqual(pages.at(-1), whole.subarray(Math.floor((size - 1) / 100) * 100))
    assert.deepEqual((await get('bytes=50-')).bytes, whole.subarray(50))
    assert.deepEqual((await get('bytes=-7')).bytes, whole.subarray(-7))
    assert.deepEqual((await get('bytes=-0')).status, 416)
    const beyond = await get(`bytes=${size}-`)
    assert.deepEqual([beyond.status, beyond.range], [416, `bytes */${size}`])
    assert.deepEqual((await get('lines=1-2')).bytes, whole, 'other units are ignored')
    assert.deepEqual((await get('bytes=0-1,4-5')).bytes, whole, 'and so are several ranges')
  }
})

test('a page of exchanges with very many notes has fewer of them, and all pages together have each once', async (t) => {
  const server = await serving(t)
  const { id, ids } = await filled(server, 1)
  const why = 'It belongs to another provider. '.repeat(30)
  const notes = Array.from({ length: 1000 }, (_, i): Note => {
    return { kind: 'dropped', what: 'reasoning', why, at: `messages[${i}]` }
  })
  const about = { basedOn: ids[0] ?? '', provider: 'openai', protocol: 'openai-chat', model: 'm', body: '{}', notes }
  const made: string[] = []
  for (let i = 0; i < 12; i++) {
    const exchange = await server.store.openExchange('local', id, about)
    await server.store.finishExchange('local', exchange.id, { outcome: 'failed' })
    made.unshift(exchange.id)
  }
  const found: unknown[] = []
  let pages = 0
  for (let cursor: unknown = ''; cursor !== undefined; pages++) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`
    const { body, text } = await server.api('GET', `/api/conversations/${id}/exchanges?limit=100${query}`)
    assert.ok(text.length < 5_000_000, `${text.length} bytes`)
    found.push(...(body['items'] as JsonObject[]).map((one) => one['id']))
    cursor = body['next']
  }
  assert.deepEqual(found, made)
  assert.ok(pages > 1 && pages < 6, `${pages} pages`)
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
