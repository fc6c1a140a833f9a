// What Converse would have sent: a reply, complete or as the chunks of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { callIdGrammar, inside, kindOf, protocolId, textBlock } from './types.ts'
import { digestId } from '../shared/letters.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const isNative = reply.origin.protocol === protocolId && reply.native.length > 0
  const content = isNative ? reply.native : reply.parts.flatMap((part, i) => blocksFor(part, `${profile.replyId}/${i}`))
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: stopReason(reply),
    usage: wireUsage(profile.usage),
    metrics: { latencyMs: 0 },
  }
}

export function errorBody(issue: Issue): Json {
  return { message: issue.message, __type: issue.type ?? errorTypes[issue.status] ?? 'ValidationException' }
}

const errorTypes: Readonly<Record<number, string>> = {
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

function blocksFor(part: Part, seed: string): JsonObject[] {
  switch (part.type) {
    case 'text':
      if (!part.citations || part.citations.length === 0) return [textBlock(part.text)]
      return [{ citationsContent: { content: [{ text: part.text }], citations: part.citations } }]
    case 'refusal':
      return [textBlock(part.text)]
    case 'reasoning': {
      const signature = digestId('', `${seed}${part.text}`, 64)
      if (part.hidden && part.text === '') return [{ reasoningContent: { redactedContent: signature } }]
      return [{ reasoningContent: { reasoningText: { text: part.text, signature } } }]
    }
    case 'tool-call': {
      const fitting = [part.alias, part.callId].find((id) => id !== undefined && callIdGrammar.fits.test(id))
      const toolUseId = fitting ?? digestId('tooluse_', part.callId, 22)
      return [{ toolUse: { toolUseId, name: part.name, input: part.input } }]
    }
    case 'server-tool': {
      const toolUseId = digestId('tooluse_', seed, 22)
      const use = { toolUse: { toolUseId, name: part.name, input: part.input ?? {}, type: 'server_tool_use' } }
      if (part.output === undefined) return [use]
      const content = Array.isArray(part.output) ? part.output : [{ text: JSON.stringify(part.output) }]
      return [use, { toolResult: { toolUseId, content, type: `${part.name}_result` } }]
    }
    case 'compaction':
      return part.text ? [textBlock(part.text)] : []
    // A reply on this wire carries no media, and no results of the caller's tools.
    case 'media':
    case 'tool-result':
    case 'opaque':
      return []
  }
}

function stopReason({ origin, stop }: Reply): string {
  if (stop.sequence !== undefined) return 'stop_sequence'
  if (origin.protocol === protocolId && stop.raw !== undefined && stop.reason !== 'failed') return stop.raw
  switch (stop.reason) {
    case 'length':
      return 'max_tokens'
    case 'tool-calls':
      return 'tool_use'
    case 'refusal':
      return 'content_filtered'
    default:
      return 'end_turn'
  }
}

export function split(body: Json, piece = Infinity): Json[] {
  const message = isObject(body) ? inside(body.output, 'message') : undefined
  if (!isObject(body) || !message) return [body]
  const { output: _, stopReason, additionalModelResponseFields: more, ...rest } = body
  const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : []
  return [
    { messageStart: { role: message.role ?? 'assistant' } },
    ...blocks.flatMap((block, contentBlockIndex) => {
      const { start, deltas } = splitBlock(block, piece)
      return [
        ...(start ? [{ contentBlockStart: { contentBlockIndex, start } }] : []),
        ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
        { contentBlockStop: { contentBlockIndex } },
      ]
    }),
    {
      messageStop: {
        ...(stopReason !== undefined && { stopReason }),
        ...(more !== undefined && { additionalModelResponseFields: more }),
      },
    },
    { metadata: { ...rest } },
  ]
}

function splitBlock(block: JsonObject, piece: number): { start?: JsonObject; deltas: JsonObject[] } {
  const kind = kindOf(block)
  const value = inside(block, kind) ?? {}
  if (typeof block.text === 'string') {
    const texts = [...splitText(block.text, piece)]
    return { deltas: (texts.length > 0 ? texts : ['']).map((text) => ({ text })) }
  }
  if (kind === 'toolUse') {
    const { input, ...start } = value
    const text = input === undefined ? '' : JSON.stringify(input)
    return {
      start: { toolUse: start },
      deltas: [...splitText(text, piece)].map((input) => ({ toolUse: { input: input } })),
    }
  }
  if (kind === 'reasoningContent') {
    const { text, signature } = inside(value, 'reasoningText') ?? {}
    const texts = typeof text === 'string' ? [...splitText(text, piece)] : []
    return {
      deltas: [
        ...texts.map((more) => ({ reasoningContent: { text: more } })),
        ...(signature === undefined ? [] : [{ reasoningContent: { signature } }]),
        ...(value.redactedContent === undefined
          ? []
          : [{ reasoningContent: { redactedContent: value.redactedContent } }]),
      ],
    }
  }
  return { start: block, deltas: [] }
}

function wireUsage({ input, output, cacheRead, cacheWrite }: Usage): JsonObject {
  return {
    inputTokens: Math.max(0, input - cacheRead - cacheWrite),
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
  }
}
