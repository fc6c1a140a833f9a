// A custom wire, with defaults filled in: only encode and decode are required.

import { badInput } from '../core/error.ts'
import type { Capabilities, Wire } from './wire.ts'

/** A wire as an application defines it. By default its capabilities are those of a plain chat with tools. */
export type WireDefinition = Pick<Wire, 'id' | 'framing' | 'encode' | 'decoder'> &
  Partial<Omit<Wire, 'capabilities'>> & { capabilities?: Partial<Capabilities> }

const plainChat: Capabilities = {
  media: [],
  mediaUrls: false,
  resultMedia: [],
  tools: true,
  sampling: true,
  answer: 'none',
  forcedTool: false,
  prefill: false,
  midSystem: false,
  efforts: [],
}

/**
 * Makes a custom wire, for `openSynapse({ wires, rows })` or for `module` of a provider in synapse.yaml.
 *
 * @example
 * export const wire = defineWire({ id: 'my-wire', framing: { kind: 'ndjson' }, encode, decoder })
 */
export function defineWire(definition: WireDefinition): Wire {
  const { id, framing, encode, decoder } = definition
  if (typeof id !== 'string' || id === '') throw badInput('A wire needs an id.')
  if (framing?.kind !== 'sse' && framing?.kind !== 'ndjson') {
    throw badInput(`The wire ${id} needs framing: { kind: 'sse' } or { kind: 'ndjson' }.`)
  }
  if (typeof encode !== 'function' || typeof decoder !== 'function') {
    throw badInput(`The wire ${id} needs the functions encode and decoder.`)
  }
  return {
    // A complete reply is read as its only chunk.
    split: (body) => [body],
    refuse: () => [],
    errorBody: ({ message }) => ({ error: { message } }),
    whole: ({ parts }) => ({ parts: structuredClone(parts) as never }),
    ...definition,
    capabilities: { ...plainChat, ...definition.capabilities },
  }
}
