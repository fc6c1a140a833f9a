// Answers to clients of other APIs, on a server that shares its store with the one that writes them.

import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { thisProcess } from '../../src/run/log/lease.ts'
import { clientRun, clientRunIn } from '../../src/server/runs/client-runs.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { tempFolder } from '../store/temp.ts'
import {
  apiAt,
  eventsIn,
  gate,
  newConversation,
  readEvents,
  runIn,
  serving,
  str,
  type Received,
  type Serving,
} from './serving.ts'

interface Answering {
  child: ChildProcess
  /** What the client receives. */
  received: Promise<string>
  id: string
  /** The server that answers. */
  first: { url: string; api: ReturnType<typeof apiAt> }
  /** The other one. */
  second: Serving
}

/** A server in a process of its own, whose provider holds the answer back after some chunks until SIGUSR2. */
async function answering(t: TestContext): Promise<Answering> {
  const folder = tempFolder(t)
  const file = join(folder, 'chats.db')
  const script = join(import.meta.dirname, 'process.ts')
  const child = spawn(process.execPath, [script, file, '6', join(folder, 'starts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'anthropic/claude-opus-5',
      stream: true,
      messages: [{ role: 'user', content: 'Tell me about yourself.' }],
    }),
  })
  assert.equal(response.status, 200)
  const received = response.text()
  // A killed server cuts it off.
  received.catch(() => {})
  const second = await serving(t, { file })
  const id = response.headers.get('x-synapse-conversation') ?? ''
  return { child, received, id, first: { url, api: apiAt(url) }, second }
}

/** The run of a conversation, as a server shows it. */
async function runAt({ api }: Pick<Serving, 'api'>, id: string): Promise<JsonObject | undefined> {
  return (await api('GET', `/api/conversations/${id}`)).body['run'] as JsonObject | undefined
}

/** The id of the run on the other server, as soon as a page that watches the conversation knows it. */
async function watchedRun({ url }: Serving, id: string): Promise<string> {
  const states = await readEvents(`${url}/api/conversations/${id}/watch`, {}, ({ data }) => data['run'] !== undefined)
  return str((states.at(-1)?.data['run'] as JsonObject | undefined)?.['id'])
}

/** The events of a run to its end, once the first one has arrived. */
async function following({ url }: Serving, runId: string): Promise<{ all: Promise<Received[]> }> {
  const started = Promise.withResolvers<void>()
  const all = readEvents(`${url}/api/runs/${runId}/events`, {}, () => {
    started.resolve()
    return false
  })
  await Promise.race([started.promise, all])
  return { all }
}

const eventIn = ({ data }: Received) => data['event'] as JsonObject | undefined
const isDelta = (event: Received) => eventIn(event)?.['type'] === 'part-delta'
const textOf = (events: readonly Received[]) =>
  events
    .filter(isDelta)
    .map((event) => str(eventIn(event)?.['text']))
    .join('')

describe('an answer to a client, on another server', { timeout: 120_000 }, () => {
  test('is shown with its text while it is written, and afterwards as on the server that wrote it', async (t) => {
    const { child, received, id, first, second } = await answering(t)
    const runId = await watchedRun(second, id)
    assert.deepEqual(await runAt(second, id), { id: runId, state: 'running' })
    assert.equal((await second.api('GET', `/api/runs/${runId}`)).body['conversationId'], id)
    const events = `/api/runs/${runId}/events`
    const seen = await readEvents(second.url + events, {}, isDelta)
    assert.deepEqual(
      seen.slice(0, 3).map(({ event, id: number }) => [number, event]),
      [
        [1, 'run-start'],
        [2, 'request'],
        [3, 'reply-event'],
      ],
    )
    assert.notEqual(textOf(seen), '')
    assert.equal((await second.store.exchange('local', runId))?.outcome, 'open')
    // The same under this id on the server that writes it.
    const there = await readEvents(first.url + events, {}, isDelta)
    assert.deepEqual(
      there.map(({ raw }) => raw),
      seen.map(({ raw }) => raw),
    )
    // Open before the end: afterwards the run is gone.
    const rest = await fetch(second.url + events, { headers: { 'last-event-id': String(seen.at(-1)?.id) } })
    child.kill('SIGUSR2')
    const all = [...seen, ...(await eventsIn(rest))]
    await received
    assert.deepEqual(
      all.map((event) => event.id),
      all.map((_, i) => i + 1),
      'each event once, in order',
    )
    assert.deepEqual(
      all.slice(-2).map(({ event }) => event),
      ['message', 'run-end'],
    )
    assert.equal(all.at(-1)?.data['outcome'], 'done')
    const message = all.at(-2)?.data['message'] as { parts: { text?: string }[] } | undefined
    assert.ok(message?.parts.some(({ text }) => text?.startsWith(textOf(seen))))
    const entries = await Promise.all([first, second].map(({ api }) => api('GET', `/api/conversations/${id}/entries`)))
    assert.equal(entries[0]?.text, entries[1]?.text)
    const [, reply] = (entries[0]?.body['items'] ?? []) as JsonObject[]
    assert.deepEqual([reply?.['id'], reply?.['message']], [all.at(-2)?.data['entryId'], message])
    assert.equal(await runAt(second, id), undefined)
    assert.equal((await second.api('GET', events)).status, 404)
  })

  test('is cancelled there, and what had arrived stays', async (t) => {
    const { received, id, first, second } = await answering(t)
    const runId = await watchedRun(second, id)
    const { all } = await following(second, runId)
    const cancelled = await second.api('POST', `/api/runs/${runId}/cancel`)
    assert.deepEqual(
      [cancelled.status, cancelled.body['state'], cancelled.body['outcome']],
      [200, 'ended', 'cancelled'],
    )
    await received
    const end = (await all).at(-1)
    assert.deepEqual([end?.event, end?.data['outcome']], ['run-end', 'cancelled'])
    assert.deepEqual([await runAt(first, id), await runAt(second, id)], [undefined, undefined])
    assert.equal((await second.api('POST', `/api/runs/${runId}/cancel`)).status, 404)
  })

  test('is not shown as running after its server was killed', async (t) => {
    const { child, id, second } = await answering(t)
    const runId = await watchedRun(second, id)
    const { all } = await following(second, runId)
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    assert.equal(await runAt(second, id), undefined)
    const end = (await all).at(-1)
    assert.deepEqual([end?.event, end?.data['outcome']], ['run-end', 'failed'])
    assert.match(
      str((end?.data['failure'] as JsonObject | undefined)?.['message']),
      /server that wrote this answer has stopped/,
    )
    assert.equal((await second.api('POST', `/api/runs/${runId}/cancel`)).status, 404)
  })
})

