// The wires on their own, without store or sending: what would be sent, what would be refused, what a recording says.
// Everything else in Synapse is built on the same pieces.

import { fold } from '../core/fold.ts'
import type { Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Note, ToolSpec } from '../core/context.ts'
import { badInput } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Message, Origin, Reply, TextPart } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { Usage } from '../core/usage.ts'
import type { Policy } from '../settings/policy.ts'
import { assemble, type Estimate } from '../context/assemble.ts'
import { allWires } from '../wires/all.ts'
import { wireIds } from '../wires/list.ts'
import type { Issue, Profile, Wire } from '../wires/wire.ts'
import { catalogue } from '../providers/catalogue.ts'
import { findRow } from '../providers/find-row.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { resolveWith } from '../providers/resolve.ts'
import { rowsWith } from '../providers/rows.ts'
import { inlineTextFiles } from '../run/text-files.ts'
import { checkOptions, checkPolicy } from '../settings/check.ts'
import { readRecording } from '../transport/recording.ts'

export interface PrepareInput {
  messages: readonly Message[]
  system?: string | readonly TextPart[]
  tools?: readonly ToolSpec[]
  provider: string
  /** One of the provider's wires; without it, its usual one. */
  protocol?: string
  model?: string
  policy?: Policy
  options?: Options
  /** Only then the headers carry it: nothing is looked up. */
  apiKey?: string
  /** Where the provider is, for those that have no address of their own. */
  baseUrl?: string
  /** Providers beside the built-in ones; one with the same id takes the place of that one. */
  rows?: readonly ProviderRow[]
}

export interface Prepared {
  /** The wire that the body is written for; `refuse` takes it. */
  protocol: string
  url: string
  headers: Record<string, string>
  body: JsonObject
  notes: Note[]
  estimate: Estimate
}

/** All but the sending: the request that carries these messages to this provider, and what differs from them. */
export function prepare(input: PrepareInput): Prepared {
  if (input.policy !== undefined) checkPolicy(input.policy)
  if (input.options !== undefined) checkOptions(input.options)
  const rows = rowsWith(input.rows ?? [])
  const endpoint = resolveWith(
    {
      provider: input.provider,
      rows,
      env: {},
      keyless: true,
      baseUrl: input.baseUrl ?? addressOf(findRow(input.provider, rows), input.protocol),
      ...(input.model !== undefined && { model: input.model }),
      ...(input.protocol !== undefined && { protocol: input.protocol }),
      ...(input.apiKey !== undefined && { key: input.apiKey }),
    },
    protocolById,
    catalogue,
  )
  const { path, headers, body, notes, estimate } = assemble({
    history: input.messages.map((message) => inlineTextFiles(message, endpoint.capabilities.media)),
    ...(input.system !== undefined && { system: input.system }),
    ...(input.tools && { tools: input.tools }),
    ...(input.policy !== undefined && { policy: input.policy }),
    protocol: endpoint.protocol,
    target: {
      provider: endpoint.provider.id,
      model: endpoint.model,
      options: input.options ?? {},
      quirks: endpoint.quirks,
      capabilities: endpoint.capabilities,
    },
  })
  return {
    protocol: endpoint.protocol.id,
    url: endpoint.baseUrl + path,
    headers: { 'content-type': 'application/json', ...endpoint.headers, ...headers },
    body,
    notes,
    estimate,
  }
}

export interface Replayed {
  reply: Reply
  events: ReplyEvent[]
  usage?: Usage
  failure?: Failure
}

/** Reads a recorded stream (SSE or lines of JSON) or a whole body, as the decoder would have read it off the wire. */
export function replay(protocolId: string, text: string, options: { origin?: Partial<Origin> } = {}): Replayed {
  const protocol = protocolById(protocolId)
  const origin: Origin = { protocol: protocolId, provider: '', model: '', ...options.origin }
  const decoder = protocol.decoder(origin)
  const events: ReplyEvent[] = []
  const { chunks, failure } = readRecording(protocol, text)
  for (const chunk of chunks) events.push(...decoder.push(chunk))
  events.push(...decoder.end(failure && { reason: 'failed', failure }))
  return { ...fold(events, origin), events }
}

/** What the provider would refuse in this body, with its status, code and words; empty: nothing. */
export function refuse(protocolId: string, body: Json, profile: Profile = {}): Issue[] {
  return protocolById(protocolId).refuse(body, profile)
}

/** Some providers live where their user says; nothing is sent here, so a name that leads nowhere will do. */
function addressOf(row: ProviderRow, protocol: string | undefined): string {
  const wire = row.wires.find((one) => one.protocol === protocol) ?? row.wires[0]
  return wire.baseUrl || 'https://base-url-not-set.invalid/v1'
}

function protocolById(id: string): Wire {
  const found = allWires().find((protocol) => protocol.id === id)
  if (found) return found
  throw badInput(`There is no protocol "${id}". The protocols are ${wireIds.join(', ')}.`)
}
