// Streams of numbered content blocks, each with a start, deltas and a stop (Messages, Converse): the blocks that are
// open, their parts, and the finished blocks in order. A server tool's call and its result are two blocks but one part:
// the part stays open until the result arrives.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Part, ServerToolPart, ToolCallPart, ToolResultPart } from '../../core/message.ts'
import { endPart, newCallPart, startPart, type Decoding } from './decoding.ts'

export interface BlockReader<Block> {
  /** What can be shown of it, if anything. */
  delta(delta: JsonObject): string | undefined
  finish(): { block: Block; malformed?: string }
}

/** How a wire encodes its blocks. */
export interface BlockDialect<Block> {
  read(start: Block): BlockReader<Block>
  /** Our reading of a block, finished or not. */
  part(block: Block): Exclude<Part, ToolResultPart>
  /** What a block shows before its first delta; `part` by default. */
  firstPart?(block: Block): Part
  /** A call that the client answers. */
  call(block: Block): { id: Json | undefined; name: Json | undefined; input: Json | undefined } | undefined
  /** The id of a call that the provider runs itself. */
  serverCall(block: Block): string | undefined
  serverResult(block: Block): { id: string; output: Json } | undefined
}

interface OpenBlock<Block> {
  reader: BlockReader<Block>
  /** The index of its part in the reply; none for a result that completes an earlier part. */
  index?: number
  part?: Part
}

export interface BlockStream<Block> extends Decoding {
  readonly dialect: BlockDialect<Block>
  readonly open: Map<number, OpenBlock<Block>>
  /** Calls of server tools without results so far, by their ids. */
  readonly waiting: Map<string, { index: number; part: ServerToolPart }>
  native: Json[]
  calls: number
}

export function blockStream<Block>(state: Decoding, dialect: BlockDialect<Block>): BlockStream<Block> {
  return { ...state, dialect, open: new Map(), waiting: new Map(), native: [], calls: 0 }
}

export function startBlock<Block>(state: BlockStream<Block>, index: number, block: Block): void {
  const { dialect, open, waiting } = state
  const reader = dialect.read(block)
  const result = dialect.serverResult(block)
  if (result && waiting.has(result.id)) {
    open.set(index, { reader })
    return
  }
  const call = dialect.call(block)
  if (call) state.calls++
  const part = call ? newCallPart(state, call.id, call.name) : (dialect.firstPart ?? dialect.part)(block)
  open.set(index, { reader, index: startPart(state, part), part })
}

export function stopBlock<Block extends JsonObject>(state: BlockStream<Block>, at: number): void {
  const open = state.open.get(at)
  if (!open) return
  state.open.delete(at)
  const { index, part } = open
  const { block, malformed } = open.reader.finish()
  const from = state.native.push(block) - 1
  if (index === undefined) endServerTool(state, block)
  else if (part?.type === 'tool-call') endPart(state, index, wholeCall(state, part, block, malformed, from))
  else endOther(state, index, block, from)
}

export function stopAllBlocks<Block extends JsonObject>(state: BlockStream<Block>): void {
  for (const index of state.open.keys()) stopBlock(state, index)
}

function endServerTool<Block>(state: BlockStream<Block>, block: Block): void {
  const result = state.dialect.serverResult(block)
  const pending = result && state.waiting.get(result.id)
  if (!pending) return
  state.waiting.delete(result.id)
  endPart(state, pending.index, { ...pending.part, output: result.output })
}

function wholeCall<Block>(
  { dialect }: BlockStream<Block>,
  begun: ToolCallPart,
  block: Block,
  malformed: string | undefined,
  from: number,
): ToolCallPart {
  const input = malformed === undefined ? (dialect.call(block)?.input ?? {}) : {}
  return { ...begun, input, ...(malformed !== undefined && { malformed }), from }
}

function endOther<Block>(state: BlockStream<Block>, index: number, block: Block, from: number): void {
  const part: Part = { ...state.dialect.part(block), from }
  const id = state.dialect.serverCall(block)
  if (id !== undefined && part.type === 'server-tool') state.waiting.set(id, { index, part })
  else endPart(state, index, part)
}

/** Ends the open blocks of an interrupted reply: text can be sent back, a call or thinking cannot. */
export function endOpenBlocks<Block extends JsonObject>(state: BlockStream<Block>): void {
  for (const { reader, index, part } of state.open.values()) {
    if (index === undefined || part?.type !== 'text') continue
    const { block } = reader.finish()
    const read = state.dialect.part(block)
    if (read.type !== 'text' || read.text === '') continue
    endPart(state, index, { ...read, from: state.native.push(block) - 1 })
  }
  for (const { index, part } of state.waiting.values()) endPart(state, index, part)
}
