// The request that would be sent next, to one model: nothing is sent, and the log does not change.

import type { Entry, Overlay } from '../core/log.ts'
import type { UserMessage } from '../core/message.ts'
import type { ToolSpec } from '../core/context.ts'
import { assemble, type Assembled } from '../context/assemble.ts'
import { explain } from '../context/explain.ts'
import { readDecisions } from '../context/overlay-codec.ts'
import { findModel } from '../providers/find-model.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { type Endpoint, rendersPrompt, resolve } from '../providers/resolve.ts'
import { draftOf } from '../run/request/draft.ts'
import type { Options } from '../settings/options.ts'
import type { Policy } from '../settings/policy.ts'
import { attachMedia } from '../store/media.ts'
import type { Store } from '../store/store.ts'
import { redactHeaders } from '../transport/redact.ts'
import { answerFor } from './answer.ts'
import { missing } from './route.ts'
import type { PreparedView } from './request-views.ts'

/** Where a request continues: the end of the conversation or an entry, and what the user would say there. */
export interface NextPlace {
  owner: string
  conversationId: string
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

export interface KnownProviders {
  rows: readonly ProviderRow[]
  env: Readonly<Record<string, string | undefined>>
  aliases?: Readonly<Record<string, string>>
  offline: boolean
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
export interface Log {
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

export async function prepareRequest(
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

/** Nothing is sent, so a key is not needed. */
export async function endpointOf(
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
