// Every wire at once, for synchronous use: the functions of the package root. The compiler requires an entry here for
// each one in list.ts. In the order in which a transcript is tried, the more specific first: chat messages look alike.

import { badInput } from '../core/error.ts'
import { anthropicMessages } from './anthropic-messages/index.ts'
import { anthropicMessagesService } from './anthropic-messages/service.ts'
import { anthropicMessagesFormat } from './anthropic-messages/transcript.ts'
import { bedrockConverse } from './bedrock-converse/index.ts'
import { bedrockConverseService } from './bedrock-converse/service.ts'
import { bedrockConverseFormat } from './bedrock-converse/transcript.ts'
import { cohereChat } from './cohere-chat/index.ts'
import { cohereChatService } from './cohere-chat/service.ts'
import { cohereChatFormat } from './cohere-chat/transcript.ts'
import { geminiGenerate } from './gemini-generate/index.ts'
import { geminiGenerateService } from './gemini-generate/service.ts'
import { geminiGenerateFormat } from './gemini-generate/transcript.ts'
import { geminiInteractions } from './gemini-interactions/index.ts'
import { geminiInteractionsService } from './gemini-interactions/service.ts'
import { geminiInteractionsFormat } from './gemini-interactions/transcript.ts'
import type { WireId } from './list.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { mistralChatService } from './mistral-chat/service.ts'
import { mistralChatFormat } from './mistral-chat/transcript.ts'
import { ollamaChat } from './ollama-chat/index.ts'
import { ollamaChatService } from './ollama-chat/service.ts'
import { ollamaChatFormat } from './ollama-chat/transcript.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiChatService } from './openai-chat/service.ts'
import { openaiChatFormat } from './openai-chat/transcript.ts'
import { openaiResponses } from './openai-responses/index.ts'
import { openaiResponsesService } from './openai-responses/service.ts'
import { openaiResponsesFormat } from './openai-responses/transcript.ts'
import type { WireService } from './service.ts'
import type { TranscriptFormat } from './shared/transcript.ts'
import type { Wire } from './wire.ts'

/** A wire, how its request bodies are read, and what a server for it needs. */
export interface LoadedWire {
  wire: Wire
  transcript: TranscriptFormat
  service: WireService
}

const loaded: Record<WireId, LoadedWire> = {
  'gemini-interactions': {
    wire: geminiInteractions,
    transcript: geminiInteractionsFormat,
    service: geminiInteractionsService,
  },
  'gemini-generate': { wire: geminiGenerate, transcript: geminiGenerateFormat, service: geminiGenerateService },
  'bedrock-converse': { wire: bedrockConverse, transcript: bedrockConverseFormat, service: bedrockConverseService },
  'openai-responses': { wire: openaiResponses, transcript: openaiResponsesFormat, service: openaiResponsesService },
  'cohere-chat': { wire: cohereChat, transcript: cohereChatFormat, service: cohereChatService },
  'mistral-chat': { wire: mistralChat, transcript: mistralChatFormat, service: mistralChatService },
  'ollama-chat': { wire: ollamaChat, transcript: ollamaChatFormat, service: ollamaChatService },
  'anthropic-messages': {
    wire: anthropicMessages,
    transcript: anthropicMessagesFormat,
    service: anthropicMessagesService,
  },
  'openai-chat': { wire: openaiChat, transcript: openaiChatFormat, service: openaiChatService },
}

export function allWires(): readonly Wire[] {
  return Object.values(loaded).map(({ wire }) => wire)
}

/** Throws for an unknown wire. */
export function loadedWire(id: string): LoadedWire {
  const match = Object.values(loaded).find(({ wire }) => wire.id === id)
  if (match) return match
  const ids = allWires().map((wire) => wire.id)
  throw badInput(`There is no protocol "${id}". The protocols are ${ids.join(', ')}.`)
}

/** The request bodies of each wire as transcripts, the more specific first. */
export function allTranscripts(): readonly TranscriptFormat[] {
  return Object.values(loaded).map(({ transcript }) => transcript)
}
