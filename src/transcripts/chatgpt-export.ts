// The `conversations.json` of a ChatGPT data export: a list of conversations, each a tree of nodes in `mapping`. The
// current branch is the path from `current_node` up to the root; edited questions and regenerated answers are the other
// branches. Tools are ChatGPT's own: the model writes to a recipient, and a node of role `tool` answers.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type {
  MediaPart,
  Message,
  OpaquePart,
  Reply,
  ServerToolPart,
  StopReason,
  TextPart,
  UserMessage,
} from '../core/message.ts'
import {
  withSource,
  type Transcript,
  type TranscriptFormat,
  unreadable,
  writeBySource,
} from '../wires/shared/transcript.ts'
import { newConversation, addNodes } from './chatgpt-write.ts'
import { objectIn, listIn, textIn } from '../wires/shared/json-fields.ts'

const formatId = 'chatgpt-export'

export const chatgptExportFormat: TranscriptFormat = { id: formatId, recognise, read, write }

function recognise(json: Json): boolean {
  const conversation = Array.isArray(json) ? json[0] : json
  return isObject(conversation) && isObject(conversation.mapping)
}

/** One conversation: the only one in the file, or the first of several. */
function read(json: Json): Transcript {
  const path = Array.isArray(json) ? '$[0]' : '$'
  const conversation = Array.isArray(json) ? json[0] : json
  if (!isObject(conversation) || !isObject(conversation.mapping)) {
    throw unreadable(formatId, path, 'a conversation with a mapping')
  }
  const notes: Note[] = []
  if (Array.isArray(json) && json.length > 1) {
    const why = 'a transcript is one conversation, and the first was read; the file keeps them'
    notes.push({ kind: 'dropped', what: `${json.length - 1} other conversations`, why })
  }
  const branch = currentBranch(conversation, conversation.mapping, path, notes)
  const messages = readNodes(branch, conversation)
  return { messages: withSource(formatId, json, messages), notes }
}

function currentBranch(conversation: JsonObject, mapping: JsonObject, path: string, notes: Note[]): JsonObject[] {
  const branch: JsonObject[] = []
  const seen = new Set<string>()
  let id = typeof conversation.current_node === 'string' ? conversation.current_node : lastLeaf(mapping)
  while (id !== undefined && !seen.has(id)) {
    seen.add(id)
    const node = mapping[id]
    if (!isObject(node)) throw unreadable(formatId, `${path}.mapping.${id}`, 'a node')
    branch.push(node)
    id = typeof node.parent === 'string' && mapping[node.parent] !== undefined ? node.parent : undefined
  }
  const others = Object.entries(mapping).filter(
    ([key, node]) => !seen.has(key) && isObject(node) && isObject(node.message),
  )
  if (others.length > 0) {
    const why = 'only the branch that was last shown is read; the file keeps them'
    notes.push({ kind: 'dropped', what: `${others.length} messages of other branches`, why })
  }
  return branch.toReversed()
}

/** Old exports do not record the current node: then it is the newest leaf. */
function lastLeaf(mapping: JsonObject): string | undefined {
  let last: { id: string; time: number } | undefined
  for (const [id, node] of Object.entries(mapping)) {
    if (!isObject(node) || (Array.isArray(node.children) && node.children.length > 0)) continue
    const time = isObject(node.message) && typeof node.message.create_time === 'number' ? node.message.create_time : 0
    if (!last || time >= last.time) last = { id, time }
  }
  return last?.id
}

/** The original file, with new messages appended to the branch that was read. */
function write(messages: Message[]): Json {
  const fresh: Message[] = []
  const files = writeBySource(messages, formatId, (run) => {
    fresh.push(...run)
    return []
  })
  const file = files.length > 1 ? files.flat() : files[0]
  if (file === undefined) return [newConversation(fresh)]
  if (fresh.length === 0) return file
  const conversation = Array.isArray(file) ? file[0] : file
  if (!isObject(conversation)) return [newConversation(fresh)]
  const longer = addNodes(conversation, fresh)
  return Array.isArray(file) ? [longer, ...file.slice(1)] : longer
}

/**
 * The nodes of one branch of a ChatGPT conversation as messages. Everything between two user messages is one reply:
 * thinking, tool calls with their results, and text.
 */
function readNodes(nodes: readonly JsonObject[], conversation: JsonObject): Message[] {
  const messages: Message[] = []
  let reply: Reply | undefined
  for (const node of nodes) {
    const message = node.message
    if (!isObject(message) || !isObject(message.author)) continue
    const content = objectIn(message.content)
    const { role } = message.author
    const instructions = contextText(content)
    if (instructions !== undefined || role === 'system') {
      const text = instructions ?? plainText(content)
      if (text !== '') messages.push({ role: 'system', parts: [{ type: 'text', text }] })
      if (text !== '') reply = undefined
    } else if (role === 'user') {
      reply = undefined
      const parts = contentParts(content, message)
      if (parts.length > 0) messages.push({ role: 'user', parts })
    } else {
      if (!reply) messages.push((reply = emptyReply(message, conversation)))
      if (role === 'tool') addOutput(reply, message, content)
      else addWords(reply, message, content)
    }
  }
  return messages.filter(({ parts }) => parts.length > 0)
}

/** The user's custom instructions, and ChatGPT's memory, are in special nodes. */
function contextText(content: JsonObject): string | undefined {
  if (content.content_type === 'user_editable_context') {
    return [content.user_profile, content.user_instructions].filter((text) => typeof text === 'string').join('\n\n')
  }
  if (content.content_type !== 'model_editable_context') return undefined
  return textIn(content.model_set_context)
}

