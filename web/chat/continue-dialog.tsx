// "Continue in…": the command that carries this conversation to a coding agent.

import { useEffect, useState } from 'preact/hooks'
import { api } from '../api/routes.ts'
import type { ConversationView, SessionsView } from '../api/types.ts'
import { copyText } from '../parts/clipboard.ts'
import { Dialog } from '../parts/dialog.tsx'
import { announceCopy } from '../state/announce.ts'
import { attempt } from '../state/session.ts'

export function ContinueDialog({ view, onClose }: { view: ConversationView; onClose: () => void }) {
  const [found, setFound] = useState<SessionsView | undefined>()
  const [agent, setAgent] = useState('claude-code')
  useEffect(() => {
    void attempt(async () => setFound(await api.sessions()))
  }, [])
  const command = [...(found?.carry ?? ['synapse', 'carry']), view.id, '--to', agent].map(quoted).join(' ')
  return (
    <Dialog title="Continue in a coding agent" onClose={onClose}>
      <div class="settings">
        <label>
          Agent
          <select value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
            {found?.agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <p class="hint">Run this in the folder to continue in. It prints the command that resumes the session there.</p>
        <pre class="json wrap" tabIndex={0} role="group" aria-label="Command">
          {command}
        </pre>
        <div class="buttons">
          <button type="button" class="primary" onClick={() => void copyText(command).then(announceCopy)}>
            Copy the command
          </button>
        </div>
      </div>
    </Dialog>
  )
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
