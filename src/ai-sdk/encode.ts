// A context as a call of a model of the AI SDK. A reply of the same provider is sent back as the SDK returned it, with
// the options that carry signatures and the like.

import { placeOf, type Context, type Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply, TextPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import { wireIds, type IdGrammar } from '../wires/shared/ids.ts'
import type { Encoded, Target } from '../wires/wire.ts'
import { emptyResultText, malformedInput, mediaStandIn, summaryLabel } from '../wires/shared/injected-text.ts'
import { protocolId, type WireMessage } from './wire.ts'
import { isReplayable } from '../wires/shared/replayable.ts'

/**
 * The underlying provider has its own id grammar; nine letters and digits are valid for all of them. Its own ids are
 * valid for itself.
 */
const grammar: IdGrammar = { prefix: '', length: 9, fits: /./ }

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const replayed = (reply: Reply): boolean => isReplayable(reply, protocolId, target)
  const idOf = wireIds(context.messages, grammar, replayed)
  const prompt: WireMessage[] = context.system.map(({ text }) => ({ role: 'system', content: text }))
  for (const [index, message] of context.messages.entries()) {
    const written = writeMessage(message, { idOf, replayed, note })
    const last = prompt.at(-1)
    if (written.role === 'tool' && last?.role === 'tool' && Array.isArray(last.content)) {
      last.content.push(...(written.content as JsonObject[]))
    } else if (written.content.length > 0) {
      prompt.push(written)
    }

    function note(kind: Note['kind'], what: string, why: string): void {
      notes.push({ kind, what, why, at: placeOf(context, index) })
    }
  }
  return {
    path: '',
    body: { prompt: prompt.map((each) => ({ ...each })), ...settings(context, target) },
    notes,
    toolNames: {},
  }
}

interface Encoding {
  idOf: (callId: string) => string
  replayed: (reply: Reply) => boolean
  note: (kind: Note['kind'], what: string, why: string) => void
}

function settings({ tools }: Context, { options }: Target): JsonObject {
  const { maxOutput, temperature, topP, stop, effort, toolChoice, answerSchema, extra } = options
  const { topK, seed, presencePenalty, frequencyPenalty } = options
  return {
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: 'function',
        name,
        ...(description !== undefined && { description }),
        inputSchema: input,
      })),
    }),
    ...(toolChoice !== undefined &&
      tools.length > 0 && {
        toolChoice: typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.tool } : { type: toolChoice },
      }),
    ...(maxOutput !== undefined && { maxOutputTokens: maxOutput }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
    ...(seed !== undefined && { seed }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(stop && { stopSequences: stop }),
    ...(effort !== undefined && { reasoning: effort }),
    ...(answerSchema && { responseFormat: { type: 'json', schema: answerSchema } }),
    ...extra,
  }
}

function writeMessage(message: Message, encoding: Encoding): WireMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.parts.map((part) => part.text).join('\n') }
    case 'user':
      return { role: 'user', content: message.parts.flatMap((part) => writeContent(part, encoding)) }
    case 'tool':
      return { role: 'tool', content: writeResults(message, encoding) }
    case 'assistant':
      return { role: 'assistant', content: writeReply(message, encoding) }
  }
}

function writeContent(part: Part, { note }: Encoding): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'media':
      return [writeMedia(part)]
    case 'compaction':
      return part.text ? [{ type: 'text', text: `${summaryLabel}\n${part.text}` }] : []
    default:
      note('dropped', part.type === 'opaque' ? part.kind : part.type, 'the AI SDK has no place for it')
      return []
  }
}

function writeMedia({ mediaType, name, data }: MediaPart): JsonObject {
  const file = { type: 'file', mediaType, ...(name !== undefined && { filename: name }) }
  switch (data.kind) {
    case 'base64':
      return { ...file, data: { type: 'data', data: data.base64 } }
    case 'url':
      return { ...file, data: { type: 'url', url: data.url } }
    case 'file':
      return { ...file, data: { type: 'reference', reference: { [data.provider]: data.fileId } } }
    case 'blob':
      return { type: 'text', text: mediaStandIn(mediaType, name) }
  }
}

function writeReply(reply: Reply, { idOf, replayed, note }: Encoding): JsonObject[] {
  if (replayed(reply)) return replay(reply, idOf)
  let dropped = 0
  const content = reply.parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return part.text === '' ? [] : [{ type: 'text', text: part.text }]
      case 'tool-call': {
        const input: Json = part.malformed === undefined ? part.input : malformedInput(part.malformed)
        return [{ type: 'tool-call', toolCallId: idOf(part.callId), toolName: part.name, input }]
      }
      case 'media':
        return [writeMedia(part)]
      case 'compaction':
        return part.text ? [{ type: 'text', text: `${summaryLabel}\n${part.text}` }] : []
      case 'server-tool':
        if (part.output !== undefined) {
          const json = JSON.stringify({ input: part.input ?? null, output: part.output })
          return [{ type: 'text', text: `[Server Tool] ${part.name} ${json}` }]
        }
    }
    dropped++
    return []
  })
  if (dropped > 0)
    note('dropped', `${dropped} parts of a reply`, 'they were made by another provider, or have no place in the AI SDK')
  return content
}

/** In the SDK's form; an id that an earlier call has taken is replaced. */
function replay(reply: Reply, idOf: Encoding['idOf']): JsonObject[] {
  const calls = new Map(
    reply.parts.flatMap((part) => (part.type === 'tool-call' ? [[part.from, part.callId] as const] : [])),
  )
  return reply.native.filter(isObject).map((word, i) => {
    const callId = calls.get(i)
    return callId === undefined ? word : { ...word, toolCallId: idOf(callId) }
  })
}

function writeResults(message: ToolMessage, { idOf }: Encoding): JsonObject[] {
  return message.parts.map((part) => ({
    type: 'tool-result',
    toolCallId: idOf(part.callId),
    toolName: part.name,
    output: writeOutput(part),
  }))
}

function writeOutput({ output, failed }: ToolResultPart): JsonObject {
  const texts = output.filter((part): part is TextPart => part.type === 'text')
  const text = texts.map((part) => part.text).join('\n') || emptyResultText
  if (failed) return { type: 'error-text', value: text }
  if (texts.length === output.length) return { type: 'text', value: text }
  return {
    type: 'content',
    value: output.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : writeMedia(part))),
  }
}
