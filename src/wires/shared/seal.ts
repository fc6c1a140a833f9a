// Signatures and ciphertext of the emulator: JSON that only it can create and verify. Clients must return it unchanged,
// as with the real ones.
//
// The key is not secret. The point is that invented, edited or mixed signatures are detected.

import { createHmac } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

const tag = Buffer.from('SYN1')
const macLength = 16

export function seal(payload: JsonObject): string {
  const json = Buffer.from(JSON.stringify(payload))
  return Buffer.concat([tag, mac(json), json]).toString('base64')
}

/** The content; undefined if the text is not ours, or was changed. */
export function unseal(text: string): JsonObject | undefined {
  const bytes = Buffer.from(text, 'base64')
  const start = tag.length + macLength
  if (bytes.length <= start || !bytes.subarray(0, tag.length).equals(tag)) return undefined
  const json = bytes.subarray(start)
  if (!bytes.subarray(tag.length, start).equals(mac(json))) return undefined
  const value = JSON.parse(json.toString()) as Json
  return isObject(value) ? value : undefined
}

/**
 * Whether a text that is not ours could be a real provider's: long, and only base64. A history from the real service
 * must work here, and only that service can check its signatures.
 */
export function couldBeReal(text: string): boolean {
  return text.length >= 64 && !text.startsWith('U1lOM') && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)
}

function mac(json: Buffer): Buffer {
  return createHmac('sha256', 'synapse emulator').update(json).digest().subarray(0, macLength)
}
