// The list of wires: a new one is a folder, and its entry here. Loaded one by one, because a process mostly speaks one
// or two of them.

import { badInput } from '../core/error.ts'
import type { TranscriptFormat } from './shared/transcript.ts'
import type { Wire } from './wire.ts'

interface WireFolder {
  wire(): Promise<Wire>
  transcript(): Promise<TranscriptFormat>
}

const folders = {
  'openai-chat': {
    wire: async () => (await import('./openai-chat/index.ts')).openaiChat,
    transcript: async () => (await import('./openai-chat/transcript.ts')).openaiChatFormat,
  },
  'openai-responses': {
    wire: async () => (await import('./openai-responses/index.ts')).openaiResponses,
    transcript: async () => (await import('./openai-responses/transcript.ts')).openaiResponsesFormat,
  },
  'anthropic-messages': {
    wire: async () => (await import('./anthropic-messages/index.ts')).anthropicMessages,
    transcript: async () => (await import('./anthropic-messages/transcript.ts')).anthropicMessagesFormat,
  },
  'gemini-generate': {
    wire: async () => (await import('./gemini-generate/index.ts')).geminiGenerate,
    transcript: async () => (await import('./gemini-generate/transcript.ts')).geminiGenerateFormat,
  },
  'gemini-interactions': {
    wire: async () => (await import('./gemini-interactions/index.ts')).geminiInteractions,
    transcript: async () => (await import('./gemini-interactions/transcript.ts')).geminiInteractionsFormat,
  },
  'mistral-chat': {
    wire: async () => (await import('./mistral-chat/index.ts')).mistralChat,
    transcript: async () => (await import('./mistral-chat/transcript.ts')).mistralChatFormat,
  },
  'ollama-chat': {
    wire: async () => (await import('./ollama-chat/index.ts')).ollamaChat,
    transcript: async () => (await import('./ollama-chat/transcript.ts')).ollamaChatFormat,
  },
} satisfies Record<string, WireFolder>

export type WireId = keyof typeof folders

const byId: ReadonlyMap<string, WireFolder> = new Map(Object.entries(folders))

export const wireIds: readonly string[] = [...byId.keys()]

export async function loadWire(id: string): Promise<Wire> {
  return folderOf(id).wire()
}

/** How request bodies of the wire are read as a conversation, and written. */
export async function loadTranscript(id: string): Promise<TranscriptFormat> {
  return folderOf(id).transcript()
}

function folderOf(id: string): WireFolder {
  const folder = byId.get(id)
  if (!folder) throw badInput(`There is no protocol "${id}". The protocols are ${wireIds.join(', ')}.`)
  return folder
}
