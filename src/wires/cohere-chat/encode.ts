// A context as the body of a Cohere chat request.
//
// The chat templates of Cohere's models render either the content of a reply or its calls, and with calls only
// `tool_plan` (published for Command R7B and Command A, checked 2026-11). So text next to calls is written there.

import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Reply, ToolResultPart } from '../../core/message.ts'
import { type Dialect, type Item, type ResultContent, textPart, type Encoding } from '../message-list/dialect.ts'
import { encodeMessageList } from '../message-list/encode.ts'
import { sendableCalls } from '../message-list/encode-reply.ts'
import { dataUrl, acceptsMedia } from '../shared/media.ts'
import type { Turn } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { encodeOptions } from './options.ts'
import {
  callIdGrammar,
  hasWords,
  isThinking,
  protocolId,
  toolNameLength,
  toolNamePattern,
  type Block,
} from './types.ts'
import { listIn } from '../shared/json-fields.ts'

export function encode(context: Context, target: Target): Encoded {
  return encodeMessageList(context, target, dialect)
}

const dialect: Dialect = {
  id: protocolId,
  path: '/v2/chat',
  callIds: callIdGrammar,
  toolNames: { pattern: toolNamePattern, length: toolNameLength },
  rules: { resultMedia: 'CO-9', callName: 'CO-10', callId: 'CO-11' },
  turnRules: ({ quirks, capabilities }) => {
    const alternates = quirks.alternate || capabilities.alternation
    return {
      join: alternates ? ['user', 'assistant'] : [],
      ...(alternates && { startWithUser: true }),
      ...(!capabilities.prefill && { endWithUser: 'prefill' }),
      neverEmpty: 'CO-12',
      ...(quirks.bridgeAfterTool && { bridgeAfterTool: true }),
    }
  },
  joinsTexts: true,
  media: image,
  ownContent: ({ kind, data }) => (isOwn(kind) && isObject(data) ? { part: data } : undefined),
  ownReplyContent: ({ kind, data }) => (isOwn(kind) && isObject(data) ? { part: data } : undefined),
  arguments: { write: (input) => JSON.stringify(input), isValid: (value) => typeof value === 'string' && value !== '' },
  callIndex: false,
  call: (id, name, input) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }),
  result: resultMessage,
  replay,
  built: withPlan,
  writeTurn,
  options: encodeOptions,
}

function isOwn(kind: string): boolean {
  return kind.startsWith(`${protocolId}/`)
}

function image(
  part: MediaPart,
  target: Target,
  supported: readonly string[] = target.capabilities.media,
): Block | undefined {
  const { data, mediaType } = part
  if (target.quirks.stringContent || !acceptsMedia(supported, mediaType)) return undefined
  if (data.kind === 'base64') return { type: 'image_url', image_url: { url: dataUrl(mediaType, data.base64) } }
  if (data.kind !== 'url' || !target.capabilities.mediaUrls) return undefined
  return { type: 'image_url', image_url: { url: data.url } }
}

function resultMessage(result: ToolResultPart, { text }: ResultContent, encoding: Encoding): JsonObject {
  return { role: 'tool', tool_call_id: encoding.idOf(result.callId), content: text }
}

function replay(reply: Reply, native: JsonObject, at: string, encoding: Encoding): JsonObject | undefined {
  const message: JsonObject = { ...native, role: 'assistant' }
  if (Array.isArray(message.content) && reply.origin.model !== encoding.target.model) {
    const content = message.content.filter((block) => !isThinking(block))
    const thoughts = message.content.length - content.length
    const why = 'it is sent back only to the model that wrote it'
    if (thoughts > 0) encoding.notes.push({ kind: 'dropped', what: `${thoughts} reasoning parts`, why, at })
    message.content = content
  }
  if (Array.isArray(message.content) && message.content.length === 0) delete message.content
  const calls = sendableCalls(reply, native, at, encoding)
  if (calls.length > 0) return { ...message, tool_calls: calls }
  delete message.tool_calls
  return hasWords(message.content) ? message : undefined
}

/** A reply built from its parts: its text goes into the plan if it has calls. */
function withPlan(items: readonly Item[], _reply: Reply, at: string, { notes }: Encoding): Item[] {
  const isText = (item: Item) => 'part' in item && item.part.type === 'text'
  if (!items.some((item) => 'call' in item) || !items.some(isText)) return [...items]
  const texts = items.flatMap((item) => ('part' in item && isText(item) ? [String(item.part.text)] : []))
  const why = 'the chat templates of these models render no other text next to calls'
  notes.push({ kind: 'changed', what: 'text next to calls to the plan of the calls', why, at })
  return [{ fields: { tool_plan: texts.join('\n\n') } }, ...items.filter((item) => !isText(item))]
}

function writeTurn(turn: Turn<Item>, target: Target): JsonObject[] {
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool') return turn.items.flatMap((item) => ('message' in item ? [item.message] : []))

  const items = turn.items.flatMap((item) => ('message' in item ? splitMessage(item.message) : [item]))
  const blocks = items.flatMap((item) => ('part' in item ? [item.part] : []))
  const calls = items.flatMap((item) => ('call' in item ? [item.call] : []))
  const plans = items.flatMap((item) => ('fields' in item ? [String(item.fields.tool_plan)] : []))
  return [
    {
      role: turn.role,
      ...(blocks.length > 0 && { content: contentOf(blocks, target) }),
      ...(plans.length > 0 && { tool_plan: plans.join('\n\n') }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

/** A native reply, as pieces, if it has to be merged with its neighbour; its thinking is left out. */
function splitMessage(message: JsonObject): Item[] {
  const { content, tool_plan: plan, tool_calls: calls } = message
  const items: Item[] = []
  if (typeof content === 'string' && content !== '') items.push({ part: textPart(content) })
  for (const block of listIn(content)) {
    if (isObject(block) && !isThinking(block)) items.push({ part: block })
  }
  if (typeof plan === 'string' && plan !== '') items.push({ fields: { tool_plan: plan } })
  for (const call of listIn(calls)) items.push({ call: call as JsonObject })
  return items
}

function contentOf(blocks: readonly Block[], target: Target): string | Block[] {
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
  const plain = texts.length === blocks.length && (blocks.length === 1 || target.quirks.stringContent)
  return plain ? texts.join('\n') : [...blocks]
}