function emptyReply(message: JsonObject, conversation: JsonObject): Reply {
  const about = objectIn(message.metadata)
  const model = [about.model_slug, conversation.default_model_slug].find((slug) => typeof slug === 'string')
  return {
    role: 'assistant',
    parts: [],
    native: [],
    origin: { protocol: 'chatgpt-export', provider: 'chatgpt', model: textIn(model) },
    stop: { reason: 'done' },
  }
}

function addWords(reply: Reply, message: JsonObject, content: JsonObject): void {
  const { recipient } = message
  if (typeof recipient === 'string' && recipient !== 'all' && recipient !== '') {
    reply.parts.push({ type: 'server-tool', name: recipient, input: callInput(content) })
    return
  }
  if (content.content_type === 'thoughts') {
    const thoughts = Array.isArray(content.thoughts) ? content.thoughts.filter(isObject) : []
    const text = thoughts
      .map((thought) => [thought.content, thought.summary].find((text) => typeof text === 'string') ?? '')
      .join('\n\n')
    if (text !== '') reply.parts.push({ type: 'reasoning', text })
    return
  }
  reply.parts.push(...contentParts(content, message))
  reply.stop = stopOf(message)
}

/** A tool is called with code, JSON, or plain text. */
function callInput(content: JsonObject): Json {
  const text = typeof content.text === 'string' ? content.text : plainText(content)
  try {
    const value = JSON.parse(text) as Json
    if (isObject(value)) return value
  } catch {
    // code or plain words, kept as they are
  }
  return content.content_type === 'code' && typeof content.language === 'string' && content.language !== 'unknown'
    ? { language: content.language, code: text }
    : { text }
}

/** An answer belongs to the last call without one. */
function addOutput(reply: Reply, message: JsonObject, content: JsonObject): void {
  const author = objectIn(message.author)
  const name = typeof author.name === 'string' && author.name !== '' ? author.name : 'tool'
  const media = contentParts(content, message).filter((part) => part.type === 'media')
  const output = outputOf(content)
  const open = reply.parts.findLast(
    (part): part is ServerToolPart => part.type === 'server-tool' && part.output === undefined,
  )
  if (open) open.output = output
  else if (output !== '' || media.length > 0) reply.parts.push({ type: 'server-tool', name, output })
  reply.parts.push(...media)
}

function outputOf(content: JsonObject): Json {
  switch (content.content_type) {
    case 'text':
    case 'multimodal_text':
      return plainText(content)
    case 'execution_output':
    case 'system_error':
      return textIn(content.text)
    default:
      return content
  }
}

function plainText(content: JsonObject): string {
  if (!Array.isArray(content.parts)) return textIn(content.text)
  return content.parts.filter((part) => typeof part === 'string').join('\n')
}

type ContentPart = TextPart | MediaPart | OpaquePart

function contentParts(content: JsonObject, message: JsonObject): (UserMessage['parts'][number] & ContentPart)[] {
  const { content_type: type } = content
  const about = objectIn(message.metadata)
  if (type === 'text' || type === 'multimodal_text') {
    const parts = listIn(content.parts)
    return parts.flatMap((part): ContentPart[] => {
      if (typeof part !== 'string') return [pieceOf(part, about)]
      return part === '' ? [] : [{ type: 'text', text: part, ...citationsIn(about) }]
    })
  }
  if (type === 'code' && typeof content.text === 'string') return [{ type: 'text', text: content.text }]
  const isEmpty = Object.keys(content).length === 0
  return isEmpty
    ? []
    : [{ type: 'opaque', kind: `chatgpt-export/${typeof type === 'string' ? type : 'content'}`, data: content }]
}

function citationsIn(about: JsonObject): { citations?: Json[] } {
  return Array.isArray(about.citations) && about.citations.length > 0 ? { citations: about.citations } : {}
}

/** Files are named, not contained: the export has them as separate files, if at all. */
function pieceOf(piece: Json, about: JsonObject): ContentPart {
  const type = isObject(piece) && typeof piece.content_type === 'string' ? piece.content_type : 'part'
  if (!isObject(piece)) return { type: 'opaque', kind: `chatgpt-export/${type}`, data: piece }
  if (type === 'audio_transcription' && typeof piece.text === 'string') return { type: 'text', text: piece.text }
  const sound = isObject(piece.audio_asset_pointer) ? piece.audio_asset_pointer : piece
  const pointer = sound.asset_pointer
  if (typeof pointer !== 'string') return { type: 'opaque', kind: `chatgpt-export/${type}`, data: piece }
  const attachments = Array.isArray(about.attachments) ? about.attachments.filter(isObject) : []
  const file = attachments.find(({ id }) => typeof id === 'string' && pointer.endsWith(id))
  const declared = file?.mime_type ?? file?.mimeType
  const kind = type.startsWith('image') ? 'image/*' : type.includes('audio') ? 'audio/*' : 'application/octet-stream'
  return {
    type: 'media',
    mediaType: typeof declared === 'string' ? declared : kind,
    ...(typeof file?.name === 'string' && { name: file.name }),
    data: { kind: 'file', fileId: pointer, provider: 'chatgpt' },
  }
}

const stops: Record<string, StopReason> = { max_tokens: 'length', interrupted: 'cancelled' }

function stopOf(message: JsonObject): Reply['stop'] {
  const about = objectIn(message.metadata)
  const raw = isObject(about.finish_details) ? about.finish_details.type : undefined
  if (typeof raw === 'string') return { reason: (Object.hasOwn(stops, raw) ? stops[raw] : undefined) ?? 'done', raw }
  return { reason: message.status === 'in_progress' ? 'interrupted' : 'done' }
}
