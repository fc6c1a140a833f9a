// "Import from…": the sessions of coding agents on this machine, and files.

import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../api/routes.ts'
import type { SessionsView } from '../api/types.ts'
import { Dialog } from '../parts/dialog.tsx'
import { FilePicker } from '../parts/files.tsx'
import { count, whenOf } from '../parts/format.ts'
import { attempt, status } from '../state/session.ts'
import { importing } from '../state/surface.ts'
import { importFiles, importSession } from '../state/transfer.ts'

export function ImportDialog() {
  const picker = useRef<HTMLInputElement>(null)
  const close = () => (importing.value = false)
  return (
    <Dialog title="Import a conversation" class="import" onClose={close}>
      <p class="hint">
        Exports of ChatGPT and Claude, sessions of coding agents, and transcripts of any provider. You can also drop a
        file on the list of conversations.
      </p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => picker.current?.click()}>
          Choose a file
        </button>
        <FilePicker
          picker={picker}
          onFiles={(files) => {
            close()
            void importFiles(files)
          }}
        />
      </div>
      {status.value?.localSessions && <Sessions onDone={close} />}
    </Dialog>
  )
}

function Sessions({ onDone }: { onDone: () => void }) {
  const [found, setFound] = useState<SessionsView | undefined>()
  const [filter, setFilter] = useState('')
  useEffect(() => {
    void attempt(async () => setFound(await api.sessions()))
  }, [])
  const names = new Map(found?.agents.map(({ id, name }) => [id, name]))
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = (found?.items ?? []).filter((one) => {
    const text = `${one.title} ${one.cwd ?? ''} ${names.get(one.agent) ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <section aria-label="Sessions on this machine" class="sessions">
      <h3>Sessions on this machine</h3>
      <input
        type="search"
        aria-label="Search sessions"
        placeholder="Search sessions by text, folder or agent"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      {found === undefined && <p class="hint">Looking for sessions…</p>}
      {found !== undefined && shown.length === 0 && <p class="hint">No sessions found.</p>}
      <ul class="session-list">
        {shown.map((one) => (
          <li key={`${one.agent} ${one.id}`}>
            <button
              type="button"
              onClick={() => {
                onDone()
                void importSession(one.agent, one.id)
              }}
            >
              <span class="session-title" dir="auto">
                {one.title || one.id}
              </span>
              <small>
                {names.get(one.agent) ?? one.agent} · {count(one.messages)} messages · {whenOf(one.changedAt)}
                {one.cwd !== undefined && ` · ${one.cwd}`}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
