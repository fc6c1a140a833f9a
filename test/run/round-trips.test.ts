// How often a turn waits for PostgreSQL: over a network each way there and back takes as long as the network does.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { defineTool, openSynapse } from '../../src/index.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { findPostgres, makeDatabase } from '../store/postgres-server.ts'
import { repliesWith } from './calling-fetch.ts'

const programs = findPostgres()
const skip = programs === undefined && 'needs the programs of a PostgreSQL server (postgres, initdb)'

test('a plain turn takes ten round trips to PostgreSQL, and ten more for a step with a tool', { skip }, async (t) => {
  const database = await makeDatabase(programs ?? '')
  t.after(() => database.remove())
  const counted = await countingProxy(t, database.url)
  const script = repliesWith()
  const postgres = await openPostgresStore(counted.url)
  t.after(() => postgres.close())
  // A reply that is slow because the machine is busy is stored while it arrives; these round trips are not counted.
  const store: Store = {
    ...postgres,
    journal: async (_owner, _exchange, offset, events) => offset + events.length,
  }
  const synapse = await openSynapse({
    store,
    keys: { openai: 'none' },
    transport: { fetch: script.fetch },
  })
  t.after(() => synapse.close())
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: { number: { type: 'number' } } } as never,
    run: async () => 'x',
  })
  const chat = await synapse.start({ model: 'openai/gpt-4o', protocol: 'openai-chat', tools: [look] })
  // The first turns open connections, and give the conversation its title.
  for (let i = 0; i < 3; i++) await chat.send('Hello.').ended
  const trips = async (calls: number): Promise<number> => {
    script.calls = calls
    const before = counted.trips()
    assert.equal((await chat.send('Hello again.').ended).outcome, 'done')
    return counted.trips() - before
  }
  await trips(2)
  assert.deepEqual([await trips(0), await trips(0), await trips(0)], [10, 10, 10])
  assert.deepEqual([await trips(1), await trips(1), await trips(1)], [20, 20, 20])
})

/** Counts how often a connection asks something after it was answered. */
async function countingProxy(t: TestContext, serverUrl: string): Promise<{ url: string; trips(): number }> {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-trips-'))
  const target = join(new URL(serverUrl).searchParams.get('host') ?? '', '.s.PGSQL.5432')
  const sockets = new Set<Socket>()
  let trips = 0
  const proxy = createServer((client) => {
    const server = connect(target)
    let isAnswered = true
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (bytes) => {
      if (isAnswered) trips++
      isAnswered = false
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      isAnswered = true
      client.write(bytes)
    })
    client.on('close', () => server.destroy())
  })
  proxy.listen(join(folder, '.s.PGSQL.5432'))
  await once(proxy, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const url = new URL(serverUrl)
  url.searchParams.set('host', folder)
  return { url: url.href, trips: () => trips }
}
