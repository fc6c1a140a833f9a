// One piece of a body: its path, its message, its tokens, and what was done to it.

import { useState } from 'preact/hooks'
import type { Note } from '../api/types.ts'
import { compact, count, momentOf, money } from '../parts/format.ts'
import { jumpTo, overlays, setUndone } from '../state/conversation.ts'
import { inspectorWide } from '../state/surface.ts'
import { briefly } from './brief.ts'
import { decisionOf, decisionWords } from './decisions.ts'
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
          {badges(piece.notes).map((words) => (
            <span key={words} class="badge folded">
              {words}
            </span>
          ))}
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
          <Notes notes={piece.notes} of={of} />
        </div>
      )}
    </div>
  )
}

/** A summary is made of thousands of messages. */
const mostSources = 20

function Sources({ places, of }: { places: number[]; of: Shown }) {
  return (
    <span class="sources">
      {places.slice(0, mostSources).map((place) => {
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
      {places.length > mostSources && <span class="source">and {count(places.length - mostSources)} more</span>}
    </span>
  )
}

function show(entryId: string): void {
  inspectorWide.value = false
  void jumpTo(entryId)
}

const badgeWords: Record<string, string> = { 'tool-turns': 'folded', window: 'cut', compaction: 'summary' }

function badges(notes: readonly Note[]): string[] {
  return [...new Set(notes.flatMap((note) => badgeWords[note.rule ?? ''] ?? []))]
}

export function Notes({ notes, of }: { notes: readonly Note[]; of: Shown }) {
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
            <Decided notes={[note]} of={of} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** When this was left out, and how to undo it. */
function Decided({ notes, of }: { notes: readonly Note[]; of: Shown }) {
  const decided = new Set(notes.flatMap((note) => decisionOf(note, of.entryIds, overlays.value) ?? []))
  return [...decided].map((one) => (
    <small key={one.id} class="decided">
      {decisionWords[one.kind]} since {momentOf(one.at)}.{' '}
      <button type="button" class="source" onClick={() => void setUndone(one, true)}>
        Bring back
      </button>
    </small>
  ))
}

function Difference({ piece }: { piece: Piece }) {
  const lines = diffLines(JSON.stringify(piece.before?.value, null, 2), JSON.stringify(piece.value, null, 2))
  if (!lines) return <JsonText value={piece.value} />
  return (
    <pre class="json difference" tabIndex={0} role="group" aria-label="Difference from the previous request">
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
        Not sent. {absent.notes.map((note) => `${note.what}: ${note.why}`).join('; ') || 'Not in the request body.'}{' '}
        {id !== undefined && (
          <button type="button" class="source" onClick={() => show(id)}>
            {message?.role} #{absent.place + 1}
          </button>
        )}
        <Decided notes={absent.notes} of={of} />
      </p>
    </div>
  )
}
