// A provider is a row of data: who serves which wires, where, and with which differences. Adding one that speaks a known
// wire is adding a row.

import type { StateRef } from '../core/context.ts'
import type { Capabilities, Quirks } from '../wires/wire.ts'
import type { ModelFacts } from './price.ts'

export interface ProviderRow {
  id: string
  name: string
  /** The first is the default. */
  wires: readonly [ProviderWire, ...ProviderWire[]]
  /** Wires that its service has too and that Synapse does not use; the emulator serves them. */
  otherWires?: readonly string[]
  /** Where the key is looked for, in this order. */
  keyVariables: readonly string[]
  /** How the key is sent: in a header, never in a URL. */
  auth: Auth
  /** Servers locally mostly want no key. */
  keyOptional?: boolean
  /** Where a person gets a key. */
  keysAt?: string
  /** Variables that hold another address; without a path it gets the one of the wire. Those of official SDKs are honoured. */
  baseUrlVariables?: readonly string[]
  /** The path that the official SDK adds to an address in such a variable; absent: none. */
  baseUrlPath?: string
  defaultModel?: string
  /** Whose prices and context windows count, if not its own. */
  catalogue?: string
  /** Whose rules for models (models.ts) count, if not its own. */
  family?: string
  /** What is known of single models, over all that. */
  models?: Readonly<Record<string, OwnModel>>
}

export interface OwnModel extends ModelFacts {
  capabilities?: Partial<Capabilities>
}

export interface ProviderWire {
  protocol: string
  /** A bare path: the host must be given, by a variable or by the caller. */
  baseUrl: string
  quirks?: Quirks
  capabilities?: Partial<Capabilities>
  state?: StateStrategy
  caching: CachingKind
  /** The provider can summarise a conversation itself. */
  compaction?: 'native'
  /** The provider counts the tokens of a request when asked (`Protocol.counting`). */
  counts?: true
}

export interface Auth {
  header: 'authorization' | 'x-api-key' | 'x-goog-api-key' | 'api-key'
  prefix?: string
}

/** `marks`: where we say; `key`: by prefix, helped by a key; `prefix`: by prefix alone. */
type CachingKind = 'marks' | 'key' | 'prefix' | 'none'

export interface Caching {
  kind: CachingKind
  /** Shorter prompts are not cached. */
  minimum?: number
  /** How long a prefix stays warm, where that is known. */
  lifetimeMs?: number
  /** Only whole requests and answers are found again, and beginnings that two requests had in common. */
  units?: boolean
}

/** How a provider remembers a conversation for us. What is not listed here must not be trusted to do so. */
export interface StateStrategy {
  kind: StateRef['kind']
  /** The field of the request that carries the id. */
  field: string
  /** Where the reply has it. */
  idPath: string
  lifetimeMs: number
  /** What must be sent again with every request, because only the messages are kept. */
  resend: readonly ('system' | 'tools' | 'options')[]
  /** The same id can be continued more than once. */
  branches: boolean
}
