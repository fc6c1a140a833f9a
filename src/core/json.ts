// JSON as the type system sees it. A field set to undefined is a field left out, as in JSON.stringify.

export type Json = null | boolean | number | string | Json[] | JsonObject

export interface JsonObject {
  [key: string]: Json | undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined if the text is not JSON, or nested too deeply to be handled; no JSON value is undefined. */
export function parseJson(text: string): Json | undefined {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return undefined
  }
  return text.length > 2 * deepest && exceedsDepth(value) ? undefined : value
}

/** Deeper than anything that people or programs write, and far below the limit of the stack. */
export const deepest = 500

export function exceedsDepth(value: unknown, levels: number = deepest): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const child of Array.isArray(value) ? value : Object.values(value))
    if (exceedsDepth(child, levels - 1)) return true
  return false
}

/**
 * JSON that is safe to display anywhere: C1 controls, bidirectional controls and the Unicode line separators are
 * escaped. It parses to the same value. (JSON.stringify itself escapes the C0 controls.)
 */
export function escapedJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent)
  return json.replaceAll(shownRaw, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const shownRaw = /[\u007F-\u009F\u2028\u2029\p{Bidi_Control}]/gu
