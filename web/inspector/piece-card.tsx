// One piece of a body: its path, its message, its tokens, and what was done to it.

import { useState } from 'preact/hooks'
import type { AbsentView, NoteView, PieceView, Source } from '../api/types.ts'
import { compact, count, momentOf, money } from '../parts/format.ts'
import { jumpTo, overlays, setUndone } from '../state/conversation.ts'
import { inspectorWide } from '../state/surface.ts'
import { briefly } from './brief.ts'
import { decisionWords } from './decisions.ts'
import { diffLines } from './diff.ts'
import { JsonText } from './json.tsx'

export function PieceCard({ piece, isOpen }: { piece: PieceView; isOpen: boolean }) {
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
        {open && piece.length !== undefined && (
          <p class="hint">Only the beginning of {count(piece.length)} characters; the exact body has all of them.</p>
        )}
      </details>
      {(piece.sources.length > 0 || piece.notes.length > 0) && (
        <div class="piece-foot">
          <Sources sources={piece.sources} more={piece.moreSources} />
          <Notes notes={piece.notes} />
        </div>
      )}
    </div>
  )
}

function Sources({ sources, more }: { sources: Source[]; more: number }) {
  return (
    <span class="sources">
      {sources.map(({ place, role, entryId }) =>
        entryId === undefined ? (
          <span key={place} class="source">
            the draft
          </span>
        ) : (
          <button key={place} type="button" class="source" onClick={() => show(entryId)}>
            <span class="sr-only">From </span>
            {`${role} #${place + 1}`}
          </button>
        ),
      )}
      {more > 0 && <span class="source">and {count(more)} more</span>}
    </span>
  )
}

function show(entryId: string): void {
  inspectorWide.value = false
  void jumpTo(entryId)
}

const badgeWords: Record<string, string> = { 'tool-turns': 'folded', window: 'cut', compaction: 'summary' }

function badges(notes: readonly NoteView[]): string[] {
  return [...new Set(notes.flatMap((note) => badgeWords[note.rule ?? ''] ?? []))]
}

export function Notes({ notes }: { notes: readonly NoteView[] }) {
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
            <Decided notes={[note]} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** When this was left out, and how to undo it. */
function Decided({ notes }: { notes: readonly NoteView[] }) {
  const decided = overlays.value.filter((overlay) => notes.some((note) => note.decision === overlay.id))
  return decided.map((one) => (
    <small key={one.id} class="decided">
      {decisionWords[one.kind]} since {momentOf(one.at)}.{' '}
      <button type="button" class="source" onClick={() => void setUndone(one, true)}>
        Bring back
      </button>
    </small>
  ))
}

function Difference({ piece }: { piece: PieceView }) {
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
export function AbsentCard({ absent }: { absent: AbsentView }) {
  const { place, role, entryId, words, notes } = absent
  return (
    <div class="absent">
      <p class="absent-words">{words || role}</p>
      <p class="absent-why">
        Not sent. {notes.map((note) => `${note.what}: ${note.why}`).join('; ') || 'Not in the request body.'}{' '}
        {entryId !== undefined && (
          <button type="button" class="source" onClick={() => show(entryId)}>
            {role} #{place + 1}
          </button>
        )}
        <Decided notes={notes} />
      </p>
    </div>
  )
}
