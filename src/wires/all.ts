// Every wire at once, for what must not wait: the functions of the package root. The compiler asks for an entry here for
// each one in list.ts. In the order in which a transcript is tried, the more telling first: chat messages look alike.

import { anthropicMessages } from './anthropic-messages/index.ts'
import { anthropicMessagesFormat } from './anthropic-messages/transcript.ts'
import { geminiGenerate } from './gemini-generate/index.ts'
import { geminiGenerateFormat } from './gemini-generate/transcript.ts'
import { geminiInteractions } from './gemini-interactions/index.ts'
import { geminiInteractionsFormat } from './gemini-interactions/transcript.ts'
import type { WireId } from './list.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { mistralChatFormat } from './mistral-chat/transcript.ts'
import { ollamaChat } from './ollama-chat/index.ts'
import { ollamaChatFormat } from './ollama-chat/transcript.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiChatFormat } from './openai-chat/transcript.ts'
import { openaiResponses } from './openai-responses/index.ts'
import { openaiResponsesFormat } from './openai-responses/transcript.ts'
import type { TranscriptFormat } from './shared/transcript.ts'
import type { Wire } from './wire.ts'

const loaded: Record<WireId, { wire: Wire; transcript: TranscriptFormat }> = {
  'gemini-interactions': { wire: geminiInteractions, transcript: geminiInteractionsFormat },
  'gemini-generate': { wire: geminiGenerate, transcript: geminiGenerateFormat },
  'openai-responses': { wire: openaiResponses, transcript: openaiResponsesFormat },
  'mistral-chat': { wire: mistralChat, transcript: mistralChatFormat },
  'ollama-chat': { wire: ollamaChat, transcript: ollamaChatFormat },
  'anthropic-messages': { wire: anthropicMessages, transcript: anthropicMessagesFormat },
  'openai-chat': { wire: openaiChat, transcript: openaiChatFormat },
}

export function allWires(): readonly Wire[] {
  return Object.values(loaded).map(({ wire }) => wire)
}

/** The request bodies of each wire as transcripts, the more telling first. */
export function allTranscripts(): readonly TranscriptFormat[] {
  return Object.values(loaded).map(({ transcript }) => transcript)
}
