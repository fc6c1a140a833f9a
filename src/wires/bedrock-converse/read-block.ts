// One content block, read piece by piece, and at its end the complete block as in a reply without streaming, with our
// reading of it. Pieces are joined once, at the end.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ToolResultPart } from '../../core/message.ts'
import { readArguments } from '../shared/arguments.ts'
import type { BlockReader } from '../shared/block-stream.ts'
import { malformedInput } from '../shared/injected-text.ts'
import { imageFormats, inside, kindOf, protocolId } from './types.ts'

export function readBlock(start: JsonObject): BlockReader<JsonObject> {
  const text: string[] = typeof start.text === 'string' ? [start.text] : []
  const input: string[] = []
  const signature: string[] = []
  const citations: Json[] = []
  const results: Json[] = []
  let redacted: Json | undefined
  let other: JsonObject = {}

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
      else other = { ...other, ...delta }
      return undefined
    },
    finish() {
      const kind = kindOf(start)
      const given = inside(start, kind) ?? {}
      if (kind === 'toolUse') return finishUse(given, input.join(''))
      if (kind === 'reasoningContent') return { block: reasoning(given, text.join(''), signature.join(''), redacted) }
      if (kind === 'toolResult' && results.length > 0) return { block: { toolResult: { ...given, content: results } } }
      if (kind !== 'text') return { block: { [kind]: { ...given, ...inside(other, kind) } } }
      const joined = text.join('')
      if (citations.length === 0) return { block: { text: joined } }
      return { block: { citationsContent: { ...(joined !== '' && { content: [{ text: joined }] }), citations } } }
    },
  }
}

function finishUse(given: JsonObject, streamed: string): { block: JsonObject; malformed?: string } {
  if (streamed.trim() === '' && isObject(given.input)) return { block: { toolUse: given } }
  const { input, malformed } = readArguments(streamed)
  const block = { toolUse: { ...given, input: malformed === undefined ? input : malformedInput(malformed) } }
  return { block, ...(malformed !== undefined && { malformed }) }
}

function reasoning(given: JsonObject, text: string, signature: string, redacted: Json | undefined): JsonObject {
  const sealed = redacted ?? given.redactedContent
  if (sealed !== undefined && text === '') return { reasoningContent: { redactedContent: sealed } }
  const whole = isObject(given.reasoningText) ? given.reasoningText : {}
  return {
    reasoningContent: {
      reasoningText: { ...whole, ...(text !== '' && { text }), ...(signature !== '' && { signature }) },
    },
  }
}

/** Our reading of a block, finished or not. Calls need an id and are read by the decoder. */
export function partOf(block: JsonObject): Exclude<Part, ToolResultPart> {
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
      const content = Array.isArray(value.content) ? value.content : []
      const text = content.map((one) => (isObject(one) ? textIn(one.text) : '')).join('')
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

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
