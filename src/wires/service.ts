// The contract of a wire's service: what a server for the wire needs besides encoding and decoding: paths, options in a
// body, the prompt that the model reads, ids, errors with the provider's messages, and the server's state. The emulator
// answers with these alone and names no wire.

import type { Note } from '../core/context.ts'
import type { Failure } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Message, Part } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import type { ServerTool } from '../settings/options.ts'
import type { Prompt, CountTokens } from './shared/prompt.ts'
import type { RefusedCheck } from './shared/refused-check.ts'
import type { RequestOptions } from './shared/request-options.ts'
import type { StreamProfile, StreamWriter } from './shared/stream-writer.ts'
import type { Transcript } from './shared/transcript.ts'
import type { Capabilities, Framing, Issue, Quirks, Wire } from './wire.ts'

export interface WireService {
  /** The provider of the wire, for a path that names none. */
  home: string
  /** The same at a host without a provider row, if that is not `home`. */
  homeElsewhere?: string
  /** The operation of a request, by the end of its path, because base URLs differ. */
  route(method: string, path: string, provider: string | undefined): Operation | undefined

  /** The provider's path for models; `/models` by default. */
  modelsPath?: string

  /** The field of a body with the conversation. */
  listField: string
  /** The smallest body with a list of this wire. */
  request(list: Json, model: string): JsonObject
  options(body: JsonObject, provider: string): RequestOptions
  /** The body with its fields under their usual names, if the API accepts others too. */
  withUsualNames?(body: JsonObject): JsonObject
  /** Reads a declared server tool; undefined if no other provider has an equivalent. */
  readServerTool?(tool: JsonObject): ServerTool | undefined
  /** What the model reads of a body: counted, and compared by prompt caches. */
  prompt(body: JsonObject): Prompt
  /** Whether the reply should be streamed; by default if `stream` is true. */
  streams?(body: JsonObject): boolean
  /** Whether a stream is one JSON array instead of events. */
  asArray?(query: URLSearchParams): boolean
  counting?: ServiceCounting
  /** Other forms of a request for a reply, by name. */
  forms?: Readonly<Record<string, RequestForm>>
  /** The form of a request whose path does not name one; undefined: the usual one. */
  formIn?(body: JsonObject): RequestForm | undefined
  /** The answer to a request in the usual form that only loads or unloads the model: nothing is generated. */
  loading?(body: JsonObject, now: number): JsonObject | undefined
  /** What it says about one model. */
  describe?(model: DescribedModel): Json
  /** The answers at paths unrelated to a conversation, by name. */
  fixed?: Readonly<Record<string, Json>>

  replyPrefix?: string
  /** The id of a call from its unique letters; by default `call_` and 24 of them. */
  callId?(letters: (length: number) => string): string
  /** Visible reasoning is a summary: the original stays with the provider. */
  hidesReasoning?: true
  /** The complete reply with this provider's additional fields. */
  complete?(whole: JsonObject, about: ReplyFacts): JsonObject
  /** The chunks of a reply as this provider sends them. */
  chunks?(chunks: JsonObject[], whole: JsonObject, incoming: Incoming): JsonObject[]

  /** How the wire is written for clients; without it, it is only used with providers. */
  door?: WireDoor

  /** Small requests that the service must refuse, one for each rule that can be broken alone: `synapse probe` sends them. */
  refusedRequests?(): Promise<readonly RefusedCheck[]>
  /** Matches the last event of a stream, and no text within an event: quotes and line breaks are escaped there. */
  ends: RegExp
  overflow(overflow: Overflow): Issue
  /** The context window that a body itself requests. */
  window?(body: JsonObject): number | undefined
  /** The request truncated to fit, if the server does not refuse it. */
  truncate?(view: JsonObject, fits: (view: JsonObject) => boolean): JsonObject | undefined
  /** Larger bodies are refused. */
  largest?: { size: number; issue: Issue }
  /** Its errors for failures that no request causes, such as an overload, if they differ from the common ones. */
  errors?: Record<number, ErrorWords>
  /** An overload in the middle of a stream, if it differs from the error body. */
  errorEvent?: Json
  /** For a missing or invalid key, if the wire and not the provider decides: status and body. */
  keyErrors?: Record<'missing' | 'wrong', [number, Json]>

  /** The ids of state in a body. */
  stateIds?(body: JsonObject): (Json | undefined)[]
  /** The state of a server; a wire without it has none. */
  state?(): Promise<ServerState>
}

