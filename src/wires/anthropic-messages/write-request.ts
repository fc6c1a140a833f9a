// Messages of a request for storage: everything this wire supports, with nothing merged, added or adapted to a model.
// For transcripts; a request to be sent is written by `encode`.

import type { Message, Origin } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import type { Target } from '../wire.ts'
import { encodeReply } from './encode-reply.ts'
import { encodeResults, encodeSystem, encodeUser } from './encode-user.ts'
import { callIdGrammar, imageTypes, protocolId, type Block } from './types.ts'
import type { Writer } from './writer.ts'

export interface WrittenMessage {
  role: 'user' | 'assistant' | 'system'
  content: Block[]
}

/** One message each; empty ones are left out. */
export function writeMessages(messages: readonly Message[]): WrittenMessage[] {
  const idOf = wireIds(
    messages,
    callIdGrammar,
    ({ origin, native }) => origin.protocol === protocolId && native.length > 0,
  )
  return messages.flatMap((message): WrittenMessage[] => {
    const content = contentOf(message, idOf)
    if (content.length === 0) return []
    return [{ role: message.role === 'tool' ? 'user' : message.role, content }]
  })
}

function contentOf(message: Message, idOf: Writer['idOf']): Block[] {
  const writer: Writer = {
    target: anywhere(message.role === 'assistant' ? message.origin : undefined),
    notes: [],
    names: { toWire: (name) => name },
    idOf,
  }
  switch (message.role) {
    case 'system':
      return encodeSystem(message.parts, '', writer)
    case 'user':
      return encodeUser(message, '', writer)
    case 'tool':
      return encodeResults(message, '', writer)
    case 'assistant':
      return encodeReply(message, '', writer)
  }
}

/** A target that accepts everything, and is the issuer of the reply. */
function anywhere(origin: Origin | undefined): Target {
  const media = [...imageTypes, 'application/pdf', 'text/plain']
  return {
    provider: origin?.provider ?? 'anthropic',
    model: origin?.model ?? '',
    options: {},
    quirks: {},
    capabilities: {
      media,
      mediaUrls: true,
      resultMedia: media,
      tools: true,
      sampling: true,
      forcedTool: true,
      prefill: true,
      midSystem: true,
      efforts: [],
    },
  }
}
