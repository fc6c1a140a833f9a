// User messages and tool results, as content of user messages. Results support media here, unlike on most wires.

import type { JsonObject } from '../../core/json.ts'
import type { MediaPart, TextPart, ToolMessage, ToolResultPart, UserMessage } from '../../core/message.ts'
import { acceptsMedia } from '../shared/media.ts'
import { cleanText, isBlank } from '../shared/text.ts'
import { emptyResultText, flatResult, flatResultLabel, mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import { readImage } from '../shared/image-header.ts'
import { type Block, imageTypes, isBlock, protocolId, textBlock, type Encoding } from './types.ts'

export function encodeUser(message: UserMessage, at: string, encoding: Encoding): Block[] {
  const blocks: Block[] = []
  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        pushText(part.text, at, encoding, blocks)
        break
      case 'media':
        blocks.push(mediaBlock(part, encoding.target.capabilities.media, at, encoding) ?? standIn(part, at, encoding))
        break
      case 'compaction':
        if (part.text) pushText(`${summaryLabel}\n${part.text}`, at, encoding, blocks)
        else encoding.notes.push({ kind: 'dropped', what: 'compaction', why: 'only its own provider can read it', at })
        break
      case 'opaque':
        if (part.kind.startsWith(`${protocolId}/`) && isBlock(part.data)) blocks.push(part.data)
        else encoding.notes.push({ kind: 'dropped', what: part.kind, why: 'it belongs to another wire', at })
    }
  }
  return blocks
}

/** All results of the message, and after them what a result cannot contain. */
export function encodeResults(message: ToolMessage, at: string, encoding: Encoding): Block[] {
  const following: Block[] = []
  const flat = encoding.target.quirks.toolMessages || !encoding.target.capabilities.tools
  const results = message.parts.map((part) => {
    const content = resultContent(part, at, encoding, following)
    if (!flat) {
      return {
        type: 'tool_result',
        tool_use_id: encoding.idOf(part.callId),
        content,
        ...(part.failed && { is_error: true }),
      }
    }
    encoding.notes.push({
      kind: 'changed',
      what: `result of ${part.name} to labelled text`,
      why: 'the target supports no tools',
      at,
    })
    const text = typeof content === 'string' ? content : textIn(content)
    if (typeof content !== 'string') following.push(...content.filter((block) => block.type !== 'text'))
    return textBlock(flatResult(flatResultLabel, part.name, text, part.failed === true))
  })
  return [...results, ...following]
}

export function encodeSystem(parts: readonly TextPart[], at: string, encoding: Encoding): Block[] {
  const blocks: Block[] = []
  for (const part of parts) pushText(part.text, at, encoding, blocks)
  return blocks
}

function pushText(text: string, at: string, encoding: Encoding, blocks: Block[]): void {
  if (text === '') return
  if (isBlank(text)) {
    encoding.notes.push({ kind: 'dropped', what: 'blank text', why: 'the wire refuses it', at, rule: 'R-8' })
    return
  }
  blocks.push(textBlock(cleanText(text, at, encoding.notes)))
}

/** A string if there is only text; a failed result must not be empty, and no result is left without text. */
function resultContent(part: ToolResultPart, at: string, encoding: Encoding, following: Block[]): string | Block[] {
  const { capabilities } = encoding.target
  const blocks: Block[] = []
  let lines: string[] = []
  const flush = () => {
    const text = lines.join('\n')
    if (!isBlank(text)) blocks.push(textBlock(text))
    else if (text !== '') {
      encoding.notes.push({
        kind: 'dropped',
        what: `blank text in the result of ${part.name}`,
        why: 'the wire refuses it',
        at,
        rule: 'R-8',
      })
    }
    lines = []
  }
  for (const piece of part.output) {
    if (piece.type === 'text') {
      lines.push(cleanText(piece.text, at, encoding.notes))
      continue
    }
    const inside = mediaBlock(piece, capabilities.resultMedia, at, encoding)
    const outside = inside ? undefined : mediaBlock(piece, capabilities.media, at, encoding)
    if (inside) {
      flush()
      blocks.push(inside)
    } else if (outside) {
      following.push(outside)
      lines.push(`[${piece.mediaType}, shown below the tool results]`)
      const what = `${piece.mediaType} of the result of ${part.name} to user content after the results`
      encoding.notes.push({ kind: 'changed', what, why: 'a result cannot have it here', at })
    } else lines.push(String(standIn(piece, at, encoding).text))
  }
  flush()
  if (blocks.length === 0) return emptyResultText
  return blocks.every((block) => block.type === 'text') ? textIn(blocks) : blocks
}

