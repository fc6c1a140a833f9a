// A prompt of the AI SDK as messages. A reply from Synapse carries its original data in the options of one of its
// parts, or a reference to it if there is a store; they are used if the reply in the prompt is unchanged.

import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import { isObject, type Json } from '../core/json.ts'
import type {
  MediaPart,
  Message,
  Part,
  Reply,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from '../core/message.ts'
import type { Reference } from './logged-reply.ts'

/** Where a part of a reply stores the whole reply, or the reference to it. */
export const ourKey = 'synapse'

/** `replies`: those that references name, by entry. */
export function readPrompt(prompt: LanguageModelV4Prompt, replies: ReadonlyMap<string, Reply> = new Map()): Message[] {
  return prompt.map((message) => readMessage(message, replies)).filter((message) => message.parts.length > 0)
}

/** The references to replies in a store, in the order of the prompt. */
export function referencesIn(prompt: LanguageModelV4Prompt): Reference[] {
  const content = prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  return content.flatMap(({ providerOptions }) => referenceIn(providerOptions?.[ourKey]) ?? [])
}

function referenceIn(value: unknown): Reference | undefined {
  if (!isObject(value)) return undefined
  const { conversationId, entryId } = value
  return typeof conversationId === 'string' && typeof entryId === 'string' ? { conversationId, entryId } : undefined
}

function readMessage(message: LanguageModelV4Message, replies: ReadonlyMap<string, Reply>): Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', parts: [{ type: 'text', text: message.content }] }
    case 'user':
      return { role: 'user', parts: message.content.map(userPart) }
    case 'tool':
      return {
        role: 'tool',
        parts: message.content.flatMap((part) => (part.type === 'tool-result' ? [resultOf(part)] : [])),
      }
    case 'assistant':
      return readReply(message.content, replies)
  }
}

function userPart(
  part: Extract<LanguageModelV4Message, { role: 'user' }>['content'][number],
): UserMessage['parts'][number] {
  return part.type === 'text' ? { type: 'text', text: part.text } : readFile(part)
}

function readFile({
  data,
  mediaType,
  filename,
}: Pick<LanguageModelV4FilePart, 'data' | 'mediaType' | 'filename'>): TextPart | MediaPart {
  const about = { type: 'media' as const, mediaType, ...(filename !== undefined && { name: filename }) }
  switch (data.type) {
    case 'data':
      return { ...about, data: { kind: 'base64', base64: base64Of(data.data) } }
    case 'url':
      return { ...about, data: { kind: 'url', url: data.originalUrl ?? String(data.url) } }
    case 'text':
      return { type: 'text', text: data.text }
    case 'reference': {
      const [provider = '', fileId = ''] = Object.entries(data.reference)[0] ?? []
      return { ...about, data: { kind: 'file', fileId, provider } }
    }
  }
}

function base64Of(data: Uint8Array | string): string {
  return typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

function readReply(content: AssistantContent, replies: ReadonlyMap<string, Reply>): Reply {
  const parts = content.flatMap(replyPart)
  for (const { providerOptions } of content) {
    const metadata = providerOptions?.[ourKey]
    const stored = embeddedReply(metadata) ?? replies.get(referenceIn(metadata)?.entryId ?? '')
    if (stored && visible(stored.parts) === visible(parts)) return stored
  }
  const reason = parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done'
  const origin = { protocol: 'ai-sdk', provider: 'elsewhere', model: '' }
  return { role: 'assistant', parts, native: [], origin, stop: { reason } }
}

function replyPart(part: AssistantContent[number]): Part[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text }]
    case 'file':
      return [readFile(part)]
    case 'tool-call': {
      const input = jsonOf(part.input)
      if (part.providerExecuted) return [{ type: 'server-tool', name: part.toolName, input }]
      const malformed = isObject(input) ? {} : { malformed: typeof input === 'string' ? input : JSON.stringify(input) }
      return [{ type: 'tool-call', callId: part.toolCallId, name: part.toolName, input, ...malformed }]
    }
    case 'tool-result':
      return [{ type: 'server-tool', name: part.toolName, output: jsonOf(part.output) }]
    default:
      return []
  }
}

/** What the user of the SDK can see and change of a reply. */
function visible(parts: readonly Part[]): string {
  const texts = parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : []))
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool-call')
  return JSON.stringify([
    texts.join(''),
    calls.map(({ callId, name, input, malformed }) => [callId, name, malformed ?? input]),
  ])
}

function embeddedReply(value: unknown): Reply | undefined {
  const reply = isObject(value) ? value['reply'] : undefined
  if (!isObject(reply) || !Array.isArray(reply['parts']) || !Array.isArray(reply['native'])) return undefined
  return isObject(reply['origin']) && isObject(reply['stop']) ? (jsonOf(reply) as object as Reply) : undefined
}

function resultOf(part: {
  toolCallId: string
  toolName: string
  output: LanguageModelV4ToolResultOutput
}): ToolResultPart {
  return { type: 'tool-result', callId: part.toolCallId, name: part.toolName, ...readOutput(part.output) }
}

function readOutput(output: LanguageModelV4ToolResultOutput): Pick<ToolResultPart, 'output' | 'value' | 'failed'> {
  switch (output.type) {
    case 'text':
      return { output: [{ type: 'text', text: output.value }] }
    case 'json': {
      const value = jsonOf(output.value)
      return { output: [{ type: 'text', text: JSON.stringify(value) }], value }
    }
    case 'error-text':
      return { output: [{ type: 'text', text: output.value }], failed: true }
    case 'error-json':
      return { output: [{ type: 'text', text: JSON.stringify(output.value) }], failed: true }
    case 'execution-denied':
      return { output: [{ type: 'text', text: output.reason ?? 'The user did not allow it.' }], failed: true }
    case 'content':
      return {
        output: output.value.flatMap((piece): (TextPart | MediaPart)[] => {
          if (piece.type === 'text') return [{ type: 'text', text: piece.text }]
          return piece.type === 'file' ? [readFile(piece)] : []
        }),
      }
  }
}

function jsonOf(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json
}
