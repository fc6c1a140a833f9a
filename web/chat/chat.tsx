// The middle of the page: the conversation, and where the next message is written.

import { useState } from 'preact/hooks'
import { api, paths } from '../api/routes.ts'
import { reach, refused } from '../api/client.ts'
import type { ConversationView, Entry, Reply } from '../api/types.ts'
import { Dialog, FormDialog } from '../parts/dialog.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Menu } from '../parts/menu.tsx'
import { visit } from '../state/address.ts'
import { attach } from '../state/attachments.ts'
import {
  approvals,
  backToHead,
  changed,
  current,
  elsewhere,
  goTo,
  jump,
  leaf,
  loadAround,
  rows,
  showEnd,
} from '../state/conversation.ts'
import { dropListed } from '../state/conversations.ts'
import { live } from '../state/run.ts'
import type { Row } from '../state/rows.ts'
import { attempt, status } from '../state/session.ts'
import { inspectorOpen, inspectorWide, sidebarOpen } from '../state/surface.ts'
import { Composer } from './composer.tsx'
import { LiveRow } from './live-row.tsx'
import { hasNotice, NoticeRow } from './notice-row.tsx'
import { ReplyRow } from './reply-row.tsx'
import { UserRow } from './user-row.tsx'
import { VirtualList } from './virtual-list.tsx'
import { Welcome } from './welcome.tsx'

interface Item {
  key: string
  row?: Row
}

const liveItem: Item = { key: 'live' }
const noticeItem: Item = { key: 'notice' }

export function Chat() {
  const [over, setOver] = useState(false)
  const items: Item[] = rows.value.map(itemOf)
  if (live.value) items.push(liveItem)
  else if (hasNotice()) items.push(noticeItem)
  const target = jump.value && targetOf(jump.value)
  return (
    <main
      class={over ? 'chat is-over' : 'chat'}
      inert={inspectorWide.value}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void attach([...(event.dataTransfer?.files ?? [])])
      }}
    >
      <Head />
      {items.length === 0 ? (
        <Welcome />
      ) : (
        <VirtualList
          key={current.value?.id ?? 'new'}
          items={items}
          label="Conversation"
          busy={live.value !== undefined}
          estimate={() => 140}
          render={draw}
          describe={describe}
          onVisible={load}
          target={target}
          showEnd={showEnd.value}
          endNotice={approvals.value.size > 0 ? 'A tool waits for your approval' : undefined}
        />
      )}
      {elsewhere.value && (
        <div class="elsewhere" role="status">
          <span>You are viewing another branch of this conversation.</span>
          <button type="button" onClick={backToHead}>
            Back
          </button>
          <button type="button" class="primary" onClick={() => leaf.value !== null && void goTo(leaf.value)}>
            Continue here
          </button>
        </div>
      )}
      <Composer />
    </main>
  )
}

const itemsOfRows = new WeakMap<Row, Item>()

/** One item for each row, always the same: the list draws an item again only if it is another. */
function itemOf(row: Row): Item {
  let item = itemsOfRows.get(row)
  if (!item) {
    item = { key: row.key, row }
    itemsOfRows.set(row, item)
  }
  return item
}

function targetOf({ entryId, times }: { entryId: string; times: number }): { key: string; times: number } {
  const row = rows.value.find((one) => one.outlines.some((outline) => outline.id === entryId))
  return { key: row?.key ?? entryId, times }
}

function draw(item: Item) {
  if (item === liveItem) return <LiveRow />
  if (item === noticeItem) return <NoticeRow />
  const entry = item.row?.entry
  if (!item.row || !entry) return <div class="not-loaded" />
  if (isReply(entry)) return <ReplyRow row={item.row} entry={entry} />
  return <UserRow entry={entry} />
}

function isReply(entry: Entry): entry is Entry & { message: Reply } {
  return entry.message.role === 'assistant'
}

function describe(item: Item): string {
  if (item === liveItem) return 'Answer, coming'
  if (item === noticeItem) return 'Result of the last run'
  const entry = item.row?.entry
  if (!entry) return 'Message, loading'
  if (isReply(entry)) return `Reply from ${entry.message.origin.model}`
  return entry.message.role === 'user' ? 'You' : entry.message.role
}

function load(visible: Item[]): void {
  for (const { row } of visible) {
    const missing = row && (row.entry ? row.outlines[1 + row.results.length] : row.outlines[0])
    if (missing) void loadAround(missing.id)
  }
}

function Head() {
  const view = current.value
  const [dialog, setDialog] = useState<'rename' | 'delete' | undefined>()
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
      {view?.labels.map((label) => (
        <span key={label} class="label">
          {label}
        </span>
      ))}
      {status.value?.offline && (
        <span class="offline" title={status.value.whyOffline ?? ''}>
          offline emulator
        </span>
      )}
      {view && (
        <Menu
          label="This conversation"
          icon="more"
          items={[
            { label: 'Rename and label', run: () => setDialog('rename') },
            { label: 'Export as Markdown', run: () => void save(view, 'markdown', 'md') },
            { label: 'Export as HTML', run: () => void save(view, 'html', 'html') },
            { label: 'Export as JSON Lines', run: () => void save(view, 'synapse', 'jsonl') },
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
      {view && dialog === 'delete' && <Delete view={view} onClose={() => setDialog(undefined)} />}
    </header>
  )
}

function Rename({ view, onClose }: { view: ConversationView; onClose: () => void }) {
  const [title, setTitle] = useState(view.title ?? '')
  const [labels, setLabels] = useState(view.labels.join(', '))
  async function submit(): Promise<void> {
    const named = labels
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean)
    const change = { title: title.trim() || null, labels: [...new Set(named)] }
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
    visit('/')
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

async function save(view: ConversationView, format: string, ending: string): Promise<void> {
  await attempt(async () => {
    const answer = await reach('GET', paths.export(view.id, format))
    if (!answer.ok) throw await refused(answer)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await answer.blob())
    link.download = `${(view.title ?? view.id).replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60)}.${ending}`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