function textIn(blocks: readonly Block[]): string {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : []))
  return texts.length > 0 ? texts.join('\n') : emptyResultText
}

function standIn(part: MediaPart, at: string, encoding: Encoding): Block {
  const why = 'it cannot be sent to this model; a line of text replaces it'
  encoding.notes.push({ kind: 'dropped', what: part.mediaType, why, at })
  return textBlock(mediaStandIn(part.mediaType, part.name))
}

function mediaBlock(part: MediaPart, supported: readonly string[], at: string, encoding: Encoding): Block | undefined {
  if (part.data.kind === 'blob') return undefined
  if (part.mediaType.startsWith('image/')) return imageBlock(part, supported, at, encoding)
  return documentBlock(part, supported, at, encoding)
}

function imageBlock(part: MediaPart, supported: readonly string[], at: string, encoding: Encoding): Block | undefined {
  const { data } = part
  const mediaType = data.kind === 'base64' ? (readImage(data.base64)?.mediaType ?? part.mediaType) : part.mediaType
  if (!acceptsMedia(supported, mediaType)) return undefined
  if (data.kind === 'base64') {
    if (!imageTypes.includes(mediaType)) return undefined
    if (mediaType !== part.mediaType) {
      const what = `media type ${part.mediaType} to ${mediaType}`
      encoding.notes.push({ kind: 'changed', what, why: 'that is what the image really is', at })
    }
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64 } }
  }
  const source = linkedSource(data, encoding)
  return source && { type: 'image', source }
}

function documentBlock(
  part: MediaPart,
  supported: readonly string[],
  at: string,
  encoding: Encoding,
): Block | undefined {
  const { data, mediaType, name } = part
  const title = name !== undefined && !isBlank(name) ? { title: cleanText(name, at, encoding.notes) } : {}
  if (mediaType.startsWith('text/') && data.kind === 'base64') {
    const text = Buffer.from(data.base64, 'base64').toString('utf8')
    if (isBlank(text) || !(acceptsMedia(supported, mediaType) || acceptsMedia(supported, 'text/plain')))
      return undefined
    if (mediaType !== 'text/plain') {
      encoding.notes.push({
        kind: 'changed',
        what: `${mediaType} to text/plain`,
        why: 'the only text type of the wire',
        at,
      })
    }
    const source = { type: 'text', media_type: 'text/plain', data: cleanText(text, at, encoding.notes) }
    return { type: 'document', source, ...title }
  }
  if (!acceptsMedia(supported, mediaType)) return undefined
  if (data.kind === 'base64') {
    if (mediaType !== 'application/pdf') return undefined
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data: data.base64 }, ...title }
  }
  if (data.kind === 'url' && mediaType !== 'application/pdf') return undefined
  const source = linkedSource(data, encoding)
  return source && { type: 'document', source, ...title }
}

function linkedSource(data: MediaPart['data'], encoding: Encoding): JsonObject | undefined {
  const { target } = encoding
  if (data.kind === 'url') return target.capabilities.mediaUrls ? { type: 'url', url: data.url } : undefined
  if (data.kind !== 'file' || data.provider !== target.provider) return undefined
  return { type: 'file', file_id: data.fileId }
}
