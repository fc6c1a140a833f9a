// The shapes of generateContent, as far as they are written or read here. Keys are camelCase on the way out; the API
// takes snake_case as well, so what others wrote has to be read in both.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export const protocolId = 'gemini-generate'

/** One of the data keys below, and beside it `thought`, `thoughtSignature` and whatever else the API sent. */
export type GeminiPart = JsonObject

export type GeminiContent = {
  role: 'user' | 'model'
  parts: GeminiPart[]
}

/** What a part can hold: exactly one of these. */
export const dataKeys = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const

/** Said about a candidate, not by it: nothing of this can be sent back as a part. */
export const aboutTheAnswer: readonly string[] = [
  'groundingMetadata',
  'citationMetadata',
  'urlContextMetadata',
  'logprobsResult',
]

/** A field under its camelCase name or, where that is missing, its snake_case one. */
export function field(object: JsonObject, name: string): Json | undefined {
  return object[name] ?? object[snake(name)]
}

export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** A repeated field; the API takes a single value for a list of one. */
export function listOf(value: Json | undefined): Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

export function functionCallOf(part: Json | undefined): JsonObject | undefined {
  const call = isObject(part) ? (part.functionCall ?? part.function_call) : undefined
  return isObject(call) ? call : undefined
}
