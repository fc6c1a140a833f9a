// Which process has a run, and whether that process still lives. A process on this machine that is gone is known to be
// gone at once; one elsewhere when it has not renewed its sign of life.

import { randomUUID } from 'node:crypto'
import { isGone, thisProcess } from '../../run/lease.ts'
import type { Store } from '../../store/store.ts'
import { serverOwner } from '../server-owner.ts'

const kind = 'server'
const signMs = 10_000
const lifeMs = 30_000
const stopMs = 1000

export interface Holder {
  name: string
  /** Whether another server, of that name, may still be at work. */
  lives(name: string): Promise<boolean>
  stop(): Promise<void>
}

export async function takeName(store: Store): Promise<Holder> {
  const id = randomUUID()
  const sign = async () => {
    const expiresAt = new Date(Date.now() + lifeMs).toISOString()
    await store.putRecords([{ owner: serverOwner, kind, id, data: {}, expiresAt }])
  }
  await sign()
  let signing: Promise<void> | undefined
  const signs = setInterval(() => {
    // One at a time: while the database is away it waits there. One that fails is made up for by the next.
    signing ??= sign()
      .catch(() => {})
      .finally(() => (signing = undefined))
  }, signMs)
  signs.unref()
  return {
    name: `${id} ${thisProcess()}`,
    async lives(other) {
      const [, itsId = '', process = ''] = /^(\S+) (.*)$/.exec(other) ?? []
      if (isGone(process)) return false
      return (await store.record(serverOwner, kind, itsId)) !== undefined
    },
    async stop() {
      clearInterval(signs)
      // A database that is away keeps no server from stopping: the sign runs out.
      await (store.within?.(stopMs) ?? store).deleteRecord(serverOwner, kind, id).catch(() => {})
    },
  }
}