export interface WireDoor {
  /** The API of a request that shows no other. */
  isDefault?: true
  /** Whether a request without a provider in its path is of this API. */
  recognises?(path: string, headers: Headers): boolean
  /** Paths without a version and a provider, for clients with the server itself as their base URL. */
  barePaths?: RegExp
  /** Paths of this provider at which it has the default API. */
  compatiblePaths?: RegExp
  writer(): Promise<(profile: StreamProfile) => StreamWriter>
  /** The list of models in its own format. */
  models: ModelForm
  /** The client's id of a call, from its 24 unique letters; `call_` and the letters by default. */
  callId?(key: string): string
  /** Errors have a type and a code, as OpenAI's do, or a code for some mistakes; elsewhere the status says everything. */
  codes?: 'always' | 'some'
  /** The status of an overload, if it is not 503. */
  overloaded?: number
  /** Whether the answer to a request shows its reasoning; by default it does. */
  showsReasoning?(body: JsonObject): boolean
  /** The real API ignores the content type of a body. */
  untypedBodies?: true
  /** The header of an answer with the id of its request, as clients report it. */
  requestId?: string
  /** The headers of the API itself. */
  ownHeaders?: RegExp
  /** Keys may be in the query. */
  keyInQuery?: true
  /** Answers requests that arrive over a WebSocket, until it is closed. */
  sockets?(): Promise<(socket: ServiceSocket) => Promise<void>>
  /** It cannot carry everything that a provider requires back with its replies: another wire of the provider is preferred. */
  losesReasoning?: true
  /** Why no server but the provider can answer a request; undefined: others can too. */
  unsupported?(body: JsonObject): Failure | undefined
  /** Whether a host of the API would misread what the request has for another host, so that it must be translated. */
  isForOthers?(body: JsonObject, host: { provider: string; toolKinds: boolean }): boolean
  /** What would be lost without a word if the request were translated. */
  untranslatable?(body: JsonObject): Failure | undefined
  /** Of a request that clients send in the form of another API; undefined: it is one of this API. */
  foreignForm?(body: JsonObject): RequestForm | undefined
  /**
   * The fields of a request that have no counterpart on other wires, as `a.b`: they pass through, and are left out of what
   * is translated.
   */
  unportable: readonly string[]
  /** What a request refers to that its provider alone has; undefined: nothing. */
  reference?(body: JsonObject): ProviderReference | undefined
  /** The session that a request names in its body. */
  session?(body: JsonObject): Json | undefined
  /** The path with this name of a model, for paths that contain one. */
  withModel?(path: string, model: string): string
  /** For streams that include their usage only on request. */
  usageOnRequest?: UsageOnRequest
  /** Whether a request asks for a summary of its conversation as the whole reply. */
  asksForSummary?(body: JsonObject): boolean
  /** Replies that can be continued later by their ids; without it there are none. */
  stored?: StoredReplies
}

/** The connection of one client. */
export interface ServiceSocket {
  messages: AsyncIterable<string>
  send(text: string): void
  close(code: number, reason: string): void
  /** An id for a reply. */
  newId(): string
  /** Answers a request as over HTTP. */
  answer(body: JsonObject): Promise<Response>
  /** The data of each event of a streamed answer. */
  events(answer: Response): AsyncIterable<string>
  /** A reply that is not stored is not continued again. */
  forget(replyId: string): void
}

export interface ProviderReference {
  /** With its field, such as `prompt names a template`. */
  what: string
  /** What the client can send instead. */
  instead: string
  /** The question that it contains, for the log: such a request needs no list. */
  question?: string
}

interface UsageOnRequest {
  isRequested(body: JsonObject): boolean
  /** The field that asks for it, if the provider would omit it from the requested stream. */
  missing(body: JsonObject, provider: string): RequestField | undefined
  /** What an event has that contains nothing else; few others match. */
  mark: RegExp
  /** Whether an event is sent only because of that field. */
  isUsage(event: JsonObject): boolean
}

export interface RequestField {
  name: string
  value: JsonObject
}

/** Stored replies: a client continues them by their ids, without sending them again. */
export interface StoredReplies {
  /** Whether the reply to a request is stored. */
  keeps(body: JsonObject): boolean
  /** The fields of a reply that repeat its request. */
  fields(body: JsonObject): JsonObject
  /** The reply that a request continues. */
  previousId(body: JsonObject): string | undefined
  /** The conversation that a request names. */
  conversationId?(body: JsonObject): string | undefined
  /** Fields that only the first request of a conversation has: they apply to those that continue it. */
  ofFirst?: readonly string[]
  /** For an unknown id of a reply that is continued. */
  unknownPrevious(id: string): Failure
  /** How clients retrieve them; without it they cannot. */
  retrieval?: RetrievedReplies
  /** Further paths besides the replies; none by default. */
  items?: StoredItems
}

