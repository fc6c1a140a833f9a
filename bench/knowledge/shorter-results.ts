// Two ways to show less of a result when it is written: its beginning and end, or only what differs from an earlier result
// of the session. Measured to decide about them; see docs/decisions/014-what-a-fold-keeps.md.

import type { Message, TextPart } from '../../src/core/message.ts'

export function cutResults(messages: readonly Message[], most: number): Message[] {
  return changeTexts(messages, (text) => {
    if (text.length <= most) return text
    const left = text.length - most
    return `${text.slice(0, most * 0.75)}\n[… ${left} characters; recall #12 reads them]\n${text.slice(-most * 0.25)}`
  })
}

/** A result is a repetition if this share of its lines stood in one earlier result. */
const repeated = 0.8
/** Below this many characters there is nothing to save. */
const shortest = 1000

export function onlyDifferences(messages: readonly Message[]): Message[] {
  const earlier: Set<string>[] = []
  return changeTexts(messages, (text) => {
    if (text.length < shortest) return text
    const lines = text.split('\n')
    const known = earlier.findLast((seen) => lines.filter((line) => seen.has(line)).length >= lines.length * repeated)
    if (!known) {
      earlier.push(new Set(lines))
      return text
    }
    return withoutLines(lines, known)
  })
}

function withoutLines(lines: readonly string[], known: ReadonlySet<string>): string {
  const written: string[] = []
  let skipped = 0
  for (const line of [...lines, undefined]) {
    if (line !== undefined && known.has(line)) {
      skipped++
      continue
    }
    if (skipped > 0) written.push(`[${skipped} lines as in #12]`)
    skipped = 0
    if (line !== undefined) written.push(line)
  }
  return written.join('\n')
}

function changeTexts(messages: readonly Message[], change: (text: string) => string): Message[] {
  return messages.map((message) => {
    if (message.role !== 'tool') return message
    const changed = (part: TextPart) => ({ ...part, text: change(part.text) })
    const parts = message.parts.map((part) => ({
      ...part,
      output: part.output.map((piece) => (piece.type === 'text' ? changed(piece) : piece)),
    }))
    return { ...message, parts }
  })
}
