// A provider is a row of data: who serves which wires, where, and with which differences. Adding one with a known wire
// means adding a row.

import type { Credentials } from '../auth/authorizer.ts'
import type { StateRef } from '../core/context.ts'
import type { Capabilities, Quirks } from '../wires/wire.ts'
import type { ModelFacts } from './price.ts'

export interface ProviderRow {
  id: string
  name: string
  /** The first is the default. */
  wires: readonly [ProviderWire, ...ProviderWire[]]
  /** Further wires of its service that Synapse does not use; the emulator serves them. */
  otherWires?: readonly string[]
  /** Where the key is looked for, in this order. */
  keyVariables: readonly string[]
  /** How the key is sent: in a header, never in a URL. */
  auth: Auth
  /** How a local server describes its model: llama.cpp's `/props`, Ollama's `/api/show`. */
  describes?: 'props' | 'show'
  /** What authorises a request without a key: cloud credentials. */
  credentials?: Credentials
  /** Local servers usually need no key. */
  keyOptional?: boolean
  /** Where to get a key. */
  keysAt?: string
  /** Variables with another address; without a path it gets that of the wire. Those of official SDKs are honoured. */
  baseUrlVariables?: readonly string[]
  /** The path that the official SDK adds to an address in such a variable; absent: none. */
  baseUrlPath?: string
  /** What `{name}` stands for in addresses and headers. */
  places?: Readonly<Record<string, AddressPlace>>
  defaultModel?: string
  /** The provider whose prices and context windows apply, if not its own. */
  catalogue?: string
  /** The provider whose model rules (models.ts) apply, if not its own. */
  family?: string
  /** Facts about single models, which override all that. */
  models?: Readonly<Record<string, OwnModel>>
}

export interface OwnModel extends ModelFacts {
  capabilities?: Partial<Capabilities>
}

/** A part of an address that the user's account decides. */
export type AddressPlace =
  | {
      /** Its name in a sentence: "a region". */
      what: string
      /** Where it is looked for, in this order. */
      variables: readonly string[]
      /** A setting of the AWS profile, after the variables. */
      profile?: 'region'
      /** Absent: it must be given. */
      usual?: string
      /** For callers that only want to see a request. */
      example: string
    }
  /** Derived from another variable part: by the first prefix that matches, where `*` is any and `$` ends it. */
  | { from: string; cases: readonly (readonly [beginning: string, value: string])[] }

export interface ProviderWire {
  protocol: string
  /** The path of the module with the wire, if it is not built in. */
  module?: string
  /** A bare path: the host must be given, by a variable or by the caller. */
  baseUrl: string
  /** The models that use this wire by default; absent: those that no wire of the row claims. */
  models?: RegExp
  /** Overrides the row's, for callers that name this wire and no model. */
  defaultModel?: string
  /** Overrides the row's. */
  auth?: Auth
  /** Sent with every request; variable parts are filled in. */
  headers?: Readonly<Record<string, string>>
  /** Overrides the row's. */
  family?: string
  catalogue?: string
  quirks?: Quirks
  capabilities?: Partial<Capabilities>
  state?: StateStrategy
  caching: CachingKind
  /** The provider can summarise a conversation itself. */
  compaction?: 'native'
  /** The provider counts the tokens of a request when asked (`Protocol.counting`). */
  counts?: true
  /** The server returns the prompt that it makes of a request on this wire (llama.cpp's `/apply-template`). */
  rendersPrompt?: true
}

export interface Auth {
  header: 'authorization' | 'x-api-key' | 'x-goog-api-key' | 'api-key' | 'cf-aig-authorization'
  prefix?: string
}

/** `marks`: where we mark; `key`: by prefix, helped by a key; `prefix`: by prefix alone. */
type CachingKind = 'marks' | 'key' | 'prefix' | 'none'

export interface Caching {
  kind: CachingKind
  /** Shorter prompts are not cached. */
  minimum?: number
  /** How long a prefix stays warm, if known. */
  lifetimeMs?: number
  /** Only whole requests and answers are cached, and prefixes that two requests had in common. */
  units?: boolean
}

/** How a provider stores a conversation. Only providers with this field are trusted to do so. */
export interface StateStrategy {
  kind: StateRef['kind']
  /** The field of the request that carries the id. */
  field: string
  /** Where the reply has it. */
  idPath: string
  lifetimeMs: number
  /** Fields that must be sent with every request, because only the messages are stored. */
  resend: readonly ('system' | 'tools' | 'options')[]
  /** The same id can be continued more than once. */
  branches: boolean
}
