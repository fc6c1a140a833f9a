// What a user said, as content parts.

import { isObject } from '../../core/json.ts'
import type { UserMessage } from '../../core/message.ts'
import { cleanText } from '../shared/text.ts'
import { summaryLabel } from '../shared/injected-text.ts'
import type { Item, Writer } from './encode.ts'
import { mediaContent, standIn } from './media.ts'
import { protocolId, textPart } from './types.ts'

export function userItems(message: UserMessage, at: string, writer: Writer): Item[] {
  const { notes, target } = writer
  const items: Item[] = []
  for (const part of message.parts) {
    switch (part.type) {
      case 'text':
        if (part.text !== '') items.push({ part: textPart(cleanText(part.text, at, notes)) })
        break
      case 'media':
        items.push({ part: mediaContent(part, target) ?? standIn(part, at, notes) })
        break
      case 'compaction':
        if (part.text) items.push({ part: textPart(cleanText(`${summaryLabel}\n${part.text}`, at, notes)) })
        else notes.push({ kind: 'dropped', what: 'compaction', why: 'it has no words of ours', at })
        break
      case 'opaque': {
        const { data } = part
        const ours = part.kind.startsWith(`${protocolId}/`) && isObject(data) && typeof data.type === 'string'
        if (ours && !target.quirks.stringContent) items.push({ part: { ...data } })
        else notes.push({ kind: 'dropped', what: part.kind, why: 'it is not content that this wire takes', at })
      }
    }
  }
  return items
}
