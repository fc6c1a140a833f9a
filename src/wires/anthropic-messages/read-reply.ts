// One content block, read piece by piece: its start, its deltas, and at its stop the complete block as in a reply
// without streaming, with our reading of it. Pieces are joined once, at the end.
//
// A delta of an unknown type still extends the block: texts and lists are appended to the field of the same name,
// anything else replaces it. So nothing of an unknown block is lost.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ToolResultPart } from '../../core/message.ts'
import { readArguments } from '../shared/decoding.ts'
import type { BlockReader } from '../shared/block-stream.ts'
import { malformedInput } from '../shared/injected-text.ts'
import { type Block, isServerCall, isServerResult, protocolId } from './types.ts'
import { textIn } from '../shared/json-fields.ts'

export function readBlock(start: Block): BlockReader<Block> {
  const texts = new Map<string, string[]>()
  const lists = new Map<string, Json[]>()
  const values: JsonObject = {}
  const json: string[] = []

  const grow = (field: string, text: Json | undefined): string | undefined => {
    if (typeof text !== 'string') return undefined
    const pieces = texts.get(field)
    if (pieces) pieces.push(text)
    else texts.set(field, [typeof start[field] === 'string' ? start[field] : '', text])
    return text
  }
  const extend = (field: string, items: Json[]): void => {
    const list = lists.get(field) ?? (Array.isArray(start[field]) ? [...start[field]] : [])
    list.push(...items)
    lists.set(field, list)
  }

  return {
    delta(delta) {
      switch (delta.type) {
        case 'text_delta':
          return grow('text', delta.text)
        case 'thinking_delta':
          return grow('thinking', delta.thinking)
        case 'signature_delta':
          grow('signature', delta.signature)
          return undefined
        case 'input_json_delta':
          if (typeof delta.partial_json !== 'string') return undefined
          json.push(delta.partial_json)
          return delta.partial_json
        case 'citations_delta':
          if (delta.citation !== undefined) extend('citations', [delta.citation])
          return undefined
      }
      for (const [field, value] of Object.entries(delta)) {
        if (field === 'type' || value === undefined || value === null) continue
        if (typeof value === 'string') grow(field, value)
        else if (Array.isArray(value)) extend(field, value)
        else values[field] = value
      }
      return start.type === 'compaction' && typeof delta.content === 'string' ? delta.content : undefined
    },
    finish() {
      const block: Block = { ...start, ...values }
      for (const [field, pieces] of texts) block[field] = pieces.join('')
      for (const [field, list] of lists) block[field] = list
      if (!('input' in start) && json.length === 0) return { block }
      const { input, malformed } = readInput(start.input, json.join(''))
      block.input = malformed === undefined ? input : malformedInput(malformed)
      return { block, ...(malformed !== undefined && { malformed }) }
    },
  }
}

/** Some hosts put the complete input into the start of the block, as an object or even as text. */
function readInput(start: Json | undefined, streamed: string): { input: Json; malformed?: string } {
  if (streamed.trim() !== '') return readArguments(streamed)
  if (typeof start === 'string') return readArguments(start)
  return isObject(start) || start === undefined || start === null
    ? { input: start ?? {} }
    : { input: {}, malformed: JSON.stringify(start) }
}

/** Our reading of a block, finished or not. Calls need an id and are read by the decoder. */
export function partOf(block: Block): Exclude<Part, ToolResultPart> {
  switch (block.type) {
    case 'text': {
      const citations = Array.isArray(block.citations) && block.citations.length > 0 ? block.citations : undefined
      return { type: 'text', text: textIn(block.text), ...(citations && { citations }) }
    }
    case 'thinking': {
      const text = textIn(block.thinking)
      return { type: 'reasoning', text, ...(text === '' && { hidden: true }) }
    }
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', hidden: true }
    case 'compaction':
      return { type: 'compaction', ...(typeof block.content === 'string' && { text: block.content }) }
  }
  if (isServerCall(block)) {
    return { type: 'server-tool', name: textIn(block.name), ...(block.input !== undefined && { input: block.input }) }
  }
  if (isServerResult(block)) {
    return { type: 'server-tool', name: block.type.replace(/_tool_result$/, ''), output: outputOf(block) }
  }
  return { type: 'opaque', kind: `${protocolId}/${block.type}`, data: block }
}

/** The result of a server tool; an MCP server reports separately that it failed. */
export function outputOf(block: Block): Json {
  const output = block.content ?? null
  return block.is_error === true ? { is_error: true, content: output } : output
}
