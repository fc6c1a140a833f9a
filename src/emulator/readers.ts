// How a request body of each wire is read as a conversation. Loaded one by one, as the protocols are.

import type { TranscriptFormat } from '../wires/shared/transcript.ts'

const readers: Record<string, () => Promise<TranscriptFormat>> = {
  'openai-chat': async () => (await import('../wires/openai-chat/transcript.ts')).openaiChatFormat,
  'openai-responses': async () => (await import('../wires/openai-responses/transcript.ts')).openaiResponsesFormat,
  'anthropic-messages': async () => (await import('../wires/anthropic-messages/transcript.ts')).anthropicMessagesFormat,
  'gemini-generate': async () => (await import('../wires/gemini-generate/transcript.ts')).geminiGenerateFormat,
  'gemini-interactions': async () =>
    (await import('../wires/gemini-interactions/transcript.ts')).geminiInteractionsFormat,
  'mistral-chat': async () => (await import('../wires/mistral-chat/transcript.ts')).mistralChatFormat,
  'ollama-chat': async () => (await import('../wires/ollama-chat/transcript.ts')).ollamaChatFormat,
}

export async function readerFor(protocol: string): Promise<TranscriptFormat> {
  const load = readers[protocol]
  if (!load) throw new Error(`no reader for ${protocol}`)
  return load()
}
