// The list of protocols: a new wire is one folder and one line here. Loaded one by one, because a process mostly
// speaks one or two of them.

import { badInput } from '../core/error.ts'
import type { Wire } from './wire.ts'

const loaders: Record<string, () => Promise<Wire>> = {
  'openai-chat': async () => (await import('./openai-chat/index.ts')).openaiChat,
  'openai-responses': async () => (await import('./openai-responses/index.ts')).openaiResponses,
  'anthropic-messages': async () => (await import('./anthropic-messages/index.ts')).anthropicMessages,
  'gemini-generate': async () => (await import('./gemini-generate/index.ts')).geminiGenerate,
  'gemini-interactions': async () => (await import('./gemini-interactions/index.ts')).geminiInteractions,
  'mistral-chat': async () => (await import('./mistral-chat/index.ts')).mistralChat,
  'ollama-chat': async () => (await import('./ollama-chat/index.ts')).ollamaChat,
}

export const wireIds: readonly string[] = Object.keys(loaders)

export async function loadWire(id: string): Promise<Wire> {
  const load = Object.hasOwn(loaders, id) ? loaders[id] : undefined
  if (!load) throw badInput(`There is no protocol "${id}". The protocols are ${wireIds.join(', ')}.`)
  return load()
}
