// The list of wires: a new one is a folder, and its entry here. Loaded one by one, because a process usually needs one
// or two of them.

import { badInput } from '../core/error.ts'
import type { WireService } from './service.ts'
import type { TranscriptFormat } from './shared/transcript.ts'
import type { Wire } from './wire.ts'

interface WireFolder {
  wire(): Promise<Wire>
  transcript(): Promise<TranscriptFormat>
  service(): Promise<WireService>
}

const folders = {
  'openai-chat': {
    wire: async () => (await import('./openai-chat/index.ts')).openaiChat,
    transcript: async () => (await import('./openai-chat/transcript.ts')).openaiChatFormat,
    service: async () => (await import('./openai-chat/service.ts')).openaiChatService,
  },
  'openai-responses': {
    wire: async () => (await import('./openai-responses/index.ts')).openaiResponses,
    transcript: async () => (await import('./openai-responses/transcript.ts')).openaiResponsesFormat,
    service: async () => (await import('./openai-responses/service.ts')).openaiResponsesService,
  },
  'anthropic-messages': {
    wire: async () => (await import('./anthropic-messages/index.ts')).anthropicMessages,
    transcript: async () => (await import('./anthropic-messages/transcript.ts')).anthropicMessagesFormat,
    service: async () => (await import('./anthropic-messages/service.ts')).anthropicMessagesService,
  },
  'gemini-generate': {
    wire: async () => (await import('./gemini-generate/index.ts')).geminiGenerate,
    transcript: async () => (await import('./gemini-generate/transcript.ts')).geminiGenerateFormat,
    service: async () => (await import('./gemini-generate/service.ts')).geminiGenerateService,
  },
  'gemini-interactions': {
    wire: async () => (await import('./gemini-interactions/index.ts')).geminiInteractions,
    transcript: async () => (await import('./gemini-interactions/transcript.ts')).geminiInteractionsFormat,
    service: async () => (await import('./gemini-interactions/service.ts')).geminiInteractionsService,
  },
  'mistral-chat': {
    wire: async () => (await import('./mistral-chat/index.ts')).mistralChat,
    transcript: async () => (await import('./mistral-chat/transcript.ts')).mistralChatFormat,
    service: async () => (await import('./mistral-chat/service.ts')).mistralChatService,
  },
  'ollama-chat': {
    wire: async () => (await import('./ollama-chat/index.ts')).ollamaChat,
    transcript: async () => (await import('./ollama-chat/transcript.ts')).ollamaChatFormat,
    service: async () => (await import('./ollama-chat/service.ts')).ollamaChatService,
  },
  'cohere-chat': {
    wire: async () => (await import('./cohere-chat/index.ts')).cohereChat,
    transcript: async () => (await import('./cohere-chat/transcript.ts')).cohereChatFormat,
    service: async () => (await import('./cohere-chat/service.ts')).cohereChatService,
  },
  'bedrock-converse': {
    wire: async () => (await import('./bedrock-converse/index.ts')).bedrockConverse,
    transcript: async () => (await import('./bedrock-converse/transcript.ts')).bedrockConverseFormat,
    service: async () => (await import('./bedrock-converse/service.ts')).bedrockConverseService,
  },
} satisfies Record<string, WireFolder>

export type WireId = keyof typeof folders

const byId: ReadonlyMap<string, WireFolder> = new Map(
  Object.entries(folders).map(([id, { wire, transcript, service }]: [string, WireFolder]) => [
    id,
    { wire: once(wire), transcript: once(transcript), service: once(service) },
  ]),
)

/** Importing a loaded module still takes time, and a request needs its wire several times. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load()
    return loaded
  }
}

export const wireIds: readonly string[] = [...byId.keys()]

export async function loadWire(id: string): Promise<Wire> {
  return folderOf(id).wire()
}

/** How request bodies of the wire are read as a conversation, and written. */
export async function loadTranscript(id: string): Promise<TranscriptFormat> {
  return folderOf(id).transcript()
}

/** What a server for the wire needs. */
export async function loadService(id: string): Promise<WireService> {
  return folderOf(id).service()
}

function folderOf(id: string): WireFolder {
  const folder = byId.get(id)
  if (!folder) throw badInput(`There is no protocol "${id}". The protocols are ${wireIds.join(', ')}.`)
  return folder
}
