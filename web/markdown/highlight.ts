// Syntax highlighting for code, loaded when the first block with a language is shown. The output of the highlighter is
// untrusted text, and is sanitised like any other.

import { sanitize } from './sanitize.ts'

/** Longer code is shown without highlighting, which would take too long. */
const longest = 50_000

export async function highlight(code: HTMLElement, language: string): Promise<void> {
  const text = code.textContent
  if (text.length > longest) return
  const { highlighted } = await import('./highlighter.ts')
  const html = highlighted(text, language)
  if (html !== undefined && code.textContent === text) code.replaceChildren(sanitize(html))
}
