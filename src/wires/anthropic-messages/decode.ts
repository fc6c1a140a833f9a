// Streams of the Messages API: named events, one block at a time, running totals of usage. A complete reply is split
// into the same events and decoded the same way.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import {
  type BlockDialect,
  blockStream,
  type BlockStream,
  endOpenBlocks,
  startBlock,
  stopAllBlocks,
  stopBlock,
} from '../shared/block-stream.ts'
import {
  addPart,
  decoderOf,
  createDecoding,
  endReply,
  growPart,
  startReply,
  takeEvents,
  callIds,
  failedWith,
  type Outcome,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { listIn, countIn, objectIn } from '../shared/json-fields.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { split } from './emulate.ts'
import { outputOf, partOf, readBlock } from './read-reply.ts'
import { type Block, isBlock, isServerCall, isServerResult } from './types.ts'

interface State extends BlockStream<Block> {
  readonly given: Origin
  /** The blocks that have arrived, by their index: one may be sent twice. */
  readonly seen: Set<number>
  stopped: boolean
  usage: JsonObject | undefined
  finish: { raw: string; details?: JsonObject; sequence?: string } | undefined
  unread: Note[]
  cleared: Note[]
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...blockStream(createDecoding(origin, options), dialect),
    given: origin,
    seen: new Set(),
    stopped: false,
    usage: undefined,
    finish: undefined,
    unread: [],
    cleared: [],
  }
  return decoderOf({
    push(chunk) {
      if (isObject(chunk)) push(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      start(state, {})
      endOpenBlocks(state)
      addRefusal(state)
      const { usage, native } = state
      return endReply(state, {
        ...outcome(state, cause),
        native,
        usage: usage && readUsage(usage),
        notes: [...state.unread, ...state.cleared],
      })
    },
    isDone: () => state.stopped,
  })
}

function push(state: State, chunk: JsonObject): void {
  if (state.stopped) return
  if (chunk.type === 'message') {
    for (const part of split(chunk)) if (isObject(part)) push(state, part)
    return
  }
  if (state.started && chunk.type === 'message_start') forget(state)
  start(state, chunk)
  read(state, chunk)
}

/** A relay that has lost its connection retries and sends a second message: it replaces the first. */
function forget(state: State): void {
  state.nextCallId = callIds(state.options)
  state.native = []
  state.open.clear()
  state.seen.clear()
  state.waiting.clear()
  state.started = false
  state.parts = 0
  state.calls = 0
  state.usage = undefined
  state.finish = undefined
  state.cleared = []
}

function start(state: State, chunk: JsonObject): void {
  if (state.started) return
  const message = chunk.type === 'message_start' && isObject(chunk.message) ? chunk.message : {}
  state.origin = {
    ...state.given,
    ...(typeof message.id === 'string' && { replyId: message.id }),
    ...(state.given.model === '' && typeof message.model === 'string' && { model: message.model }),
  }
  startReply(state)
}

function read(state: State, chunk: JsonObject): void {
  const index = typeof chunk.index === 'number' ? chunk.index : -1
  switch (chunk.type) {
    case 'message_start':
      return readStart(state, chunk)
    case 'content_block_start':
      return isBlock(chunk.content_block) ? readBlockStart(state, index, chunk.content_block) : undefined
    case 'content_block_delta':
      return isObject(chunk.delta) ? readBlockDelta(state, index, chunk.delta) : undefined
    case 'content_block_stop':
      return stopBlock(state, index)
    case 'message_delta':
      return readMessageDelta(state, chunk)
    case 'message_stop':
      state.stopped = true
      return stopAllBlocks(state)
    case 'error':
      state.stopped = true
      state.failure = readFailure({ body: chunk, provider: state.given.provider })
  }
}

function readStart(state: State, { message }: JsonObject): void {
  if (!isObject(message)) return
  state.usage = laterUsage(state.usage, message.usage)
  state.unread = transformations(message.input_transformations)
}

function readBlockStart(state: State, index: number, block: Block): void {
  if (state.seen.has(index)) return
  state.seen.add(index)
  startBlock(state, index, block)
}

function readBlockDelta(state: State, index: number, delta: JsonObject): void {
  const block = state.open.get(index)
  const text = block?.reader.delta(delta)
  if (block?.index !== undefined && text !== undefined && text !== '' && isShown(block.part)) {
    growPart(state, block.index, text)
  }
}

function readMessageDelta(state: State, chunk: JsonObject): void {
  state.usage = laterUsage(state.usage, chunk.usage)
  if (isObject(chunk.context_management)) state.cleared = appliedEdits(chunk.context_management)
  const delta = objectIn(chunk.delta)
  if (typeof delta.stop_reason !== 'string') return
  state.finish = {
    raw: delta.stop_reason,
    ...(isObject(delta.stop_details) && { details: delta.stop_details }),
    ...(typeof delta.stop_sequence === 'string' && { sequence: delta.stop_sequence }),
  }
}

/** The API explains a refusal outside of the content. */
function addRefusal(state: State): void {
  const text = state.finish?.raw === 'refusal' ? state.finish.details?.explanation : undefined
  if (typeof text === 'string' && text !== '') addPart(state, { type: 'refusal', text })
}

function outcome({ failure, finish, open, calls, stopped }: State, cause: EndCause | undefined): Outcome {
  if (failure) return failedWith(failure)
  if (finish && open.size === 0) {
    const { raw, sequence } = finish
    return { stop: { reason: stopReason(raw, calls > 0), raw, ...(sequence !== undefined && { sequence }) } }
  }
  return stopped && !cause ? { stop: { reason: stopReason('end_turn', calls > 0) } } : stopAfterInterruption(cause)
}

const stopReasons: Readonly<Record<string, StopReason>> = {
  end_turn: 'done',
  stop_sequence: 'done',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  pause_turn: 'paused',
  compaction: 'paused',
  refusal: 'refusal',
}

function stopReason(raw: string, hasCalls: boolean): StopReason {
  const reason = Object.hasOwn(stopReasons, raw) ? (stopReasons[raw] ?? 'done') : 'done'
  return reason === 'done' && hasCalls ? 'tool-calls' : reason
}

const dialect: BlockDialect<Block> = {
  read: readBlock,
  part: partOf,
  // How thinking was hidden is known only when it is complete.
  firstPart(block) {
    const part = partOf(block)
    return part.type === 'reasoning' && block.type === 'thinking' ? { type: 'reasoning', text: part.text } : part
  },
  call: (block) => (block.type === 'tool_use' ? { id: block.id, name: block.name, input: block.input } : undefined),
  serverCall: (block) => (isServerCall(block) ? String(block.id) : undefined),
  serverResult: (block) =>
    isServerResult(block) ? { id: String(block.tool_use_id), output: outputOf(block) } : undefined,
}

function isShown(part: Part | undefined): boolean {
  return (
    part?.type === 'text' || part?.type === 'reasoning' || part?.type === 'compaction' || part?.type === 'tool-call'
  )
}

// Tokens of one reply. The API counts cache reads and writes separately from `input_tokens`, and reports running
// totals: a later number replaces an earlier one, unless it is 0, which hosts with the same API write for what they
// have already reported.

/** The later of two reports; a number that the later one omits, or sets to null or 0, stays. */
function laterUsage(earlier: JsonObject | undefined, later: Json | undefined): JsonObject | undefined {
  if (!isObject(later)) return earlier
  const merged: JsonObject = { ...earlier }
  for (const [key, value] of Object.entries(later)) {
    if ((value !== null && value !== undefined && value !== 0) || !(key in merged)) merged[key] = value
  }
  return merged
}

function readUsage(raw: JsonObject): Usage {
  const total = countsIn(raw)
  // A compaction runs on the same model, but its tokens are only in `iterations` (checked 2026-11).
  for (const iteration of listIn(raw.iterations)) {
    if (!isObject(iteration) || iteration.type !== 'compaction') continue
    const more = countsIn(iteration)
    total.input += more.input
    total.output += more.output
    total.cacheRead += more.cacheRead
    total.cacheWrite += more.cacheWrite
  }
  const details = objectIn(raw.output_tokens_details)
  return { ...total, reasoning: countIn(details.thinking_tokens), raw }
}

function countsIn(raw: JsonObject): Omit<Usage, 'reasoning' | 'raw'> {
  const cacheRead = countIn(raw.cache_read_input_tokens)
  const cacheWrite = countIn(raw.cache_creation_input_tokens)
  return {
    input: countIn(raw.input_tokens) + cacheRead + cacheWrite,
    output: countIn(raw.output_tokens),
    cacheRead,
    cacheWrite,
  }
}

/** What the server reports that it dropped. */
function appliedEdits(management: Json | undefined): Note[] {
  const applied = isObject(management) && Array.isArray(management.applied_edits) ? management.applied_edits : []
  return applied.filter(isObject).map((edit): Note => {
    const { cleared_tool_uses: uses, cleared_thinking_turns: turns, cleared_input_tokens: tokens } = edit
    const cleared = uses === undefined ? `thoughts of ${String(turns)} replies` : `results of ${String(uses)} calls`
    const why = 'the provider left them out of the prompt, as requested'
    return { kind: 'dropped', what: `${cleared}, ${String(tokens)} tokens`, why, rule: 'context-editing' }
  })
}

/** Thinking that it did not accept, and why. */
function transformations(reported: Json | undefined): Note[] {
  const all = Array.isArray(reported) ? reported.filter(isObject) : []
  return all.map(({ type, path, reason }): Note => ({
    kind: type === 'thinking_dropped' ? 'dropped' : 'changed',
    what: `a thought at ${String(path)}`,
    why: `the provider found it bound to something else (${String(reason)})`,
    rule: 'R-19',
  }))
}
