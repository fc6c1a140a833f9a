// The functions over all wires: what the package root exports.

import { loadedWire } from '../wires/all.ts'
import { wireFunctions, type WireFunctions } from './wire-functions.ts'

export type { PrepareInput, Prepared, Replayed } from './wire-functions.ts'

const all = wireFunctions((id) => loadedWire(id).wire)

/**
 * Everything but the sending: the request with these messages for this provider, and its differences from them.
 *
 * @example
 * const { url, body, notes } = prepare({ provider: 'anthropic', messages: readTranscript(json).messages })
 */
export const prepare: WireFunctions['prepare'] = all.prepare

/**
 * Reads a recorded stream (SSE or JSON Lines) or a whole body, with the decoder of the wire.
 *
 * @example
 * const { reply, usage } = replay('openai-chat', await readFile('recorded.sse', 'utf8'))
 */
export const replay: WireFunctions['replay'] = all.replay

/**
 * What the provider would refuse in this body, with its status, code and message; empty: nothing.
 *
 * @example
 * const { protocol, body } = prepare({ provider: 'mistral', messages })
 * const issues = refuse(protocol, body, { provider: 'mistral' })
 */
export const refuse: WireFunctions['refuse'] = all.refuse
