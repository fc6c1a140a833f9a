import assert from 'node:assert/strict'
import test from 'node:test'
import { thorough } from '../thorough.ts'
import { gate, newConversation, readEvents, runIn, serving } from './serving.ts'

const atOnce = thorough ? 200 : 60

test(`${atOnce} runs at the same time are all answered, and no event is lost`, async (t) => {
  const { api, url } = await serving(t, { file: ':memory:' })
  const runs = await Promise.all(
    Array.from({ length: atOnce }, async (_, i) => {
      const id = await newConversation(api)
      const started = await api('POST', `/api/conversations/${id}/messages`, { text: `What time is it, ${i}?` })
      assert.equal(started.status, 202, started.text)
      return { id, events: await readEvents(`${url}/api/runs/${runIn(started)}/events`) }
    }),
  )
  for (const { id, events } of runs) {
    assert.equal(events.at(-1)?.data['outcome'], 'done')
    assert.deepEqual(
      events.map((event) => event.id),
      events.map((_, i) => i + 1),
    )
    const messages = events.filter(({ event }) => event === 'message')
    assert.equal(messages.length, 3, id)
  }
})

test('runs beyond the capacity are queued, and those beyond the queue are refused with a time to retry', async (t) => {
  const held = gate(0)
  const { api, url } = await serving(t, { between: held.between, limits: { runs: 2, queued: 2 } })
  const ids = []
  for (let i = 0; i < 5; i++) ids.push(await newConversation(api))
  const answers = []
  for (const id of ids) answers.push(await api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' }))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 202, 202, 503],
  )
  assert.ok(Number(answers[4]?.headers.get('retry-after')) >= 1)
  const states = await Promise.all(
    answers.slice(0, 4).map(async (answer) => (await api('GET', `/api/runs/${runIn(answer)}`)).body['state']),
  )
  assert.deepEqual(states, ['running', 'running', 'queued', 'queued'])
  assert.equal((await api('GET', '/health')).status, 200)
  const [, , third, fourth] = answers
  assert.equal((await api('POST', `/api/runs/${fourth && runIn(fourth)}/cancel`)).body['outcome'], 'cancelled')
  held.open()
  const events = await readEvents(`${url}/api/runs/${third && runIn(third)}/events`)
  assert.equal(events.at(-1)?.data['outcome'], 'done')
})

test('a server that stops is not ready and accepts no new runs', async (t) => {
  const held = gate(0)
  const { api, server, store } = await serving(t, { between: held.between })
  const id = await newConversation(api)
  assert.equal((await api('GET', '/ready')).status, 200)
  const run = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'Hello' }))
  await held.held
  await server.stop(0)
  const record = await store.record('local', 'run', run)
  assert.equal(record?.data['state'], 'parked')
  held.open()
  const next = await serving(t, { store })
  const events = await readEvents(`${next.url}/api/runs/${run}/events`)
  assert.equal(events.at(-1)?.data['outcome'], 'done')
})

test('a key with too many requests is asked to wait', async (t) => {
  const { createKey } = await import('../../src/server/keys.ts')
  const server = await serving(t, { limits: { perMinute: 1, burst: 5 } })
  const { key } = await createKey(server.store, {})
  const ask = () => server.api('GET', '/api/status', undefined, { 'x-api-key': key })
  const statuses = []
  for (let i = 0; i < 7; i++) statuses.push((await ask()).status)
  assert.deepEqual(statuses.slice(0, 5), [200, 200, 200, 200, 200])
  assert.equal(statuses[6], 429)
  assert.ok(Number((await ask()).headers.get('retry-after')) >= 1)
})
