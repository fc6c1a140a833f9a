// The requests that break a rule, by wire.

import { anthropicMessages } from './anthropic-messages.ts'
import type { RefusedCheck } from './change.ts'
import { geminiGenerate } from './gemini-generate.ts'
import { geminiInteractions } from './gemini-interactions.ts'
import { mistralChat } from './mistral-chat.ts'
import { ollamaChat } from './ollama-chat.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

export const refusedChecks: Readonly<Record<string, readonly RefusedCheck[]>> = {
  'anthropic-messages': anthropicMessages,
  'gemini-generate': geminiGenerate,
  'gemini-interactions': geminiInteractions,
  'mistral-chat': mistralChat,
  'ollama-chat': ollamaChat,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
}
