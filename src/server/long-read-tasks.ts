// Answers that need a whole conversation: the request that would be sent, the tree, a page far from the end, an export.
// For a long conversation that takes seconds, so these run on the server's main thread or on a separate one
// (long-tasks.ts).

import type { Entry, Overlay } from '../core/log.ts'
import type { UserMessage } from '../core/message.ts'
import type { ToolSpec } from '../core/context.ts'
import { assemble, type Assembled } from '../context/assemble.ts'
import { explain } from '../context/explain.ts'
import { readDecisions } from '../context/overlay-codec.ts'
import { findModel } from '../providers/find-model.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { type Endpoint, rendersPrompt, resolve } from '../providers/resolve.ts'
import { draftOf } from '../run/draft.ts'
import type { Options } from '../settings/options.ts'
import type { Policy } from '../settings/policy.ts'
import { attachMedia } from '../store/media.ts'
import type { Store } from '../store/store.ts'
import { toHtml } from '../transfer/html.ts'
import { toMarkdown } from '../transfer/markdown.ts'
import { writeTranscript } from '../transcripts/index.ts'
import { redactHeaders } from '../transport/redact.ts'
import { answerFor, privateHeaders } from './answer.ts'
import { pageOf } from './page-of-entries.ts'
import { missing } from './route.ts'
import type { EntriesQuery, MessagesPart, TreeQuery } from './schema.ts'
import type { PreparedView, Tree } from './views.ts'

interface Place {
  owner: string
  conversationId: string
}

/** Where a request continues: the end of the conversation or an entry, and what the user would say there. */
export interface NextPlace extends Place {
  head: string | null
  entryId?: string
  message?: UserMessage
}

/** The target and settings of a request. Plain data, so that it can be passed to another thread. */
export interface PrepareTarget {
  model: string
  protocol?: string
  system?: string
  tools: readonly ToolSpec[]
  policy: Policy
  options?: Options
}

export type LongRead =
  | {
      do: 'prepare'
      place: NextPlace
      targets: readonly PrepareTarget[]
      messages?: MessagesPart
      known: KnownProviders
    }
  | { do: 'tree'; place: Place; query: TreeQuery }
  | { do: 'entries'; place: Place; query: EntriesQuery }
  | { do: 'export'; place: Place; format: string }

interface KnownProviders {
  rows: readonly ProviderRow[]
  env: Readonly<Record<string, string | undefined>>
  aliases?: Readonly<Record<string, string>>
  offline: boolean
}

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
  if (task.do === 'export') return exported(store, task.place, task.format)
  const isNew = task.place.head === null && task.place.entryId === undefined
  const log = {
    history: await historyAt(store, task.place),
    overlays: isNew ? [] : await store.overlays(owner, conversationId),
  }
  const items: PreparedView[] = []
  for (const target of task.targets) {
    items.push(withPart(await prepared(task.known, conversationId, log, target), task.messages))
  }
  return jsonAnswer({ items })
}

async function treeOf(store: Store, place: Place, { limit, before }: TreeQuery): Promise<Tree> {
  const { owner, conversationId } = place
  // In this order: then everything that a branch names is among the entries, even during writes.
  const branches = before === undefined ? await store.branches(owner, conversationId) : []
  if (limit === undefined) return { entries: await store.outline(owner, conversationId), branches, before: null }
  const part = { last: limit + 1, ...(before !== undefined && { before }) }
  const found = await store.outline(owner, conversationId, part)
  const entries = found.slice(-limit)
  return { entries, branches, before: found.length > limit ? (entries[0]?.id ?? null) : null }
}

export function jsonAnswer(value: unknown): LongAnswer {
  return answer(JSON.stringify(value), { 'content-type': 'application/json' })
}

function answer(text: string, headers: Record<string, string>): LongAnswer {
  return { bytes: new TextEncoder().encode(text), headers: { ...privateHeaders, ...headers } }
}

async function exported(store: Store, { owner, conversationId: id }: Place, format: string): Promise<LongAnswer> {
  const conversation = await store.conversation(owner, id)
  if (!conversation) throw missing('conversation', id)
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

/** The history that a request is made of, with what the user would say next. */
export async function historyAt(store: Store, place: NextPlace): Promise<Entry[]> {
  const { owner, conversationId, head, entryId, message } = place
  const end = entryId ?? head
  const entries = end === null ? [] : await store.history(owner, end)
  if (entryId !== undefined && entries[0]?.conversationId !== conversationId) throw missing('entry', entryId)
  if (message) {
    const parentId = entries.at(-1)?.id ?? null
    entries.push({ id: '', conversationId, parentId, depth: entries.length, message, at: new Date().toISOString() })
  }
  const messages = await attachMedia(
    entries.map((entry) => entry.message),
    (sha256) => store.blob(owner, sha256),
  )
  return entries.map((entry, i) => ({ ...entry, message: messages[i] ?? entry.message }))
}

/** The history of a conversation that a request is made of, and the decisions about it. */
interface Log {
  history: readonly Entry[]
  overlays: readonly Overlay[]
}

export function assembledFor(
  conversationId: string,
  { history, overlays }: Log,
  { tools, system, policy, options }: Omit<PrepareTarget, 'model' | 'protocol'>,
  endpoint: Endpoint,
): Assembled {
  const draft = draftOf(
    {
      endpoint,
      // Only described, never run.
      tools: tools as never,
      policy,
      system: system ? [{ type: 'text', text: system }] : [],
      options: { cacheKey: conversationId, ...options },
    },
    history,
    readDecisions(history, overlays),
  )
  return assemble(draft)
}

async function prepared(
  known: KnownProviders,
  conversationId: string,
  log: Log,
  target: PrepareTarget,
): Promise<PreparedView> {
  const { model } = target
  const { history } = log
  try {
    const endpoint = await endpointOf(known, model, target.protocol)
    const assembled = assembledFor(conversationId, log, target, endpoint)
    const { path, headers, body, notes, origins, estimate } = assembled
    const { contextWindow } = endpoint.capabilities
    const explained = explain({ history: history.map((entry) => entry.message), assembled })
    return {
      model,
      provider: endpoint.provider.id,
      protocol: endpoint.protocol.id,
      url: withoutSecrets(endpoint.baseUrl + path),
      headers: redactHeaders({ 'content-type': 'application/json', ...endpoint.headers, ...headers }),
      body,
      notes,
      ...(origins && { origins }),
      estimate,
      ...(contextWindow !== undefined && { contextWindow }),
      ...(endpoint.price && { price: { ...endpoint.price } as NonNullable<PreparedView['price']> }),
      messages: explained.messages.map(({ place, role, fate, why, tokens, sent }) => ({
        place,
        ...(history[place]?.id && { entryId: history[place].id }),
        role,
        tokens,
        sent: sent > 0,
        sentTokens: sent,
        fate,
        why,
      })),
      issues: endpoint.protocol
        .refuse(body, { provider: endpoint.provider.id, model: endpoint.model })
        .map((issue) => ({ ...issue })),
      // The emulator has no template.
      ...(!known.offline && rendersPrompt(endpoint) && { showsPrompt: true }),
    }
  } catch (error) {
    return { model, ...answerFor(error).body }
  }
}

/** Of a long history, only a part of what is said about each message. */
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

/** Nothing is sent, so a key is not needed. */
async function endpointOf(
  { rows, env, aliases }: KnownProviders,
  model: string,
  protocol: string | undefined,
): Promise<Endpoint> {
  const ref = await findModel(model, { rows, env, aliases })
  return resolve({ ...ref, ...(protocol !== undefined && { protocol }), rows, env, keyless: true })
}

function withoutSecrets(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}
