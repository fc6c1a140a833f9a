// The actions of a message: fork, edit, regenerate, show the request.

import type { Entry, Message } from '../api/types.ts'
import { api } from '../api/routes.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { copyText } from '../parts/clipboard.ts'
import { announce, announceCopy } from '../state/announce.ts'
import { changed, exchangeOfReply, following, goTo, leaf, tree } from '../state/conversation.ts'
import { inspectExchange } from '../state/inspector.ts'
import { live } from '../state/run.ts'
import { retry } from '../state/actions.ts'
import { attempt } from '../state/session.ts'
import { newestLeaf, siblingsOf } from '../state/tree.ts'

/** `end` is the last displayed entry: the reply itself, or the result of one of its tools. */
export function ReplyActions({ entry, end }: { entry: Entry; end: string }) {
  const exchange = exchangeOfReply.value.get(entry.id)
  return (
    <div class="row-actions">
      <BranchSwitch entry={entry} />
      <IconButton icon="copy" label="Copy" onClick={() => void copy(entry.message)} />
      <IconButton
        icon="retry"
        label="Regenerate"
        disabled={live.value !== undefined}
        onClick={() => void retry(entry)}
      />
      <ForkButton conversationId={entry.conversationId} end={end} />
      {exchange && (
        <IconButton icon="eye" label="Show the request for this reply" onClick={() => inspectExchange(exchange)} />
      )}
    </div>
  )
}

export function ForkButton(place: { conversationId: string; end: string }) {
  return (
    <IconButton
      icon="fork"
      label="Fork from here"
      disabled={live.value !== undefined}
      onClick={() => void fork(place)}
    />
  )
}

/** Continues from here: what follows stays as a branch. */
async function fork({ conversationId, end }: { conversationId: string; end: string }): Promise<void> {
  await attempt(async () => {
    const view = await api.fork(conversationId, end)
    following.value = true
    leaf.value = end
    await changed(view)
    announce('Forked: the next message continues from here')
    document.querySelector<HTMLElement>('#message')?.focus()
  })
}

export function BranchSwitch({ entry }: { entry: Entry }) {
  const outline = tree.value.byId.get(entry.id)
  const all = outline ? siblingsOf(tree.value, outline) : []
  if (all.length < 2) return null
  const at = all.indexOf(entry.id)
  const to = (step: number) => {
    const id = all[at + step]
    if (id !== undefined) void goTo(newestLeaf(tree.value, id))
  }
  return (
    <div class="branches" role="group" aria-label={`Version ${at + 1} of ${all.length}`}>
      <IconButton
        icon="left"
        label="Earlier version"
        disabled={at === 0 || live.value !== undefined}
        onClick={() => to(-1)}
      />
      <span aria-hidden="true">
        {at + 1}/{all.length}
      </span>
      <IconButton
        icon="right"
        label="Later version"
        disabled={at === all.length - 1 || live.value !== undefined}
        onClick={() => to(1)}
      />
    </div>
  )
}

export async function copy(message: Message): Promise<void> {
  const text = message.parts.map((part) => ('text' in part && part.type !== 'reasoning' ? part.text : '')).join('\n')
  announceCopy(await copyText(text.trim()))
}
