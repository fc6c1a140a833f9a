// The contract of a wire: how its bodies are encoded and its streams decoded, what the real API refuses, and how it
// would have sent a given reply. Everything here is pure: no clock, no network, no randomness.

import type { Context, Note, StateRef } from '../core/context.ts'
import type { Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Origin, Reply } from '../core/message.ts'
import type { Effort, Options, ServerTool } from '../settings/options.ts'
import type { Usage } from '../core/usage.ts'
import type { AnswerDialect, ToolDialect } from './tool-schema/dialect.ts'

export interface Wire {
  id: string
  framing: Framing
  capabilities: Capabilities

  /** Expects paired messages (context/pair): every call answered right after its reply, once, in the order of the calls. */
  encode(context: Context, target: Target): Encoded

  /** Decodes the chunks of one streamed reply. Never throws on content: unknown content becomes opaque. */
  decoder(origin: Origin, options?: DecoderOptions): Decoder

  /**
   * Splits a complete reply into the chunks that would have carried it; text in pieces of at most `piece` characters.
   */
  split(whole: Json, piece?: number): Json[]

  /**
   * What the real provider would refuse in this body, with its error messages. Written from the API's rules, not from
   * `encode`.
   */
  refuse(body: Json, profile?: Profile): Issue[]

  /** The error body for an issue on this wire. */
  errorBody(issue: Issue, profile?: Profile): Json

  /** The complete body that would have carried this reply; `native` of this wire is used unchanged. */
  whole(reply: Reply, profile: WholeProfile): Json

  /** How to count the tokens of a request instead of replying; whether a provider supports it is in its row. */
  counting?: Counting

  /** How to request a summary that only the provider reads; whether it supports that is in its row. */
  compacting?: Compacting

  /** The kinds of server-side state that the wire itself can continue. */
  states?: readonly StateRef['kind'][]

  /** How a provider declares a tool that it runs itself; undefined: it has none of the kind. */
  declareServerTool?(tool: ServerTool, provider: string): DeclaredServerTool | undefined
}

/** The form of a server tool in a request: an element of `tools`, and additional fields. */
export interface DeclaredServerTool {
  tool: JsonObject
  fields?: JsonObject
}

export type Compacting =
  /** These fields are added to an ordinary request: the answer is only a summary. */
  | { kind: 'reply'; fields: JsonObject }
  /** A separate call, with these fields of a request. `read`: the items that replace everything, empty if it failed. */
  | {
      kind: 'question'
      path: string
      fields: readonly string[]
      read(answer: Json): { items: Json[]; usage?: Usage | undefined }
    }

export interface Counting {
  /** Appended to the base URL; `{model}` stands for the model. */
  path: string
  /** The fields of a request that are counted. All others are refused. */
  fields: readonly string[]
  /** The body of the call, if it is not just those fields. */
  question?(counted: JsonObject, model: string): JsonObject
  /** The field of the answer with the number. */
  answer: string
}

export type Framing =
  /** `named`: each event also has its type in an `event:` line. `done`: a last `data:` line that is not JSON. */
  | { kind: 'sse'; named?: boolean; done?: string }
  | { kind: 'ndjson' }
  /** Binary frames of AWS. `wrapped`: each is a `chunk` that carries an event of another wire. */
  | { kind: 'aws-events'; wrapped?: boolean }

/** The target of a request. `quirks` and `capabilities` are the merged data of wire, provider and model. */
export interface Target {
  provider: string
  model: string
  options: Options
  quirks: Quirks
  capabilities: Capabilities
}

export interface Encoded {
  /** Relative to the provider's base URL. */
  path: string
  headers?: Record<string, string>
  body: JsonObject
  notes: Note[]
  /** Tool names that had to be changed: the wire's name → ours. */
  toolNames: Record<string, string>
  /** Where the elements of the body came from; absent if the wire does not report it. */
  origins?: Origins | undefined
  /** A digest of everything that the reply will be bound to, if the model binds its reasoning to its prefix. */
  basis?: string
}

/** For each element of the main list of a body, the messages that it came from. */
export interface Origins {
  /** The field of the body with the list. */
  field: string
  /**
   * By the index of the element: positions in the history, named as in notes (`messages[3]`); empty for what was added.
   */
  from: readonly (readonly string[])[]
}

export interface DecoderOptions {
  /**
   * Our id for the reply's n-th call (from 0); by default the alias if it is unique in the reply, otherwise `call-<n>`.
   */
  callId?: (position: number, alias: string | undefined) => string
  /** `Encoded.toolNames`, to restore the names of the tools. */
  toolNames?: Record<string, string>
}

export interface Decoder {
  push(chunk: Json): ReplyEvent[]
  /** Call it once, when no more chunks come; `cause` says why, unless the stream ended normally. */
  end(cause?: EndCause): ReplyEvent[]
  /** The wire's terminal event was received: nothing important can follow, even if the socket stays open. */
  readonly done: boolean
}

export type EndCause = { reason: 'cancelled' } | { reason: 'interrupted' | 'failed'; failure: Failure }

/** The target, for rules that differ by host or model. By default the model in the body. */
export interface Profile {
  provider?: string
  model?: string
}

/** One thing that a provider refuses, with its status, code and message. */
export interface Issue {
  /** The rule's number in docs/protocols. */
  rule: string
  status: number
  message: string
  type?: string
  code?: string | null
  param?: string | null
}

export interface WholeProfile {
  model: string
  replyId: string
  createdAt: number
  usage: Usage
  /** A placeholder for a signature or ciphertext: one of our own server, which no provider wrote. */
  token?: () => string | undefined
  /** Milliseconds since the request arrived; absent: not measured. */
  elapsed?: () => number
  /** Responses: the fields of the response that repeat the request. */
  fields?: JsonObject
}

