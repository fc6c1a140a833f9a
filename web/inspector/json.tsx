// JSON to read: indented, highlighted, and foldable for a whole body.

import { useState } from 'preact/hooks'
import type { Json } from '../api/types.ts'
import { plural } from '../parts/format.ts'

const pieces = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b|\b(true|false|null)\b/g
/** Longer values are not highlighted. */
const longest = 60_000

export function JsonText({ value }: { value: Json }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <pre class="json" tabIndex={0} role="group" aria-label="JSON">
      {text.length > longest ? text : coloured(text)}
    </pre>
  )
}

/** The maximum of foldable levels; deeper values are text. */
const foldedLevels = 3
/** A shorter value is open at first. */
const openLength = 4000

/** How many items of a long list are shown at a time. */
const itemsAtOnce = 200

/** A body that can be folded, field by field and message by message. */
export function JsonTree({ value }: { value: Json }) {
  return (
    <div class="json tree" tabIndex={0} role="group" aria-label="Body">
      <Branch value={value} name="" level={0} />
    </div>
  )
}

function Branch({ value, name, level }: { value: Json; name: string; level: number }) {
  const isFoldable = typeof value === 'object' && value !== null && level < foldedLevels
  const text = isFoldable && level > 0 ? JSON.stringify(value) : ''
  const [open, setOpen] = useState(text.length < openLength)
  const [limit, setLimit] = useState(itemsAtOnce)
  const label = name === '' ? '' : <span class="j-key">{name}: </span>
  if (!isFoldable || Object.keys(value).length === 0) {
    const leaf = JSON.stringify(value, null, 2)
    return (
      <pre class="json leaf">
        {label}
        {leaf.length > longest ? leaf : coloured(leaf)}
      </pre>
    )
  }
  const inner: [string, Json][] = Array.isArray(value)
    ? value.map((one, i) => [`${i}`, one])
    : Object.entries(value).flatMap(([key, one]) => (one === undefined ? [] : [[JSON.stringify(key), one]]))
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        {Array.isArray(value) ? `[ ${plural(inner.length, 'item')} ]` : `{ ${plural(inner.length, 'field')} }`}
        {!open && <span class="brief"> {text.slice(0, 80)}</span>}
      </summary>
      {open && inner.slice(0, limit).map(([key, one]) => <Branch key={key} name={key} value={one} level={level + 1} />)}
      {open && inner.length > limit && (
        <button type="button" class="more" onClick={() => setLimit(limit + itemsAtOnce)}>
          {plural(inner.length - limit, 'more item')} hidden
        </button>
      )}
    </details>
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
