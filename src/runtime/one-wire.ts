// The functions over a single wire, for a bundle that needs no other.

import { badInput } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, Origin } from '../core/message.ts'
import type { LoadedWire } from '../wires/all.ts'
import { readRequestWith, type ReadRequest } from '../wires/read-request.ts'
import type { Transcript } from '../wires/shared/transcript.ts'
import type { Issue, Profile, Wire } from '../wires/wire.ts'
import { wireFunctions, type PrepareInput, type Prepared, type Replayed } from './wire-functions.ts'

/** One wire, without the code of the others. */
export interface OneWire {
  wire: Wire
  /** The request with these messages for this provider on this wire. */
  prepare(input: Omit<PrepareInput, 'protocol'>): Prepared
  /** What the provider would refuse in this body; empty: nothing. */
  refuse(body: Json, profile?: Profile): Issue[]
  /** Decodes a recorded stream or a whole body. */
  replay(text: string, options?: { origin?: Partial<Origin> }): Replayed
  /** Reads messages of this wire, as a list or in a request body. */
  readTranscript(json: Json): Transcript
  /** Writes messages as a list of this wire. */
  writeTranscript(messages: Message[]): Json
  /** The content of a request body: messages, system prompt, tools, options. */
  readRequest(body: Json, profile?: Pick<Profile, 'provider'>): ReadRequest
}

export function oneWire(loaded: LoadedWire): OneWire {
  const { wire, transcript } = loaded
  const only = wireFunctions((id) => {
    if (id === wire.id) return wire
    throw badInput(`Only the wire ${wire.id} is available here, not "${id}": import it from synapse/wires.`)
  }, wire.id)
  return {
    wire,
    prepare: only.prepare,
    refuse: (body, profile) => only.refuse(wire.id, body, profile),
    replay: (text, options) => only.replay(wire.id, text, options),
    readTranscript: (json) => transcript.read(json),
    writeTranscript: (messages) => transcript.write(messages),
    readRequest: (body, { provider } = {}) => readRequestWith(loaded, requestBody(body), provider),
  }
}

export function requestBody(body: Json): JsonObject {
  if (isObject(body)) return body
  throw badInput('A request body is a JSON object.')
}
