// Gemini's models over both of its wires: capabilities, versions, and calls without a signature.

import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Capabilities } from '../wire.ts'

export const geminiImages: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']

export const geminiCapabilities: Omit<Capabilities, 'media' | 'resultMedia'> = {
  contextWindow: 1_048_576,
  maxOutput: 65_536,
  mediaUrls: true,
  tools: true,
  maxTools: 512,
  sampling: true,
  // "Penalty is not enabled for this model" (checked 2026-11).
  penalties: false,
  forcedTool: true,
  prefill: false,
  midSystem: false,
  efforts: ['minimal', 'low', 'medium', 'high'],
  signedCalls: true,
}

/** 2.5 as 205, 3.8 as 308; undefined if the name has no version. Names without a number follow the newest models. */
export function geminiVersion(model: string | undefined): number | undefined {
  if (model === undefined) return undefined
  const match = /gemini-(\d+)(?:\.(\d+))?(?=-|$)/.exec(model)
  if (match) return Number(match[1]) * 100 + Number(match[2] ?? 0)
  return /gemini-[a-z-]*latest$/.test(model) ? 300 : undefined
}

/** Allows a call that Gemini did not sign (checked 2026-11: Gemini API and Vertex). */
export const skipSignature = 'skip_thought_signature_validator'

// Thought signatures of Gemini, as a server checks them.

/** Google's documented value for calls that it did not make. */
export const escapes = new Set(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'])

/** A signature belongs to its call: it is invalid on another one. */
export function digestOf(call: JsonObject): string {
  const text = JSON.stringify([call.name ?? null, (call.args ?? call.arguments ?? {}) as Json])
  return createHash('sha256').update(text).digest('base64url')
}
