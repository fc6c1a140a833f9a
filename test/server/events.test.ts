import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import type { Tool } from '../../src/core/tool.ts'
import { tempFolder } from '../store/temp.ts'
import { apiAt, clock, gate, newConversation, readEvents, runIn, say, serving, str } from './serving.ts'

async function startRun(t: TestContext, options: Parameters<typeof serving>[1] = {}) {
  const server = await serving(t, options)
  const id = await newConversation(server.api)
  const runId = runIn(await server.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }))
  return { ...server, id, runId, events: `${server.url}/api/runs/${runId}/events` }
}

test('a client that reconnects with an event number gets every later event, with the same bytes', async (t) => {
  const { events } = await startRun(t)
  const all = await readEvents(events)
  assert.ok(all.length > 15)
  for (let after = 0; after < all.length; after++) {
    const rest = await readEvents(events, { headers: { 'last-event-id': String(after) } })
    assert.deepEqual(
      rest.map((event) => event.raw),
      all.slice(after).map((event) => event.raw),
    )
    const byQuery = await readEvents(`${events}?after=${after}`)
    assert.equal(byQuery[0]?.raw, all[after]?.raw)
  }
  const nothing = await fetch(events, { headers: { 'last-event-id': String(all.length) } })
  assert.equal(nothing.status, 204)
  for (const wrong of ['x', '-1', '1e3', '99999999999999999999']) {
    assert.equal((await fetch(events, { headers: { 'last-event-id': wrong } })).status, 400, wrong)
  }
})

test('while the run continues, readers that join at any event all see the same', async (t) => {
  const held = gate(6)
  const { events } = await startRun(t, { between: held.between })
  await held.held
  const readers = Array.from({ length: 8 }, (_, after) => readEvents(`${events}?after=${after}`))
  held.open()
  const seen = await Promise.all(readers)
  const [all] = seen
  assert.equal(all?.at(-1)?.event, 'run-end')
  for (const [after, part] of seen.entries()) {
    assert.deepEqual(
      part.map((event) => event.raw),
      all?.slice(after).map((event) => event.raw),
    )
  }
})

test('a client that leaves stops nothing: the run ends, is stored, and can be read from where the client was', async (t) => {
  const held = gate(8)
  const { events, api, id, runId } = await startRun(t, { between: held.between })
  const first = await readEvents(events, {}, ({ id: number }) => number === 3)
  held.open()
  const rest = await readEvents(`${events}?after=${first.length}`)
  assert.deepEqual(
    [...first, ...rest].map((event) => event.id),
    Array.from({ length: first.length + rest.length }, (_, i) => i + 1),
  )
  assert.equal((await api('GET', `/api/runs/${runId}`)).body['outcome'], 'done')
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['entries'], 4)
})

test('another server on the same store returns the same events, during the run and after it', async (t) => {
  const file = join(tempFolder(t), 'chats.db')
  const held = gate(4)
  const { events, runId, id, api } = await startRun(t, { file, between: held.between })
  const other = await serving(t, { file })
  const elsewhere = readEvents(`${other.url}/api/runs/${runId}/events`)
  await held.held
  const busy = await other.api('POST', `/api/conversations/${id}/messages`, { text: 'Me too' })
  assert.equal(busy.status, 409)
  assert.equal((await other.api('GET', `/api/conversations/${id}`)).body['run'] !== undefined, true)
  held.open()
  const [a, b] = [await readEvents(events), await elsewhere]
  assert.deepEqual(
    a.map((event) => event.raw),
    b.map((event) => event.raw),
  )
  assert.equal((await api('GET', `/api/conversations/${id}`)).body['run'], undefined)
})

test('a run is cancelled from another server on the same store', async (t) => {
  const file = join(tempFolder(t), 'chats.db')
  const held = gate(2)
  const { events, runId } = await startRun(t, { file, between: held.between })
  const other = await serving(t, { file })
  await held.held
  await other.api('POST', `/api/runs/${runId}/cancel`)
  const all = await readEvents(events)
  assert.equal(all.at(-1)?.data['outcome'], 'cancelled')
})

