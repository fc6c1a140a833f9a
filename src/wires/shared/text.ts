// Text that every wire can carry. A lone half of a surrogate pair is not valid UTF-8, and NUL is refused by several
// providers; one such character would otherwise make every later request of the conversation fail.

import type { Context, Note } from '../../core/context.ts'

export function cleanText(text: string, at: string, notes: Note[]): string {
  if (isClean(text)) return text
  notes.push({ kind: 'changed', what: 'unsendable characters to U+FFFD', why: 'not valid Unicode text', at })
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/** The texts of the system prompt, without empty ones. */
export function systemTexts({ system }: Context, notes: Note[]): string[] {
  return system.map((part) => cleanText(part.text, 'system', notes)).filter((text) => text !== '')
}

export function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Splits a text into pieces of at most `size` UTF-16 units, never inside a surrogate pair. */
export function* splitText(text: string, size: number): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + size, text.length)
    const code = text.charCodeAt(end - 1)
    if (end < text.length && end - start > 1 && code >= 0xd800 && code <= 0xdbff) end--
    yield text.slice(start, end)
    start = end
  }
}
