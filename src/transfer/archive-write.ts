// A conversation as lines of JSON: first a manifest, then one line for each entry, exchange, tool run and overlay, then
// an end. Each line has a hash over itself and the previous one, so that a missing, changed or moved line is noticed.
// Nothing in it depends on when or where it was written: the same conversation gives the same bytes.

import { hash } from 'node:crypto'
import { SynapseError } from '../core/error.ts'
import { escapedJson, type Json } from '../core/json.ts'
import type { Exchange, Overlay, RecordedToolRun } from '../core/log.ts'
import { attachMedia } from '../store/media.ts'
import type { Store } from '../store/store.ts'

export const archiveVersion = 1

export interface WriteOptions {
  /** Changes each line before it is written, for sharing. */
  redact?: (value: Json) => Json
  progress?: (done: number, of: number) => void
}

/** Lines without line breaks. Reads entry by entry: a long conversation is never completely in memory. */
export async function* archiveLines(
  store: Store,
  owner: string,
  conversationId: string,
  options: WriteOptions = {},
): AsyncGenerator<string> {
  const { redact = (value) => value, progress = () => {} } = options
  // What points to entries is read before them: a run may be active, and entries are append-only.
  const exchanges = await allExchanges(store, owner, conversationId)
  const toolRuns = await store.toolRuns(owner, conversationId)
  const overlays = await store.overlays(owner, conversationId)
  const branches = (await store.branches(owner, conversationId)).flatMap(({ name, entryId }) =>
    name === undefined ? [] : [{ name, entryId }],
  )
  const about = await store.conversation(owner, conversationId)
  if (!about) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${conversationId}.` })
  const outline = await store.outline(owner, conversationId)

  const seal = createSeal()
  const line = (value: object): string => seal(redact(JSON.parse(JSON.stringify(value)) as Json))
  const { id, title, labels, createdAt, head, branch } = about
  // Local folders and files are useless elsewhere, and private.
  const { origin: _, ...settings } = about.settings
  yield line({
    'synapse-archive': archiveVersion,
    conversation: { id, title, labels, settings, createdAt, head, branch },
    branches,
    counts: {
      entries: outline.length,
      exchanges: exchanges.length,
      toolRuns: toolRuns.length,
      overlays: overlays.length,
    },
  })
  for (const [i, { id: entryId }] of outline.entries()) {
    const entry = await store.entry(owner, entryId)
    if (!entry) throw new SynapseError({ kind: 'storage', message: `Entry ${entryId} is gone. Try again.` })
    // Media from blobs are included: elsewhere there is no blob.
    const [message] = await attachMedia([entry.message], (sha256) => store.blob(owner, sha256))
    yield line({ entry: { id: entryId, parentId: entry.parentId, at: entry.at, message } })
    progress(i + 1, outline.length)
  }
  for (const exchange of exchanges) yield line({ exchange: inOrder(exchange, exchangeFields) })
  for (const toolRun of toolRuns) yield line({ toolRun: inOrder(toolRun, toolRunFields) })
  for (const overlay of overlays) yield line({ overlay: inOrder(overlay, overlayFields) })
  yield line({ end: id })
}

/** Each store has a different order. */
function inOrder<T extends object>(value: T, fields: readonly (keyof T)[]): Partial<T> {
  const ordered: Partial<T> = {}
  for (const field of fields) if (value[field] !== undefined) ordered[field] = value[field]
  return ordered
}

const exchangeFields = [
  'id',
  'basedOn',
  'provider',
  'protocol',
  'model',
  'bodySha256',
  'startedAt',
  'endedAt',
  'outcome',
  'replyEntryId',
  'attempts',
  'usage',
  'cost',
  'failure',
  'notes',
] as const satisfies readonly (keyof Exchange)[]

const toolRunFields = [
  'callId',
  'entryId',
  'name',
  'argsSha256',
  'idempotencyKey',
  'repeatable',
  'starts',
  'startedAt',
  'endedAt',
  'outcome',
  'resultEntryId',
] as const satisfies readonly (keyof RecordedToolRun)[]

const overlayFields = ['id', 'entryId', 'kind', 'undone', 'at', 'data'] as const satisfies readonly (keyof Overlay)[]

/** Returns each line with its hash. */
export function createSeal(): (value: Json) => string {
  let last = ''
  return (value) => {
    const text = escapedJson(value)
    last = sealOf(last, text)
    return `${text.slice(0, -1)},"sha256":"${last}"}`
  }
}

export function sealOf(last: string, text: string): string {
  return hash('sha256', `${last}\n${text}`)
}

async function allExchanges(store: Store, owner: string, conversationId: string): Promise<Exchange[]> {
  const all: Exchange[] = []
  for (let cursor: string | undefined; ;) {
    const page = await store.exchanges(owner, conversationId, { limit: 500, ...(cursor !== undefined && { cursor }) })
    all.push(...page.items)
    cursor = page.next
    if (cursor === undefined) return all.toReversed()
  }
}
