// The left side: conversations, labels, and a search over all messages.

import type { ConversationView, Hit } from '../api/types.ts'
import { useFileDrop } from '../parts/files.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { clientIn, dayGroup, whenOf } from '../parts/format.ts'
import { addressOf, onLink, openAddress } from '../state/address.ts'
import { activityOf } from '../state/activity.ts'
import { current } from '../state/conversation.ts'
import { live } from '../state/run.ts'
import {
  chooseLabel,
  conversations,
  hits,
  label,
  labels,
  loadConversations,
  moreConversations,
  moreHits,
  pinned,
  searchMore,
  searchText,
} from '../state/conversations.ts'
import { theme, type Theme } from '../state/session.ts'
import { importing, inspectorWide, sidebarOpen } from '../state/surface.ts'
import { importFiles } from '../state/transfer.ts'

export function Sidebar() {
  const { isOver, handlers } = useFileDrop((files) => void importFiles(files))
  return (
    <nav
      class={`sidebar ${sidebarOpen.value ? 'is-open' : ''} ${isOver ? 'is-over' : ''}`}
      aria-label="Conversations"
      inert={inspectorWide.value}
      {...handlers}
    >
      <header class="sidebar-head">
        <span class="brand">Synapse</span>
        <ThemeButton />
        <IconButton icon="import" label="Import a conversation" onClick={() => (importing.value = true)} />
        <IconButton icon="plus" label="New conversation" onClick={() => openAddress('/')} />
      </header>
      <div class="search" role="search">
        <Icon name="search" />
        <input
          id="search"
          type="search"
          aria-label="Search everything"
          placeholder="Search everything"
          value={searchText.value}
          onInput={(event) => (searchText.value = event.currentTarget.value)}
          onKeyDown={intoList}
        />
      </div>
      {labels.value.length > 0 && (
        <div class="labels" role="group" aria-label="Labels">
          {labels.value.map((name) => (
            <button key={name} type="button" aria-pressed={label.value === name} onClick={() => chooseLabel(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
      {hits.value ? <Hits found={hits.value} /> : <Conversations />}
    </nav>
  )
}

const nextTheme: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' }

function ThemeButton() {
  return (
    <IconButton
      icon={theme.value === 'dark' ? 'moon' : 'sun'}
      label={`Theme: ${theme.value === 'auto' ? 'system' : theme.value}`}
      onClick={() => (theme.value = nextTheme[theme.value])}
    />
  )
}

function Conversations() {
  const top = label.value === '' ? pinned.value : []
  const isTop = new Set(top.map((one) => one.id))
  const rest = conversations.value.filter((one) => !isTop.has(one.id))
  return (
    <ul class="conversations" onKeyDown={move}>
      {top.map((one, i) => (
        <li key={one.id}>
          {i === 0 && <p class="day-group">Pinned</p>}
          <ConversationLink one={one} />
        </li>
      ))}
      {rest.map((one, i, all) => {
        const group = dayGroup(one.updatedAt)
        const before = all[i - 1]
        return (
          <li key={one.id}>
            {(!before || dayGroup(before.updatedAt) !== group) && <p class="day-group">{group}</p>}
            <ConversationLink one={one} />
          </li>
        )
      })}
      {conversations.value.length === 0 && <li class="hint">No conversations yet.</li>}
      {moreConversations.value !== undefined && (
        <li>
          <button type="button" class="more" onClick={() => void loadConversations(moreConversations.value)}>
            Show older
          </button>
        </li>
      )}
    </ul>
  )
}

function ConversationLink({ one }: { one: ConversationView }) {
  const isOpen = current.value?.id === one.id
  // The state of the open conversation is known at once, the others are polled.
  const isRunning = isOpen ? live.value !== undefined : one.run !== undefined && one.run.state !== 'ended'
  const known = activityOf(one.id)
  const state = isRunning ? 'answering' : isOpen && known === 'answering' ? undefined : known
  return (
    <a href={addressOf(one.id)} aria-current={isOpen ? 'page' : undefined} onClick={follow}>
      <span class="conversation-title" dir="auto">
        {one.title ?? 'Untitled'}
      </span>
      <span class="conversation-about">
        {state && <span class={state === 'failed' ? 'busy failed' : 'busy'}>{state}</span>}
        <span class="facts">
          {whenOf(one.updatedAt)}
          {one.settings.client !== undefined && ` · ${clientIn(one.settings.client).split('/', 1)[0]?.slice(0, 24)}`}
          {one.settings.model !== undefined && ` · ${one.settings.model.slice(one.settings.model.indexOf('/') + 1)}`}
        </span>
      </span>
    </a>
  )
}

function follow(event: MouseEvent): void {
  onLink(event)
  sidebarOpen.value = false
}

function Hits({ found }: { found: Hit[] }) {
  return (
    <ul class="conversations hits" aria-label="Search results" onKeyDown={move}>
      {found.map((hit, i) => (
        <li key={`${hit.entryId} ${i}`}>
          <a href={addressOf(hit.conversationId, hit.entryId)} onClick={follow}>
            <span class="conversation-title" dir="auto">
              {hit.title ?? 'Untitled'}
            </span>
            <span class="snippet" dir="auto">
              {marked(hit)}
            </span>
            <span class="conversation-about">
              {hit.tool ?? kindWords[hit.kind]}, {whenOf(hit.at)}
            </span>
          </a>
        </li>
      ))}
      {found.length === 0 && (
        <li class="hint">
          <span role="status">No results.</span>
        </li>
      )}
      {moreHits.value !== undefined && (
        <li>
          <button type="button" class="more" onClick={() => void searchMore()}>
            More
          </button>
        </li>
      )}
    </ul>
  )
}

const kindWords: Record<Hit['kind'], string> = {
  title: 'title',
  user: 'you',
  reply: 'reply',
  input: 'tool arguments',
  output: 'tool result',
}

function marked({ snippet, marks }: Hit) {
  const out = []
  let done = 0
  for (const [from, to] of marks) {
    out.push(snippet.slice(done, from), <mark key={from}>{snippet.slice(from, to)}</mark>)
    done = to
  }
  out.push(snippet.slice(done))
  return out
}

/** From the search field: Enter opens the first result, the arrow key moves to it. */
function intoList(event: KeyboardEvent): void {
  if ((event.key !== 'Enter' && event.key !== 'ArrowDown') || event.isComposing) return
  const first = document.querySelector<HTMLElement>('.sidebar .conversations a')
  if (!first) return
  event.preventDefault()
  if (event.key === 'Enter') first.click()
  else first.focus()
}

function move(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  if (!(event.currentTarget instanceof HTMLElement)) return
  const links = [...event.currentTarget.querySelectorAll('a')]
  const at = links.findIndex((link) => link === document.activeElement)
  const next = links[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (!next) return
  event.preventDefault()
  next.focus()
}
