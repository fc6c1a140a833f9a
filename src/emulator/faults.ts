// Faults to order: what can go wrong between a client and a provider, one request at a time, so that a client's error
// paths can be tried on purpose. Ordered by a header of the request, or beforehand for the next requests.

import { isObject, type Json } from '../core/json.ts'

export interface Fault {
  /** Answers with this status instead; `body` and `headers` go with it. */
  status?: number
  headers?: Record<string, string>
  body?: Json
  /** Waits before anything is answered. */
  delayMs?: number
  /** Ends the stream behind this many events, without its last ones. Unstreamed: half of the body. */
  cutAt?: number
  /** Breaks the connection behind this many events; 0: before any answer. */
  resetAt?: number
  /** Bytes that belong to no format, in front of the event of this number. */
  garbageAt?: number
  /** Every event twice. */
  duplicate?: boolean
  /** After this many events nothing but signs of life, forever. */
  keepAliveAt?: number
  keepAliveMs?: number
  /** After this many events an error inside the stream (`body`, or the provider's word for overload), then the end. */
  errorAt?: number
  /** The state that the request names is forgotten before it is looked up. */
  expireState?: boolean
}

const fields: Record<keyof Fault, 'number' | 'boolean' | 'object' | 'any'> = {
  status: 'number',
  headers: 'object',
  body: 'any',
  delayMs: 'number',
  cutAt: 'number',
  resetAt: 'number',
  garbageAt: 'number',
  duplicate: 'boolean',
  keepAliveAt: 'number',
  keepAliveMs: 'number',
  errorAt: 'number',
  expireState: 'boolean',
}

export const faultHeader = 'x-synapse-fault'

/** Reads an ordered fault; a sentence that says what is wrong with it where it cannot be read. */
export function readFault(text: string): Fault | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return `${faultHeader} must be JSON, such as {"status":429}.`
  }
  if (!isObject(value)) return `${faultHeader} must be a JSON object, such as {"status":429}.`
  for (const [name, given] of Object.entries(value)) {
    if (!isFaultField(name)) {
      return `${faultHeader} has no field ${JSON.stringify(name)}. It has ${Object.keys(fields).join(', ')}.`
    }
    const type = fields[name]
    if (type !== 'any' && (type === 'object' ? !isObject(given) : typeof given !== type)) {
      return `${faultHeader}: ${name} must be ${type === 'object' ? 'an object' : `a ${type}`}.`
    }
  }
  return value
}

function isFaultField(name: string): name is keyof Fault {
  return Object.hasOwn(fields, name)
}

/** What a broken connection looks like to `fetch`. */
export function connectionReset(): TypeError {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  return new TypeError('terminated', { cause })
}
