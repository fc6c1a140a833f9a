// Tool results: one message each, text only unless the host supports media there. A failed result says so in its text,
// because these wires have no flag for it.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MediaPart, ToolMessage } from '../../core/message.ts'
import { emptyResultText, flatResult, flatResultLabel, mediaStandIn } from '../shared/injected-text.ts'
import { cleanText } from '../shared/text.ts'
import { textPart, type Item, type Writer } from './dialect.ts'

/** Media goes to `following`, to be shown in a user message after the whole block of results. */
export function toolItems(message: ToolMessage, at: string, writer: Writer, following: Item[]): Item[] {
  const { dialect, target, notes } = writer
  return message.parts.map((result) => {
    const lines: string[] = []
    const media: JsonObject[] = []
    for (const piece of result.output) {
      if (piece.type === 'text') {
        if (piece.text !== '') lines.push(cleanText(piece.text, at, notes))
        continue
      }
      const inside = dialect.media(piece, target, target.capabilities.resultMedia)
      const after = inside ? undefined : dialect.media(piece, target)
      if (inside) media.push(inside)
      else if (after) {
        lines.push(mediaFollows(piece))
        following.push({ part: after })
        const what = `${piece.mediaType} of a result of ${result.name} to a user message after the results`
        const { resultMedia: rule } = dialect.rules
        notes.push({ kind: 'changed', what, why: 'a tool message takes text only', at, ...(rule && { rule }) })
      } else lines.push(standIn(piece, at, notes).text)
    }
    const text = resultText(lines, result.failed === true, media.length > 0)
    return { message: dialect.result(result, { text, media }, writer) }
  })
}

export function flatResults(message: ToolMessage, at: string, writer: Writer, why: string): Item[] {
  const { dialect, target, notes } = writer
  const items: Item[] = []
  for (const result of message.parts) {
    const lines: string[] = []
    const media: Item[] = []
    for (const piece of result.output) {
      const part = piece.type === 'media' ? dialect.media(piece, target) : undefined
      if (part) media.push({ part })
      else if (piece.type === 'media') lines.push(standIn(piece, at, notes).text)
      else if (piece.text !== '') lines.push(cleanText(piece.text, at, notes))
    }
    const text = lines.join('\n') || emptyResultText
    items.push({ part: textPart(flatResult(flatResultLabel, result.name, text, result.failed === true)) }, ...media)
  }
  if (items.length > 0) notes.push({ kind: 'changed', what: 'tool results to labelled user text', why, at })
  return items
}

function resultText(lines: readonly string[], failed: boolean, mayBeEmpty: boolean): string {
  const text = lines.join('\n')
  if (failed) return text.startsWith('Error: ') ? text : `Error: ${text || emptyResultText}`
  return text || (mayBeEmpty ? '' : emptyResultText)
}

export function standIn(part: MediaPart, at: string, notes: Note[]): { type: 'text'; text: string } {
  notes.push({ kind: 'dropped', what: part.mediaType, why: 'the model does not take it; a line of text says so', at })
  return textPart(mediaStandIn(part.mediaType, part.name))
}

function mediaFollows(part: MediaPart): string {
  return `[${part.mediaType}${part.name ? ` ${JSON.stringify(part.name)}` : ''}, shown below the tool results]`
}
