// A user message, and editing it: the original stays as another branch.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '../api/types.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { timeOf } from '../parts/format.ts'
import { live } from '../state/run.ts'
import { edit } from '../state/actions.ts'
import { editing } from '../state/surface.ts'
import { Media } from './media.tsx'
import { BranchSwitch, copy, ForkButton } from './row-actions.tsx'

export function UserRow({ entry }: { entry: Entry }) {
  const isEditing = editing.value === entry.id
  const { parts } = entry.message
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return (
    <div class="said">
      <header class="row-head">
        <span class="who">{entry.message.role === 'system' ? 'System' : 'You'}</span>
        <time dateTime={entry.at}>{timeOf(entry.at)}</time>
        {!isEditing && <Actions entry={entry} onEdit={() => (editing.value = entry.id)} />}
      </header>
      {isEditing ? (
        <Editor entry={entry} text={text} onDone={() => (editing.value = undefined)} />
      ) : (
        <div class="said-text">
          {parts.map((part, i) => {
            if (part.type === 'text')
              return (
                <p key={i} dir="auto">
                  {part.text}
                </p>
              )
            if (part.type === 'media') return <Media key={i} part={part} />
            if (part.type === 'compaction') return <p key={i}>{part.text ?? 'A summary'}</p>
            return <p key={i}>{part.type}</p>
          })}
        </div>
      )}
    </div>
  )
}

function Actions({ entry, onEdit }: { entry: Entry; onEdit: () => void }) {
  return (
    <div class="row-actions">
      <BranchSwitch entry={entry} />
      <IconButton icon="copy" label="Copy" onClick={() => void copy(entry.message)} />
      {entry.message.role === 'user' && (
        <IconButton icon="pencil" label="Edit" disabled={live.value !== undefined} onClick={onEdit} />
      )}
      <ForkButton conversationId={entry.conversationId} end={entry.id} />
    </div>
  )
}

function Editor({ entry, text, onDone }: { entry: Entry; text: string; onDone: () => void }) {
  const [words, setWords] = useState(text)
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => box.current?.focus(), [])
  async function submit(): Promise<void> {
    if (words.trim() !== '' && (await edit(entry, words))) onDone()
  }
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <textarea
        aria-label="Edited message"
        dir="auto"
        value={words}
        ref={box}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onDone()
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault()
            void submit()
          }
        }}
      />
      <p class="hint">The original message stays as another branch.</p>
      <div class="buttons">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button type="submit" class="primary">
          Send
        </button>
      </div>
    </form>
  )
}
