// JSON as the type system sees it. A field set to undefined is a field left out, as in JSON.stringify.

export type Json = null | boolean | number | string | Json[] | JsonObject

export interface JsonObject {
  [key: string]: Json | undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined if the text is not JSON; no JSON value is undefined. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
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
