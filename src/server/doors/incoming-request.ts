// A request at a door, before its body is read.

import type { ServerContext } from '../context.ts'
import type { Principal } from '../principal.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import type { Door } from './door.ts'

export interface IncomingRequest {
  door: Door
  request: Request
  url: URL
  server: ServerContext
  /** What the client's connection remembers, if it is persistent. */
  memory?: ConnectionMemory
}

/** Before the caller is known. */
export interface UnauthenticatedRequest extends IncomingRequest {
  names: readonly string[]
  /** Counts requests of a key, and invalid keys. */
  admit: (find: () => Promise<Principal>) => Promise<Principal>
}

export interface AuthenticatedRequest extends IncomingRequest {
  principal: Principal
  /** The estimated size of the prompt, once its body has been read: errors name it. */
  size: { tokens: number; window: number }
}
