// The names of the GenAI conventions of OpenTelemetry (semantic conventions 1.45, checked 2026-11). They are still
// called experimental, and have been renamed before: here is the one place to follow them.

export const attribute = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  outputMessages: 'gen_ai.output.messages',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  tokenType: 'gen_ai.token.type',
  errorType: 'error.type',
  outcome: 'synapse.run.outcome',
  attempt: 'synapse.attempt',
} as const

export const operation = { chat: 'chat', tool: 'execute_tool', run: 'invoke_agent' } as const

export const metric = { duration: 'gen_ai.client.operation.duration', tokens: 'gen_ai.client.token.usage' } as const

/** Where the conventions have another word for a provider than we do. */
const providers: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  'azure-openai': 'azure.ai.openai',
}

export function providerName(id: string): string {
  return providers[id] ?? id
}
