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

/** What the writer remembers of a reply. */
interface Writing {
  fold: ReturnType<typeof createFold>
  /** Each part as it started. */
  started: Map<number, Part>
  /** The last parts, held back until it is known whether more follow. */
  pending: LanguageModelV4StreamPart[]
}

type ReplyEnd = Extract<ReplyEvent, { type: 'reply-end' }>

/** `metadataOf` returns the metadata of the last part, once the reply has ended. */
export function streamWriter(origin: Origin, metadataOf: (reply: Reply) => object): StreamWriter {
  const state: Writing = { fold: createFold(origin), started: new Map(), pending: [] }
  return {
    push(event) {
      state.fold.push(event)
      if (event.type === 'reply-end') return [...lastParts(state, metadataOf), ...endParts(event)]
      const parts = partsFor(state, event)
      if (parts.length === 0) return []
      const { pending } = state
      state.pending = event.type === 'part-end' ? parts : []
      return event.type === 'part-end' ? pending : [...pending, ...parts]
    },
  }
}

function partsFor(state: Writing, event: ReplyEvent): LanguageModelV4StreamPart[] {
  switch (event.type) {
    case 'part-start':
      state.started.set(event.index, event.part)
      return startParts(state, event.index, event.part)
    case 'part-delta':
      return deltaParts(state, event.index, event.text)
    case 'part-end':
      return closeParts(state, event.index, event.part)
    default:
      return []
  }
}

function startParts(state: Writing, index: number, part: Part): LanguageModelV4StreamPart[] {
  const id = String(index)
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text-start', id }, ...(part.text === '' ? [] : deltaParts(state, index, part.text))]
    case 'reasoning':
      return [{ type: 'reasoning-start', id }, ...(part.text === '' ? [] : deltaParts(state, index, part.text))]
    case 'tool-call':
      return [{ type: 'tool-input-start', id: part.callId, toolName: part.name }]
    default:
      return []
  }
}

function deltaParts({ started }: Writing, index: number, delta: string): LanguageModelV4StreamPart[] {
  const id = String(index)
  const part = started.get(index)
  switch (part?.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text-delta', id, delta }]
    case 'reasoning':
      return [{ type: 'reasoning-delta', id, delta }]
    case 'tool-call':
      return [{ type: 'tool-input-delta', id: part.callId, delta }]
    default:
      return []
  }
}

function closeParts({ started }: Writing, index: number, part: Part): LanguageModelV4StreamPart[] {
  const id = String(index)
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text-end', id }]
    case 'reasoning':
      return [{ type: 'reasoning-end', id }]
    case 'tool-call': {
      const start = started.get(index)
      const input = part.malformed ?? JSON.stringify(part.input)
      return [
        { type: 'tool-input-end', id: start?.type === 'tool-call' ? start.callId : part.callId },
        { type: 'tool-call', toolCallId: part.callId, toolName: part.name, input },
      ]
    }
    case 'media':
      return fileOf(part)
    default:
      return []
  }
}

/** The parts that were held back; the last one that the SDK keeps has the metadata. */
function lastParts({ fold, pending }: Writing, metadataOf: (reply: Reply) => object): LanguageModelV4StreamPart[] {
  const metadata = JSON.parse(JSON.stringify(metadataOf(fold.result().reply))) as Record<string, JSONValue>
  const last = pending.findLastIndex((part) => part.type !== 'tool-input-end')
  return pending.map((part, i) => (i === last ? withMetadata(part, { [ourKey]: metadata }) : part))
}

function endParts({ failure, stop, usage }: ReplyEnd): LanguageModelV4StreamPart[] {
  return [
    ...(failure ? [{ type: 'error' as const, error: new SynapseError(failure) }] : []),
    { type: 'finish', usage: usageOf(usage ?? noUsage), finishReason: finishReason(stop.reason, stop.raw) },
  ]
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
