// The stream parts of a model of the AI SDK, read as the events of a reply. `native` is the content as a prompt of the
// SDK would carry it, with what the provider behind it put into its metadata.

import type { ReplyEvent } from '../core/event.ts'
import type { Failure } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Origin, Part, Stop, StopReason } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import { readArguments } from '../wires/shared/arguments.ts'
import { callIds } from '../wires/shared/call-ids.ts'
import { readFailure } from '../wires/shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wires/wire.ts'
import { malformedInput } from '../wires/shared/injected-text.ts'
import { protocolId } from './wire.ts'

interface Open {
  index: number
  part: Part
  pieces: string[]
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const idFor = callIds(options)
  const open = new Map<string, Open>()
  const native: Json[] = []
  let from = origin
  let next = 0
  let started = false
  let finished: { stop: Stop; usage?: Usage } | undefined
  let failure: Failure | undefined

  return {
    get done() {
      return finished !== undefined
    },
    push(chunk) {
      if (!isObject(chunk)) return []
      const events = read(chunk)
      if (started || events.length === 0) return events
      started = true
      return [{ type: 'reply-start', origin: from }, ...events]
    },
    end(cause) {
      const events: ReplyEvent[] = started ? [] : [{ type: 'reply-start', origin: from }]
      for (const id of open.keys()) events.push(...broken(id))
      return [...events, endOf(cause)]
    },
  }

  function read(chunk: JsonObject): ReplyEvent[] {
    const id = textIn(chunk.id)
    switch (chunk.type) {
      case 'response-metadata':
        from = { ...from, ...(typeof chunk.id === 'string' && { replyId: chunk.id }) }
        return []
      case 'text-start':
        return begin(`text ${id}`, { type: 'text', text: '' })
      case 'reasoning-start':
        return begin(`reasoning ${id}`, { type: 'reasoning', text: '' })
      case 'tool-input-start': {
        const name = textIn(chunk.toolName)
        if (chunk.providerExecuted === true) return []
        return begin(`call ${id}`, { type: 'tool-call', callId: idFor(id), alias: id, name, input: {} })
      }
      case 'text-delta':
        return more(`text ${id}`, textIn(chunk.delta))
      case 'reasoning-delta':
        return more(`reasoning ${id}`, textIn(chunk.delta))
      case 'tool-input-delta':
        return more(`call ${id}`, textIn(chunk.delta))
      case 'text-end':
        return closeText(`text ${id}`, 'text', chunk)
      case 'reasoning-end':
        return closeText(`reasoning ${id}`, 'reasoning', chunk)
      case 'tool-call':
        return call(chunk)
      case 'tool-result':
        return whole({ type: 'server-tool', name: textIn(chunk.toolName), output: chunk.result ?? null }, undefined)
      case 'file':
        return file(chunk)
      case 'source':
      case 'custom':
      case 'reasoning-file':
      case 'tool-approval-request':
        return whole({ type: 'opaque', kind: `${protocolId}/${chunk.type}`, data: chunk }, undefined)
      case 'error':
        failure = readFailure({
          body: chunk.error ?? null,
          provider: origin.provider,
          ...(isObject(chunk.error) && typeof chunk.error.status === 'number' && { status: chunk.error.status }),
        })
        return []
      case 'finish':
        finished = { stop: stopOf(chunk.finishReason), ...(isObject(chunk.usage) && { usage: usageIn(chunk.usage) }) }
        return []
      default:
        return []
    }
  }

  function begin(key: string, part: Part): ReplyEvent[] {
    const index = next++
    open.set(key, { index, part, pieces: [] })
    return [{ type: 'part-start', index, part }]
  }

  function more(key: string, text: string): ReplyEvent[] {
    const found = open.get(key)
    if (!found || text === '') return []
    found.pieces.push(text)
    return [{ type: 'part-delta', index: found.index, text }]
  }

  function closeText(key: string, type: 'text' | 'reasoning', chunk: JsonObject): ReplyEvent[] {
    const found = open.get(key)
    if (!found) return []
    open.delete(key)
    const text = found.pieces.join('')
    native.push({ type, text, ...optionsIn(chunk) })
    return [{ type: 'part-end', index: found.index, part: { type, text, from: native.length - 1 } }]
  }

