// A context as the body of a chat completion. Nothing is stored at the host; content and calls of a reply stay
// together.

import type { Context } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import { type Dialect, type Item, type ResultContent, textPart, type Encoding } from '../message-list/dialect.ts'
import { encodeMessageList } from '../message-list/encode.ts'
import { joinedRoles } from '../message-list/unfold.ts'
import type { ToolResultPart, MediaPart } from '../../core/message.ts'
import type { Turn } from '../shared/turns.ts'
import type { Encoded, Target } from '../wire.ts'
import { builtReply, ownReplyContent, replay } from './encode-reply.ts'
import { encodeOptions } from './options.ts'
import { callIdGrammar, foreignCall, protocolId, toolNameLength, toolNamePattern, type ContentPart } from './types.ts'
import { dataUrl, acceptsMedia } from '../shared/media.ts'

export function encode(context: Context, target: Target): Encoded {
  return encodeMessageList(context, target, dialect)
}

const dialect: Dialect = {
  id: protocolId,
  path: '/chat/completions',
  callIds: callIdGrammar,
  toolNames: { pattern: toolNamePattern, length: toolNameLength },
  rules: { resultMedia: 'C12', callId: 'C4', callName: 'C8', arguments: 'C19', otherCalls: 'C1' },
  turnRules({ quirks, capabilities }) {
    const alternates = quirks.alternate || capabilities.alternation
    return {
      join: alternates ? joinedRoles(quirks) : [],
      ...(alternates && { startWithUser: true }),
      ...(!capabilities.prefill && { endWithUser: 'D5' }),
      ...(quirks.bridgeAfterTool && { bridgeAfterTool: true }),
    }
  },
  // A list without a message is refused (C7), and one with only a system message by many hosts.
  needsUser: 'C7',
  joinsTexts: true,
  media: mediaContent,
  ownContent({ kind, data }, { quirks }) {
    const isOurs = kind.startsWith(`${protocolId}/`) && isObject(data) && typeof data.type === 'string'
    return isOurs && !quirks.stringContent ? { part: { ...data } } : undefined
  },
  ownReplyContent,
  unsendable: ({ kind }) =>
    kind.startsWith(foreignCall) ? { why: 'nothing here can answer it', rule: 'C1' } : undefined,
  arguments: {
    write: (input) => JSON.stringify(input),
    isValid: (value) => typeof value === 'string' && value.trim() !== '',
  },
  callIndex: false,
  call: (id, name, input) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }),
  freeFormCall: (id, name, text) => ({ id, type: 'custom', custom: { name, input: text } }),
  result: resultMessage,
  replay,
  built: builtReply,
  handlesReasoning: true,
  writeTurn,
  options: encodeOptions,
  marks: { takes: takesMarks, onItems: withMark, onTools: markTools },
}

function resultMessage(result: ToolResultPart, { text, media }: ResultContent, encoding: Encoding): JsonObject {
  const isList = media.length > 0 || takesMarks(encoding.target)
  const content = isList ? [...(text === '' ? [] : [textPart(text)]), ...media] : text
  return { role: 'tool', tool_call_id: encoding.idOf(result.callId), content }
}

function writeTurn(turn: Turn<Item>, target: Target): JsonObject[] {
  const [only] = turn.items
  if (turn.items.length === 1 && only && 'message' in only) return [only.message]
  if (turn.role === 'tool' || turn.role === 'assistant') {
    const messages = turn.items.flatMap((item) => ('message' in item ? [item.message] : []))
    if (turn.role === 'tool') return messages
    const texts = turn.items.flatMap((item) => ('part' in item ? [{ role: 'assistant', content: item.part.text }] : []))
    return [[...messages, ...texts].reduce(joinMessages)]
  }
  const parts = turn.items.flatMap((item) => ('part' in item ? [item.part] : []))
  const role = turn.role === 'system' ? (target.capabilities.systemRole ?? 'system') : 'user'
  return [{ role, content: contentOf(parts, target) }]
}

