// Streams of the Messages API: named events, one block after the other, running totals of usage. A whole reply is cut
// into the same events and read the same way.
//
// A server tool's call and its result are two blocks but one part: the part stays open until the result is there.

import type { Note } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, ServerToolPart, StopReason, ToolCallPart } from '../../core/message.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { callIds } from '../shared/call-ids.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { appliedEdits, transformations } from './context-edits.ts'
import { outputOf, partOf, readBlock, type BlockReader } from './read-block.ts'
import { split } from './split.ts'
import { laterUsage, readUsage } from './usage.ts'
import { isBlock, isServerCall, isServerResult, type Block } from './types.ts'

interface Open {
  reader: BlockReader
  /** The place of its part in the reply; none for a result that completes an earlier part. */
  index?: number
  part?: Part
}

export function decoder(given: Origin, options?: DecoderOptions): Decoder {
  let nextCallId = callIds(options)
  let native: Json[] = []
  const open = new Map<number, Open>()
  const seen = new Set<number>()
  const waiting = new Map<string, { index: number; part: ServerToolPart }>()
  let origin = given
  let started = false
  let stopped = false
  let parts = 0
  let calls = 0
  let usage: JsonObject | undefined
  let told: { raw: string; details?: JsonObject; sequence?: string } | undefined
  let failure: Failure | undefined
  let unread: Note[] = []
  let cleared: Note[] = []

  return {
    push,
    end(cause) {
      const events: ReplyEvent[] = start({})
      for (const [, block] of open) events.push(...keepOpenText(block))
      for (const { index, part } of waiting.values()) events.push({ type: 'part-end', index, part })
      events.push(...refusal())
      const { stop, failure: why } = outcome(cause)
      const notes = [...unread, ...cleared]
      events.push({
        type: 'reply-end',
        origin,
        stop,
        native,
        ...(usage && { usage: readUsage(usage) }),
        ...(why && { failure: why }),
        ...(notes.length > 0 && { notes }),
      })
      return events
    },
    get done() {
      return stopped
    },
  }

  function push(chunk: Json): ReplyEvent[] {
    if (!isObject(chunk) || stopped) return []
    if (chunk.type === 'message') return split(chunk).flatMap(push)
    if (started && chunk.type === 'message_start') forget()
    return started ? read(chunk) : [...start(chunk), ...read(chunk)]
  }

  /** A relay that has lost its connection asks again and sends a second message: it represents the first. */
  function forget(): void {
    nextCallId = callIds(options)
    native = []
    open.clear()
    seen.clear()
    waiting.clear()
    started = false
    parts = 0
    calls = 0
    usage = undefined
    told = undefined
    cleared = []
  }

  function start(chunk: JsonObject): ReplyEvent[] {
    if (started) return []
    started = true
    const message = chunk.type === 'message_start' && isObject(chunk.message) ? chunk.message : {}
    origin = {
      ...given,
      ...(typeof message.id === 'string' && { replyId: message.id }),
      ...(given.model === '' && typeof message.model === 'string' && { model: message.model }),
    }
    return [{ type: 'reply-start', origin }]
  }

  function read(chunk: JsonObject): ReplyEvent[] {
    const at = typeof chunk.index === 'number' ? chunk.index : -1
    switch (chunk.type) {
      case 'message_start':
        if (!isObject(chunk.message)) return []
        usage = laterUsage(usage, chunk.message.usage)
        unread = transformations(chunk.message.input_transformations)
        return []
      case 'content_block_start':
        return isBlock(chunk.content_block) ? startBlock(at, chunk.content_block) : []
      case 'content_block_delta': {
        const block = open.get(at)
        const text = isObject(chunk.delta) ? block?.reader.delta(chunk.delta) : undefined
        if (block?.index === undefined || text === undefined || text === '' || !isShown(block.part)) return []
        return [{ type: 'part-delta', index: block.index, text }]
      }
      case 'content_block_stop': {
        const block = open.get(at)
        open.delete(at)
        return block ? stopBlock(block) : []
      }
      case 'message_delta': {
        usage = laterUsage(usage, chunk.usage)
        if (isObject(chunk.context_management)) cleared = appliedEdits(chunk.context_management)
        const delta = isObject(chunk.delta) ? chunk.delta : {}
        if (typeof delta.stop_reason === 'string') {
          told = {
            raw: delta.stop_reason,
            ...(isObject(delta.stop_details) && { details: delta.stop_details }),
            ...(typeof delta.stop_sequence === 'string' && { sequence: delta.stop_sequence }),
          }
        }
        return []
      }
      case 'message_stop': {
        stopped = true
        const left = [...open.values()]
        open.clear()
        return left.flatMap(stopBlock)
      }
      case 'error':
        stopped = true
        failure = readFailure({ body: chunk, provider: given.provider })
        return []
      default:
        return []
    }
  }

  function startBlock(at: number, block: Block): ReplyEvent[] {
    if (seen.has(at)) return []
    seen.add(at)
    const reader = readBlock(block)
    if (isServerResult(block) && waiting.has(String(block.tool_use_id))) {
      open.set(at, { reader })
      return []
    }
    const index = parts++
    const part = block.type === 'tool_use' ? startCall(block) : firstReading(block)
    open.set(at, { reader, index, part })
    return [{ type: 'part-start', index, part }]
  }

  function stopBlock({ reader, index, part: first }: Open): ReplyEvent[] {
    const { block, malformed } = reader.finish()
    const from = native.push(block) - 1
    if (index === undefined) {
      const id = String(block.tool_use_id)
      const asked = waiting.get(id)
      waiting.delete(id)
      return asked ? [{ type: 'part-end', index: asked.index, part: { ...asked.part, output: outputOf(block) } }] : []
    }
    if (first?.type === 'tool-call') {
      const input = malformed === undefined ? (block.input ?? {}) : {}
      const part: ToolCallPart = { ...first, input, ...(malformed !== undefined && { malformed }), from }
      return [{ type: 'part-end', index, part }]
    }
    const part: Part = { ...partOf(block), from }
    if (isServerCall(block) && part.type === 'server-tool') {
      waiting.set(String(block.id), { index, part })
      return []
    }
    return [{ type: 'part-end', index, part }]
  }

  function startCall(block: Block): ToolCallPart {
    calls++
    const alias = typeof block.id === 'string' && block.id !== '' ? block.id : undefined
    const name = typeof block.name === 'string' ? block.name : ''
    const ours = options?.toolNames && Object.hasOwn(options.toolNames, name) ? options.toolNames[name] : undefined
    return {
      type: 'tool-call',
      callId: nextCallId(alias),
      ...(alias !== undefined && { alias }),
      name: ours ?? name,
      input: {},
    }
  }

  /** Text that was cut off can still be sent back; a call or a thought that was cut off cannot. */
  function keepOpenText({ reader, index }: Open): ReplyEvent[] {
    if (index === undefined || reader.start.type !== 'text') return []
    const { block } = reader.finish()
    if (block.text === '') return []
    const from = native.push(block) - 1
    return [{ type: 'part-end', index, part: { ...partOf(block), from } }]
  }

  /** The API explains a refusal beside the content, not in it. */
  function refusal(): ReplyEvent[] {
    const text = told?.raw === 'refusal' ? told.details?.explanation : undefined
    if (typeof text !== 'string' || text === '') return []
    const index = parts++
    const part: Part = { type: 'refusal', text }
    return [
      { type: 'part-start', index, part },
      { type: 'part-end', index, part },
    ]
  }

  function outcome(cause: EndCause | undefined): Outcome {
    if (failure) {
      return { stop: { reason: 'failed', ...(failure.code !== undefined && { raw: failure.code }) }, failure }
    }
    if (told && open.size === 0) {
      const { raw, sequence } = told
      return { stop: { reason: stopReason(raw, calls > 0), raw, ...(sequence !== undefined && { sequence }) } }
    }
    return stopped && !cause ? { stop: { reason: stopReason('end_turn', calls > 0) } } : stopAfterInterruption(cause)
  }
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

/** What a block shows before its first delta; how it was hidden is known only when it is whole. */
function firstReading(block: Block): Part {
  const part = partOf(block)
  return part.type === 'reasoning' && block.type === 'thinking' ? { type: 'reasoning', text: part.text } : part
}

function isShown(part: Part | undefined): boolean {
  return (
    part?.type === 'text' || part?.type === 'reasoning' || part?.type === 'compaction' || part?.type === 'tool-call'
  )
}
