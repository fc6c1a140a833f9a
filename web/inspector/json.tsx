// JSON to read: indented, with keys, words and numbers told apart.

import type { Json } from '../api/types.ts'

const pieces = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b|\b(true|false|null)\b/g
/** Longer values are shown without colours. */
const longest = 60_000

export function JsonText({ value }: { value: Json }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <pre class="json" tabIndex={0} role="group" aria-label="JSON">
      {text.length > longest ? text : coloured(text)}
    </pre>
  )
}

function coloured(text: string) {
  const out = []
  let done = 0
  for (const match of text.matchAll(pieces)) {
    const [all, string, colon] = match
    if (match.index > done) out.push(text.slice(done, match.index))
    const kind = string === undefined ? 'j-other' : colon === undefined ? 'j-string' : 'j-key'
    out.push(
      <span key={match.index} class={kind}>
        {string ?? all}
      </span>,
    )
    if (colon !== undefined) out.push(colon)
    done = match.index + all.length
  }
  out.push(text.slice(done))
  return out
}
