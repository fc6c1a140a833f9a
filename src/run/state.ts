// State at a provider is a cache of the log (P6): its id may be gone, refused, or belong to another branch. It is used
// only while the provider holds exactly the beginning of what would be sent; in every other case all of it is sent.

import { createHash } from 'node:crypto'
import type { Context, Note, StateRef } from '../core/context.ts'
import type { Failure } from '../core/error.ts'
import type { Entry, Exchange, Overlay, ProviderState } from '../core/log.ts'
import type { Reply } from '../core/message.ts'
import type { PolicySettings } from '../settings/policy.ts'
import { overlaysOn } from '../context/overlay-codec.ts'
import type { RunContext } from './run-context.ts'

export interface UsableState {
  kept: ProviderState
  /** The reference for a request, if its beginning is what the provider holds. */
  refFor(context: Context): StateRef | undefined
}

const rule = 'state'

/** Whether the provider is to keep what is sent, so that the next request need not send it again. */
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
  const kept = await store.stateAt(owner, last.id, who)
  if (!kept || kept.kind !== endpoint.state?.kind) return undefined
  const place = history.findIndex((entry) => entry.id === kept.covers)
  const covered = history[place]?.message
  const digest = digestIn(exchanges.find((one) => one.replyEntryId === kept.covers))
  if (covered?.role !== 'assistant' || !isComplete(covered) || digest === undefined) return undefined
  return {
    kept,
    refFor(context) {
      const index = context.places?.lastIndexOf(place) ?? -1
      if (index < 0 || context.messages[index] !== covered) return undefined
      if (prefixDigest(context, index, history, endpoint.model) !== digest) return undefined
      return { kind: kept.kind, id: kept.ref, covers: index + 1 }
    },
  }
}

/** Says with the exchange what the provider will hold under the reply's id. */
export function stateNote(context: Context, history: readonly Entry[], model: string, reply: Reply): Note | undefined {
  if (!reply.origin.replyId || !isComplete(reply)) return undefined
  const digest = prefixDigest(context, context.messages.length, history, model)
  return { kind: 'added', what: `kept by the provider as ${reply.origin.replyId}`, why: `prefix ${digest}`, rule }
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
  // What can be continued once was continued now.
  if (used && !strategy.branches) await store.dropState(owner, used.id)
}

/** Whether the provider will never keep a conversation of this account or this kind, and not only this one. */
export function isStateless({ message, code }: Failure): boolean {
  return /zero data retention/i.test(message) || code === 'thread_unsupported_request'
}

/** A reply that was cut off is a bad one to continue from. */
function isComplete({ stop }: Reply): boolean {
  return stop.reason === 'done' || stop.reason === 'tool-calls'
}

function digestIn(exchange: Exchange | undefined): string | undefined {
  const note = exchange?.notes.findLast((one) => one.rule === rule)
  return note && /^prefix (\S+)$/.exec(note.why)?.[1]
}

/** A message of the log is named by its entry; what policies made of one represents itself. */
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
