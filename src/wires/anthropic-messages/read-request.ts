// Reads the user content of a request back into parts: for transcripts, which are stored requests.

import { isObject, type Json } from '../../core/json.ts'
import type { MediaPart, TextPart, ToolResultPart, UserMessage } from '../../core/message.ts'
import { isBlock, protocolId, type Block } from './types.ts'

export function readUserBlock(block: Block): UserMessage['parts'][number] {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
  return readMedia(block) ?? { type: 'opaque', kind: `${protocolId}/${block.type}`, data: block }
}

/** The content of a `tool_result`. What our parts do not support is kept as the text of its JSON. */
export function readOutput(content: Json | undefined): ToolResultPart['output'] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.map((block): TextPart | MediaPart => {
    const part = isBlock(block) ? readUserBlock(block) : undefined
    return part?.type === 'text' || part?.type === 'media' ? part : { type: 'text', text: JSON.stringify(block) }
  })
}

function readMedia(block: Block): MediaPart | undefined {
  if ((block.type !== 'image' && block.type !== 'document') || !isObject(block.source)) return undefined
  const { type, media_type, data, url, file_id } = block.source
  const fallback = block.type === 'image' ? 'image/*' : 'application/pdf'
  const mediaType = typeof media_type === 'string' ? media_type : fallback
  const name = typeof block.title === 'string' ? { name: block.title } : {}
  const media = (given: MediaPart['data']): MediaPart => ({ type: 'media', mediaType, ...name, data: given })
  if (type === 'base64' && typeof data === 'string') return media({ kind: 'base64', base64: data })
  if (type === 'text' && typeof data === 'string') {
    return media({ kind: 'base64', base64: Buffer.from(data, 'utf8').toString('base64') })
  }
  if (type === 'url' && typeof url === 'string') return media({ kind: 'url', url })
  if (type === 'file' && typeof file_id === 'string')
    return media({ kind: 'file', fileId: file_id, provider: 'anthropic' })
  return undefined
}
