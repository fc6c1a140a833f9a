// The arguments of a call, from the text that a model wrote. Only a JSON object is an input; anything else is stored
// unchanged, marked malformed, and never run.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export function readArguments(text: string): { input: JsonObject; malformed?: string } {
  if (text.trim() === '') return { input: {} }
  try {
    const value = JSON.parse(text) as Json
    if (isObject(value)) return { input: value }
  } catch {
    // not JSON: kept raw below
  }
  return { input: {}, malformed: text }
}