/** Two adjacent replies as one message: growing fields are concatenated, calls come last anyway. */
function joinMessages(first: JsonObject, second: JsonObject): JsonObject {
  const message: JsonObject = { ...first }
  for (const [field, value] of Object.entries(second)) {
    const existing = message[field]
    if (field === 'role' || value === null || value === undefined) continue
    if (typeof existing === 'string' && existing !== '' && typeof value === 'string')
      message[field] = `${existing}\n\n${value}`
    else if (Array.isArray(existing) && Array.isArray(value)) message[field] = [...existing, ...value]
    else if (Array.isArray(existing) && typeof value === 'string') message[field] = [...existing, textPart(value)]
    else if (typeof existing === 'string' && Array.isArray(value)) message[field] = [textPart(existing), ...value]
    else message[field] = value
  }
  return message
}

/** A single text is a plain string, the form that every host supports, unless it may need marks. */
function contentOf(parts: readonly ContentPart[], target: Target): string | ContentPart[] {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text' && typeof only.text === 'string' && !takesMarks(target)) {
    return only.text
  }
  if (!target.quirks.stringContent) return [...parts]
  return parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n\n')
}

// Where a prompt cache may end. OpenRouter accepts Anthropic's `cache_control`, OpenAI its own breakpoint (GPT-5.6 and
// later, checked 2026-11). Both are on a content part: so if marks can be set, content is always a list, marked or not,
// and a moved mark changes nothing else (P4). Replies are sent back unchanged and have no marks.

function takesMarks(target: Target): boolean {
  return target.capabilities.cacheMarks === true && !target.quirks.stringContent
}

/** The items with a mark on the last part that can have one; undefined if none can. */
function withMark(items: readonly Item[], target: Target): Item[] | undefined {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index] as Item
    if ('part' in item) return items.with(index, { part: markPart(item.part, target) })
    if (!('message' in item)) continue
    const { role, content } = item.message
    const last = role === 'tool' && Array.isArray(content) ? content.at(-1) : undefined
    if (!Array.isArray(content) || !isObject(last)) continue
    return items.with(index, {
      message: { ...item.message, content: [...content.slice(0, -1), markPart(last, target)] },
    })
  }
  return undefined
}

function markPart<P extends JsonObject>(part: P, target: Target): P {
  if (!target.quirks.cacheControl) return { ...part, prompt_cache_breakpoint: { mode: 'explicit' } }
  return { ...part, cache_control: { type: 'ephemeral', ...(target.options.cacheTtl === '1h' && { ttl: '1h' }) } }
}

/** Without a system prompt the tools come first; OpenAI does not support a mark on them. */
function markTools(fields: JsonObject, target: Target): void {
  const { tools } = fields
  const last = Array.isArray(tools) ? tools.at(-1) : undefined
  if (!takesMarks(target) || !target.quirks.cacheControl || !Array.isArray(tools) || !isObject(last)) return
  fields.tools = [...tools.slice(0, -1), markPart(last, target)]
}

// Media on this wire. Images are a URL or data; files and audio are data only, in separate fields; only user messages
// may contain them, unless the host allows more (C12).

/** Undefined if the target does not support it: then the caller writes text instead. */
function mediaContent(
  part: MediaPart,
  target: Target,
  supported: readonly string[] = target.capabilities.media,
): ContentPart | undefined {
  const { data, mediaType, name } = part
  if (target.quirks.stringContent || data.kind === 'blob' || !acceptsMedia(supported, mediaType)) return undefined
  if (data.kind === 'url' && !target.capabilities.mediaUrls) return undefined
  const [family] = mediaType.split('/')

  if (data.kind === 'file') {
    // The wire has no file id for an image (checked 2026-11).
    const fits = data.provider === target.provider && family !== 'image'
    return fits ? { type: 'file', file: { file_id: data.fileId } } : undefined
  }
  const url = data.kind === 'url' ? data.url : dataUrl(mediaType, data.base64)
  if (family === 'image') return { type: 'image_url', image_url: { url } }
  if (family === 'video') return { type: 'video_url', video_url: { url } }
  if (data.kind === 'url') return undefined
  if (family !== 'audio') return { type: 'file', file: { filename: name ?? 'file', file_data: url } }
  const format = audioFormats[mediaType]
  return format === undefined ? undefined : { type: 'input_audio', input_audio: { data: data.base64, format } }
}

/** The wire supports two audio formats. */
const audioFormats: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}
