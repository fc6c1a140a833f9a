// What a server does around the model: it looks up what it remembers, takes out what it was told to take out, signs
// what it hands out and keeps what it said. Each wire that does any of this has a Service; the others have `plain`.

import type { JsonObject } from '../core/json.ts'
import type { Wire } from '../wires/wire.ts'
import type { Transcript } from '../wires/shared/transcript.ts'
import type { CountTokens } from './tokens.ts'

/** One request for a reply, as it came. */
export interface Incoming {
  provider: string
  protocol: Wire
  model: string
  body: JsonObject
  /** The values of `anthropic-beta`. */
  betas: ReadonlySet<string>
  /** Whose state and cache it is: a digest of provider and key. */
  owner: string
  /** The id that the reply will have. */
  replyId: string
  now: number
  count: CountTokens
  read(body: JsonObject): Transcript
}

export interface Opened {
  /** The request with all that the server remembers: what the rules judge. */
  body: JsonObject
  /** Called when the rules have nothing against it. Throws a Refusal for what only the server can judge. */
  see(): Seen
  /** Called instead of `commit` when no reply came of it. */
  abandon?(): void
}

export interface Seen {
  /** The request as the model sees it, less what the server took out: what is counted, cached and answered from. */
  view: JsonObject
  /** Where the model is to read something else than what is counted, such as a summary that is sealed. */
  readable?: JsonObject
  /** Signs and completes the reply. */
  finish?(whole: JsonObject): JsonObject
  /** Keeps the reply; called when it has been sent. */
  commit?(whole: JsonObject): void
}

export interface Service {
  /** Throws a Refusal. */
  open(incoming: Incoming): Opened
  /** Forgets one id. */
  expire(id: string): boolean
  clear(): void
}

export const plain: Service = {
  open: ({ body }) => ({ body, see: () => ({ view: body }) }),
  expire: () => false,
  clear: () => undefined,
}