test('cancelling is safe at any time, twice, and after the end', async (t) => {
  const held = gate(5)
  const { api, runId, id, events } = await startRun(t, { between: held.between })
  await held.held
  const both = await Promise.all([api('POST', `/api/runs/${runId}/cancel`), api('POST', `/api/runs/${runId}/cancel`)])
  for (const { status, body } of both) assert.deepEqual([status, body['outcome']], [200, 'cancelled'])
  assert.equal((await api('POST', `/api/runs/${runId}/cancel`)).body['outcome'], 'cancelled')
  assert.equal((await readEvents(events)).at(-1)?.data['outcome'], 'cancelled')
  held.open()
  const again = await api('POST', `/api/conversations/${id}/runs`, {})
  assert.equal(
    (await readEvents(`${events.split('/runs/')[0]}/runs/${runIn(again)}/events`)).at(-1)?.data['outcome'],
    'done',
  )
  assert.equal((await api('POST', '/api/runs/nobody/cancel')).status, 404)
})

test('a reader that does not read delays nothing, and gets everything later', async (t) => {
  const large: Tool = {
    ...clock,
    run(_input, { emit }) {
      for (let i = 0; i < 20; i++) emit(`${i} ${'12:00 '.repeat(10_000)}`)
      return '12:00'
    },
  }
  const server = await serving(t, { tools: [large] })
  const id = await newConversation(server.api)
  const started = await server.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' })
  const path = `/api/runs/${runIn(started)}/events`
  const slow = await rawGet(server.url, path)
  t.after(() => slow.destroy())
  slow.pause()
  const quick = await readEvents(server.url + path)
  assert.equal(quick.at(-1)?.event, 'run-end')
  assert.ok(quick.reduce((size, { raw }) => size + raw.length, 0) > 1_000_000, 'more than sockets hold')
  await say(server, id, 'And again.')
  let text = ''
  slow.on('data', (chunk: Buffer) => (text += chunk.toString()))
  slow.resume()
  await once(slow, 'end')
  for (const { raw } of quick) assert.ok(text.includes(raw.slice(raw.indexOf('data:'), 400)))
})

test('a long result is whole in its entry, and in the events as the model is shown it', async (t) => {
  const whole = '12:00 '.repeat(20_000)
  for (const [value, isLong] of [
    [whole, true],
    [{ times: [whole] }, true],
    [{ time: '12:00' }, false],
  ] as const) {
    const server = await serving(t, { tools: [{ ...clock, run: () => value }] })
    const id = await newConversation(server.api)
    const started = await server.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' })
    const events = await readEvents(`${server.url}/api/runs/${runIn(started)}/events`)
    const end = events.find(({ event }) => event === 'tool-end')?.data['result'] as JsonObject
    const message = events.find(({ raw }) => raw.includes('"role":"tool"'))?.data ?? {}
    const [part] = (message['message'] as JsonObject)['parts'] as JsonObject[]
    const stored = await server.store.entry('local', str(message['entryId']))
    const [result] = stored?.message.parts ?? []
    assert.deepEqual(result?.type === 'tool-result' && result.value, value)
    assert.deepEqual(end['value'], isLong ? undefined : value)
    assert.deepEqual(part?.['value'], isLong ? undefined : value)
    assert.deepEqual(part?.['output'], result?.type === 'tool-result' && result.output)
  }
})

test('an answer to a message can be its event stream at once', async (t) => {
  const { url, api } = await serving(t)
  const id = await newConversation(api)
  const events = await readEvents(`${url}/api/conversations/${id}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ text: 'Hello' }),
  })
  assert.deepEqual([events[0]?.event, events.at(-1)?.event], ['run-start', 'run-end'])
})

test('a failing provider does not fail the request: the run says what went wrong', async (t) => {
  const { emulator, api, url } = await serving(t)
  const id = await newConversation(api)
  emulator.order({ status: 401 })
  const started = await api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' })
  assert.equal(started.status, 202)
  const end = (await readEvents(`${url}/api/runs/${runIn(started)}/events`)).at(-1)
  assert.equal(end?.data['outcome'], 'failed')
  const run = await apiAt(url)('GET', `/api/runs/${runIn(started)}`)
  assert.match(JSON.stringify(run.body['failure']), /"kind":"auth"/)
})

/** A connection that reads as slowly as its socket is read. */
async function rawGet(url: string, path: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  return socket
}
