import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import type { RunEvent } from '../../src/core/event.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { noUsage } from '../../src/core/usage.ts'
import { eventLog } from '../../src/server/runs/event-log.ts'
import { eventStream, frame } from '../../src/server/runs/sse.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { thorough } from '../thorough.ts'
import { newConversation, readEvents, runIn, serving, str } from './serving.ts'

const atOnce = thorough ? 150 : 45

test(`${atOnce} streams at once, a third of them never read: each other one gets every event once, in order`, async (t) => {
  const { api, url } = await serving(t, { file: ':memory:' })
  const { hostname, port } = new URL(url)
  const runs = await Promise.all(
    Array.from({ length: atOnce }, async (_, i) => {
      const id = await newConversation(api)
      const started = await api('POST', `/api/conversations/${id}/messages`, { text: `What time is it, ${i}?` })
      const path = `/api/runs/${runIn(started)}/events`
      if (i % 3 > 0) return { i, events: await readEvents(url + path) }
      const asleep = connect(Number(port), hostname).on('error', () => {})
      t.after(() => asleep.destroy())
      asleep.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`)
      asleep.pause()
      return undefined
    }),
  )
  const read = runs.filter((run) => run !== undefined)
  assert.equal(read.length, (atOnce * 2) / 3)
  for (const { i, events } of read) {
    assert.deepEqual(
      events.map((event) => event.id),
      events.map((_, n) => n + 1),
    )
    assert.equal(events[0]?.event, 'run-start')
    assert.equal(events.at(-1)?.data['outcome'], 'done', `run ${i}`)
    assert.equal(spoken(events), said(events), `run ${i}: the deltas are the reply`)
  }
})

type Events = Awaited<ReturnType<typeof readEvents>>

function spoken(events: Events): string {
  const inner = events.map(({ data }) => (data['event'] ?? {}) as JsonObject)
  const deltas = inner.filter((event) => event['type'] === 'part-delta').map((event) => str(event['text']))
  // The arguments of the call are deltas, too.
  return deltas.filter((text) => text !== '{}').join('')
}

function said(events: Events): string {
  const messages = events.filter(({ event }) => event === 'message').map(({ data }) => data['message'] as JsonObject)
  const parts = messages.flatMap((message) =>
    message['role'] === 'assistant' ? (message['parts'] as JsonObject[]) : [],
  )
  return parts.map((part) => (part['text'] === undefined ? '' : str(part['text']))).join('')
}

test('nothing is fetched for a reader before it has consumed what there is', async () => {
  let reads = 0
  const frames = Array.from({ length: 500 }, (_, i) => frame(i + 1, `{"type":"note","text":"${'x'.repeat(1000)}"}`))
  const stream = eventStream(
    {
      async read(from) {
        reads++
        return { frames: frames.slice(from, from + 100), next: Math.min(from + 100, 500), ended: from >= 400 }
      },
      wait: () => Promise.reject(new Error('there is always more')),
      close: () => {},
    },
    0,
    { onOpen: () => {}, onClose: () => {} },
  )
  const reader = stream.getReader()
  const sizes: number[] = []
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    sizes.push(chunk.value.length)
    assert.ok(reads <= 1 + sizes.length / 2, `${reads} reads for ${sizes.length} chunks`)
  }
  assert.ok(Math.max(...sizes) < 70_000)
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    frames.join('').length,
  )
})

test('only the latest events of a long run are in memory; all of them are in the store', async (t) => {
  const store = openMemoryStore()
  const log = eventLog(store)
  t.after(() => log.close())
  const { id } = await store.createConversation('ada')
  const stream = await log.open('ada', id, 'run-1')
  const note = (i: number): RunEvent => ({
    type: 'guard',
    action: 'warned',
    guard: 'spend',
    why: `${i} ${'x'.repeat(10_000)}`,
  })
  for (let i = 0; i < 200; i++) {
    stream.push(note(i))
    if (i % 20 === 0) await stream.flushed()
  }
  await stream.flushed()
  assert.equal(stream.recent(0), undefined)
  const held = stream.recent(190)
  assert.equal(held?.frames.length, 10)
  const first = Array.from({ length: 200 }, (_, from) => from).find((from) => stream.recent(from))
  assert.ok(first !== undefined && (200 - first) * 10_000 < 300_000, `${200 - (first ?? 0)} events are held`)
  const kept = await store.stream('ada', 'run-1', 0)
  assert.equal(kept?.events.length, 200)
  assert.equal(held?.frames[0], frame(191, kept?.events[190] ?? ''))
})

test('events that a run waits for are written at once, whatever the timing of others', async (t) => {
  const store = openMemoryStore()
  const log = eventLog(store)
  t.after(() => log.close())
  const { id } = await store.createConversation('ada')
  const [mine, other] = await Promise.all([log.open('ada', id, 'run-1'), log.open('ada', id, 'run-2')])
  const note: RunEvent = { type: 'guard', action: 'warned', guard: 'spend', why: 'much' }
  const end: RunEvent = { type: 'run-end', outcome: 'done', usage: noUsage }
  const count = async (runId: string) => (await store.stream('ada', runId, 0))?.events.length
  mine.push(note)
  await mine.flushed()
  // No time passes from here on: only what a caller awaits is written.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  other.push(note)
  mine.push(note)
  await mine.end(end)
  assert.deepEqual(mine.recent(0)?.ended, true)
  assert.equal(await count('run-1'), 3)
  await other.flushed()
  assert.equal(await count('run-2'), 1)
})

test('events whose answer got lost on its way are written once, and the run continues', async (t) => {
  const store = openMemoryStore()
  let answers = 0
  const log = eventLog({
    ...store,
    async appendStreams(writes) {
      const failures = await store.appendStreams(writes)
      if (answers++ % 2 === 0) throw new Error('the connection broke during the commit')
      return failures
    },
  })
  t.after(() => log.close())
  const { id } = await store.createConversation('ada')
  const stream = await log.open('ada', id, 'run-1')
  stream.push({ type: 'guard', action: 'warned', guard: 'spend', why: 'much' })
  await stream.flushed()
  await stream.end({ type: 'run-end', outcome: 'done', usage: noUsage })
  assert.equal(stream.lost, undefined)
  const kept = await store.stream('ada', 'run-1')
  assert.deepEqual([kept?.events.length, kept?.ended], [2, true])
  assert.deepEqual(
    stream.recent(0)?.frames,
    kept?.events.map((event, i) => frame(i + 1, event)),
  )
})
