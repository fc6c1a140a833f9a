// The API's answers: a complete body for a reply, and the error body for a refusal.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Part, Reply, ToolCallPart } from '../../core/message.ts'
import { geminiVersion } from '../google/models.ts'
import type { WholeProfile, Issue } from '../wire.ts'
import { finishFor } from './stop.ts'
import { writeUsage } from './usage.ts'
import { aboutTheAnswer, functionCallOf, protocolId, type GeminiPart } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const own = reply.origin.protocol === protocolId && reply.native.length > 0
  const parts = own ? reply.native : signed(reply.parts.flatMap(partsOf), profile)
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
export function signed(parts: GeminiPart[], profile: Pick<WholeProfile, 'token' | 'model' | 'replyId'>): GeminiPart[] {
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
