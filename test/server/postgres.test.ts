// Several servers on one PostgreSQL.

import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import OpenAI from 'openai'
import pg from 'pg'
import type { JsonObject } from '../../src/core/json.ts'
import type { Reply } from '../../src/core/message.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { findPostgres, makeDatabase, type PostgresDatabase } from '../store/postgres-server.ts'
import { ownTime } from '../own-time.ts'
import {
  gate,
  newConversation,
  readEvents,
  runIn,
  say,
  serving,
  type Received,
  type ServingOptions,
} from './serving.ts'

const programs = findPostgres()
const skip = programs === undefined && 'needs the programs of a PostgreSQL server (postgres, initdb)'

describe('servers on one PostgreSQL', { skip }, () => {
  let postgres: PostgresDatabase
  before(async () => {
    postgres = await makeDatabase(programs ?? '')
  })
  after(() => postgres?.remove())

  /** Each server with its own connections, as in a separate process. */
  async function another(t: TestContext, options: ServingOptions = {}, wrap = (store: Store) => store) {
    const store = await openPostgresStore(postgres.url, { connections: 4 })
    const server = await serving(t, { ...options, store: wrap(store) })
    t.after(() => store.close())
    return server
  }

  test('a run is followed at another server, event by event, without polling', async (t) => {
    const held = gate(6)
    const first = await another(t, { between: held.between })
    let reads = 0
    const counted = (store: Store): Store => ({
      ...store,
      stream: (...asked) => {
        reads++
        return store.stream(...asked)
      },
    })
    const second = await another(t, {}, counted)
    const id = await newConversation(first.api)
    const runId = runIn(await first.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }))
    const here = readEvents(`${first.url}/api/runs/${runId}/events`)
    const there = readEvents(`${second.url}/api/runs/${runId}/events`)
    await held.held
    // Pending events still arrive; then nothing is read for so long that polling would show.
    let before: number
    do {
      before = reads
      await new Promise((resolve) => setTimeout(resolve, 700))
    } while (reads > before)
    held.open()
    const ours = await here
    const elapsed = ownTime(t)
    const theirs = await there
    assert.ok(elapsed() < 8000, 'told, not looked for')
    assert.equal(theirs.at(-1)?.event, 'run-end')
    assert.deepEqual(
      theirs.map((event) => event.raw),
      ours.map((event) => event.raw),
    )
  })

  test('a reader at another server continues when the notification connection was cut', async (t) => {
    const held = gate(6)
    const first = await another(t, { between: held.between })
    const second = await another(t)
    const id = await newConversation(first.api)
    const runId = runIn(await first.api('POST', `/api/conversations/${id}/messages`, { text: 'What time is it?' }))
    const there = readEvents(`${second.url}/api/runs/${runId}/events`)
    await held.held
    const admin = new pg.Client(postgres.url)
    await admin.connect()
    const listens = `SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()`
    while ((await admin.query(listens)).rowCount === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await admin.query(`SELECT pg_terminate_backend(pid) FROM (${listens}) AS them`)
    await admin.end()
    held.open()
    assert.equal((await there).at(-1)?.event, 'run-end')
  })

  test("an answer to another server's client is followed from its journal", async (t) => {
    const { api, url, store } = await another(t)
    const id = await newConversation(api)
    const { id: basedOn } = await store.append('local', id, {
      message: { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    })
    const { epoch } = await store.takeLease('local', id, { holder: 'elsewhere:7 (abc.1)', ttlMs: 60_000 })
    const origin = { provider: 'openai', protocol: 'openai-chat', model: 'gpt-5.6' }
    const { id: exchangeId } = await store.openExchange('local', id, { ...origin, basedOn, body: '{}' }, { epoch })
    const view = (await api('GET', `/api/conversations/${id}`)).body['run']
    assert.deepEqual(view, { id: exchangeId, state: 'running' })
    const message: Reply = {
      role: 'assistant',
      parts: [{ type: 'text', text: 'Hi.' }],
      native: [],
      origin,
      stop: { reason: 'done' },
    }
    const followed = await readEvents(`${url}/api/runs/${exchangeId}/events`, {}, ({ event }) => {
      if (event === 'request') void store.journal('local', exchangeId, 0, [{ type: 'reply-start', origin }], { epoch })
      if (event === 'reply-event') {
        void store.finishExchange('local', exchangeId, { outcome: 'done', reply: { message } }, { epoch })
      }
      return false
    })
    assert.deepEqual(
      followed.map(({ event }) => event),
      ['run-start', 'request', 'reply-event', 'message', 'run-end'],
    )
    assert.equal((await api('GET', `/api/conversations/${id}`)).body['run'], undefined)
  })

  test('a server that was killed between the end of a run and recording it does not block the start of another', async (t) => {
    const first = await another(t)
    const id = await newConversation(first.api)
    const runId = await say(first, id, 'What time is it?')
    await first.server.stop(0)
    const open = { owner: 'synapse:server', kind: 'open-run', id: runId, data: { owner: 'local' } }
    await first.store.putRecords([open])
    // On a busy machine the first server may count as alive a little longer, and a later look finds the run.
    const closed = Promise.withResolvers<void>()
    const second = await another(t, {}, (store) => ({
      ...store,
      async deleteRecord(owner, kind, recordId) {
        const isDeleted = await store.deleteRecord(owner, kind, recordId)
        if (kind === open.kind && recordId === runId) closed.resolve()
        return isDeleted
      },
    }))
    const events = await readEvents(`${second.url}/api/runs/${runId}/events`)
    assert.equal(events.filter(({ event }) => event === 'run-end').length, 1)
    await closed.promise
    assert.equal(await second.store.record(open.owner, open.kind, runId), undefined)
  })

  test('of servers that start at the same time, one resumes a parked run', async (t) => {
    const held = gate(6)
    const first = await another(t, { between: held.between })
    const ids = await Promise.all([1, 2, 3, 4].map(() => newConversation(first.api)))
    const runs = await Promise.all(
      ids.map(async (id) =>
        runIn(await first.api('POST', `/api/conversations/${id}/messages`, { text: 'Tell me about yourself.' })),
      ),
    )
    await held.held
    await first.server.stop(0)
    const servers = await Promise.all([another(t), another(t), another(t)])
    for (const [i, runId] of runs.entries()) {
      const seen: Received[][] = []
      for (const { url } of servers) seen.push(await readEvents(`${url}/api/runs/${runId}/events`))
      const [all = []] = seen
      assert.equal(all.filter(({ event }) => event === 'run-resumed').length, 1)
      assert.equal(all.filter(({ event }) => event === 'run-end').length, 1)
      assert.equal(all.at(-1)?.data['outcome'], 'done', all.at(-1)?.raw)
      for (const other of seen) {
        assert.deepEqual(
          other.map((event) => event.raw),
          all.map((event) => event.raw),
        )
      }
      const { items } = (await servers[0].api('GET', `/api/conversations/${ids[i]}/exchanges`)).body
      const done = (items as JsonObject[]).filter(({ outcome }) => outcome === 'done')
      assert.equal(done.length, 1, 'it was asked for once more, by one of them')
    }
  })

  test('responses and conversations of one server continue at another, and a retry there gets the stored answer', async (t) => {
    const [first, second] = [await another(t), await another(t)]
    const clientOf = ({ url }: { url: string }) => new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
    const [here, there] = [clientOf(first), clientOf(second)]
    const model = 'mistral/mistral-large-latest'
    const said = await here.responses.create({ model, input: 'My name is Ada.' })
    const next = await there.responses.create({ model, input: 'What is my name?', previous_response_id: said.id })
    assert.match(next.output_text, /Ada/)
    const last = await here.responses.create({ model, input: 'And again?', previous_response_id: next.id })
    assert.equal((await there.responses.retrieve(last.id)).output_text, last.output_text)
    const { id: conversation } = await here.conversations.create()
    for (const [i, openai] of [here, there, here].entries()) {
      await openai.responses.create({ model, conversation, input: `Number ${i}.` })
    }
    const { data } = await there.conversations.items.list(conversation, { order: 'asc' })
    assert.equal(data.length, 6)
    // Reasoning that was sealed at one server is known at the other.
    const thinking = { model: 'anthropic/claude-opus-5', reasoning: { effort: 'high' as const }, store: false }
    const thought = await here.responses.create({ ...thinking, input: 'What is 17 + 25?' })
    const input = [{ role: 'user' as const, content: 'What is 17 + 25?' }, ...thought.output]
    await there.responses.create({ ...thinking, input: [...input, { role: 'user', content: 'Why?' }] } as never)
    assert.match(JSON.stringify(second.emulator.requests.at(-1)?.body), /"signature":"(?!Synapse)/)
  })
})
