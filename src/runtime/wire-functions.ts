// The wires without store or transport: what would be sent, what would be refused, the content of a recording.
// Everything else in Synapse uses the same parts. The functions are made for all wires or for one.

import { fold } from '../core/fold.ts'
import { badInput, type Failure } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Note, ToolSpec } from '../core/context.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Message, Origin, Reply, TextPart } from '../core/message.ts'
import type { Options } from '../settings/options.ts'
import type { Usage } from '../core/usage.ts'
import type { Policy } from '../settings/policy.ts'
import { assemble, type Estimate } from '../context/assemble.ts'
import type { Issue, Origins, Profile, Wire } from '../wires/wire.ts'
import { catalogue } from '../providers/catalogue.ts'
import { findRow } from '../providers/find-row.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { exampleOf } from '../providers/places.ts'
import { resolveWith, wireOf as wireFor } from '../providers/resolve-with.ts'
import { rowsWith } from '../providers/rows.ts'
import { checkMessages } from '../run/check-messages.ts'
import { inlineTextFiles } from '../run/request/text-files.ts'
import { checkArgument, checkOptions, checkPolicy, checkToolSpecs } from '../settings/check.ts'
import { readRecording } from '../transport/recording.ts'

export interface PrepareInput {
  messages: readonly Message[]
  system?: string | readonly TextPart[]
  tools?: readonly ToolSpec[]
  provider: string
  /** One of the provider's wires; its default one if absent. */
  protocol?: string
  model?: string
  policy?: Policy
  options?: Options
  /** The headers contain it only if it is given: nothing is looked up. */
  apiKey?: string
  /** The provider's address, for those without a fixed one. */
  baseUrl?: string
  /** Providers in addition to the built-in ones; one with the same id replaces that one. */
  rows?: readonly ProviderRow[]
}

export interface Prepared {
  /** The wire of the body; `refuse` takes it. */
  protocol: string
  url: string
  headers: Record<string, string>
  body: JsonObject
  notes: Note[]
  /** Which messages each element of the body came from. */
  origins?: Origins
  estimate: Estimate
}

export interface Replayed {
  reply: Reply
  events: ReplyEvent[]
  usage?: Usage
  failure?: Failure
}

/** The functions of the package that need only wires. */
export interface WireFunctions {
  prepare(input: PrepareInput): Prepared
  replay(protocolId: string, text: string, options?: { origin?: Partial<Origin> }): Replayed
  refuse(protocolId: string, body: Json, profile?: Profile): Issue[]
}

/** `wireOf` throws for an unknown wire. `defaultWire` is used if the input names none. */
export function wireFunctions(wireOf: (id: string) => Wire, defaultWire?: string): WireFunctions {
  return {
    prepare: (input) => prepareWith(wireOf, defaultWire === undefined ? input : { protocol: defaultWire, ...input }),
    replay(protocolId, text, options = {}) {
      const protocol = wireOf(protocolId)
      const origin: Origin = { protocol: protocolId, provider: '', model: '', ...options.origin }
      const decoder = protocol.decoder(origin)
      const events: ReplyEvent[] = []
      const { chunks, failure } = readRecording(protocol, text)
      for (const chunk of chunks) events.push(...decoder.push(chunk))
      events.push(...decoder.end(failure && { reason: 'failed', failure }))
      return { ...fold(events, origin), events }
    },
    refuse(protocolId, body, profile = {}) {
      if (typeof protocolId !== 'string') throw badInput('Give the protocol and the body: refuse(protocol, body).')
      return wireOf(protocolId).refuse(body, profile)
    },
  }
}

function prepareWith(wireOf: (id: string) => Wire, input: PrepareInput): Prepared {
  checkArgument(input, "prepare({ provider: 'anthropic', messages })")
  checkMessages(input.messages)
  if (input.tools !== undefined) checkToolSpecs(input.tools)
  if (input.policy !== undefined) checkPolicy(input.policy)
  if (input.options !== undefined) checkOptions(input.options)
  const rows = rowsWith(input.rows ?? [])
  const endpoint = resolveWith(
    {
      provider: input.provider,
      rows,
      env: {},
      keyless: true,
      baseUrl: input.baseUrl ?? addressOf(findRow(input.provider, rows), input.protocol, input.model),
      ...(input.model !== undefined && { model: input.model }),
      ...(input.protocol !== undefined && { protocol: input.protocol }),
      ...(input.apiKey !== undefined && { key: input.apiKey }),
    },
    wireOf,
    catalogue,
  )
  const { path, headers, body, notes, origins, estimate } = assemble({
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
    ...(origins && { origins }),
    estimate,
  }
}

/** Some providers have a configurable address; nothing is sent here, so a placeholder will do. */
function addressOf(row: ProviderRow, protocol: string | undefined, model: string | undefined): string {
  const { baseUrl } = wireFor(row, protocol, model)
  return baseUrl === '' ? 'https://base-url-not-set.invalid/v1' : exampleOf(baseUrl, row)
}