export interface RetrievedReplies {
  /** The name of their paths. */
  endpoint: string
  unknown(id: string): Failure
  deleted(id: string): Json
  /** The events of a reply that is streamed again, which the client does not have yet; by default all of them. */
  missing?(events: readonly Json[], query: URLSearchParams): readonly Json[]
  /** A reply that is written in the background and not complete, or that ended without one. `empty`: it, without content. */
  unfinished(empty: JsonObject, state: UnfinishedReply): JsonObject
  /** The error for a reply that was not written in the background. */
  notCancellable: string
}

export interface UnfinishedReply {
  status: 'queued' | 'in_progress' | 'failed' | 'cancelled'
  failure?: Failure
}

/** Items with their own ids: of the input of a reply, of conversations, and of compaction. */
export interface StoredItems {
  withId(item: JsonObject, seed: string): JsonObject
  /** The ids of the items of an answer. */
  idsOf(parts: readonly Part[], replyId: string): string[]
  /** The items of an answer. */
  inBody(body: JsonObject): JsonObject[]
  /** The id of a call, in the call and in its result. */
  callIdIn(item: JsonObject): string | undefined
  withCallId(item: JsonObject, id: string): JsonObject
  /** The id of the item that an element of the input stands for; undefined: it is an item itself. */
  referenceIn(item: Json): string | undefined
  /** The item that represents everything before it. */
  compaction(exchangeId: string, token: string): JsonObject
  /** A request that continues a response with this item in place of the id of the response. */
  continuing(item: JsonObject, body: JsonObject): JsonObject
  /** What is wrong with a request for a compaction alone; undefined: nothing. */
  refuseCompaction(body: JsonObject): Failure | undefined
  /** The answer to it. */
  compacted(body: JsonObject, reply: { replyId: string; createdAt: number; item: JsonObject; usage: Usage }): Json
  conversations: ConversationForm
}

/** Conversations under the ids of an API. */
export interface ConversationForm {
  /** The name of their paths. */
  endpoint: string
  /** `key`: 32 hexadecimal digits. */
  id(key: string): string
  /** Undefined: it is not the id of a conversation. */
  keyIn(id: string): string | undefined
  /** `createdAt`: in seconds. */
  whole(conversation: { id: string; createdAt: number; metadata: Json }): JsonObject
  deleted(id: string): JsonObject
  unknown(id: string): Failure
  unknownItem(id: string): Failure
  /** Fields of a request; throws a SynapseError if they are not valid. */
  metadataIn(body: JsonObject, about: { isRequired: boolean }): JsonObject
  itemsIn(body: JsonObject, about: { isRequired: boolean }): JsonObject[]
}

export interface ModelForm {
  /** `provider`: of a name without one. */
  one(name: string, provider: string): Json
  /** `query`: which part of it is requested. */
  list(models: Json[], names: readonly string[], query: URLSearchParams): Json
  /** Its error for an unknown model, if it differs from the common one. */
  unknown?(name: string): string
}

/** Another form of a request and of its reply, such as one prompt without roles. */
export interface RequestForm {
  /** It is of another API, so no provider of the wire gets it unchanged. */
  isForeign?: true
  /** What the real API refuses in this form, besides what it refuses in the usual one. */
  refuse(body: JsonObject): Issue[]
  /** The same request in the usual form of the wire. */
  request(body: JsonObject): JsonObject
  /** Why only a server of the wire can answer it; undefined: others can too. */
  unsupported(body: JsonObject): string | undefined
  /** What the usual form has no field for. `continues`: the reply that it names is known. */
  leftOut(body: JsonObject, continues: boolean): Note[]
  /** The token of the reply that it continues. */
  token(body: JsonObject): string | undefined
  /** A reply of the usual form, or a chunk of it. `token`: for the request that continues it. */
  reply(chunk: JsonObject, token?: () => string | undefined): JsonObject
}

export interface DescribedModel {
  /** The client's name of it. */
  name: string
  provider: string
  model: string
  capabilities: Capabilities
}

