// The middle of the page: the conversation and the composer.

import { computed } from '@preact/signals'
import type { Entry, Reply } from '../api/types.ts'
import { useFileDrop } from '../parts/files.tsx'
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

type Item = Row | { key: 'live' } | { key: 'notice' }

const liveItem: Item = { key: 'live' }
const noticeItem: Item = { key: 'notice' }

const isLive = computed(() => live.value !== undefined)
/** The same list as long as nothing in it has changed: of a long one the layout takes time. */
const items = computed<Item[]>(() => {
  if (isLive.value) return [...rows.value, liveItem]
  return hasNotice() ? [...rows.value, noticeItem] : rows.value
})
const target = computed(() => jump.value && targetOf(jump.value))

export function Chat() {
  const { isOver, handlers } = useFileDrop((files) => void attach(files))
  return (
    <main class={isOver ? 'chat is-over' : 'chat'} inert={inspectorWide.value} {...handlers}>
      <ChatHead />
      {items.value.length === 0 ? (
        <Welcome />
      ) : (
        <VirtualList
          key={current.value?.id ?? 'new'}
          items={items.value}
          label="Conversation"
          busy={isLive.value}
          estimate={() => 140}
          render={draw}
          describe={describe}
          onVisible={load}
          target={target.value}
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

function targetOf({ entryId, times }: { entryId: string; times: number }): { key: string; times: number } {
  const row = rows.value.find((one) => one.outlines.some((outline) => outline.id === entryId))
  return { key: row?.key ?? entryId, times }
}

function draw(item: Item) {
  if (!('outlines' in item)) return item === liveItem ? <LiveRow /> : <NoticeRow />
  const { entry } = item
  if (!entry) return <div class="not-loaded" />
  if (isReply(entry)) return <ReplyRow row={item} entry={entry} />
  return <UserRow entry={entry} />
}

function isReply(entry: Entry): entry is Entry & { message: Reply } {
  return entry.message.role === 'assistant'
}

function describe(item: Item): string {
  if (!('outlines' in item)) return item === liveItem ? 'Answer, coming' : 'Result of the last run'
  const { entry } = item
  if (!entry) return 'Message, loading'
  if (isReply(entry)) return `Reply from ${entry.message.origin.model}`
  return entry.message.role === 'user' ? 'You' : entry.message.role
}

function load(visible: Item[]): void {
  for (const item of visible) {
    if (!('outlines' in item)) continue
    const missing = item.entry ? item.outlines[1 + item.results.length] : item.outlines[0]
    if (missing) void loadAround(missing.id)
  }
}
