// The API's answers: a complete interaction for a reply, and the error body for a refusal.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Part, Reply, ServerToolPart } from '../../core/message.ts'
import { geminiVersion } from '../google/models.ts'
import type { WholeProfile, Issue } from '../wire.ts'
import { statusFor } from './stop.ts'
import { writeUsage } from './usage.ts'
import { contentKind, mediaKind, protocolId, textContent, type Step } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const own = reply.origin.protocol === protocolId && reply.native.length > 0
  const time = new Date(profile.createdAt * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    id: profile.replyId,
    status: statusFor(reply.stop.reason, reply.stop.raw),
    usage: writeUsage(profile.usage),
    created: time,
    updated: time,
    service_tier: 'standard',
    steps: own ? reply.native : signed(reply.parts.flatMap(stepsOf), profile),
    object: 'interaction',
    model: profile.model,
  }
}

export function stepsOf(part: Part, index = 0): Step[] {
  switch (part.type) {
    case 'text': {
      const cited = part.citations === undefined ? {} : { annotations: part.citations }
      return [{ type: 'model_output', content: [{ ...textContent(part.text), ...cited }] }]
    }
    case 'refusal':
      return [{ type: 'model_output', content: [textContent(part.text)] }]
    case 'reasoning':
      return [{ type: 'thought', ...(part.text !== '' && { summary: [textContent(part.text)] }) }]
    case 'media':
      return mediaOf(part)
    case 'tool-call':
      return [
        {
          type: 'function_call',
          id: part.alias ?? part.callId,
          name: part.name,
          arguments: part.malformed ?? part.input,
        },
      ]
    case 'server-tool':
      return serverTool(part, `server_${index}`)
    case 'opaque':
      return isObject(part.data) ? opaqueOf(part.kind, part.data) : []
    default:
      return []
  }
}

function mediaOf({ mediaType, data }: MediaPart): Step[] {
  const type = mediaKind(mediaType)
  if (type === undefined) return []
  const held = data.kind === 'base64' ? { data: data.base64 } : data.kind === 'url' ? { uri: data.url } : undefined
  return held ? [{ type: 'model_output', content: [{ type, mime_type: mediaType, ...held }] }] : []
}

function serverTool({ name, input, output }: ServerToolPart, id: string): Step[] {
  return [
    ...(input === undefined && output !== undefined
      ? []
      : [{ type: `${name}_call`, id, ...(input !== undefined && { arguments: input }) }]),
    ...(output === undefined ? [] : [{ type: `${name}_result`, call_id: id, result: output }]),
  ]
}

function opaqueOf(kind: string, data: Step): Step[] {
  if (kind.startsWith(contentKind)) return [{ type: 'model_output', content: [data] }]
  return kind.startsWith(`${protocolId}/`) ? [data] : []
}

/** Gemini 3 signs the thought before a call; without it the call is refused. */
function signed(steps: Step[], profile: WholeProfile): Step[] {
  if (profile.token) return steps.map(sealing(profile))
  const call = steps.findIndex((step) => step.type === 'function_call')
  if (call < 0 || (geminiVersion(profile.model) ?? 0) < 300) return steps
  const thought = steps.findLastIndex((step, index) => index < call && step.type === 'thought')
  // Without a thought the call itself has it: an invented thought would be one more part of the reply.
  const place = thought < 0 ? call : thought
  const signature = Buffer.from(`synapse ${profile.replyId}`).toString('base64')
  return steps.with(place, { ...steps[place], signature })
}

/** The steps of a server's reply, in order, with its token on thoughts, and on a call without one. */
export function sealing({ token }: Pick<WholeProfile, 'token'>): (step: Step) => Step {
  let isSealed = false
  return (step) => {
    const signature = step.type === 'thought' || (step.type === 'function_call' && !isSealed) ? token?.() : undefined
    if (signature === undefined) return step
    isSealed = true
    return { ...step, signature }
  }
}

export function errorBody(issue: Issue): JsonObject {
  return { error: { message: issue.message, code: issue.code ?? codes[issue.status] ?? 'api_error' } }
}

/** Codes are strings on this wire, where generateContent has numbers (checked 2026-11). */
const codes: Partial<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication',
  402: 'payment_required',
  403: 'permission_denied',
  404: 'not_found',
  409: 'aborted',
  416: 'out_of_range',
  429: 'rate_limit_exceeded',
  499: 'cancelled',
  501: 'unimplemented',
  503: 'service_unavailable',
  504: 'deadline_exceeded',
}