export type Operation =
  /** `framing`, `form`: if they differ from the usual ones of the wire. */
  | { do: 'reply'; model?: string; stream?: boolean; framing?: Framing; form?: string }
  /** The number of tokens of a request. */
  | { do: 'count'; model?: string }
  /** The models of the provider, or one of them. */
  | { do: 'models'; id?: string }
  /** One model, which the body names. */
  | { do: 'model' }
  | Endpoint

/** Any other path of the wire. */
export interface Endpoint {
  do: 'other'
  name: string
  id?: string
  part?: string
  item?: string
}

interface ServiceCounting {
  /** The request to count, if it is inside another one. */
  request?(body: JsonObject): JsonObject
  /** `unedited`: the number before the server removed anything. */
  answer(tokens: number, body: JsonObject, unedited: () => number): Json
  /** For an unknown field. */
  unknownField(field: string): Pick<Issue, 'message' | 'code'>
}

export type ErrorWords = Pick<Issue, 'message' | 'type' | 'code'>

export interface Overflow {
  provider: string
  tokens: number
  window: number
}

/** The cost of a prompt, as accounted by the cache. */
export interface Charge {
  /** The whole prompt. */
  input: number
  read: number
  /** Tokens written at a separate price, by the requested lifetime; empty if writing is free. */
  written: Record<string, number>
}

export interface ReplyFacts {
  provider: string
  quirks: Quirks
  charge: Charge
}

/** One request for a reply, as received. */
export interface Incoming {
  provider: string
  protocol: Wire
  service: WireService
  model: string
  body: JsonObject
  /** The values of `anthropic-beta`. */
  betas: ReadonlySet<string>
  /** The owner of its state and cache: a digest of provider and key. */
  owner: string
  /** The id of the reply to come. */
  replyId: string
  now: number
  count: CountTokens
  read(body: JsonObject): Transcript
  /** A summary of a conversation in a few lines. */
  summarise(messages: readonly Message[]): string
}

export interface Opened {
  /** The request with all state of the server: the input of the rules. */
  body: JsonObject
  /** Called when the rules accept it. Throws a Refusal for what only the server can check. */
  see(): Seen
  /** Called instead of `commit` if there was no reply. */
  abandon?(): void
}

export interface Seen {
  /** The request as the model sees it, without what the server removed: what is counted, cached and answered. */
  view: JsonObject
  /** If the model should read something else than what is counted, such as an encrypted summary. */
  readable?: JsonObject
  /** Signs and completes the reply. */
  finish?(whole: JsonObject): JsonObject
  /** Stores the reply; called when it has been sent. */
  commit?(whole: JsonObject): void
}

/** A reply that can be sent complete or in chunks. */
export interface Exchanged {
  whole: JsonObject
  usage: Usage
  chunks(piece: number): Json[]
  commit(): void
}

/** A body, or a reply that may be streamed. */
export type Outcome = { body: Json } | { exchanged: Exchanged; framing?: Framing }

/** One request for something other than a reply. */
export interface EndpointRequest {
  method: string
  body: JsonObject
  query: URLSearchParams
  owner: string
  now: number
  /** Different for each request. */
  seed: string
  count: CountTokens
  /** The request as one for a reply. */
  incoming(): Promise<Incoming>
  /** The reply to another body, and how it is streamed if requested. */
  reply(body: JsonObject): Promise<{ exchanged: Exchanged; framing?: Framing }>
}

/** What a server does around the model: lookups, removals, signatures and state. */
export interface ServerState {
  /** Throws a Refusal. */
  open(incoming: Incoming): Opened
  /** Answers at the other paths of the wire. Throws a Refusal. */
  visit?(endpoint: Endpoint, request: EndpointRequest): Outcome | Promise<Outcome>
  /** Deletes one id. */
  expire(id: string): boolean
  clear(): void
}

/** The same for a client's request, which may also be in the form of another API. */
export function clientFormOf(
  service: WireService,
  name: string | undefined,
  body: JsonObject,
): RequestForm | undefined {
  return formOf(service, name, body) ?? service.door?.foreignForm?.(body)
}

/** The form of a request for a reply; undefined: the usual one. `name`: the one that its path names. */
export function formOf(
  { forms, formIn }: WireService,
  name: string | undefined,
  body: JsonObject,
): RequestForm | undefined {
  return name === undefined ? formIn?.(body) : forms?.[name]
}

/** The state of a stateless server. */
export const stateless: ServerState = {
  open: ({ body }) => ({ body, see: () => ({ view: body }) }),
  expire: () => false,
  clear: () => undefined,
}