/** The capabilities of a target. Wires set them, provider rows and models refine them. */
export interface Capabilities {
  contextWindow?: number
  maxOutput?: number
  /** Media types accepted in user messages: `image/png`, `image/*`. */
  media: string[]
  /** Whether media may be URLs. */
  mediaUrls: boolean
  /** Media types accepted inside tool results. */
  resultMedia: string[]
  maxImages?: number
  imageLimits?: ImageLimits
  imageTokens?: ImageTokens
  tools: boolean
  maxTools?: number
  /** Supports free-form tools, and tool search and namespaces if its wire has them; elsewhere they are functions. */
  toolKinds?: boolean
  /** Accepts `temperature`, `topP`, `topK` and penalties. */
  sampling: boolean
  /** If its wire has a field for them, sampling models accept `topK` and penalties, and all a seed (the default). */
  topK?: boolean
  penalties?: boolean
  seed?: boolean
  /**
   * How an answer schema is enforced: by the schema itself (the default); as any JSON; not at all. Without `schema` the
   * schema goes into the prompt.
   */
  answer?: AnswerSupport
  /** The same if tools are offered too. */
  answerWithTools?: AnswerSupport
  /** Accepts a tool choice that forces a call. */
  forcedTool: boolean
  /** The history may end with the assistant. */
  prefill: boolean
  /** System messages may be in the middle of the history. */
  midSystem: boolean
  /** Two consecutive user messages, or two assistant messages, are not allowed. */
  alternation?: boolean
  /** Levels of reasoning effort that the model supports; empty: it cannot be set. */
  efforts: Effort[]
  /** The only effort that may be combined with tools: a model may refuse tools otherwise. */
  effortWithTools?: 'none' | 'omitted'
  /** How thinking is switched on and off (Anthropic). */
  thinking?: ('enabled' | 'adaptive' | 'disabled')[]
  /** Reasoning is valid only after the exact prefix it was made for. */
  boundReasoning?: boolean
  /** Calls must carry their original signature (Gemini 3 and later). */
  signedCalls?: boolean
  /** Calls and their results carry ids (the default). */
  callIds?: boolean
  /** Ids of calls have exactly this many letters and digits. */
  callIdLength?: number
  /** Calls can be streamed (the default); if not, a request with tools is not streamed. */
  toolsInStream?: boolean
  /** The path of the effort in the model's fields (Converse); absent: it cannot be set. */
  effortField?: 'reasoning_effort' | 'output_config' | 'reasoningConfig'
  systemRole?: 'system' | 'developer'
  outputField?: 'max_tokens' | 'max_completion_tokens'
  /** Supports explicit cache marks. */
  cacheMarks?: boolean
  /** The provider drops old results and thinking itself (`Context.cleared`). */
  contextEdits?: boolean
}

export type AnswerSupport = 'schema' | 'json' | 'none'

/** The limits of a single image. */
export interface ImageLimits {
  /** Pixels of its longer side. */
  side?: number
  /** The same if a request has more than this many of them. */
  many?: { over: number; side: number }
  /** Characters of base64. */
  size?: number
}

/** How many tokens an image has: a fixed number, one per this many pixels, or a number per tile. */
export interface ImageTokens {
  /** For the image as a whole. */
  base?: number
  pixels?: number
  tile?: { side: number; tokens: number }
  /** It is scaled down first, until its longer side, or its shorter one, has at most this many pixels. */
  longer?: number
  shorter?: number
  most?: number
  /** For a page of a PDF. */
  page?: number
}

/** Named differences of a provider from its wire, as data. Absent means: like the original provider of the wire. */
export interface Quirks {
  /** The assistant field with reasoning, in and out. */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'reasoning_details'
  /** When earlier reasoning is sent back to its provider: never by default. */
  echoReasoning?: 'always' | 'tool-turns'
  /** Content must be a plain string, even in user, system and tool messages. */
  stringContent?: boolean
  /** User and assistant must alternate; the server's chat template requires it. */
  alternate?: boolean
  /** Refuses `tool_choice`. */
  noToolChoice?: boolean
  /** Refuses `stream_options`. */
  noStreamOptions?: boolean
  /** Refuses tool messages in the history: calls and results are written as labelled text. */
  toolMessages?: 'text'
  /** The chat template renders the text of a reply or its calls, not both: the text becomes a separate message. */
  separateCalls?: boolean
  /** The chat template supports one call at a time: several become consecutive turns. */
  oneCallPerTurn?: boolean
  /** The chat template has no system role: the system prompt becomes labelled user text. */
  noSystem?: boolean
  /** Call ids must be nine letters or digits, as in Mistral's templates. */
  shortCallIds?: boolean
  /** The chat template renders only plain values of arguments: lists and objects become JSON text. */
  flatArguments?: boolean
  /** A user message right after a tool result is refused: an assistant message is inserted. */
  bridgeAfterTool?: boolean
  /** Reasoning is requested by `thinking: { type }` instead of an effort alone. */
  thinkingSwitch?: boolean
  /** Refuses `parallel_tool_calls`. */
  noParallelTools?: boolean
  /** Cache marks as `cache_control` on content parts. */
  cacheControl?: boolean
  /** Accepts `prompt_cache_key`. */
  cacheKey?: boolean
  /** Refuses `store: true`. */
  noStore?: boolean
  /** The system prompt is an input message, not `instructions`. */
  systemInInput?: boolean
  /** A cloud with the model in the path and its own API version in the body (Anthropic's wire). */
  cloud?: 'bedrock' | 'vertex'
  /** The subset of JSON Schema that the host supports in tools, if it differs from that of the original provider. */
  toolSchema?: ToolDialect
  /** The same in answer schemas. */
  answerSchema?: AnswerDialect
}
