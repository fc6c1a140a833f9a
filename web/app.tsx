// The whole page: left, middle and right, and what is shown above it.

import { useEffect } from 'preact/hooks'
import { keyWanted, useKey } from './api/client.ts'
import { Chat } from './chat/chat.tsx'
import { CompareDialog } from './chat/compare-dialog.tsx'
import { ConnectDialog } from './chat/connect-dialog.tsx'
import { PromptDialog } from './chat/prompt-list.tsx'
import { filling } from './state/prompts.ts'
import { ModelPicker } from './chat/model-picker.tsx'
import { SettingsDialog } from './chat/settings-dialog.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { Dialog } from './parts/dialog.tsx'
import { IconButton } from './parts/icon-button.tsx'
import { Trouble } from './parts/error-notice.tsx'
import { ImportDialog } from './sidebar/import-dialog.tsx'
import { Sidebar } from './sidebar/sidebar.tsx'
import { nameOpened, navigate } from './state/address.ts'
import { activityOf, lostSince, waitingCount, watchActivity } from './state/activity.ts'
import { announcement } from './state/announce.ts'
import { comparing } from './state/compare.ts'
import { current } from './state/conversation.ts'
import { loadPreferred } from './state/model-choice.ts'
import { loadConversations } from './state/conversations.ts'
import { stop } from './state/actions.ts'
import { loadSession, trouble } from './state/session.ts'
import {
  changingSettings,
  connecting,
  importing,
  inspectorOpen,
  editing,
  inspectorWide,
  pickingModel,
  sidebarOpen,
} from './state/surface.ts'
import { done, working } from './state/transfer.ts'

export function App() {
  useEffect(() => {
    void start()
    const stopWatching = watchActivity()
    window.addEventListener('popstate', onBack)
    document.addEventListener('keydown', shortcut)
    return () => {
      stopWatching()
      window.removeEventListener('popstate', onBack)
      document.removeEventListener('keydown', shortcut)
    }
  }, [])
  const title = tabTitle()
  useEffect(() => {
    document.title = title
  }, [title])
  useEffect(() => {
    if (current.value) nameOpened(current.value.id)
  }, [current.value?.id])

  return (
    <>
      <a class="skip" href="#message" onClick={toMessage}>
        Skip to the message box
      </a>
      {lostSince.value !== undefined && (
        <div class="connection-lost" role="status">
          Connection to the server lost, trying again…
        </div>
      )}
      <div class={`page ${inspectorOpen.value ? 'has-inspector' : ''}`}>
        <Sidebar />
        {sidebarOpen.value && <div class="shade" onClick={() => (sidebarOpen.value = false)} />}
        <Chat />
        {inspectorOpen.value && <Inspector />}
      </div>
      {pickingModel.value && <ModelPicker />}
      {changingSettings.value && <SettingsDialog />}
      {importing.value && <ImportDialog />}
      {comparing.value && <CompareDialog />}
      {connecting.value && <ConnectDialog />}
      {filling.value && <PromptDialog asked={filling.value} />}
      <Doing />
      {keyWanted.value && <KeyDialog />}
      <Trouble />
      <div class="sr-only" aria-live="polite" aria-atomic="true">
        {announcement.value}
      </div>
    </>
  )
}

/** Long operations, and their results. */
function Doing() {
  if (working.value !== '') return <p class="doing">{working.value}…</p>
  if (done.value === '') return null
  return (
    <div class="doing">
      <p>{done.value}</p>
      <IconButton icon="close" label="Dismiss" onClick={() => (done.value = '')} />
    </div>
  )
}

/** How many conversations wait for the user, then the state of the open one. */
function tabTitle(): string {
  const state = current.value && activityOf(current.value.id)
  const waiting = waitingCount.value > 0 ? `(${waitingCount.value}) ` : ''
  const title = current.value?.title ? `${current.value.title} · Synapse` : 'Synapse'
  return `${waiting}${state === undefined ? '' : `${state}: `}${title}`
}

async function start(): Promise<void> {
  await Promise.all([loadSession(), loadConversations(), navigate()])
  void loadPreferred()
  // If the focus is already somewhere, such as in the search field, it stays there.
  if (document.activeElement === document.body) document.querySelector<HTMLElement>('#message')?.focus()
}

function onBack(): void {
  void navigate()
}

function toMessage(event: MouseEvent): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#message')?.focus()
}

/**
 * With Control or Command: K searches, I toggles the inspector, M opens the model picker. Escape narrows a wide
 * inspector, and stops an answer.
 */
function shortcut(event: KeyboardEvent): void {
  if (event.key === 'Escape' && !pickingModel.value && !changingSettings.value && !event.defaultPrevented) {
    const isOver = sidebarOpen.value || inspectorWide.value || document.querySelector('dialog[open], [role=menu]')
    if (!isOver && editing.value === undefined) stop()
    sidebarOpen.value = false
    inspectorWide.value = false
  }
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  if (event.key === 'k') {
    sidebarOpen.value = true
    toSearch()
    // On a narrow page it must be opened first.
    requestAnimationFrame(toSearch)
  } else if (event.key === 'i') inspectorOpen.value = !inspectorOpen.value
  else if (event.key === 'm') pickingModel.value = !pickingModel.value
  else return
  event.preventDefault()
}

function toSearch(): void {
  document.querySelector<HTMLElement>('#search')?.focus()
}

function KeyDialog() {
  return (
    <Dialog title="This server needs a key" onClose={() => (keyWanted.value = false)}>
      <form
        class="settings"
        onSubmit={(event) => {
          event.preventDefault()
          const key = new FormData(event.currentTarget).get('key')
          if (typeof key !== 'string' || key === '') return
          useKey(key)
          trouble.value = undefined
          void start()
        }}
      >
        <label>
          Key
          <input name="key" type="password" autoComplete="off" placeholder="syn_…" />
        </label>
        <p class="hint">It is stored in this tab only. Create one with: synapse keys create</p>
        <div class="buttons">
          <button type="submit" class="primary">
            Continue
          </button>
        </div>
      </form>
    </Dialog>
  )
}
