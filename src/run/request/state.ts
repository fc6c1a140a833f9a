// State at a provider is a cache of the log (P6): its id may be gone, refused, or belong to another branch. It is used
// only if the provider has exactly the beginning of the request; otherwise everything is sent.

import { createHash } from 'node:crypto'
import type { Context, Note, StateRef } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { Entry, Exchange, Overlay, ProviderState } from '../../core/log.ts'
import type { Reply } from '../../core/message.ts'
import type { PolicySettings } from '../../settings/policy.ts'
import { placesOf } from '../../context/along-path.ts'
import { overlaysOn } from '../../context/overlay-codec.ts'
import type { RunContext } from '../run-context.ts'

export interface UsableState {
  stored: ProviderState
  /** The reference for a request, if the provider has its beginning. */
  refFor(context: Context): StateRef | undefined
}

const rule = 'state'

/** Whether the provider should store the request, so that the next one need not send it again. */
export function keepsState(
  run: RunContext,
  { state: wanted, fold, compaction }: PolicySettings,
  history: readonly Entry[],
  overlays: readonly Overlay[],
): boolean {
  const { state, provider, capabilities } = run.endpoint
  if (wanted !== 'auto' || !state || run.options.store === false) return false
  // Threads and context editing do not go together (checked 2026-11).
  if (capabilities.contextEdits && (fold === 'provider' || compaction?.at !== undefined)) return false
  const { id } = provider
  return !overlaysOn(history, overlays).some(({ kind, data }) => kind === 'stateless' && data.provider === id)
}

export async function usableState(
  run: RunContext,
  history: readonly Entry[],
  exchanges: readonly Exchange[],
): Promise<UsableState | undefined> {
  const { endpoint, owner, store } = run
  const last = history.at(-1)
  if (!last) return undefined
  const who = { provider: endpoint.provider.id, protocol: endpoint.protocol.id }
  const stored = await store.stateAt(owner, last.id, who)
  if (!stored || stored.kind !== endpoint.state?.kind) return undefined
  const place = placesOf(history).get(stored.covers) ?? -1
  const covered = history[place]?.message
  const digest = digestIn(exchanges.find((one) => one.replyEntryId === stored.covers))
  if (covered?.role !== 'assistant' || !isComplete(covered) || digest === undefined) return undefined
  return {
    stored,
    refFor(context) {
      const index = context.places?.lastIndexOf(place) ?? -1
      if (index < 0 || context.messages[index] !== covered) return undefined
      if (prefixDigest(context, index, history, endpoint.model) !== digest) return undefined
      return { kind: stored.kind, id: stored.ref, covers: index + 1 }
    },
  }
}

/** Records with the exchange what the provider will have under the reply's id. */
export function stateNote(context: Context, history: readonly Entry[], model: string, reply: Reply): Note | undefined {
  if (!reply.origin.replyId || !isComplete(reply)) return undefined
  const digest = prefixDigest(context, context.messages.length, history, model)
  const what = `kept by the provider as ${reply.origin.replyId}`
  return { kind: 'added', what, why: 'the next request need not send it again', rule, data: { prefix: digest } }
}

export async function keepState(
  run: RunContext,
  exchange: Exchange,
  entry: Entry,
  used?: ProviderState,
): Promise<void> {
  const { store, owner, conversationId, endpoint } = run
  const strategy = endpoint.state
  const ref = entry.message.role === 'assistant' ? entry.message.origin.replyId : undefined
  if (!strategy || !ref) return
  const expiresAt = new Date(Date.parse(exchange.startedAt) + strategy.lifetimeMs).toISOString()
  const { provider, protocol } = exchange
  await store.keepState(
    owner,
    conversationId,
    { provider, protocol, kind: strategy.kind, ref, covers: entry.id, expiresAt },
    run.write(),
  )
  // A chain that can be continued only once has been continued now.
  if (used && !strategy.branches) await store.dropState(owner, used.id)
}

/** What providers store of a conversation at its head, as far as the last requests show. */
export async function heldState(
  { store, owner }: Pick<RunContext, 'store' | 'owner'>,
  conversationId: string,
  head: string | null,
): Promise<ProviderState[]> {
  if (head === null) return []
  const { items } = await store.exchanges(owner, conversationId, { limit: 50 })
  const asked = new Map(items.map(({ provider, protocol }) => [`${provider} ${protocol}`, { provider, protocol }]))
  const found = await Promise.all([...asked.values()].map((who) => store.stateAt(owner, head, who)))
  return found.filter((one) => one !== undefined)
}

/** Whether the provider never stores conversations of this account or kind, not just this one. */
export function isStateless({ message, code }: Failure): boolean {
  return /zero data retention/i.test(message) || code === 'thread_unsupported_request'
}

/** A reply that was cut off is not a good one to continue from. */
function isComplete({ stop }: Reply): boolean {
  return stop.reason === 'done' || stop.reason === 'tool-calls'
}

function digestIn(exchange: Exchange | undefined): string | undefined {
  const note = exchange?.notes.findLast((one) => one.rule === rule)
  if (typeof note?.data?.prefix === 'string') return note.data.prefix
  // Exchanges up to 0.1.0 have it in the text.
  return note && /^prefix (\S+)$/.exec(note.why)?.[1]
}

/** A message of the log is identified by its entry; a message made by a policy identifies itself. */
function prefixDigest(context: Context, length: number, history: readonly Entry[], model: string): string {
  const hash = createHash('sha256').update(JSON.stringify([model, context.system, context.tools.map(specOf)]))
  for (let index = 0; index < length; index++) {
    const entry = history[context.places?.[index] ?? -1]
    const message = context.messages[index]
    hash.update(entry?.message === message ? `\n${entry?.id}` : `\n${JSON.stringify(message)}`)
  }
  return hash.digest('base64url')
}

function specOf({ name, description, input }: Context['tools'][number]): unknown {
  return { name, description, input }
}
