// The contract of a protocol: how a wire's bodies are written and its streams are read, what the real API refuses,
// and how it would have sent a given reply. Everything here is pure: no clock, no network, no randomness.

import type { Context, Note } from '../core/context.ts'
import type { Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Origin, Reply } from '../core/message.ts'
import type { Effort, Options } from '../settings/options.ts'
import type { Usage } from '../core/usage.ts'
import type { AnswerDialect, ToolDialect } from './tool-schema/dialect.ts'

export interface Wire {
  id: string
  framing: Framing
  capabilities: Capabilities

  /** Expects paired messages (context/pair): every call answered right after its reply, once, in the order of the calls. */
  encode(context: Context, target: Target): Encoded

  /** Reads the chunks of one streamed reply. Never throws on content: what it does not know becomes opaque. */
  decoder(origin: Origin, options?: DecoderOptions): Decoder

  /** Cuts a whole, unstreamed reply into the chunks that would have carried it; text in pieces of at most `piece` characters. */
  split(whole: Json, piece?: number): Json[]

  /** What the real provider would refuse in this body, in its own words. Written from the API's rules, not from `encode`. */
  refuse(body: Json, profile?: Profile): Issue[]

  /** The error body that carries an issue on this wire. */
  errorBody(issue: Issue, profile?: Profile): Json

  /** The whole, unstreamed body that would have carried this reply; `native` of this protocol is carried as it is. */
  whole(reply: Reply, profile: WholeProfile): Json

  /** How to ask for the number of tokens of a request instead of its reply; whether a provider answers is on its row. */
  counting?: Counting

  /** How to ask for a summary that only the provider reads; whether it makes one is on its row. */
  compacting?: Compacting
}

export type Compacting =
  /** These fields beside an ordinary request: the answer is a summary and nothing else. */
  | { kind: 'reply'; fields: JsonObject }
  /** A question of its own, with these fields of a request. `read`: the items that represent it all, none if it failed. */
  | {
      kind: 'question'
      path: string
      fields: readonly string[]
      read(answer: Json): { items: Json[]; usage?: Usage | undefined }
    }

export interface Counting {
  /** Behind the base URL; `{model}` represents the model. */
  path: string
  /** The fields of a request that count. All others are refused. */
  fields: readonly string[]
  /** The body of the question, where that is not just those fields. */
  question?(counted: JsonObject, model: string): JsonObject
  /** The field of the answer that has the number. */
  answer: string
}

export type Framing =
  /** `named`: each event also says its type in an `event:` line. `done`: a last `data:` line that is not JSON. */
  { kind: 'sse'; named?: boolean; done?: string } | { kind: 'ndjson' }

/** Whom a request is for. `quirks` and `capabilities` are the merged data of protocol, provider and model. */
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
  /** A digest of everything the reply will be bound to, where the model binds its reasoning to its prefix. */
  basis?: string
}

export interface DecoderOptions {
  /** Our id for the reply's n-th call (from 0); without it, the alias where that is unique in the reply, else `call-<n>`. */
  callId?: (position: number, alias: string | undefined) => string
  /** `Encoded.toolNames`, to restore the names of the tools. */
  toolNames?: Record<string, string>
}

export interface Decoder {
  push(chunk: Json): ReplyEvent[]
  /** To be called once, when no more chunks come; `cause` says why, if not because the stream came to its end. */
  end(cause?: EndCause): ReplyEvent[]
  /** The wire's terminal event was seen: nothing that matters can follow, even if the socket stays open. */
  readonly done: boolean
}

export type EndCause = { reason: 'cancelled' } | { reason: 'interrupted' | 'failed'; failure: Failure }

/** Who is asked, for the rules that differ by host or model. Without a model the one in the body counts. */
export interface Profile {
  provider?: string
  model?: string
}

/** One thing that a provider refuses, with its status, code and words. */
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
}

