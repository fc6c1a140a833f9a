// The shapes of generateContent, as far as they are written or read here. Keys are written in camelCase; the API also
// accepts snake_case, so both are read.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export const protocolId = 'gemini-generate'

/** One of the data keys below, plus `thought`, `thoughtSignature` and any other field that the API sent. */
export type GeminiPart = JsonObject

export type GeminiContent = {
  role: 'user' | 'model'
  parts: GeminiPart[]
}

/** What a part can contain: exactly one of these. */
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

/** Metadata about a candidate: it cannot be sent back as a part. */
export const aboutTheAnswer: readonly string[] = [
  'groundingMetadata',
  'citationMetadata',
  'urlContextMetadata',
  'logprobsResult',
]

/** A field under its camelCase name or, if that is missing, its snake_case one. */
export function field(object: JsonObject, name: string): Json | undefined {
  return object[name] ?? object[snake(name)]
}

export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function functionCallOf(part: Json | undefined): JsonObject | undefined {
  const call = isObject(part) ? (part.functionCall ?? part.function_call) : undefined
  return isObject(call) ? call : undefined
}
