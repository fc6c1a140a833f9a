// Imports conversations: a body of `POST /api/import`, or a session of a coding agent. All of it is read and checked
// before the first is written.

import { badInput } from '../core/error.ts'
import { catalogue } from '../providers/catalogue.ts'
import { factsOf } from '../providers/price.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { openListed } from '../sessions/list.ts'
import type { ListedSession } from '../sessions/list.ts'
import { sessionArchive } from '../sessions/store.ts'
import type { Archive } from '../store/archive.ts'
import type { Store } from '../store/store.ts'
import type { ReadArchive } from '../transfer/archive-read.ts'
import { asImported } from '../transfer/as-imported.ts'
import { readForeign } from '../transfer/foreign.ts'
import { audit } from './audit.ts'
import { parseJson } from './body.ts'
import { jsonAnswer, type LongAnswer } from './long-read-tasks.ts'
import { checkBody } from './route.ts'
import { importRequest } from './schema.ts'
import type { ImportedView } from './views.ts'

export interface ImportTask {
  do: 'import'
  /** Who imports it. */
  principal: { owner: string; keyId?: string }
  /** The body of the request. */
  bytes?: Uint8Array
  session?: ListedSession
  known: KnownKeys
}

interface KnownKeys {
  rows: readonly ProviderRow[]
  /** The providers that can be used. */
  withKey: readonly string[]
}

/** The ids of the new conversations, with notes about each. */
export interface Imported {
  items: { id: string; notes: ImportedView['items'][number]['notes'] }[]
}

/** A complete export of another service needs several requests, or the command line. */
const mostConversations = 1000

export async function importTask(store: Store, task: ImportTask): Promise<LongAnswer> {
  const { principal, bytes, session, known } = task
  const { read, labels } = session ? await readSession(session) : readBody(bytes ?? new Uint8Array())
  const items: Imported['items'] = []
  for (const { archive, notes } of read.map(asImported)) {
    const given = { ...archive, conversation: { ...archive.conversation, labels } }
    const { id } = await store.importConversation(principal.owner, withOwnModel(known, given))
    await audit(store, principal, 'imported', id)
    items.push({ id, notes })
  }
  return jsonAnswer({ items })
}

interface Read {
  read: ReadArchive[]
  labels: string[]
}

function readBody(bytes: Uint8Array): Read {
  const { content, format, labels = [] } = checkBody(importRequest, parseJson(bytes).value)
  const read = readForeign(content, format, new Date().toISOString())
  if (read.length === 0) throw badInput('The input contains no conversation.')
  if (read.length <= mostConversations) return { read, labels }
  throw badInput(
    `There are ${read.length} conversations in the input; at most ${mostConversations} can be imported at once.`,
  )
}

async function readSession(listed: ListedSession): Promise<Read> {
  const { source } = await openListed(listed, {})
  const read = sessionArchive(source, new Date().toISOString())
  return { read: [read], labels: read.archive.conversation.labels }
}

/** Apps whose models are served under another name. */
const makers: Readonly<Record<string, string>> = { chatgpt: 'openai', 'claude.ai': 'anthropic' }

/** It continues with the model that answered last, if it is available here. */
function withOwnModel({ rows, withKey }: KnownKeys, archive: Archive): Archive {
  const { conversation, entries } = archive
  const last = entries.findLast(({ message }) => message.role === 'assistant')?.message
  if (conversation.settings['model'] !== undefined || last?.role !== 'assistant') return archive
  const { provider: from, model } = last.origin
  const provider = makers[from] ?? from
  const isServed = rows.some(({ id }) => id === provider) && withKey.includes(provider)
  if (!isServed || factsOf(catalogue, provider, model).price === undefined) return archive
  const settings = { ...conversation.settings, model: `${provider}/${model}` }
  return { ...archive, conversation: { ...conversation, settings } }
}
