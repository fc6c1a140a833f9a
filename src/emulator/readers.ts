// How a request body of each wire is read as a conversation. Loaded one by one, as the protocols are.

import type { TranscriptFormat } from '../transcripts/transcript.ts'

const readers: Record<string, () => Promise<TranscriptFormat>> = {
  'openai-chat': async () => (await import('../transcripts/openai-chat.ts')).openaiChatFormat,
  'openai-responses': async () => (await import('../transcripts/openai-responses.ts')).openaiResponsesFormat,
  'anthropic-messages': async () => (await import('../transcripts/anthropic-messages.ts')).anthropicMessagesFormat,
  'gemini-generate': async () => (await import('../transcripts/gemini-generate.ts')).geminiGenerateFormat,
  'gemini-interactions': async () => (await import('../transcripts/gemini-interactions.ts')).geminiInteractionsFormat,
  'mistral-chat': async () => (await import('../transcripts/mistral-chat.ts')).mistralChatFormat,
  'ollama-chat': async () => (await import('../transcripts/ollama-chat.ts')).ollamaChatFormat,
}

export async function readerFor(protocol: string): Promise<TranscriptFormat> {
  const load = readers[protocol]
  if (!load) throw new Error(`no reader for ${protocol}`)
  return load()
}
