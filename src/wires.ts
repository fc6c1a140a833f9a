// `synapse/wires`: the wires and transcript formats alone, without store, transport or Node, for browsers, Workers and
// other runtimes. `synapse/wires/<wire>` has one of them.

import type { Json } from './core/json.ts'
import { requestBody } from './runtime/one-wire.ts'
import { loadedWire } from './wires/all.ts'
import { readRequestWith, type ReadRequest } from './wires/read-request.ts'
import type { Profile } from './wires/wire.ts'

export { prepare, refuse, replay, type PrepareInput, type Prepared, type Replayed } from './runtime/prepare.ts'
export { formatIds, readTranscript, writeTranscript } from './transcripts/index.ts'
export type { ReadRequest } from './wires/read-request.ts'
export type { OneWire } from './runtime/one-wire.ts'
export { SynapseError } from './core/error.ts'
export type { Issue, Profile, Wire } from './wires/wire.ts'
export type { Transcript } from './wires/shared/transcript.ts'

/**
 * Parses a request body of a wire: messages, system prompt, tools and options. `prepare` writes it for any other.
 *
 * @example
 * const { messages, system, tools, options } = readRequest('openai-chat', await request.json())
 * const { url, body } = prepare({ provider: 'anthropic', messages, system, tools, options })
 */
export function readRequest(protocolId: string, body: Json, profile: Pick<Profile, 'provider'> = {}): ReadRequest {
  return readRequestWith(loadedWire(protocolId), requestBody(body), profile.provider)
}