/** What can be asked of a target. Protocols set it, provider rows and models refine it. */
export interface Capabilities {
  contextWindow?: number
  maxOutput?: number
  /** Media types taken in user messages: `image/png`, `image/*`. */
  media: string[]
  /** Whether media may be given as a URL. */
  mediaUrls: boolean
  /** Media types taken inside tool results. */
  resultMedia: string[]
  maxImages?: number
  imageLimits?: ImageLimits
  imageTokens?: ImageTokens
  tools: boolean
  maxTools?: number
  /** Has forms for free-form tools, for tool search and for namespaces; elsewhere they are functions. */
  toolKinds?: boolean
  /** Takes `temperature` and `top_p`. */
  sampling: boolean
  /**
   * How an answer can be held to a schema: by the schema itself, which is what is assumed; to JSON of any form; not at
   * all. Without `schema` the model is informed the schema in words.
   */
  answer?: AnswerSupport
  /** The same where tools are offered too. */
  answerWithTools?: AnswerSupport
  /** Takes a tool choice that forces a call. */
  forcedTool: boolean
  /** The history may end with the assistant. */
  prefill: boolean
  /** System messages may stand in the middle of the history. */
  midSystem: boolean
  /** Two messages of the user, or two of the assistant, may not follow each other. */
  alternation?: boolean
  /** Levels of reasoning effort that the model knows; none: it cannot be asked. */
  efforts: Effort[]
  /** The only effort that may go with tools: a model may refuse tools otherwise. */
  effortWithTools?: 'none' | 'omitted'
  /** How thinking is switched (Anthropic). */
  thinking?: ('enabled' | 'adaptive' | 'disabled')[]
  /** Reasoning is valid only behind the very prefix it was made for. */
  boundReasoning?: boolean
  /** Calls must carry the signature they came with (Gemini 3 and later). */
  signedCalls?: boolean
  systemRole?: 'system' | 'developer'
  outputField?: 'max_tokens' | 'max_completion_tokens'
  /** Explicit cache marks can be set. */
  cacheMarks?: boolean
  /** The provider takes old results and thoughts out of a request itself (`Context.cleared`). */
  contextEdits?: boolean
}

export type AnswerSupport = 'schema' | 'json' | 'none'

/** What a single image may be, at most. */
export interface ImageLimits {
  /** Pixels of its longer side. */
  side?: number
  /** The same where a request has more than so many of them. */
  many?: { over: number; side: number }
  /** Characters of base64. */
  size?: number
}

/** How many tokens an image has: the same for each, one for so many pixels, or so many for each tile. */
export interface ImageTokens {
  /** For the image as such. */
  base?: number
  pixels?: number
  tile?: { side: number; tokens: number }
  /** It is made smaller first, until its longer side, or its shorter one, has no more pixels than this. */
  longer?: number
  shorter?: number
  most?: number
}

/** Named differences of a provider from its protocol, as data. Absent means: like the protocol's own provider. */
export interface Quirks {
  /** The assistant field that carries reasoning, in and out. */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'reasoning_details'
  /** When earlier reasoning is sent back to the provider that made it: not at all unless named. */
  echoReasoning?: 'always' | 'tool-turns'
  /** Content must be a plain string, also in user, system and tool messages. */
  stringContent?: boolean
  /** User and assistant must take turns; the chat template behind the server insists. */
  alternate?: boolean
  /** Refuses `tool_choice`. */
  noToolChoice?: boolean
  /** Refuses `stream_options`. */
  noStreamOptions?: boolean
  /** Refuses tool messages in the history: calls and results are written as labelled text. */
  flattenToolHistory?: boolean
  /** A user message right after a tool result is refused: an assistant message goes between. */
  bridgeAfterTool?: boolean
  /** Reasoning is asked for by `thinking: { type }` instead of an effort alone. */
  thinkingSwitch?: boolean
  /** Refuses `parallel_tool_calls`. */
  noParallelTools?: boolean
  /** Cache marks as `cache_control` on content parts. */
  cacheControl?: boolean
  /** Takes `prompt_cache_key`. */
  cacheKey?: boolean
  /** Refuses `store: true`. */
  noStore?: boolean
  /** The system prompt goes as an input message, not as `instructions`. */
  systemInInput?: boolean
  /** The part of JSON Schema that the host reads in tools, where it is not the one of the protocol's own provider. */
  toolSchema?: ToolDialect
  /** The same in schemas of answers. */
  answerSchema?: AnswerDialect
}
