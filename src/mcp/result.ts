// The result of an MCP call as a tool result: text and media for the model, and the structured content, if any, as the
// stored value. An error from the server is thrown, and becomes a failed result.

import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Json } from '../core/json.ts'
import { textOf, type MediaPart, type TextPart } from '../core/message.ts'

type Output = (TextPart | MediaPart)[]

export function valueOf(result: CallToolResult): Json | Output | { type: 'tool-result'; output: Output; value: Json } {
  const parts = result.content.map(partOf)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (result.isError) throw new Error(text.trim() || 'the server says that it failed, and not why')
  const structured = result.structuredContent as Json | undefined
  const isPlain = parts.every((part) => part.type === 'text')
  if (structured !== undefined && isPlain && (text.trim() === '' || repeats(text, structured))) return structured
  if (structured !== undefined && parts.length > 0) return { type: 'tool-result', output: parts, value: structured }
  return isPlain && parts.length <= 1 ? textOf(parts) : parts
}

type Block = CallToolResult['content'][number]

function partOf(block: Block): TextPart | MediaPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: 'media', mediaType: block.mimeType, data: { kind: 'base64', base64: block.data } }
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` }
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return { type: 'text', text: resource.text }
      const mediaType = resource.mimeType ?? 'application/octet-stream'
      return { type: 'media', mediaType, name: resource.uri, data: { kind: 'base64', base64: resource.blob } }
    }
    default:
      return { type: 'text', text: JSON.stringify(block) }
  }
}

function repeats(text: string, structured: Json): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}
