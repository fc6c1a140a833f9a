// The events of a reply as the stream parts of the AI SDK. The last part that the SDK keeps is held back until the
// reply has ended: it carries the provider's original reply, or a reference to it in a store, so that these return with
// the next prompt.

import type {
  JSONValue,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import type { ReplyEvent } from '../core/event.ts'
import { SynapseError } from '../core/error.ts'
import { createFold } from '../core/fold.ts'
import type { MediaPart, Origin, Part, Reply, StopReason } from '../core/message.ts'
import { noUsage, type Usage } from '../core/usage.ts'
import { ourKey } from './read-prompt.ts'

export interface StreamWriter {
  push(event: ReplyEvent): LanguageModelV4StreamPart[]
}

/** `carried`: the metadata of the last part, once the reply has ended. */
export function streamWriter(origin: Origin, carried: (reply: Reply) => object): StreamWriter {
  const fold = createFold(origin)
  const kinds = new Map<number, Part['type']>()
  const callIds = new Map<number, string>()
  let pending: LanguageModelV4StreamPart[] = []

  return {
    push(event) {
      fold.push(event)
      if (event.type === 'reply-end') return [...ended(event), ...finish(event)]
      const parts = written(event)
      if (parts.length === 0) return []
      const previous = pending
      pending = event.type === 'part-end' ? parts : []
      return event.type === 'part-end' ? previous : [...previous, ...parts]
    },
  }

  function written(event: ReplyEvent): LanguageModelV4StreamPart[] {
    switch (event.type) {
      case 'part-start':
        kinds.set(event.index, event.part.type)
        return started(event.index, event.part)
      case 'part-delta':
        return delta(event.index, event.text)
      case 'part-end':
        return closed(event.index, event.part)
      default:
        return []
    }
  }

  function started(index: number, part: Part): LanguageModelV4StreamPart[] {
    const id = String(index)
    switch (part.type) {
      case 'text':
      case 'refusal':
        return [{ type: 'text-start', id }, ...(part.text === '' ? [] : delta(index, part.text))]
      case 'reasoning':
        return [{ type: 'reasoning-start', id }, ...(part.text === '' ? [] : delta(index, part.text))]
      case 'tool-call':
        callIds.set(index, part.callId)
        return [{ type: 'tool-input-start', id: part.callId, toolName: part.name }]
      default:
        return []
    }
  }

  function delta(index: number, text: string): LanguageModelV4StreamPart[] {
    const id = String(index)
    switch (kinds.get(index)) {
      case 'text':
      case 'refusal':
        return [{ type: 'text-delta', id, delta: text }]
      case 'reasoning':
        return [{ type: 'reasoning-delta', id, delta: text }]
      case 'tool-call':
        return [{ type: 'tool-input-delta', id: callIds.get(index) ?? id, delta: text }]
      default:
        return []
    }
  }

  function closed(index: number, part: Part): LanguageModelV4StreamPart[] {
    const id = String(index)
    switch (part.type) {
      case 'text':
      case 'refusal':
        return [{ type: 'text-end', id }]
      case 'reasoning':
        return [{ type: 'reasoning-end', id }]
      case 'tool-call': {
        const input = part.malformed ?? JSON.stringify(part.input)
        return [
          { type: 'tool-input-end', id: callIds.get(index) ?? part.callId },
          { type: 'tool-call', toolCallId: part.callId, toolName: part.name, input },
        ]
      }
      case 'media':
        return fileOf(part)
      default:
        return []
    }
  }

  function ended({ failure }: Extract<ReplyEvent, { type: 'reply-end' }>): LanguageModelV4StreamPart[] {
    const { reply } = fold.result()
    const providerMetadata = { [ourKey]: JSON.parse(JSON.stringify(carried(reply))) as Record<string, JSONValue> }
    const last = pending.findLastIndex((part) => part.type !== 'tool-input-end')
    const parts = pending.map((part, i) => (i === last ? withMetadata(part, providerMetadata) : part))
    return failure ? [...parts, { type: 'error', error: new SynapseError(failure) }] : parts
  }

  function finish({ stop, usage }: Extract<ReplyEvent, { type: 'reply-end' }>): LanguageModelV4StreamPart[] {
    return [{ type: 'finish', usage: usageOf(usage ?? noUsage), finishReason: finishReason(stop.reason, stop.raw) }]
  }
}

function withMetadata(
  part: LanguageModelV4StreamPart,
  providerMetadata: SharedV4ProviderMetadata,
): LanguageModelV4StreamPart {
  const carries = part.type === 'text-end' || part.type === 'reasoning-end' || part.type === 'tool-call'
  return carries || part.type === 'file' ? { ...part, providerMetadata } : part
}

function fileOf({ mediaType, data }: MediaPart): LanguageModelV4StreamPart[] {
  if (data.kind === 'base64') return [{ type: 'file', mediaType, data: { type: 'data', data: data.base64 } }]
  return data.kind === 'url' ? [{ type: 'file', mediaType, data: { type: 'url', url: new URL(data.url) } }] : []
}

const reasons: Record<StopReason, LanguageModelV4FinishReason['unified']> = {
  done: 'stop',
  length: 'length',
  'tool-calls': 'tool-calls',
  refusal: 'content-filter',
  paused: 'other',
  cancelled: 'interrupted',
  interrupted: 'interrupted',
  failed: 'error',
}

export function finishReason(reason: StopReason, raw: string | undefined): LanguageModelV4FinishReason {
  return { unified: reasons[reason], raw }
}

export function usageOf(usage: Usage): LanguageModelV4Usage {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage
  return {
    inputTokens: { total: input, noCache: Math.max(0, input - cacheRead - cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
  }
}
