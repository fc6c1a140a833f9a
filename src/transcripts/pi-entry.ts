// One entry of a pi session as a message. The wire and provider are recorded on each reply, because they can change
// within a session.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply, StopReason, TextPart } from '../core/message.ts'
import { emptyResultText } from '../wires/shared/injected-text.ts'
import type { CallRegistry } from '../wires/shared/call-registry.ts'
import { unreadable } from '../wires/shared/transcript.ts'
import { textIn } from '../wires/shared/json-fields.ts'

/** Undefined if the entry is not a message: settings, labels, and what was hidden from the model. */
export function readEntry(entry: JsonObject, at: string, registry: CallRegistry, notes: Note[]): Message | undefined {
  switch (entry.type) {
    case 'message':
      if (!isObject(entry.message)) throw unreadable('pi', `${at}.message`, 'an object')
      return readMessage(entry.message, `${at}.message`, registry, notes)
    case 'custom_message':
      return { role: 'user', parts: blocksOf(entry.content, `${at}.content`) }
    case 'compaction':
      return { role: 'user', parts: [{ type: 'compaction', ...textOf(entry.summary) }] }
    case 'branch_summary':
      return { role: 'user', parts: [branchSummary(entry.summary)] }
    default:
      return undefined
  }
}

function readMessage(message: JsonObject, at: string, registry: CallRegistry, notes: Note[]): Message | undefined {
  switch (message.role) {
    case 'user':
      return {
        role: 'user',
        parts: [...blocksOf(message.content, `${at}.content`), ...readAttachments(message.attachments)],
      }
    case 'assistant':
      return readReply(message, at, registry)
    case 'toolResult': {
      const alias = typeof message.toolCallId === 'string' ? message.toolCallId : undefined
      const named = typeof message.toolName === 'string' ? message.toolName : undefined
      const call = registry.answer(alias, named)
      const name = named ?? call?.name ?? 'tool'
      const output = blocksOf(message.content, `${at}.content`)
      const failed = message.isError === true && { failed: true }
      return {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: call?.callId ?? alias ?? '', name, output, ...failed }],
      }
    }
    case 'bashExecution':
      return message.excludeFromContext === true ? undefined : { role: 'user', parts: [commandRun(message)] }
    case 'custom':
    case 'hookMessage':
      return { role: 'user', parts: blocksOf(message.content, `${at}.content`) }
    case 'compactionSummary':
      return { role: 'user', parts: [{ type: 'compaction', ...textOf(message.summary) }] }
    case 'branchSummary':
      return { role: 'user', parts: [branchSummary(message.summary)] }
    default:
      notes.push({
        kind: 'dropped',
        what: `message of role ${JSON.stringify(message.role ?? null)}`,
        why: 'it is not known',
        at,
      })
      return undefined
  }
}

function textOf(value: Json | undefined): { text?: string } {
  return typeof value === 'string' ? { text: value } : {}
}

function branchSummary(summary: Json | undefined): TextPart {
  return { type: 'text', text: `[Summary of a branch that was left]\n${textIn(summary)}` }
}

/** A command that the user ran by hand: the model received it as a user message. */
function commandRun({ command, output, exitCode, cancelled }: JsonObject): TextPart {
  const lines = [`[Command] ${textIn(command)}`, typeof output === 'string' && output ? output : emptyResultText]
  if (cancelled === true) lines.push('(cancelled)')
  else if (typeof exitCode === 'number' && exitCode !== 0) lines.push(`(exit code ${exitCode})`)
  return { type: 'text', text: lines.join('\n') }
}

function blocksOf(content: Json | undefined, at: string): (TextPart | MediaPart)[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw unreadable('pi', at, 'a string or a list')
  return content.map((block): TextPart | MediaPart => {
    if (isObject(block) && block.type === 'text' && typeof block.text === 'string')
      return { type: 'text', text: block.text }
    if (isObject(block) && block.type === 'image' && typeof block.data === 'string') {
      const mediaType = typeof block.mimeType === 'string' ? block.mimeType : 'image/png'
      return { type: 'media', mediaType, data: { kind: 'base64', base64: block.data } }
    }
    return { type: 'text', text: JSON.stringify(block) }
  })
}

