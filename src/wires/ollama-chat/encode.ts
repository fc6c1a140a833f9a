// A context as the body of an Ollama chat request. The server silently truncates a long history at the beginning, so
// truncation is turned off: an error can be handled, a silent cut cannot be explained (P3).
//
// A native reply is sent back to the same server whatever model it runs; its thinking only to the same model.

import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Reply, ToolResultPart } from '../../core/message.ts'
import { type Dialect, type Item, type ResultContent, textPart, type Encoding } from '../message-list/dialect.ts'
import { encodeMessageList } from '../message-list/encode.ts'
import { joinedRoles } from '../message-list/unfold.ts'
import { sendableCalls } from '../message-list/encode-reply.ts'
import { acceptsMedia } from '../shared/media.ts'
import type { Turn } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { encodeOptions } from './options.ts'
import { callIdGrammar, protocolId, type WireMessage } from './types.ts'

export function encode(context: Context, target: Target): Encoded {
  return encodeMessageList(context, target, dialect)
}

const dialect: Dialect = {
  id: protocolId,
  path: '/api/chat',
  callIds: callIdGrammar,
  idless: true,
  rules: {},
  turnRules({ quirks, capabilities }) {
    const alternates = quirks.alternate || capabilities.alternation
    return {
      join: alternates ? joinedRoles(quirks) : [],
      ...(alternates && { startWithUser: true }),
      ...(!capabilities.prefill && { endWithUser: 'prefill' }),
      neverEmpty: 'empty',
      ...(quirks.bridgeAfterTool && { bridgeAfterTool: true }),
    }
  },
  joinsTexts: true,
  media: image,
  ownContent: ({ kind, data }) => (isFields(kind) && isObject(data) ? { fields: data } : undefined),
  ownReplyContent: ({ kind, data }) => (isFields(kind) && isObject(data) ? { fields: data } : undefined),
  arguments: { write: (input) => input, isValid: isObject },
  callIndex: true,
  call: (id, name, input) => ({ id, function: { name, arguments: input } }),
  result: resultMessage,
  replay,
  writeTurn,
  options: encodeOptions,
}

function isFields(kind: string): boolean {
  return kind === `${protocolId}/fields`
}

/** Only bytes: the server never fetches anything. */
function image(
  part: MediaPart,
  target: Target,
  supported: readonly string[] = target.capabilities.media,
): JsonObject | undefined {
  if (part.data.kind !== 'base64' || !acceptsMedia(supported, part.mediaType)) return undefined
  return { type: 'image', image: part.data.base64 }
}

function imagesIn(parts: readonly JsonObject[]): string[] {
  return parts.flatMap((part) => (typeof part.image === 'string' ? [part.image] : []))
}

function resultMessage(result: ToolResultPart, { text, media }: ResultContent, encoding: Encoding): WireMessage {
  const images = imagesIn(media)
  return {
    role: 'tool',
    tool_name: result.name,
    ...(!encoding.isIdless(result.callId) && { tool_call_id: encoding.idOf(result.callId) }),
    content: text,
    ...(images.length > 0 && { images }),
  }
}

function replay(reply: Reply, native: JsonObject, at: string, encoding: Encoding): JsonObject | undefined {
  const message: JsonObject = { ...native, role: 'assistant' }
  if (message.thinking !== undefined && reply.origin.model !== encoding.target.model) {
    delete message.thinking
    const why = 'it is sent back only to the model that wrote it'
    encoding.notes.push({ kind: 'dropped', what: '1 reasoning part', why, at })
  }
  const calls = sendableCalls(reply, native, at, encoding)
  if (calls.length > 0) message.tool_calls = calls
  else delete message.tool_calls
  const isEmpty = !message.content && !message.thinking && !message.tool_calls && !message.images
  return isEmpty ? undefined : message
}

function writeTurn(turn: Turn<Item>): JsonObject[] {
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool') return turn.items.flatMap((item) => ('message' in item ? [item.message] : []))

  const items = turn.items.flatMap((item) => ('message' in item ? splitMessage(item.message) : [item]))
  const parts = items.flatMap((item) => ('part' in item ? [item.part] : []))
  const images = imagesIn(parts)
  const calls = items.flatMap((item) => ('call' in item ? [item.call] : []))
  const fields = items.flatMap((item) => ('fields' in item ? [item.fields] : []))
  return [
    {
      role: turn.role,
      content: parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n'),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...Object.assign({}, ...fields),
    },
  ]
}

/** A native reply, as pieces, if it has to be merged with its neighbour; its thinking is left out. */
function splitMessage(message: JsonObject): Item[] {
  const items: Item[] = []
  if (typeof message.content === 'string' && message.content !== '') items.push({ part: textPart(message.content) })
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) items.push({ call: call as JsonObject })
  }
  return items
}
