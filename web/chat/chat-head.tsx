// The header of a conversation: its title, its cost, and its actions.

import { useState } from 'preact/hooks'
import { api } from '../api/routes.ts'
import type { ConversationView } from '../api/types.ts'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { clientIn, money, plural, share } from '../parts/format.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { Menu } from '../parts/menu.tsx'
import { openAddress } from '../state/address.ts'
import { changed, current, exchanges, model, settings, spent } from '../state/conversation.ts'
import { dropListed, pinLabel } from '../state/conversations.ts'
import { tab } from '../state/inspector.ts'
import { localModels } from '../state/model-choice.ts'
import { attempt, status } from '../state/session.ts'
import { inspectorOpen, sidebarOpen } from '../state/surface.ts'
import { compact, copyWhole, saveAs } from '../state/transfer.ts'
import { ContinueDialog } from './continue-dialog.tsx'

export function ChatHead() {
  const view = current.value
  const [dialog, setDialog] = useState<'rename' | 'delete' | 'continue' | undefined>()
  return (
    <header class="chat-head">
      <IconButton
        icon="menu"
        label="Conversations"
        class="only-narrow"
        expanded={sidebarOpen.value}
        onClick={() => (sidebarOpen.value = !sidebarOpen.value)}
      />
      <h1 dir="auto">{view ? (view.title ?? 'Untitled') : 'New conversation'}</h1>
      {view?.labels.filter(isShown).map((label) => (
        <span key={label} class="label">
          {label}
        </span>
      ))}
      {settings.value.agent !== undefined && <span class="label">agent {settings.value.agent}</span>}
      {view && <Client />}
      {status.value?.offline && !localModels.value.includes(model.value) && (
        <span class="offline" title={status.value.whyOffline ?? ''}>
          offline<span> emulator</span>
        </span>
      )}
      {view && <Spent />}
      {view && (
        <Menu
          label="This conversation"
          icon="more"
          items={[
            { label: view.labels.includes(pinLabel) ? 'Unpin' : 'Pin', run: () => void togglePin(view) },
            { label: 'Rename and label', run: () => setDialog('rename') },
            { label: 'Copy as Markdown', run: () => void copyWhole(view) },
            { label: 'Export as Markdown', run: () => void saveAs(view, 'markdown', 'md') },
            { label: 'Export as HTML', run: () => void saveAs(view, 'html', 'html') },
            { label: 'Export as JSON Lines', run: () => void saveAs(view, 'synapse', 'jsonl') },
            ...(status.value?.localSessions
              ? [{ label: 'Continue in a coding agent', run: () => setDialog('continue') }]
              : []),
            { label: 'Compact', run: () => void compact(view) },
            { label: 'Delete', run: () => setDialog('delete'), danger: true },
          ]}
        />
      )}
      <IconButton
        icon="panel"
        label="Inspector"
        pressed={inspectorOpen.value}
        onClick={() => (inspectorOpen.value = !inspectorOpen.value)}
      />
      {view && dialog === 'rename' && <Rename view={view} onClose={() => setDialog(undefined)} />}
      {view && dialog === 'continue' && <ContinueDialog view={view} onClose={() => setDialog(undefined)} />}
      {view && dialog === 'delete' && <Delete view={view} onClose={() => setDialog(undefined)} />}
    </header>
  )
}

/** The cost so far, and the savings from leaving out old turns: opens the table. */
function Spent() {
  const used = spent.value
  if (!used || used.requests === 0) return null
  const facts = [money(used.cost)]
  if (used.saved > 0.00005) facts.push(`saved ${money(used.saved)}`)
  const cached = used.cacheRead > 0 ? `${share(used.cacheRead, used.input)} cached` : ''
  const recalls = used.recalls > 0 ? `recalled ${plural(used.recalls, 'time')}` : ''
  return (
    <button
      type="button"
      class="spent"
      title={`${plural(used.requests, 'request')}. Click for the usage of this conversation.`}
      onClick={() => {
        tab.value = 'usage'
        inspectorOpen.value = true
      }}
    >
      <span class="sr-only">Cost of this conversation: </span>
      {facts.join(', ')}
      {[cached, recalls].filter(Boolean).map((words) => (
        <small key={words}> · {words}</small>
      ))}
    </button>
  )
}

/** The client of another API that the last request was made for. Its first word is its name and version. */
function Client() {
  const last = exchanges.value[0]?.clientRequest
  if (!last) return null
  return (
    <span class="label" title={last.client}>
      via {clientIn(last.client ?? '') || 'another API'}
    </span>
  )
}

const isShown = (label: string) => label !== pinLabel

async function togglePin(view: ConversationView): Promise<void> {
  const labels = view.labels.filter(isShown)
  if (labels.length === view.labels.length) labels.push(pinLabel)
  await attempt(async () => changed(await api.change(view.id, { labels })))
}

function Rename({ view, onClose }: { view: ConversationView; onClose: () => void }) {
  const [title, setTitle] = useState(view.title ?? '')
  const [labels, setLabels] = useState(view.labels.filter(isShown).join(', '))
  async function submit(): Promise<void> {
    const named = labels
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean)
    const change = {
      title: title.trim() || null,
      labels: [...new Set([...named, ...view.labels.filter((label) => !isShown(label))])],
    }
    if (await attempt(async () => changed(await api.change(view.id, change)))) onClose()
  }
  return (
    <FormDialog title="Rename and label" onClose={onClose} onSave={() => void submit()}>
      <label>
        Title
        <input value={title} maxLength={500} onInput={(event) => setTitle(event.currentTarget.value)} />
      </label>
      <label>
        Labels, separated by commas
        <input value={labels} onInput={(event) => setLabels(event.currentTarget.value)} />
      </label>
    </FormDialog>
  )
}

function Delete({ view, onClose }: { view: ConversationView; onClose: () => void }) {
  async function remove(): Promise<void> {
    const done = await attempt(() => api.remove(view.id))
    if (!done) return
    onClose()
    openAddress('/')
    dropListed(view.id)
  }
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      <p>This deletes its messages, requests and files permanently.</p>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => void remove()}>
          Delete
        </button>
      </div>
    </Dialog>
  )
}
