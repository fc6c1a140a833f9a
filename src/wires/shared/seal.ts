// Signatures and ciphertext of the emulator: JSON that only it can make, and that it can open again. Clients must carry
// it unread and untouched, exactly as they must carry the real thing.
//
// The key is no secret. What matters is that a client which makes one up, edits one or mixes two is found out.

import { createHmac } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'

const tag = Buffer.from('SYN1')
const macLength = 16

export function seal(payload: JsonObject): string {
  const json = Buffer.from(JSON.stringify(payload))
  return Buffer.concat([tag, mac(json), json]).toString('base64')
}

/** What was sealed; nothing if the text is not ours, or was changed. */
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
 * Whether a text that is not ours could be the real provider's: long, and nothing but base64. A history that was made
 * with the real service must continue here, and no one but that service can judge its signatures.
 */
export function couldBeReal(text: string): boolean {
  return text.length >= 64 && !text.startsWith('U1lOM') && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)
}

function mac(json: Buffer): Buffer {
  return createHmac('sha256', 'synapse emulator').update(json).digest().subarray(0, macLength)
}