describe('a reply that another program on the same store writes', () => {
  /** An open exchange under a lease of `holder`, whose process does not answer requests of servers. */
  async function writing(t: TestContext, holder: string) {
    const file = join(tempFolder(t), 'chats.db')
    const reads: string[] = []
    let skewMs = 0
    const store = await openSqliteStore(file, { leaseSkewMs: () => skewMs })
    t.after(() => store.close())
    const counted: Store = {
      ...store,
      lease: (...asked) => (reads.push('lease'), store.lease(...asked)),
      exchanges: (...asked) => (reads.push('exchanges'), store.exchanges(...asked)),
    }
    const server = await serving(t, { store: counted })
    const id = await newConversation(server.api)
    const { id: basedOn } = await store.append('local', id, {
      message: { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    })
    reads.length = 0
    await runAt(server, id)
    const free = [...reads]
    const { epoch } = await store.takeLease('local', id, { holder, ttlMs: 30_000 })
    const request = { basedOn, provider: 'openai', protocol: 'openai-chat', model: 'gpt-5.6', body: '{}' }
    const ask = async () => (await store.openExchange('local', id, request, { epoch })).id
    return { server, store, id, exchangeId: await ask(), ask, free, expire: () => (skewMs = 31_000) }
  }

  test('is shown to its owner, cannot be cancelled from here, and ends with its lease', async (t) => {
    const { server, store, id, exchangeId, free, expire } = await writing(t, 'elsewhere:7 (abc.1)')
    assert.deepEqual(free, ['lease'], 'one read more where nothing is written')
    assert.deepEqual(await runAt(server, id), { id: exchangeId, state: 'running' })
    assert.deepEqual(
      [await clientRun(store, 'other', exchangeId), await clientRunIn(store, 'other', id)],
      [undefined, undefined],
    )
    const { status, body } = await server.api('POST', `/api/runs/${exchangeId}/cancel`)
    assert.deepEqual(
      [status, (body['error'] as JsonObject)['message']],
      [
        409,
        'This answer is being written by another process (elsewhere:7), which did not stop it. Stop it there, or wait until it ends.',
      ],
    )
    expire()
    assert.equal(await runAt(server, id), undefined)
    assert.equal((await server.api('GET', `/api/runs/${exchangeId}`)).status, 404)
  })

  test('is not shown beside another one, as in a comparison', async (t) => {
    const { server, id, ask } = await writing(t, 'elsewhere:7 (abc.1)')
    await ask()
    assert.equal(await runAt(server, id), undefined)
  })

  test('is not shown where its own process has abandoned it', async (t) => {
    const { server, id, exchangeId } = await writing(t, thisProcess())
    assert.equal(await runAt(server, id), undefined)
    assert.equal((await server.api('GET', `/api/runs/${exchangeId}/events`)).status, 404)
  })

  test('is no run of its own if it belongs to a stored run', async (t) => {
    const held = gate(6)
    const { api, store } = await serving(t, { between: held.between })
    const id = await newConversation(api)
    const runId = runIn(await api('POST', `/api/conversations/${id}/messages`, { text: 'Tell me about yourself.' }))
    await held.held
    const { items } = await store.exchanges('local', id, { outcome: 'open' })
    assert.equal(items.length, 1)
    assert.equal((await api('GET', `/api/runs/${items[0]?.id}`)).status, 404)
    assert.equal((await api('GET', `/api/runs/${items[0]?.id}/events`)).status, 404)
    assert.equal((await api('GET', `/api/runs/${runId}`)).status, 200)
    held.open()
    await api('GET', `/api/runs/${runId}/events`)
  })

  test('does not keep its conversation from being deleted', async (t) => {
    const { server, id } = await writing(t, 'elsewhere:7 (abc.1)')
    assert.equal((await server.api('DELETE', `/api/conversations/${id}`)).status, 204)
    assert.equal((await server.api('GET', `/api/conversations/${id}`)).status, 404)
  })
})
