// A process that writes to a store, for tests that kill it or set it against others. Each line on stdout is an
// acknowledgement: what it names has been promised to be durable.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { writeSync } from 'node:fs'
import { SynapseError } from '../../src/core/error.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { call, reply, result, user } from './messages.ts'

const [job = '', place = '', conversationId = '', owner = '', count = '0'] = process.argv.slice(2)
const input = createInterface({ input: process.stdin })

const uid = Number(process.env['WORKER_UID'])
if (uid > 0) {
  process.setgid?.(uid)
  process.setuid?.(uid)
}

const jobs = {
  /** Whole turns with a tool, forever. */
  async turns(store: Store): Promise<void> {
    for (let i = 0; ; i++) {
      const asked = await store.append(owner, conversationId, { message: user(`question ${i}`) })
      say({ entry: asked.id })
      const body = JSON.stringify({ turn: i, text: 'x'.repeat(5000) })
      const exchange = await store.openExchange(owner, conversationId, {
        basedOn: asked.id,
        provider: 'openai',
        protocol: 'openai-chat',
        model: 'm',
        body,
      })
      say({ exchange: exchange.id, body: exchange.bodySha256 })
      await store.journal(owner, exchange.id, 0, [{ type: 'part-delta', index: 0, text: `partial ${i}` }])
      say({ journal: exchange.id })
      const message = reply(`calling ${i}`, [call(`c${i}`, 'tool', { i })])
      const end = await store.finishExchange(owner, exchange.id, { outcome: 'done', reply: { message } })
      say({ finished: exchange.id, entry: end.entry?.id })
      const run = { callId: `c${i}`, entryId: end.entry?.id ?? '', name: 'tool', argsSha256: `${i}` }
      await store.startTool(owner, conversationId, run)
      say({ started: `c${i}` })
      const answer = { message: result(`c${i}`, 'tool', `result ${i}`, { i }) }
      const { entry } = await store.finishTool(owner, conversationId, `c${i}`, { outcome: 'done', result: answer })
      say({ ended: `c${i}`, entry: entry.id })
    }
  },

  /** A number of concurrent entries. An entry that could not be stored is reported, and the next one tried. */
  async append(store: Store): Promise<void> {
    for (let i = 0; i < Number(count); i++) {
      try {
        const { id } = await store.append(owner, conversationId, { message: user(`number ${i}`), head: 'stay' })
        say({ entry: id })
      } catch (error) {
        if (!(error instanceof SynapseError && error.kind === 'storage')) throw error
        say({ refused: error.failure.code })
      }
    }
  },

  /** Tries to be the one writer, a number of times; says what it wrote as such. */
  async race(store: Store): Promise<void> {
    for (let won = 0; won < Number(count);) {
      try {
        const { epoch } = await store.takeLease(owner, conversationId, { holder: `pid ${process.pid}`, ttlMs: 60_000 })
        const first = await store.append(owner, conversationId, { message: user(`epoch ${epoch}`) }, { epoch })
        const next = { message: reply(`epoch ${epoch}`), parentId: first.id }
        await store.append(owner, conversationId, next, { epoch })
        await store.releaseLease(owner, conversationId, epoch)
        say({ epoch })
        won++
      } catch (error) {
        if (!(error instanceof SynapseError && error.failure.code === 'lease-held')) throw error
      }
    }
  },

  /** Takes the lease, waits for a line, and writes as if nothing had happened. */
  async sleep(store: Store): Promise<void> {
    const { epoch } = await store.takeLease(owner, conversationId, { holder: 'sleeper', ttlMs: 30_000 })
    say({ epoch })
    await once(input, 'line')
    await store.append(owner, conversationId, { message: user('from the past') }, { epoch })
  },

  /** Listens to a stream until a line comes. */
  async listen(store: Store): Promise<void> {
    await store.listen?.(conversationId, { more() {}, lost() {} })
    say({ listening: true })
    await once(input, 'line')
  },

  async delete(store: Store): Promise<void> {
    say({ deleted: await store.deleteConversation(owner, conversationId) })
  },

  /** Opens and reads; with a number also writes. */
  async touch(store: Store): Promise<void> {
    if (count !== '0') await store.createConversation(owner, {})
    say({ conversations: (await store.conversations(owner)).items.length })
  },
}

function say(value: object): void {
  writeSync(1, `${JSON.stringify(value)}\n`)
}

try {
  const store = place.startsWith('postgres:') ? await openPostgresStore(place) : await openSqliteStore(place)
  try {
    await jobs[job as keyof typeof jobs](store)
  } finally {
    await store.close()
  }
} catch (error) {
  say({ error: error instanceof SynapseError ? error.failure : String(error) })
}
input.close()
