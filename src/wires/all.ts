// Every protocol at once, for what must not wait: conformance suites and the functions of the package root.

import { anthropicMessages } from './anthropic-messages/index.ts'
import { geminiGenerate } from './gemini-generate/index.ts'
import { geminiInteractions } from './gemini-interactions/index.ts'
import { mistralChat } from './mistral-chat/index.ts'
import { ollamaChat } from './ollama-chat/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'
import type { Wire } from './wire.ts'

export function allWires(): readonly Wire[] {
  return [openaiChat, openaiResponses, anthropicMessages, geminiGenerate, geminiInteractions, mistralChat, ollamaChat]
}
