// What the API would have sent: a reply, complete or as the chunks of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Part, Reply, StopReason, ToolCallPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { geminiVersion } from '../google/models.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { reasons } from './decode.ts'
import { aboutTheAnswer, functionCallOf, type GeminiPart, protocolId } from './types.ts'
import { valuesIn } from '../shared/json-fields.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const isNative = reply.origin.protocol === protocolId && reply.native.length > 0
  const parts = isNative ? reply.native : withSignatures(reply.parts.flatMap(partsOf), profile)
  const finishReason = finishFor(reply.stop.reason, reply.stop.raw)
  const refusal = reply.parts.find((part) => part.type === 'refusal')
  return {
    candidates: [
      {
        ...(parts.length > 0 && { content: { parts, role: 'model' } }),
        ...(finishReason !== undefined && { finishReason }),
        ...(refusal && parts.length === 0 && { finishMessage: refusal.text }),
        index: 0,
      },
    ],
    usageMetadata: writeUsage(profile.usage),
    modelVersion: profile.model,
    responseId: profile.replyId,
  }
}

export function partsOf(part: Part): GeminiPart[] {
  switch (part.type) {
    case 'text':
      return [{ text: part.text }]
    case 'reasoning':
      return [{ text: part.text, thought: true }]
    case 'media':
      return mediaOf(part)
    case 'tool-call':
      return [{ functionCall: callOf(part) }]
    case 'server-tool':
      return serverTool(part.name, part.input, part.output)
    case 'opaque':
      return isObject(part.data) && isPart(part.kind) ? [part.data] : []
    default:
      return []
  }
}

function mediaOf({ mediaType, name, data }: MediaPart): GeminiPart[] {
  if (data.kind === 'base64') {
    return [
      { inlineData: { mimeType: mediaType, data: data.base64, ...(name !== undefined && { displayName: name }) } },
    ]
  }
  return data.kind === 'url' ? [{ fileData: { mimeType: mediaType, fileUri: data.url } }] : []
}

function isPart(kind: string): boolean {
  const [protocol, name = ''] = kind.split('/')
  return protocol === protocolId && !aboutTheAnswer.includes(name)
}

function callOf(part: ToolCallPart): JsonObject {
  return { name: part.name, args: part.malformed ?? part.input, id: part.alias ?? part.callId }
}

function serverTool(name: string, input: Json | undefined, output: Json | undefined): GeminiPart[] {
  if (name === 'code_execution') {
    return [
      ...(input === undefined ? [] : [{ executableCode: input }]),
      ...(output === undefined ? [] : [{ codeExecutionResult: output }]),
    ]
  }
  return [
    ...(input === undefined && output !== undefined
      ? []
      : [{ toolCall: { toolType: name, ...(input !== undefined && { args: input }) } }]),
    ...(output === undefined ? [] : [{ toolResponse: { toolType: name, response: output } }]),
  ]
}

/** Gemini 3 signs the first call of a step; without the signature it is refused (G-6). */
export function withSignatures(
  parts: GeminiPart[],
  profile: Pick<WholeProfile, 'token' | 'model' | 'replyId'>,
): GeminiPart[] {
  const first = parts.findIndex((part) => functionCallOf(part) !== undefined)
  const call = parts[first]
  if (!call) return parts
  if (profile.token) {
    const thoughtSignature = profile.token()
    return parts.with(first, { ...call, ...(thoughtSignature !== undefined && { thoughtSignature }) })
  }
  if ((geminiVersion(profile.model) ?? 0) < 300) return parts
  return parts.with(first, { ...call, thoughtSignature: Buffer.from(`synapse ${profile.replyId}`).toString('base64') })
}

export function errorBody(issue: Issue): Json {
  return {
    error: { code: issue.status, message: issue.message, status: issue.type ?? statuses[issue.status] ?? 'UNKNOWN' },
  }
}

/** google.rpc.Code as HTTP carries it. */
const statuses: Partial<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** Two texts of one answer stay two: the end of the first and the start of the second share a chunk. */
export function split(body: Json, piece = Number.POSITIVE_INFINITY): Json[] {
  if (Array.isArray(body)) return body
  if (!isObject(body)) return [body]
  const [first, ...others] = valuesIn(body.candidates)
  if (!isObject(first) || !hasParts(first)) return [body]
  const { content, index = 0, ...outcome } = first
  const { parts: all, ...role } = content
  const { candidates: _, usageMetadata, promptFeedback, ...frame } = body

  const chunks: Json[][] = [[]]
  for (const part of all) {
    const [head, ...tail] = splitPart(part, piece)
    if (head !== undefined) chunks.at(-1)?.push(head)
    for (const more of tail) chunks.push([more])
  }
  return chunks.map((parts, position): Json => {
    const last = position === chunks.length - 1
    const candidate = { content: { ...role, parts }, ...(last && outcome), index }
    return {
      candidates: last ? [candidate, ...others] : [candidate],
      ...(last && usageMetadata !== undefined && { usageMetadata }),
      ...(last && promptFeedback !== undefined && { promptFeedback }),
      ...frame,
    }
  })
}

function hasParts(candidate: JsonObject): candidate is JsonObject & { content: JsonObject & { parts: Json[] } } {
  return isObject(candidate.content) && Array.isArray(candidate.content.parts)
}

/** A signature covers its exact text, so that text is not split. */
function splitPart(part: Json, piece: number): Json[] {
  if (!isObject(part) || typeof part.text !== 'string' || part.text.length <= piece) return [part]
  if (!Object.keys(part).every((key) => key === 'text' || key === 'thought')) return [part]
  return [...splitText(part.text, piece)].map((text) => ({ ...part, text }))
}

function writeUsage(usage: Usage): JsonObject {
  return {
    promptTokenCount: usage.input,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output - usage.reasoning,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: usage.input + usage.output,
  }
}

function finishFor(reason: StopReason, raw: string | undefined): string | undefined {
  if (raw !== undefined && (reasons[raw] === reason || (reason === 'tool-calls' && raw === 'STOP'))) return raw
  switch (reason) {
    case 'done':
    case 'tool-calls':
      return 'STOP'
    case 'length':
      return 'MAX_TOKENS'
    case 'paused':
      return 'CONTINUATION'
    case 'refusal':
      return 'SAFETY'
    case 'failed':
      return raw ?? 'OTHER'
    default:
      return undefined
  }
}
