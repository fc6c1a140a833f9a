// API keys of providers, stored from the page by a user of this machine. Only a server that listens on loopback and
// requires no key has this: otherwise anyone with a key of the server could store keys.

import type { ServerContext } from './context.ts'
import { Refusal } from './answer.ts'

export interface Keyring {
  /** The providers with a stored key. */
  stored(): readonly string[]
  /** Throws one sentence if it cannot be stored. */
  store(provider: string, key: string): void
  /** False: there was none. */
  remove(provider: string): boolean
  /** The new endpoints: the first key turns the emulator off, unless it was requested. */
  reach(): Promise<Reach>
}

/** The default model. */
export interface Reach {
  offline: boolean
  whyOffline?: string
  defaultModel: string
}

export function keyringOf(server: ServerContext): Keyring {
  if (server.keyring && !server.keysRequired) return server.keyring
  const message =
    'API keys of providers can only be stored on the machine of this server, with "synapse auth PROVIDER".'
  throw new Refusal(403, { kind: 'permission', message })
}
