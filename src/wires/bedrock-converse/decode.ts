// Streams of ConverseStream: one block at a time, each in deltas. Only calls, results and images are announced; any
// other block begins with its first delta. A complete reply is split into the same chunks and decoded the same way.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Origin, StopReason } from '../../core/message.ts'
import {
  blockStream,
  endOpenBlocks,
  startBlock,
  stopAllBlocks,
  stopBlock,
  type BlockDialect,
  type BlockStream,
} from '../shared/block-stream.ts'
import { decoding, endReply, growPart, startReply, takeEvents } from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { failedWith, stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { partOf, readBlock } from './read-block.ts'
import { split } from './split.ts'
import { inside } from './types.ts'
import { readUsage } from './usage.ts'

interface State extends BlockStream<JsonObject> {
  finish: string | undefined
  usage: JsonObject | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = { ...blockStream(decoding(origin, options), dialect), finish: undefined, usage: undefined }
  return {
    push(chunk) {
      if (!isObject(chunk) || isDone(state)) return []
      if (isObject(chunk.output)) for (const one of split(chunk)) read(state, one as JsonObject)
      else read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      startReply(state)
      endOpenBlocks(state)
      const { usage, native } = state
      return endReply(state, { ...outcome(state, cause), native, usage: usage && readUsage(usage) })
    },
    get done() {
      return isDone(state)
    },
  }
}

/** Usage usually comes last. */
function isDone({ failure, usage, finish }: State): boolean {
  return failure !== undefined || (usage !== undefined && finish !== undefined)
}

function read(state: State, chunk: JsonObject): void {
  startReply(state)
  const [kind = ''] = Object.keys(chunk)
  if (chunk.type === 'error' || kind.endsWith('Exception')) {
    const body = chunk.type === 'error' ? chunk : { type: 'error', error: { type: kind, ...inside(chunk, kind) } }
    state.failure = readFailure({ body, provider: state.origin.provider })
    return
  }
  const event = inside(chunk, kind) ?? {}
  const at = typeof event.contentBlockIndex === 'number' ? event.contentBlockIndex : -1
  switch (kind) {
    case 'contentBlockStart':
      if (isObject(event.start) && !state.open.has(at)) startBlock(state, at, event.start)
      break
    case 'contentBlockDelta':
      if (isObject(event.delta)) readBlockDelta(state, at, event.delta)
      break
    case 'contentBlockStop':
      stopBlock(state, at)
      break
    case 'messageStop':
      stopAllBlocks(state)
      if (typeof event.stopReason === 'string') state.finish = event.stopReason
      break
    case 'metadata':
      state.usage = isObject(event.usage) ? event.usage : {}
  }
}

function readBlockDelta(state: State, at: number, delta: JsonObject): void {
  if (!state.open.has(at)) startBlock(state, at, firstOf(delta))
  const block = state.open.get(at)
  const text = block?.reader.delta(delta)
  if (block?.index !== undefined && text) growPart(state, block.index, text)
}

function outcome({ failure, finish, calls }: State, cause: EndCause | undefined): Outcome {
  if (failure) return failedWith(failure)
  if (finish === undefined) return stopAfterInterruption(cause)
  const reason = stopReasons[finish] ?? 'done'
  const stop = { reason: reason === 'done' && calls > 0 ? 'tool-calls' : reason, raw: finish } as const
  if (reason !== 'failed') return { stop }
  const message = `The model wrote something that Bedrock could not read (${finish}). Try again.`
  return { stop, failure: { kind: 'malformed-reply', code: finish, message } }
}

const dialect: BlockDialect<JsonObject> = {
  read: readBlock,
  part: partOf,
  call(block) {
    const use = inside(block, 'toolUse')
    return use && use.type === undefined ? { id: use.toolUseId, name: use.name, input: use.input } : undefined
  },
  serverCall(block) {
    const use = inside(block, 'toolUse')
    return use && String(use.toolUseId)
  },
  serverResult(block) {
    const result = inside(block, 'toolResult')
    return result && { id: String(result.toolUseId), output: result.content ?? null }
  },
}

/** An unannounced block, before its first delta. */
function firstOf(delta: JsonObject): JsonObject {
  if (delta.reasoningContent !== undefined) return { reasoningContent: {} }
  if (delta.text !== undefined || delta.citation !== undefined) return { text: '' }
  const [kind = 'text'] = Object.keys(delta)
  return { [kind]: {} }
}

const stopReasons: Readonly<Record<string, StopReason>> = {
  end_turn: 'done',
  stop_sequence: 'done',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'refusal',
  content_filtered: 'refusal',
  malformed_model_output: 'failed',
  malformed_tool_use: 'failed',
}
