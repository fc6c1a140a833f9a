// One piece of a body: where it is, which message it came from, what it weighs, and what was done to it on the way.

import { useState } from 'preact/hooks'
import type { Note } from '../api/types.ts'
import { compact, money } from '../parts/format.ts'
import { jumpTo } from '../state/conversation.ts'
import { inspectorWide } from '../state/surface.ts'
import { diffLines } from './diff.ts'
import { JsonText } from './json.tsx'
import type { Absent, Piece } from './request.ts'
import type { Shown } from '../state/inspector.ts'

export function PieceCard({ piece, of, isOpen }: { piece: Piece; of: Shown; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen)
  return (
    <div class={`piece ${piece.cached ? 'is-cached' : ''} ${piece.change ?? ''}`}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <code class="path">{piece.path || 'options'}</code>
          {piece.change === 'new' && <span class="badge new">new</span>}
          {piece.change === 'changed' && <span class="badge changed">changed</span>}
          {!open && <span class="brief">{briefly(piece)}</span>}
          {piece.kind !== 'settings' && (
            <span class="weight">
              {compact(piece.tokens)} tok{piece.price !== undefined && ` · ${money(piece.price)}`}
              {piece.cached && <span class="sr-only">, should be cached</span>}
            </span>
          )}
        </summary>
        {open && (piece.before ? <Difference piece={piece} /> : <JsonText value={piece.value} />)}
      </details>
      {(piece.places.length > 0 || piece.notes.length > 0) && (
        <div class="piece-foot">
          <Sources places={piece.places} of={of} />
          <Notes notes={piece.notes} />
        </div>
      )}
    </div>
  )
}

function Sources({ places, of }: { places: number[]; of: Shown }) {
  return (
    <span class="sources">
      {places.map((place) => {
        const id = of.entryIds[place]
        const words = `${of.messages[place]?.role ?? 'message'} #${place + 1}`
        return id === undefined ? (
          <span key={place} class="source">
            the draft
          </span>
        ) : (
          <button key={place} type="button" class="source" onClick={() => show(id)}>
            <span class="sr-only">From </span>
            {words}
          </button>
        )
      })}
    </span>
  )
}

function show(entryId: string): void {
  inspectorWide.value = false
  jumpTo(entryId)
}

export function Notes({ notes }: { notes: readonly Note[] }) {
  if (notes.length === 0) return null
  return (
    <ul class="notes">
      {notes.map((note, i) => (
        <li key={i} class={`note ${note.kind}`}>
          <span class="note-kind">{note.kind}</span>
          <span>
            {note.what}
            <small>
              {note.why}
              {note.rule && ` (${note.rule})`}
            </small>
          </span>
        </li>
      ))}
    </ul>
  )
}

function Difference({ piece }: { piece: Piece }) {
  const lines = diffLines(JSON.stringify(piece.before?.value, null, 2), JSON.stringify(piece.value, null, 2))
  if (!lines) return <JsonText value={piece.value} />
  return (
    <pre class="json difference" tabIndex={0} role="group" aria-label="Difference to the request before">
      {lines.map((line, i) => (
        <span key={i} class={`line ${line.kind}`}>
          {line.kind === 'gone' ? '- ' : line.kind === 'new' ? '+ ' : '  '}
          {line.text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

/** In the log, but not in the body. */
export function AbsentCard({ absent, of }: { absent: Absent; of: Shown }) {
  const message = of.messages[absent.place]
  const id = of.entryIds[absent.place]
  const words = message?.parts.map((part) => ('text' in part ? part.text : part.type)).join(' ') ?? ''
  return (
    <div class="absent">
      <p class="absent-words">{words.slice(0, 140) || message?.role}</p>
      <p class="absent-why">
        Not sent. {absent.why.join('; ') || 'Its text is not in the body.'}{' '}
        {id !== undefined && (
          <button type="button" class="source" onClick={() => show(id)}>
            {message?.role} #{absent.place + 1}
          </button>
        )}
      </p>
    </div>
  )
}

function briefly({ value }: Piece): string {
  const strings: string[] = []
  collect(value)
  return strings.join(' ').slice(0, 120)

  function collect(one: unknown): void {
    if (strings.length > 6) return
    if (typeof one === 'string') strings.push(one)
    else if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) collect(inner)
  }
}
