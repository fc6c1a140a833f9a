// A conversation as a row of requests: what stood in the log when each was made, when that was, and how many tokens
// the provider counts for every message. Replies are all of one provider and model, so that the whole is one cache.

import type { Message, Part, Reply } from '../../src/core/message.ts'

export interface Trajectory {
  id: string
  messages: Message[]
  /** Tokens of system and tools. */
  system: number
  requests: RequestAt[]
  sizes: Sizes
}

export interface RequestAt {
  /** The place of the reply in the messages: everything before it was there. */
  reply: number
  /** Milliseconds since the first request. */
  at: number
}

export interface Sizes {
  /** Tokens that each place has beyond its parts: reasoning that the provider keeps to itself and counts all the same. */
  hidden: ReadonlyMap<number, number>
  /** Tokens per token by bytes, of each place. */
  scale: ReadonlyMap<number, number>
}

export const provider = 'bench'
export const model = 'a-model'

/** Bytes per token over text, code and JSON, as the recorded usage has it. */
const bytesPerToken = 3.3
const imageTokens = 1600

export function tokensOf(part: Part): number {
  switch (part.type) {
    case 'media':
      return imageTokens
    case 'text':
    case 'reasoning':
    case 'refusal':
      return Buffer.byteLength(part.text) / bytesPerToken
    case 'compaction':
      return Buffer.byteLength(part.text ?? '') / bytesPerToken
    case 'tool-call':
      return Buffer.byteLength(part.name + (part.malformed ?? JSON.stringify(part.input))) / bytesPerToken
    case 'tool-result':
      return part.output.reduce((sum, piece) => sum + tokensOf(piece), 0)
    case 'server-tool':
    case 'opaque':
      return Buffer.byteLength(JSON.stringify(part)) / bytesPerToken
  }
}

export function ofOneModel(message: Message): Message {
  if (message.role !== 'assistant') return message
  const reply: Reply = { ...message, origin: { ...message.origin, provider, model } }
  return reply
}

export function visibleTokens(message: Message): number {
  return message.parts.reduce((sum, part) => sum + tokensOf(part), 0)
}
