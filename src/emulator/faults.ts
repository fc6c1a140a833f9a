// Injected faults: what can go wrong between a client and a provider, one request at a time, to test a client's error
// handling. Requested by a header, or beforehand for the next requests.

import { isObject, type Json } from '../core/json.ts'

export interface Fault {
  /** Answers with this status instead, with `body` and `headers`. */
  status?: number
  headers?: Record<string, string>
  body?: Json
  /** Waits before the answer. */
  delayMs?: number
  /** Ends the stream after this many events, without its last ones. Without streaming: half of the body. */
  cutAt?: number
  /** Breaks the connection after this many events; 0: before any answer. */
  resetAt?: number
  /** Invalid bytes before the event of this number. */
  garbageAt?: number
  /** Every event twice. */
  duplicate?: boolean
  /** After this many events only keep-alives, forever. */
  keepAliveAt?: number
  keepAliveMs?: number
  /** After this many events an error inside the stream (`body`, or the provider's overload error), then the end. */
  errorAt?: number
  /** The state that the request names is deleted before it is looked up. */
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

/** Parses a fault; returns a sentence if it is not valid. */
export function readFault(text: string): Fault | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return `${faultHeader} must be JSON, such as {"status":429}.`
  }
  if (!isObject(value)) return `${faultHeader} must be a JSON object, such as {"status":429}.`
  for (const [name, setting] of Object.entries(value)) {
    if (!isFaultField(name)) {
      return `${faultHeader} has no field ${JSON.stringify(name)}. It has ${Object.keys(fields).join(', ')}.`
    }
    const type = fields[name]
    if (type !== 'any' && (type === 'object' ? !isObject(setting) : typeof setting !== type)) {
      return `${faultHeader}: ${name} must be ${type === 'object' ? 'an object' : `a ${type}`}.`
    }
  }
  return value
}

function isFaultField(name: string): name is keyof Fault {
  return Object.hasOwn(fields, name)
}

/** How a broken connection appears to `fetch`. */
export function connectionReset(): TypeError {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  return new TypeError('terminated', { cause })
}