  function call(chunk: JsonObject): ReplyEvent[] {
    const [id, name] = [textIn(chunk.toolCallId), textIn(chunk.toolName)]
    const { input, malformed } = readArguments(textIn(chunk.input))
    const written = {
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: malformed === undefined ? input : malformedInput(malformed),
    }
    if (chunk.providerExecuted === true) {
      return whole({ type: 'server-tool', name, input }, { ...written, providerExecuted: true, ...optionsIn(chunk) })
    }
    const began = open.has(`call ${id}`)
      ? []
      : begin(`call ${id}`, { type: 'tool-call', callId: idFor(id), alias: id, name, input: {} })
    const found = open.get(`call ${id}`)
    if (found?.part.type !== 'tool-call') return began
    open.delete(`call ${id}`)
    native.push({ ...written, ...optionsIn(chunk) })
    const part: Part = { ...found.part, input, ...(malformed !== undefined && { malformed }), from: native.length - 1 }
    return [...began, { type: 'part-end', index: found.index, part }]
  }

  function file(chunk: JsonObject): ReplyEvent[] {
    const mediaType = textIn(chunk.mediaType)
    const data = isObject(chunk.data) ? chunk.data : {}
    const given =
      data.type === 'url'
        ? ({ kind: 'url', url: textIn(data.url) } as const)
        : ({ kind: 'base64', base64: textIn(data.data) } as const)
    return whole({ type: 'media', mediaType, data: given }, { type: 'file', mediaType, data, ...optionsIn(chunk) })
  }

  function whole(part: Part, word: JsonObject | undefined): ReplyEvent[] {
    const index = next++
    if (word) native.push(word)
    const placed = word && part.type !== 'tool-result' ? { ...part, from: native.length - 1 } : part
    return [
      { type: 'part-start', index, part: placed },
      { type: 'part-end', index, part: placed },
    ]
  }

  /** What never ended is kept as far as it came, and is no part of `native`. */
  function broken(key: string): ReplyEvent[] {
    const found = open.get(key)
    if (!found) return []
    open.delete(key)
    const { part, index, pieces } = found
    const text = pieces.join('')
    if (part.type === 'text' || part.type === 'reasoning') return [{ type: 'part-end', index, part: { ...part, text } }]
    return part.type === 'tool-call' ? [{ type: 'part-end', index, part: { ...part, malformed: text } }] : []
  }

  function endOf(cause: EndCause | undefined): ReplyEvent {
    const given = cause && 'failure' in cause ? cause.failure : failure
    const stop: Stop = cause ? { reason: cause.reason } : (finished?.stop ?? { reason: 'interrupted' })
    const reason: StopReason = failure && !cause ? 'failed' : stop.reason
    const lost: Failure | undefined =
      reason === 'interrupted' && !given
        ? { kind: 'malformed-reply', message: 'The stream ended before the reply did.' }
        : given
    return {
      type: 'reply-end',
      origin: from,
      stop: { ...stop, reason },
      native,
      ...(finished?.usage && { usage: finished.usage }),
      ...(lost && { failure: lost }),
    }
  }
}

/** What a provider says about a part in a reply is what it wants to hear about it in a prompt. */
function optionsIn({ providerMetadata }: JsonObject): JsonObject {
  return isObject(providerMetadata) ? { providerOptions: providerMetadata } : {}
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

const reasons: Record<string, StopReason> = {
  stop: 'done',
  length: 'length',
  'content-filter': 'refusal',
  'tool-calls': 'tool-calls',
  error: 'failed',
  interrupted: 'interrupted',
}

function stopOf(reason: Json | undefined): Stop {
  const unified = isObject(reason) ? textIn(reason.unified) : ''
  const raw = isObject(reason) ? textIn(reason.raw) : ''
  return { reason: reasons[unified] ?? 'done', ...(raw !== '' && { raw }) }
}

function usageIn(usage: JsonObject): Usage {
  const [input, output] = [usage.inputTokens, usage.outputTokens]
  const number = (of: Json | undefined, key: string): number => {
    const value = isObject(of) ? of[key] : undefined
    return typeof value === 'number' ? value : 0
  }
  return {
    input: number(input, 'total'),
    output: number(output, 'total'),
    cacheRead: number(input, 'cacheRead'),
    cacheWrite: number(input, 'cacheWrite'),
    reasoning: number(output, 'reasoning'),
    raw: usage,
  }
}
