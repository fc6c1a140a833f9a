// Reports streams that another process has written to: the database notifies, on one connection for all of them. It is
// only a hint to check again, and a hint can get lost with the connection; listeners are notified of that, too.

import type { StreamListener } from '../records.ts'
import type { Database } from './database.ts'

/** The channel of writers. The payload names the streams, separated by spaces. */
export const channel = 'synapse_streams'

export interface Listening {
  listen(streamId: string, listener: StreamListener): Promise<() => void>
  close(): void
}

export function createListening(db: Database): Listening {
  const listeners = new Map<string, Set<StreamListener>>()
  let connection: Promise<() => void> | undefined

  return {
    async listen(streamId, listener) {
      connection ??= db.listen(channel, heard, lost)
      await connection.catch((error: unknown) => {
        connection = undefined
        throw error
      })
      const those = listeners.get(streamId) ?? new Set()
      listeners.set(streamId, those.add(listener))
      return () => {
        those.delete(listener)
        if (those.size === 0 && listeners.get(streamId) === those) listeners.delete(streamId)
      }
    },
    close() {
      void connection?.then((leave) => leave()).catch(() => {})
      connection = undefined
    },
  }

  function heard(payload: string): void {
    for (const streamId of payload.split(' ')) for (const { more } of listeners.get(streamId) ?? []) more()
  }

  function lost(): void {
    connection = undefined
    const all = [...listeners.values()].flatMap((those) => [...those])
    listeners.clear()
    for (const listener of all) listener.lost()
  }
}
