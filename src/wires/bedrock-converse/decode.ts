// Streams of ConverseStream: one block at a time, each in deltas. Only calls, results and images are announced; any
// other block begins with its first delta. A complete reply is split into the same chunks and decoded the same way.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, StopReason, ToolResultPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import {
  type BlockDialect,
  type BlockReader,
  blockStream,
  type BlockStream,
  endOpenBlocks,
  startBlock,
  stopAllBlocks,
  stopBlock,
} from '../shared/block-stream.ts'
import {
  decoderOf,
  createDecoding,
  endReply,
  growPart,
  startReply,
  takeEvents,
  readArguments,
  failedWith,
  type Outcome,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { malformedInput } from '../shared/injected-text.ts'
import { listIn, countIn, objectIn, textIn } from '../shared/json-fields.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { split } from './emulate.ts'
import { imageFormats, inside, kindOf, protocolId } from './types.ts'

interface State extends BlockStream<JsonObject> {
  finish: string | undefined
  usage: JsonObject | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = { ...blockStream(createDecoding(origin, options), dialect), finish: undefined, usage: undefined }
  return decoderOf({
    push(chunk) {
      if (!isObject(chunk) || isDone(state)) return []
      if (isObject(chunk.output)) for (const piece of split(chunk)) read(state, piece as JsonObject)
      else read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      startReply(state)
      endOpenBlocks(state)
      const { usage, native } = state
      return endReply(state, { ...outcome(state, cause), native, usage: usage && readUsage(usage) })
    },
    isDone: () => isDone(state),
  })
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
  const index = typeof event.contentBlockIndex === 'number' ? event.contentBlockIndex : -1
  switch (kind) {
    case 'contentBlockStart':
      if (isObject(event.start) && !state.open.has(index)) startBlock(state, index, event.start)
      break
    case 'contentBlockDelta':
      if (isObject(event.delta)) readBlockDelta(state, index, event.delta)
      break
    case 'contentBlockStop':
      stopBlock(state, index)
      break
    case 'messageStop':
      stopAllBlocks(state)
      if (typeof event.stopReason === 'string') state.finish = event.stopReason
      break
    case 'metadata':
      state.usage = objectIn(event.usage)
  }
}

function readBlockDelta(state: State, index: number, delta: JsonObject): void {
  if (!state.open.has(index)) startBlock(state, index, firstOf(delta))
  const block = state.open.get(index)
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

// One content block, read piece by piece, and at its end the complete block as in a reply without streaming, with our
// reading of it. Pieces are joined once, at the end.

function readBlock(start: JsonObject): BlockReader<JsonObject> {
  const text: string[] = typeof start.text === 'string' ? [start.text] : []
  const input: string[] = []
  const signature: string[] = []
  const citations: Json[] = []
  const results: Json[] = []
  let redacted: Json | undefined
  let unknownFields: JsonObject = {}

  return {
    delta(delta) {
      if (typeof delta.text === 'string') {
        text.push(delta.text)
        return delta.text
      }
      const use = inside(delta, 'toolUse')
      if (typeof use?.input === 'string') {
        input.push(use.input)
        return use.input
      }
      const thought = inside(delta, 'reasoningContent')
      if (thought) {
        if (typeof thought.signature === 'string') signature.push(thought.signature)
        if (thought.redactedContent !== undefined) redacted = thought.redactedContent
        if (typeof thought.text !== 'string') return undefined
        text.push(thought.text)
        return thought.text
      }
      if (delta.citation !== undefined) citations.push(delta.citation)
      else if (Array.isArray(delta.toolResult)) results.push(...delta.toolResult)
      else unknownFields = { ...unknownFields, ...delta }
      return undefined
    },
    finish() {
      const kind = kindOf(start)
      const content = inside(start, kind) ?? {}
      if (kind === 'toolUse') return finishUse(content, input.join(''))
      if (kind === 'reasoningContent')
        return { block: finishReasoning(content, text.join(''), signature.join(''), redacted) }
      if (kind === 'toolResult' && results.length > 0)
        return { block: { toolResult: { ...content, content: results } } }
      if (kind !== 'text') return { block: { [kind]: { ...content, ...inside(unknownFields, kind) } } }
      const joined = text.join('')
      if (citations.length === 0) return { block: { text: joined } }
      return { block: { citationsContent: { ...(joined !== '' && { content: [{ text: joined }] }), citations } } }
    },
  }
}

function finishUse(use: JsonObject, streamed: string): { block: JsonObject; malformed?: string } {
  if (streamed.trim() === '' && isObject(use.input)) return { block: { toolUse: use } }
  const { input, malformed } = readArguments(streamed)
  const block = { toolUse: { ...use, input: malformed === undefined ? input : malformedInput(malformed) } }
  return { block, ...(malformed !== undefined && { malformed }) }
}

function finishReasoning(content: JsonObject, text: string, signature: string, redacted: Json | undefined): JsonObject {
  const sealed = redacted ?? content.redactedContent
  if (sealed !== undefined && text === '') return { reasoningContent: { redactedContent: sealed } }
  const reasoning = objectIn(content.reasoningText)
  return {
    reasoningContent: {
      reasoningText: { ...reasoning, ...(text !== '' && { text }), ...(signature !== '' && { signature }) },
    },
  }
}

/** Our reading of a block, finished or not. Calls need an id and are read by the decoder. */
function partOf(block: JsonObject): Exclude<Part, ToolResultPart> {
  const kind = kindOf(block)
  const value = inside(block, kind) ?? {}
  switch (kind) {
    case 'text':
      return { type: 'text', text: textIn(block.text) }
    case 'reasoningContent': {
      const text = textIn(inside(value, 'reasoningText')?.text)
      return { type: 'reasoning', text, ...(value.redactedContent !== undefined && { hidden: true }) }
    }
    case 'citationsContent': {
      const content = listIn(value.content)
      const text = content.map((item) => (isObject(item) ? textIn(item.text) : '')).join('')
      if (text === '') break
      return { type: 'text', text, ...(Array.isArray(value.citations) && { citations: value.citations }) }
    }
    case 'toolUse':
      return { type: 'server-tool', name: textIn(value.name), ...(value.input !== undefined && { input: value.input }) }
    case 'toolResult':
      return { type: 'server-tool', name: textIn(value.type) || 'tool', output: value.content ?? null }
    case 'image': {
      const bytes = inside(value, 'source')?.bytes
      const type = Object.entries(imageFormats).find(([, format]) => format === value.format)?.[0]
      if (typeof bytes !== 'string' || type === undefined) break
      return { type: 'media', mediaType: type, data: { kind: 'base64', base64: bytes } }
    }
  }
  return { type: 'opaque', kind: `${protocolId}/${kind}`, data: block }
}

// Tokens of one reply: cache reads and writes are counted separately from `inputTokens`.

function readUsage(raw: JsonObject): Usage {
  const cacheRead = countIn(raw.cacheReadInputTokens)
  const cacheWrite = countIn(raw.cacheWriteInputTokens)
  return {
    input: countIn(raw.inputTokens) + cacheRead + cacheWrite,
    output: countIn(raw.outputTokens),
    cacheRead,
    cacheWrite,
    reasoning: 0,
    raw,
  }
}
