// Colours for code, loaded when the first block that names a language is shown. What the highlighter returns is text
// like any other, and is sanitised like any other.

import { sanitize } from './sanitize.ts'

/** Longer code is shown as it is: colours are not worth a pause. */
const longest = 50_000

export async function highlight(code: HTMLElement, language: string): Promise<void> {
  const text = code.textContent
  if (text.length > longest) return
  const { highlighted } = await import('./highlighter.ts')
  const html = highlighted(text, language)
  if (html !== undefined && code.textContent === text) code.replaceChildren(sanitize(html))
}
