// The middle of the page: the conversation and the composer.

import { useState } from 'preact/hooks'
import type { Entry, Reply } from '../api/types.ts'
import { attach } from '../state/attachments.ts'
import {
  approvals,
  backToHead,
  current,
  elsewhere,
  goTo,
  jump,
  leaf,
  loadAround,
  rows,
  showEnd,
  tree,
} from '../state/conversation.ts'
import { live } from '../state/run.ts'
import { newestLeaf } from '../state/tree.ts'
import type { Row } from '../state/rows.ts'
import { inspectorWide } from '../state/surface.ts'
import { ChatHead } from './chat-head.tsx'
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
      <ChatHead />
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
      <Onward />
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

/** What follows the last displayed message, after a fork: the earlier replies are a click away. */
function Onward() {
  const next = leaf.value === null || live.value ? [] : (tree.value.children.get(leaf.value) ?? [])
  if (next.length === 0) return null
  return (
    <div class="elsewhere" role="status">
      <span>
        The next message starts a new branch here.{' '}
        {next.length === 1 ? 'An earlier reply continues' : 'Earlier replies continue'} from this message:
      </span>
      {next.map((id, i) => (
        <button key={id} type="button" onClick={() => void goTo(newestLeaf(tree.value, id))}>
          {next.length === 1 ? 'Show it' : `Show ${i + 1} of ${next.length}`}
        </button>
      ))}
    </div>
  )
}

const itemsOfRows = new WeakMap<Row, Item>()

/** One item for each row, always the same object: the list renders an item again only if it is another. */
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
