// Which process has a run, and whether it is still alive. A dead process on this machine is recognised at once; one
// elsewhere when it has not renewed its heartbeat.

import { randomUUID } from 'node:crypto'
import { hasEnded, thisProcess } from '../../run/log/lease.ts'
import type { Store } from '../../store/store.ts'
import { serverOwner } from '../keys.ts'

const kind = 'server'
const signMs = 10_000
const lifeMs = 30_000
const stopMs = 1000

export interface Holder {
  name: string
  /** Whether another server, of that name, may still be active. */
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
    // One at a time: while the database is unreachable it waits there. The next one makes up for a failure.
    signing ??= sign()
      .catch(() => {})
      .finally(() => (signing = undefined))
  }, signMs)
  signs.unref()
  return {
    name: `${id} ${thisProcess()}`,
    async lives(other) {
      const [, itsId = '', process = ''] = /^(\S+) (.*)$/.exec(other) ?? []
      if (hasEnded(process)) return false
      return (await store.record(serverOwner, kind, itsId)) !== undefined
    },
    async stop() {
      clearInterval(signs)
      // An unreachable database does not keep a server from stopping: the heartbeat expires.
      await (store.within?.(stopMs) ?? store).deleteRecord(serverOwner, kind, id).catch(() => {})
    },
  }
}