/** The first version stored files next to the content. */
function readAttachments(attachments: Json | undefined): MediaPart[] {
  if (!Array.isArray(attachments)) return []
  return attachments.filter(isObject).flatMap((file): MediaPart[] => {
    if (typeof file.content !== 'string' || typeof file.mimeType !== 'string') return []
    const name = typeof file.fileName === 'string' ? { name: file.fileName } : {}
    return [{ type: 'media', mediaType: file.mimeType, ...name, data: { kind: 'base64', base64: file.content } }]
  })
}

const stops: Record<string, StopReason> = {
  stop: 'done',
  length: 'length',
  toolUse: 'tool-calls',
  error: 'failed',
  aborted: 'cancelled',
}

/** pi's names for our wires; an unknown one keeps its name. */
const wires: Record<string, string> = {
  'openai-completions': 'openai-chat',
  'openai-responses': 'openai-responses',
  'azure-openai-responses': 'openai-responses',
  'openai-codex-responses': 'openai-responses',
  'anthropic-messages': 'anthropic-messages',
  'google-generative-ai': 'gemini-generate',
  'google-gemini-cli': 'gemini-generate',
  'google-vertex': 'gemini-generate',
  'mistral-conversations': 'mistral-chat',
}

function readReply(message: JsonObject, at: string, registry: CallRegistry): Reply {
  if (!Array.isArray(message.content)) throw unreadable('pi', `${at}.content`, 'a list')
  const raw = typeof message.stopReason === 'string' ? message.stopReason : undefined
  const reason = (raw !== undefined && Object.hasOwn(stops, raw) ? stops[raw] : undefined) ?? 'done'
  const api = textIn(message.api)
  const protocol = Object.hasOwn(wires, api) ? (wires[api] ?? api) : api
  registry.turn()
  const blocks = message.content.filter(isObject)
  const native =
    protocol === 'anthropic-messages' && raw !== 'error' && raw !== 'aborted' ? anthropicBlocks(blocks) : []
  const isPlaced = native.length > 0
  return {
    role: 'assistant',
    parts: blocks.map((block, index) => ({ ...readBlock(block, registry), ...(isPlaced && { from: index }) })),
    native,
    origin: {
      protocol,
      provider: textIn(message.provider),
      model: textIn(message.model),
      ...(typeof message.responseId === 'string' && { replyId: message.responseId }),
    },
    stop: { reason, ...(raw !== undefined && { raw }) },
  }
}

type ReplyPart = Exclude<Part, { type: 'tool-result' }>

function readBlock(block: JsonObject, registry: CallRegistry): ReplyPart {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
  if (block.type === 'thinking' && typeof block.thinking === 'string') {
    return { type: 'reasoning', text: block.thinking, ...(block.redacted === true && { hidden: true }) }
  }
  if (block.type !== 'toolCall') {
    return { type: 'opaque', kind: `pi/${typeof block.type === 'string' ? block.type : 'block'}`, data: block }
  }
  const name = textIn(block.name)
  const alias = typeof block.id === 'string' && block.id !== '' ? block.id : undefined
  const malformed = brokenArguments(block)
  return {
    type: 'tool-call',
    callId: registry.register(alias, name),
    ...(alias !== undefined && { alias }),
    name,
    input: block.arguments ?? {},
    ...(malformed !== undefined && { malformed }),
  }
}

/** An interrupted call still has its partial text; what pi guessed from it is not what was meant. */
function brokenArguments({ partialJson, arguments: args }: JsonObject): string | undefined {
  if (typeof partialJson === 'string') {
    try {
      JSON.parse(partialJson)
    } catch {
      return partialJson
    }
  }
  return args === undefined || isObject(args) ? undefined : JSON.stringify(args)
}

/** The blocks as Anthropic sent them, which is how pi sends them back; undefined if a signature is missing. */
function anthropicBlocks(blocks: readonly JsonObject[]): Json[] {
  const native: Json[] = []
  for (const block of blocks) {
    if (block.type === 'text' && typeof block.text === 'string' && block.text !== '')
      native.push({ type: 'text', text: block.text })
    else if (
      block.type === 'thinking' &&
      typeof block.thinkingSignature === 'string' &&
      block.thinkingSignature !== ''
    ) {
      const { thinking = '', thinkingSignature: signature } = block
      native.push(
        block.redacted === true
          ? { type: 'redacted_thinking', data: signature }
          : { type: 'thinking', thinking, signature },
      )
    } else if (block.type === 'toolCall' && typeof block.id === 'string' && brokenArguments(block) === undefined) {
      native.push({ type: 'tool_use', id: block.id, name: block.name ?? '', input: block.arguments ?? {} })
    } else return []
  }
  return native
}
