// Results of tools: one message each, text only unless the host takes media there. A failed result says so in its text,
// because the wire has no flag for it.

import type { ToolMessage, ToolResultPart } from '../../core/message.ts'
import { cleanText } from '../shared/text.ts'
import { emptyResultText, flatResult, flatResultLabel } from '../shared/injected-text.ts'
import { takesMarks } from './cache-marks.ts'
import type { Item, Writer } from './encode.ts'
import { mediaContent, mediaFollows, standIn } from './media.ts'
import { textPart, type ContentPart } from './types.ts'

/** Media goes to `following`, to be shown in a user message after the whole block of results. */
export function toolItems(message: ToolMessage, at: string, writer: Writer, following: Item[]): Item[] {
  return message.parts.map((result) => {
    const lines: string[] = []
    const media: ContentPart[] = []
    for (const piece of result.output) {
      if (piece.type === 'text') {
        if (piece.text !== '') lines.push(cleanText(piece.text, at, writer.notes))
        continue
      }
      const inside = mediaContent(piece, writer.target, writer.target.capabilities.resultMedia)
      const behind = inside ? undefined : mediaContent(piece, writer.target)
      if (inside) media.push(inside)
      else if (behind) {
        lines.push(mediaFollows(piece))
        following.push({ part: behind })
        writer.notes.push({
          kind: 'changed',
          what: `${piece.mediaType} of a result of ${result.name} to a user message after the results`,
          why: 'a tool message takes text only',
          at,
          rule: 'C12',
        })
      } else lines.push(standIn(piece, at, writer.notes).text)
    }
    const text = resultText(lines, result, media.length > 0)
    const listed = media.length > 0 || takesMarks(writer.target)
    const content = listed ? [...(text === '' ? [] : [textPart(text)]), ...media] : text
    return { message: { role: 'tool', tool_call_id: writer.idOf(result.callId), content } }
  })
}

export function flatResults(message: ToolMessage, at: string, writer: Writer): Item[] {
  const items: Item[] = []
  for (const result of message.parts) {
    const lines: string[] = []
    const media: Item[] = []
    for (const piece of result.output) {
      const part = piece.type === 'media' ? mediaContent(piece, writer.target) : undefined
      if (part) media.push({ part })
      else if (piece.type === 'media') lines.push(standIn(piece, at, writer.notes).text)
      else if (piece.text !== '') lines.push(cleanText(piece.text, at, writer.notes))
    }
    const text = lines.join('\n') || emptyResultText
    items.push({ part: textPart(flatResult(flatResultLabel, result.name, text, result.failed === true)) }, ...media)
  }
  if (items.length > 0) {
    const why = 'this host refuses tool messages in the history'
    writer.notes.push({ kind: 'changed', what: 'tool results to labelled user text', why, at })
  }
  return items
}

function resultText(lines: readonly string[], result: ToolResultPart, mayBeEmpty: boolean): string {
  const text = lines.join('\n')
  if (result.failed) return text.startsWith('Error: ') ? text : `Error: ${text || emptyResultText}`
  return text || (mayBeEmpty ? '' : emptyResultText)
}
