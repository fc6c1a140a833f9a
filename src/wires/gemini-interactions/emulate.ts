// What the API would have sent: a reply, complete or as the events of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Part, Reply, ServerToolPart, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { geminiVersion } from '../google/models.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { reasons } from './decode.ts'
import { contentKind, mediaKind, protocolId, serverToolOf, type Step, textContent } from './types.ts'
import { listIn } from '../shared/json-fields.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const isNative = reply.origin.protocol === protocolId && reply.native.length > 0
  const time = new Date(profile.createdAt * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    id: profile.replyId,
    status: statusFor(reply.stop.reason, reply.stop.raw),
    usage: writeUsage(profile.usage),
    created: time,
    updated: time,
    service_tier: 'standard',
    steps: isNative ? reply.native : signSteps(reply.parts.flatMap(stepsOf), profile),
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
  const source = data.kind === 'base64' ? { data: data.base64 } : data.kind === 'url' ? { uri: data.url } : undefined
  return source ? [{ type: 'model_output', content: [{ type, mime_type: mediaType, ...source }] }] : []
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
function signSteps(steps: Step[], profile: WholeProfile): Step[] {
  if (profile.token) return steps.map(stepSealer(profile))
  const call = steps.findIndex((step) => step.type === 'function_call')
  if (call < 0 || (geminiVersion(profile.model) ?? 0) < 300) return steps
  const thought = steps.findLastIndex((step, index) => index < call && step.type === 'thought')
  // Without a thought the call itself has it: an invented thought would be one more part of the reply.
  const target = thought < 0 ? call : thought
  const signature = Buffer.from(`synapse ${profile.replyId}`).toString('base64')
  return steps.with(target, { ...steps[target], signature })
}

/** The steps of a server's reply, in order, with its token on thoughts, and on a call without one. */
export function stepSealer({ token }: Pick<WholeProfile, 'token'>): (step: Step) => Step {
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

export function split(body: Json, piece = Number.POSITIVE_INFINITY): Json[] {
  if (!isObject(body) || !Array.isArray(body.steps)) {
    const failed = isObject(body) && isObject(body.error) && body.event_type === undefined
    return [failed ? { ...body, event_type: 'error' } : body]
  }
  const { steps, ...interaction } = body
  const { id = '', object = 'interaction', model } = body
  const begun = { id, status: 'in_progress', object, ...(model !== undefined && { model }) }
  return [
    { interaction: begun, event_type: 'interaction.created' },
    { interaction_id: id, status: 'in_progress', event_type: 'interaction.status_update' },
    ...steps.flatMap((step, index) => (isObject(step) ? eventsOf(step, index, piece) : [])),
    { interaction, event_type: 'interaction.completed' },
  ]
}

/** A step as the events of a stream. */
export function eventsOf(step: Step, index: number, piece = Number.POSITIVE_INFINITY): Json[] {
  const { frame, deltas } = inPieces(step, piece)
  return [
    { index, step: frame, event_type: 'step.start' },
    ...deltas.map((delta) => ({ index, delta, event_type: 'step.delta' })),
    { index, event_type: 'step.stop' },
  ]
}

/** The initial content of a step, and the rest. */
function inPieces(step: Step, piece: number): { frame: Step; deltas: JsonObject[] } {
  if (step.type === 'function_call' && isObject(step.arguments)) {
    const texts = [...splitText(JSON.stringify(step.arguments), piece)]
    return {
      frame: { ...step, arguments: {} },
      deltas: texts.map((text) => ({ arguments: text, type: 'arguments_delta' })),
    }
  }
  if (step.type === 'thought') {
    const { signature, summary, ...frame } = step
    const items = listIn(summary)
    return {
      frame,
      deltas: [
        ...items.map((content) => ({ content, type: 'thought_summary' })),
        ...(signature === undefined ? [] : [{ signature, type: 'thought_signature' }]),
      ],
    }
  }
  if (step.type === 'model_output' && Array.isArray(step.content)) return outputEvents(step, step.content, piece)
  if (serverToolOf(step) && typeof step.type === 'string') {
    const { arguments: input, result, ...frame } = step
    const rest = { ...(input !== undefined && { arguments: input }), ...(result !== undefined && { result }) }
    return { frame, deltas: Object.keys(rest).length > 0 ? [{ type: step.type, ...rest }] : [] }
  }
  return { frame: step, deltas: [] }
}

/** Deltas cannot mark where one text ends and the next begins: such an output starts with everything. */
function outputEvents(step: Step, content: Json[], piece: number): { frame: Step; deltas: JsonObject[] } {
  const isText = (item: Json | undefined) => isObject(item) && item.type === 'text'
  if (content.some((item, index) => !isObject(item) || (isText(item) && isText(content[index + 1])))) {
    return { frame: step, deltas: [] }
  }
  const { content: _, ...frame } = step
  const deltas = content.filter(isObject).flatMap((item): JsonObject[] => {
    if (item.type !== 'text' || typeof item.text !== 'string') return [item]
    const texts = item.text === '' ? [''] : [...splitText(item.text, piece)]
    return [
      ...texts.map((text) => ({ text, type: 'text' })),
      ...(item.annotations === undefined ? [] : [{ annotations: item.annotations, type: 'text_annotation_delta' }]),
    ]
  })
  return { frame, deltas }
}

function writeUsage(usage: Usage): JsonObject {
  return {
    total_tokens: usage.input + usage.output,
    total_input_tokens: usage.input,
    total_cached_tokens: usage.cacheRead,
    total_output_tokens: usage.output - usage.reasoning,
    total_tool_use_tokens: 0,
    total_thought_tokens: usage.reasoning,
  }
}

function statusFor(reason: StopReason, raw: string | undefined): string {
  if (raw !== undefined && reasons[raw] === reason) return raw
  switch (reason) {
    case 'tool-calls':
      return 'requires_action'
    case 'length':
      return 'incomplete'
    case 'failed':
      return 'failed'
    case 'cancelled':
      return 'cancelled'
    case 'paused':
      return 'requires_continuation'
    case 'interrupted':
      return 'in_progress'
    default:
      return 'completed'
  }
}
