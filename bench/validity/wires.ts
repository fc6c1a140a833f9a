// The wires that histories are sent to, each with a provider and model that is typical for it.

export const wires = [
  { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
  { protocol: 'openai-chat', provider: 'openai', model: 'gpt-4o' },
  { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.1' },
  { protocol: 'gemini-generate', provider: 'google', model: 'gemini-2.5-flash' },
  { protocol: 'gemini-interactions', provider: 'google', model: 'gemini-3.8-flash' },
  { protocol: 'mistral-chat', provider: 'mistral', model: 'mistral-medium-latest' },
  { protocol: 'ollama-chat', provider: 'ollama', model: 'qwen3' },
] as const

export type Wire = (typeof wires)[number]
