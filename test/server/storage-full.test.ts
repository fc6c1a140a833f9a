// A disk that is full in the middle of a run: the readers of the run are notified, the server reports that it is not
// ready, and once there is space the run has ended and the conversation can be continued.

import assert from 'node:assert/strict'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import type { Tool } from '../../src/core/tool.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { clock, newConversation, readEvents, runIn, serving } from './serving.ts'

const reads =
  /^(conversations?|entry|history|outline|branches|exchanges?|journaled|overlays|toolRuns|blob|search|usage|lease|records?|stream|states?|close)$/

/** A store whose writes all fail while `isFull` says so, as those of SQLite do. */
function onDisk(isFull: () => boolean): Store {
  const store = openMemoryStore()
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const method: unknown = target[name]
      if (typeof method !== 'function' || reads.test(name)) return method
      return async (...given: unknown[]) => {
        if (isFull()) throw new SynapseError({ kind: 'storage', code: 'full', message: 'There is no space left.' })
        return (method as (...all: unknown[]) => unknown).apply(target, given)
      }
    },
  })
}

test('a run on a full disk ends as storage-full for its readers, and can be resumed', async (t) => {
  let full = false
  const filling: Tool = {
    ...clock,
    run() {
      full = true
      return '12:00'
    },
  }
  const server = await serving(t, { store: onDisk(() => full), tools: [filling] })
  const id = await newConversation(server.api)
  const started = await server.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' })
  const runId = runIn(started)
  const events = await readEvents(`${server.url}/api/runs/${runId}/events`)
  const end = events.at(-1)
  assert.equal(end?.event, 'run-end')
  assert.equal(end?.data['outcome'], 'storage-full')
  assert.ok(Number.isNaN(end?.id), 'it is not counted: it could not be saved')

  const ready = await server.api('GET', '/ready')
  assert.deepEqual([ready.status, ready.body], [503, { ready: false, why: 'storage-full' }])
  const seen = await server.api('GET', `/api/runs/${runId}`)
  assert.deepEqual([seen.body['state'], seen.body['outcome']], ['ended', 'storage-full'])
  const refused = await server.api('POST', `/api/conversations/${id}/messages`, { text: 'And now?' })
  assert.ok(refused.status >= 500, refused.text)
  assert.match(refused.text, /no space left/)

  full = false
  while ((await server.api('GET', '/ready')).status !== 200) await new Promise((resolve) => setImmediate(resolve))
  const saved = await server.api('GET', `/api/runs/${runId}`)
  assert.deepEqual([saved.body['state'], saved.body['outcome']], ['ended', 'storage-full'])
  const again = await readEvents(`${server.url}/api/runs/${runId}/events`)
  assert.equal(again.at(-1)?.data['outcome'], 'storage-full', 'and now it is saved')
  const numbers = again.map((event) => event.id)
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  )

  filling.run = () => '12:00'
  const resumed = await server.api('POST', `/api/conversations/${id}/runs`, {})
  assert.ok(resumed.status < 300, resumed.text)
  const rest = await readEvents(`${server.url}/api/runs/${runIn(resumed)}/events`)
  assert.equal(rest.at(-1)?.data['outcome'], 'done', JSON.stringify(rest.at(-1)?.data))
})
