// The contract of a wire's service: what a server that speaks the wire has to know beside encoding and decoding. Where
// requests come in, what a body asks for, what of it the model reads, ids, errors in the provider's words, and what the
// server remembers. The emulator answers with these alone and names no wire.

import type { Json, JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import type { Prompt } from './shared/prompt.ts'
import type { RequestOptions } from './shared/request-options.ts'
import type { CountTokens } from './shared/tokens.ts'
import type { Transcript } from './shared/transcript.ts'
import type { Framing, Issue, Quirks, Wire } from './wire.ts'

export interface WireService {
  /** The provider whose wire it is, for a path that names none. */
  home: string
  /** The same at a host that no provider row names, where that is not `home`. */
  homeElsewhere?: string
  /** What a request asks for, by the end of its path, because base URLs differ. */
  route(method: string, path: string, provider: string | undefined): Operation | undefined

  /** Where the provider lists its models; `/models` without it. */
  modelsPath?: string

  /** The field of a body that has the conversation. */
  listField: string
  /** The least body that carries a list of this wire. */
  request(list: Json, model: string): JsonObject
  options(body: JsonObject, provider: string): RequestOptions
  /** What the model reads of a body: counted, and compared by prompt caches. */
  prompt(body: JsonObject): Prompt
  /** Whether the reply is to be streamed; without it, if `stream` is true. */
  streams?(body: JsonObject): boolean
  /** Whether a stream is one JSON array instead of events. */
  asArray?(query: URLSearchParams): boolean
  counting?: ServiceCounting

  replyPrefix?: string
  /** The id of a call from letters that are its own; without it, `call_` and 24 of them. */
  callId?(letters: (length: number) => string): string
  /** The words of reasoning that are shown are a summary: what was thought stays with the provider. */
  hidesReasoning?: true
  /** The whole reply with what this provider has in it beside the common fields. */
  complete?(whole: JsonObject, about: ReplyFacts): JsonObject
  /** The chunks of a reply as this provider sends them. */
  chunks?(chunks: JsonObject[], whole: JsonObject, incoming: Incoming): JsonObject[]

  overflow(overflow: Overflow): Issue
  /** The context window that a body asks for itself. */
  window?(body: JsonObject): number | undefined
  /** The request cut to fit, where the server does not refuse it. */
  truncate?(view: JsonObject, fits: (view: JsonObject) => boolean): JsonObject | undefined
  /** Bodies with more characters are refused. */
  largest?: { size: number; issue: Issue }
  /** What it says about a status that no request can help, where that is not what most say. */
  errors?: Record<number, ErrorWords>
  /** An overload in the middle of a stream, where that is not the error body. */
  errorEvent?: Json
  /** About a key that is missing or wrong, where the wire and not the provider decides: status and body. */
  keyErrors?: Record<'missing' | 'wrong', [number, Json]>

  /** The ids of state that a body names. */
  stateIds?(body: JsonObject): (Json | undefined)[]
  /** What a server remembers; a wire without it has no state. */
  state?(): Promise<ServerState>
}

export type Operation =
  | { do: 'reply'; model?: string; stream?: boolean }
  /** The number of tokens of a request. */
  | { do: 'count'; model?: string }
  /** The models of the provider, or one of them. */
  | { do: 'models'; id?: string }
  | Endpoint

/** Any other address of the wire. */
export interface Endpoint {
  do: 'other'
  name: string
  id?: string
  part?: string
  item?: string
}

interface ServiceCounting {
  /** The request that is to be counted, where it is inside another one. */
  request?(body: JsonObject): JsonObject
  /** `unedited`: the number before the server took anything out. */
  answer(tokens: number, body: JsonObject, unedited: () => number): Json
  /** About a field that is no part of the question. */
  unknownField(field: string): Pick<Issue, 'message' | 'code'>
}

export type ErrorWords = Pick<Issue, 'message' | 'type' | 'code'>

export interface Overflow {
  provider: string
  tokens: number
  window: number
}

/** What a prompt costs, as the cache accounts for it. */
export interface Charge {
  /** The whole prompt. */
  input: number
  read: number
  /** Tokens written at a price of their own, by the lifetime that was asked for; empty where writing is free. */
  written: Record<string, number>
}

export interface ReplyFacts {
  provider: string
  quirks: Quirks
  charge: Charge
}

/** One request for a reply, as it came. */
export interface Incoming {
  provider: string
  protocol: Wire
  service: WireService
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
  /** A stretch of conversation in a few lines. */
  summarise(messages: readonly Message[]): string
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

/** A reply that can be sent whole or in chunks. */
export interface Exchanged {
  whole: JsonObject
  usage: Usage
  chunks(piece: number): Json[]
  commit(): void
}

/** A body, or a reply that may be streamed. */
export type Outcome = { body: Json } | { exchanged: Exchanged; framing?: Framing }

/** One request for something else than a reply. */
export interface EndpointRequest {
  method: string
  body: JsonObject
  query: URLSearchParams
  owner: string
  now: number
  /** Not the same for two requests. */
  seed: string
  count: CountTokens
  /** The context window of a model, where it is known. */
  windowOf(model: string): number | undefined
  /** The request as one for a reply. */
  incoming(): Promise<Incoming>
  /** The reply to another body, and how it is streamed if that is asked for. */
  reply(body: JsonObject): Promise<{ exchanged: Exchanged; framing?: Framing }>
}

/** What a server does around the model: what it looks up, takes out, signs and remembers. */
export interface ServerState {
  /** Throws a Refusal. */
  open(incoming: Incoming): Opened
  /** Answers at the other addresses of the wire. Throws a Refusal. */
  visit?(endpoint: Endpoint, request: EndpointRequest): Outcome | Promise<Outcome>
  /** Forgets one id. */
  expire(id: string): boolean
  clear(): void
}

/** The state of a server that remembers nothing. */
export const stateless: ServerState = {
  open: ({ body }) => ({ body, see: () => ({ view: body }) }),
  expire: () => false,
  clear: () => undefined,
}
