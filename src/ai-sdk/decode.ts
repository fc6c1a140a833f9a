// The stream parts of a model of the AI SDK, read as the events of a reply. `native` is the content as a prompt of the
// SDK would carry it, with the metadata of the underlying provider.

import type { Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Origin, Part, Stop, StopReason } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import {
  addPart,
  decoderOf,
  createDecoding,
  endPart,
  endReply,
  growPart,
  startPart,
  takeEvents,
  type Decoding,
  readArguments,
  type Outcome,
} from '../wires/shared/decoding.ts'
import { readFailure } from '../wires/shared/failure.ts'
import { malformedInput } from '../wires/shared/injected-text.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wires/wire.ts'
import { protocolId } from './wire.ts'
import { objectIn, textIn } from '../wires/shared/json-fields.ts'

interface Open {
  index: number
  part: Part
  pieces: string[]
}

interface State extends Decoding {
  readonly open: Map<string, Open>
  readonly native: Json[]
  finished: { stop: Stop; usage?: Usage } | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = { ...createDecoding(origin, options), open: new Map(), native: [], finished: undefined }
  return decoderOf({
    push(chunk) {
      if (isObject(chunk)) read(state, chunk)
      return startOnce(state, takeEvents(state))
    },
    end(cause) {
      for (const [key, open] of state.open) breakOff(state, key, open)
      const { native, finished } = state
      const events = endReply(state, { ...outcome(state, cause), native, usage: finished?.usage })
      return startOnce(state, events)
    },
    isDone: () => state.finished !== undefined,
  })
}

/** A reply begins with its first part, because its id comes in a separate chunk. */
function startOnce(state: State, events: ReplyEvent[]): ReplyEvent[] {
  if (state.started || events.length === 0) return events
  state.started = true
  return [{ type: 'reply-start', origin: state.origin }, ...events]
}

function read(state: State, chunk: JsonObject): void {
  const id = textIn(chunk.id)
  switch (chunk.type) {
    case 'response-metadata':
      if (typeof chunk.id === 'string') state.origin = { ...state.origin, replyId: id }
      return
    case 'text-start':
      return begin(state, `text ${id}`, { type: 'text', text: '' })
    case 'reasoning-start':
      return begin(state, `reasoning ${id}`, { type: 'reasoning', text: '' })
    case 'tool-input-start':
      return chunk.providerExecuted === true ? undefined : beginCall(state, id, textIn(chunk.toolName))
    case 'text-delta':
      return grow(state, `text ${id}`, textIn(chunk.delta))
    case 'reasoning-delta':
      return grow(state, `reasoning ${id}`, textIn(chunk.delta))
    case 'tool-input-delta':
      return grow(state, `call ${id}`, textIn(chunk.delta))
    case 'text-end':
      return endText(state, `text ${id}`, 'text', chunk)
    case 'reasoning-end':
      return endText(state, `reasoning ${id}`, 'reasoning', chunk)
    case 'tool-call':
      return readCall(state, chunk)
    case 'tool-result':
      return addPart(state, { type: 'server-tool', name: textIn(chunk.toolName), output: chunk.result ?? null })
    case 'file':
      return readFile(state, chunk)
    case 'source':
    case 'custom':
    case 'reasoning-file':
    case 'tool-approval-request':
      return addPart(state, { type: 'opaque', kind: `${protocolId}/${chunk.type}`, data: chunk })
    case 'error':
      return readError(state, chunk.error)
    case 'finish':
      state.finished = {
        stop: stopOf(chunk.finishReason),
        ...(isObject(chunk.usage) && { usage: usageIn(chunk.usage) }),
      }
  }
}

function begin(state: State, key: string, part: Part): void {
  state.open.set(key, { index: startPart(state, part), part, pieces: [] })
}

function beginCall(state: State, id: string, name: string): void {
  begin(state, `call ${id}`, { type: 'tool-call', callId: state.nextCallId(id), alias: id, name, input: {} })
}

function grow(state: State, key: string, text: string): void {
  const open = state.open.get(key)
  if (!open || text === '') return
  open.pieces.push(text)
  growPart(state, open.index, text)
}

function endText(state: State, key: string, type: 'text' | 'reasoning', chunk: JsonObject): void {
  const open = state.open.get(key)
  if (!open) return
  state.open.delete(key)
  const text = open.pieces.join('')
  endPart(state, open.index, { type, text, from: pushNative(state, { type, text, ...optionsIn(chunk) }) })
}

function readCall(state: State, chunk: JsonObject): void {
  const [id, name] = [textIn(chunk.toolCallId), textIn(chunk.toolName)]
  const { input, malformed } = readArguments(textIn(chunk.input))
  const written = {
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: malformed === undefined ? input : malformedInput(malformed),
  }
  if (chunk.providerExecuted === true) {
    const from = pushNative(state, { ...written, providerExecuted: true, ...optionsIn(chunk) })
    addPart(state, { type: 'server-tool', name, input, from })
    return
  }
  if (!state.open.has(`call ${id}`)) beginCall(state, id, name)
  const open = state.open.get(`call ${id}`)
  if (open?.part.type !== 'tool-call') return
  state.open.delete(`call ${id}`)
  const from = pushNative(state, { ...written, ...optionsIn(chunk) })
  endPart(state, open.index, { ...open.part, input, ...(malformed !== undefined && { malformed }), from })
}

function readFile(state: State, chunk: JsonObject): void {
  const mediaType = textIn(chunk.mediaType)
  const data = objectIn(chunk.data)
  const source =
    data.type === 'url'
      ? ({ kind: 'url', url: textIn(data.url) } as const)
      : ({ kind: 'base64', base64: textIn(data.data) } as const)
  const from = pushNative(state, { type: 'file', mediaType, data, ...optionsIn(chunk) })
  addPart(state, { type: 'media', mediaType, data: source, from })
}

function readError(state: State, error: Json | undefined): void {
  state.failure = readFailure({
    body: error ?? null,
    provider: state.origin.provider,
    ...(isObject(error) && typeof error.status === 'number' && { status: error.status }),
  })
}

/** The position of a part in `native`. */
function pushNative({ native }: State, written: JsonObject): number {
  return native.push(written) - 1
}

/** An unfinished part is kept as far as it arrived, and is not part of `native`. */
function breakOff(state: State, key: string, { part, index, pieces }: Open): void {
  state.open.delete(key)
  const text = pieces.join('')
  if (part.type === 'text' || part.type === 'reasoning') endPart(state, index, { ...part, text })
  else if (part.type === 'tool-call') endPart(state, index, { ...part, malformed: text })
}

function outcome({ failure, finished }: State, cause: EndCause | undefined): Outcome {
  const reported = cause && 'failure' in cause ? cause.failure : failure
  const stop: Stop = cause ? { reason: cause.reason } : (finished?.stop ?? { reason: 'interrupted' })
  const reason: StopReason = failure && !cause ? 'failed' : stop.reason
  const lost: Failure = { kind: 'malformed-reply', message: 'The stream ended before the reply did.' }
  const known = reported ?? (reason === 'interrupted' ? lost : undefined)
  return { stop: { ...stop, reason }, ...(known && { failure: known }) }
}

/** The metadata of a part in a reply is sent back with it in a prompt. */
function optionsIn({ providerMetadata }: JsonObject): JsonObject {
  return isObject(providerMetadata) ? { providerOptions: providerMetadata } : {}
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
  const number = (parent: Json | undefined, key: string): number => {
    const value = isObject(parent) ? parent[key] : undefined
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
