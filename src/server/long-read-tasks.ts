// Answers that need a whole conversation: the request that would be sent, the tree, a page far from the end, an export.
// For a long conversation that takes seconds, so these run on the server's main thread or on a separate one
// (long-tasks.ts).

import { attachMedia } from '../store/media.ts'
import type { Store } from '../store/store.ts'
import { toHtml } from '../transfer/html.ts'
import { toMarkdown } from '../transfer/markdown.ts'
import { writeTranscript } from '../transcripts/index.ts'
import { privateHeaders } from './answer.ts'
import { inspectRequests, type InspectTask } from './inspect/inspection.ts'
import { pageOf } from './page-of-entries.ts'
import {
  historyAt,
  prepareRequest,
  type KnownProviders,
  type NextPlace,
  type PrepareTarget,
} from './prepared-request.ts'
import { requireConversation } from './route.ts'
import type { EntriesQuery, MessagesPart, TreeQuery } from './schema.ts'
import type { PreparedView } from './request-views.ts'
import type { Tree } from './views.ts'

interface Place {
  owner: string
  conversationId: string
}

export type LongRead =
  | {
      do: 'prepare'
      place: NextPlace
      targets: readonly PrepareTarget[]
      messages?: MessagesPart
      known: KnownProviders
    }
  | InspectTask
  | { do: 'tree'; place: Place; query: TreeQuery }
  | { do: 'entries'; place: Place; query: EntriesQuery }
  | { do: 'export'; place: Place; format: string }

/** An answer as it is sent. */
export interface LongAnswer {
  bytes: Uint8Array
  headers: Record<string, string>
}

export async function readLong(store: Store, task: LongRead): Promise<LongAnswer> {
  const { owner, conversationId } = task.place
  if (task.do === 'tree') {
    return jsonAnswer(await treeOf(store, task.place, task.query))
  }
  if (task.do === 'entries') return jsonAnswer(await pageOf(store, owner, conversationId, task.query))
  if (task.do === 'export') return exportConversation(store, task.place, task.format)
  if (task.do === 'inspect') return jsonAnswer(await inspectRequests(store, task))
  const isNew = task.place.head === null && task.place.entryId === undefined
  const log = {
    history: await historyAt(store, task.place),
    overlays: isNew ? [] : await store.overlays(owner, conversationId),
  }
  const items: PreparedView[] = []
  for (const target of task.targets) {
    items.push(withPart(await prepareRequest(task.known, conversationId, log, target), task.messages))
  }
  return jsonAnswer({ items })
}

async function treeOf(store: Store, place: Place, { limit, before }: TreeQuery): Promise<Tree> {
  const { owner, conversationId } = place
  // In this order: then everything that a branch names is among the entries, even during writes.
  const branches = before === undefined ? await store.branches(owner, conversationId) : []
  if (limit === undefined) return { entries: await store.outline(owner, conversationId), branches, before: null }
  const part = { last: limit + 1, ...(before !== undefined && { before }) }
  const outline = await store.outline(owner, conversationId, part)
  const entries = outline.slice(-limit)
  return { entries, branches, before: outline.length > limit ? (entries[0]?.id ?? null) : null }
}

export function jsonAnswer(value: unknown): LongAnswer {
  return answer(JSON.stringify(value), { 'content-type': 'application/json' })
}

function answer(text: string, headers: Record<string, string>): LongAnswer {
  return { bytes: new TextEncoder().encode(text), headers: { ...privateHeaders, ...headers } }
}

async function exportConversation(
  store: Store,
  { owner, conversationId: id }: Place,
  format: string,
): Promise<LongAnswer> {
  const conversation = await requireConversation(store, owner, id)
  const history = conversation.head ? await store.history(owner, conversation.head) : []
  const messages = await attachMedia(
    history.map((entry) => entry.message),
    (sha256) => store.blob(owner, sha256),
  )
  const named = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` })
  if (format === 'markdown' || format === 'html') {
    const entries = history.map((entry, i) => ({ ...entry, message: messages[i] ?? entry.message }))
    const text = format === 'markdown' ? toMarkdown(conversation, entries) : toHtml(conversation, entries)
    const type = { 'content-type': `text/${format}; charset=utf-8` }
    return answer(text, { ...type, ...named(`${id}.${format === 'markdown' ? 'md' : 'html'}`) })
  }
  const written = writeTranscript(messages, format)
  const lines = format === 'synapse' && Array.isArray(written)
  const text = lines ? written.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(written)
  const type = { 'content-type': lines ? 'application/jsonl' : 'application/json' }
  return answer(text, { ...type, ...named(`${id}.${format}.${lines ? 'jsonl' : 'json'}`) })
}

/** For a long history, one page of the details about its messages. */
function withPart(view: PreparedView, part: MessagesPart | undefined): PreparedView {
  if (!view.messages || !part) return view
  const { messages } = view
  const end = Math.min(part.before ?? messages.length, messages.length)
  return {
    ...view,
    messages: messages.slice(Math.max(0, end - part.limit), end),
    counts: { messages: messages.length, sent: messages.filter(({ sent }) => sent).length },
  }
}
