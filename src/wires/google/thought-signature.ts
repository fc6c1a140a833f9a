// Thought signatures of Gemini, as a server checks them.

import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../core/json.ts'

/** Google's documented value for calls that it did not make. */
export const escapes = new Set(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'])

/** A signature belongs to its call: it is invalid on another one. */
export function digestOf(call: JsonObject): string {
  const text = JSON.stringify([call.name ?? null, (call.args ?? call.arguments ?? {}) as Json])
  return createHash('sha256').update(text).digest('base64url')
}
