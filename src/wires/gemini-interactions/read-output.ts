// The content of one `model_output` step: texts that grow by deltas, their citations, and media.

import type { Json, JsonObject } from '../../core/json.ts'
import type { MediaPart, OpaquePart, TextPart } from '../../core/message.ts'
import { endPart, growPart, startPart, type Decoding } from '../shared/decoding.ts'
import { contentKind, listOf, mediaKind, type Content } from './types.ts'

export interface OutputReader {
  /** A complete piece of content. */
  item(content: Content): void
  delta(delta: JsonObject): void
  end(from: number | undefined): Content[]
  readonly count: number
}

interface OpenText {
  index: number
  frame: Content
  pieces: string[]
  annotations: Json[]
}

export function outputReader(state: Decoding): OutputReader {
  const content: Content[] = []
  /** Parts wait for the end of their step, which determines their index in `native`. */
  const parts: { index: number; part: TextPart | MediaPart | OpaquePart }[] = []
  let text: OpenText | undefined

  return {
    item(item) {
      if (item.type !== 'text' || typeof item.text !== 'string') {
        endText()
        other(item)
        return
      }
      endText()
      const { annotations, ...frame } = item
      startText(frame, listOf(annotations))
      if (item.text !== '') more(item.text)
    },
    delta(delta) {
      if (delta.type === 'text' && typeof delta.text === 'string') {
        if (!text) startText({ type: 'text' }, [])
        more(delta.text)
      } else if (typeof delta.type === 'string' && delta.type.startsWith('text_annotation')) {
        if (!text) startText({ type: 'text' }, [])
        text?.annotations.push(...listOf(delta.annotations))
      } else {
        endText()
        other(delta)
      }
    },
    end(from) {
      endText()
      for (const { index, part } of parts) {
        endPart(state, index, from === undefined ? part : { ...part, from })
      }
      return content
    },
    get count() {
      return content.length + (text ? 1 : 0)
    },
  }

  function startText(frame: Content, annotations: Json[]): void {
    const index = startPart(state, { type: 'text', text: '' })
    text = { index, frame, pieces: [], annotations: [...annotations] }
  }

  function more(words: string): void {
    if (!text) return
    text.pieces.push(words)
    growPart(state, text.index, words)
  }

  function endText(): void {
    if (!text) return
    const { index, frame, pieces, annotations } = text
    text = undefined
    const words = pieces.join('')
    const cited = annotations.length > 0
    content.push({ ...frame, text: words, ...(cited && { annotations }) })
    parts.push({ index, part: { type: 'text', text: words, ...(cited && { citations: annotations }) } })
  }

  function other(item: Content): void {
    const part = readMedia(item)
    content.push(item)
    parts.push({ index: startPart(state, part), part })
  }
}

function readMedia(item: Content): MediaPart | OpaquePart {
  const { data, uri } = item
  const type = typeof item.type === 'string' ? item.type : 'untyped'
  const mediaType = typeof item.mime_type === 'string' ? item.mime_type : `${type}/*`
  if (mediaKind(mediaType) === type || type === 'document') {
    if (typeof data === 'string') return { type: 'media', mediaType, data: { kind: 'base64', base64: data } }
    if (typeof uri === 'string') return { type: 'media', mediaType, data: { kind: 'url', url: uri } }
  }
  return { type: 'opaque', kind: `${contentKind}${type}`, data: item }
}
