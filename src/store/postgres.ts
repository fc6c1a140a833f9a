// The store for many machines: one PostgreSQL that any number of Synapse processes share. Nothing exists in one process
// only, so that each of them can continue what another one started.

import { badInput } from '../core/error.ts'
import type { Store, StoreOptions } from './store.ts'
import { archiveMethods } from './postgres/archive.ts'
import { blobMethods } from './postgres/blobs.ts'
import { branchMethods } from './postgres/branches.ts'
import { conversationMethods } from './postgres/conversations.ts'
import { connect, type Database } from './postgres/database.ts'
import { entryMethods } from './postgres/entries.ts'
import { exchangeMethods } from './postgres/exchanges.ts'
import { leaseMethods } from './postgres/leases.ts'
import { createListening } from './postgres/listen.ts'
import { overlayMethods } from './postgres/overlays.ts'
import { recordMethods } from './postgres/records.ts'
import { indexWaiting } from './postgres/search-index.ts'
import { searchMethods } from './postgres/search.ts'
import { stateMethods } from './postgres/states.ts'
import { toolMethods } from './postgres/tools.ts'

export interface PostgresOptions extends StoreOptions {
  /** At most this many connections; 10 by default. */
  connections?: number
  /** How long a call waits for an unreachable server before it fails; 60 seconds by default. */
  waitMs?: number
  /** How long a statement may take; 60 seconds by default, 0 for any time. */
  statementMs?: number
}

/**
 * `url` as in `postgres://user:password@host:5432/database`, with `wait_seconds` and `statement_seconds` in its query
 * for callers that can only pass an address. Creates its tables, in a schema named synapse.
 */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<Store> {
  const { address, ...inUrl } = limitsIn(url)
  const { now = Date.now, leaseSkewMs = () => 0, connections = 10, ...limits } = options
  const db = await connect(address, { now, leaseSkewMs, connections, ...inUrl, ...limits })
  const ears = createListening(db)
  // It uses one connection permanently, which must not be the only one.
  const hearing = connections > 1 && { listen: ears.listen }
  const close = async (): Promise<void> => {
    ears.close()
    await db.close()
  }
  return storeOver(db)

  function storeOver(through: Database): Store {
    return {
      ...conversationMethods(through),
      ...entryMethods(through),
      ...branchMethods(through),
      ...exchangeMethods(through),
      ...toolMethods(through),
      ...overlayMethods(through),
      ...stateMethods(through),
      ...blobMethods(through),
      ...searchMethods(through),
      ...leaseMethods(through),
      ...archiveMethods(through),
      ...recordMethods(through),
      async vacuum() {
        await indexWaiting(through)
        for (const table of tables) await through.maintain(`VACUUM synapse.${table}`)
      },
      ...hearing,
      outages: db.link,
      within: (ms) => storeOver(db.within(ms)),
      close,
    }
  }
}

/** The limits in an address, and the address without them. */
function limitsIn(url: string): { address: string; waitMs?: number; statementMs?: number } {
  // Anything that is not a URL is refused with one sentence when connecting.
  if (!URL.canParse(url)) return { address: url }
  const rest = new URL(url)
  const waitMs = take('wait_seconds')
  const statementMs = take('statement_seconds')
  if (waitMs === undefined && statementMs === undefined) return { address: url }
  return {
    address: rest.href,
    ...(waitMs !== undefined && { waitMs }),
    ...(statementMs !== undefined && { statementMs }),
  }

  function take(name: string): number | undefined {
    const text = rest.searchParams.get(name)
    if (text === null) return undefined
    rest.searchParams.delete(name)
    const seconds = Number(text)
    if (text !== '' && seconds >= 0 && seconds <= mostSeconds) return seconds * 1000
    throw badInput(`${name} in the address of PostgreSQL must be a number from 0 to ${mostSeconds}, not "${text}".`)
  }
}

/** By then it is no longer recorded which transactions were committed. */
const mostSeconds = 1800

const tables = ['entries', 'waiting', 'search', 'pieces', 'journal', 'exchanges', 'conversations', 'commits']
