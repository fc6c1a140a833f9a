// What a conversation is made of. Plain JSON, so that the log, the wire and the UI all use the same objects. A Reply is
// stored twice: `parts` is our reading of it, which can be sent to any provider, and `native` is the provider's
// original data, complete and in order, because a replay is valid for a whole turn or not at all. Signatures and
// ciphertext are in `native` only: extra fields on single parts would get lost.

import type { ToolKind } from './context.ts'
import type { Json } from './json.ts'

export type Message = SystemMessage | UserMessage | ToolMessage | Reply

export interface SystemMessage extends Sourced {
  role: 'system'
  parts: TextPart[]
}

export interface UserMessage extends Sourced {
  role: 'user'
  parts: (TextPart | MediaPart | CompactionPart | OpaquePart)[]
}

export interface ToolMessage extends Sourced {
  role: 'tool'
  parts: ToolResultPart[]
}

export interface Reply extends Sourced {
  role: 'assistant'
  parts: Part[]
  native: Json[]
  origin: Origin
  stop: Stop
}

/**
 * A message read from another format keeps its original there, so that writing the same format again gives the same
 * file.
 */
interface Sourced {
  source?: Source
}

export interface Source {
  format: string
  /** The original message, on the first of the messages that were made of it. */
  value?: Json
  /** Which of how many messages made from one original message this is. */
  index: number
  of: number
}

export interface Origin {
  protocol: string
  provider: string
  model: string
  /** The provider's id of the reply. */
  replyId?: string
  /** A digest of the prefix that the reply answers, for providers that bind reasoning to its prefix. */
  basis?: string
}

export type StopReason =
  | 'done'
  | 'length'
  | 'tool-calls'
  | 'refusal'
  | 'paused'
  | 'cancelled'
  | 'interrupted'
  | 'failed'

export interface Stop {
  reason: StopReason
  raw?: string
  /** The stop sequence that ended the reply, if the provider reports it. */
  sequence?: string
}

export type Part =
  | TextPart
  | ReasoningPart
  | RefusalPart
  | MediaPart
  | ToolCallPart
  | ToolResultPart
  | ServerToolPart
  | CompactionPart
  | OpaquePart

/** Each part of a reply can name the element of `native` that it was read from. */
interface Placed {
  from?: number
}

export interface TextPart extends Placed {
  type: 'text'
  text: string
  citations?: Json[]
}

export interface ReasoningPart extends Placed {
  type: 'reasoning'
  text: string
  /** The provider does not reveal the text: `text` is empty or a summary. */
  hidden?: boolean
  /** How long it was streamed, from one second on. */
  durationMs?: number
}

export interface RefusalPart extends Placed {
  type: 'refusal'
  text: string
}

export interface MediaPart extends Placed {
  type: 'media'
  mediaType: string
  name?: string
  data: MediaData
}

export type MediaData =
  | { kind: 'base64'; base64: string }
  | { kind: 'blob'; sha256: string }
  | { kind: 'url'; url: string }
  | { kind: 'file'; fileId: string; provider: string }

export interface ToolCallPart extends Placed {
  type: 'tool-call'
  /** Our own id, unique in the conversation. */
  callId: string
  /** The provider's id, valid only inside its own reply: providers repeat ids, or send none. */
  alias?: string
  name: string
  input: Json
  /** The arguments as received, if they were not a JSON object. Such a call is never run. */
  malformed?: string
  /** The kind of the tool, if it is not a function. The text of a free-form call is the field `input` of its input. */
  kind?: ToolKind
  /** The namespace of the tool; `name` has it as its prefix. */
  namespace?: string
}

export interface ToolResultPart {
  type: 'tool-result'
  callId: string
  name: string
  output: (TextPart | MediaPart)[]
  /** What the tool returned, raw. */
  value?: Json
  failed?: boolean
  startedAt?: string
  endedAt?: string
}

/** A tool that the provider ran itself. */
export interface ServerToolPart extends Placed {
  type: 'server-tool'
  name: string
  input?: Json
  output?: Json
}

/** A summary that replaces what came before it, the provider's or ours. */
export interface CompactionPart extends Placed {
  type: 'compaction'
  text?: string
}

/** Anything without a type of our own, stored unchanged. `kind` is `<protocol>/<type on the wire>`. */
export interface OpaquePart extends Placed {
  type: 'opaque'
  kind: string
  data?: Json
}

export function textOf(parts: readonly Part[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text
  return text
}

export function callsOf(message: Message): ToolCallPart[] {
  return message.role === 'assistant' ? message.parts.filter((part) => part.type === 'tool-call') : []
}
