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

/** The schemas in `parameters` and `responseSchema` are OpenAPI with their types in capitals. */
export function jsonSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(jsonSchema)
  if (!isObject(schema)) return schema
  const { nullable, ...rest } = schema
  const plain = Object.entries(rest).map(([key, value]): [string, Json | undefined] => {
    if (key === 'type' && typeof value === 'string') {
      return [key, nullable === true ? [value.toLowerCase(), 'null'] : value.toLowerCase()]
    }
    return [key, value === undefined || key === 'enum' || key === 'default' ? value : jsonSchema(value)]
  })
  return Object.fromEntries(plain)
}

/**
 * A body with the camelCase names of its settings. Contents, declarations and schemas are read by both names where they
 * are read.
 */
export function withUsualNames(body: JsonObject): JsonObject {
  const { tools, toolConfig, generationConfig, generateContentRequest, ...rest } = camelKeys(body)
  const config = isObject(generationConfig) ? camelKeys(generationConfig) : generationConfig
  return {
    ...rest,
    ...(tools !== undefined && { tools: Array.isArray(tools) ? tools.map(usualTool) : tools }),
    ...(toolConfig !== undefined && { toolConfig: withInner(toolConfig, 'functionCallingConfig') }),
    ...(config !== undefined && { generationConfig: withInner(config, 'thinkingConfig') }),
    ...(generateContentRequest !== undefined && {
      generateContentRequest: isObject(generateContentRequest)
        ? withUsualNames(generateContentRequest)
        : generateContentRequest,
    }),
  }
}

function usualTool(tool: Json): Json {
  return isObject(tool) ? withInner(tool, 'fileSearch') : tool
}

/** With the usual names at the top and in one of its fields. */
function withInner(value: Json, name: string): Json {
  if (!isObject(value)) return value
  const object = camelKeys(value)
  const inner = object[name]
  return isObject(inner) ? { ...object, [name]: camelKeys(inner) } : object
}

/** Its own keys only. */
export function camelKeys(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  )
}

export function functionCallOf(part: Json | undefined): JsonObject | undefined {
  const call = isObject(part) ? (part.functionCall ?? part.function_call) : undefined
  return isObject(call) ? call : undefined
}
