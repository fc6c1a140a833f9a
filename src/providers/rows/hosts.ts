// Hosts that serve models, their own or others', on OpenAI's chat wire.

import type { ProviderRow } from '../provider.ts'
import { bearer, compatibleChat, images } from './shared.ts'

export const hosts: readonly ProviderRow[] = [
  {
    id: 'openrouter',
    name: 'OpenRouter',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://openrouter.ai/api/v1',
        quirks: {
          reasoningField: 'reasoning_details',
          echoReasoning: 'always',
          cacheControl: true,
          cacheKey: true,
          toolSchema: 'compatible',
        },
        // Effort levels are translated for the model that answers.
        capabilities: {
          ...compatibleChat,
          media: [...images, 'application/pdf'],
          resultMedia: images,
          efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
          cacheMarks: true,
        },
        caching: 'marks',
      },
      // Stores nothing: `store: true` and an earlier id are refused.
      {
        protocol: 'openai-responses',
        baseUrl: 'https://openrouter.ai/api/v1',
        quirks: { cacheKey: true, noStore: true, toolSchema: 'compatible' },
        capabilities: {
          media: [...images, 'application/pdf'],
          resultMedia: images,
          systemRole: 'system',
          prefill: false,
          efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
        },
        caching: 'prefix',
      },
    ],
    keyVariables: ['OPENROUTER_API_KEY'],
    auth: bearer,
    keysAt: 'https://openrouter.ai/keys',
    defaultModel: 'anthropic/claude-sonnet-5',
  },
  {
    id: 'groq',
    name: 'Groq',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.groq.com/openai/v1',
        // `reasoning` is read, but refused by models that do not think, so nothing is sent back.
        quirks: { reasoningField: 'reasoning', toolSchema: 'compatible', answerSchema: 'bounded' },
        capabilities: { ...compatibleChat, media: [], outputField: 'max_completion_tokens' },
        caching: 'prefix',
      },
    ],
    keyVariables: ['GROQ_API_KEY'],
    auth: bearer,
    keysAt: 'https://console.groq.com/keys',
    baseUrlVariables: ['GROQ_BASE_URL'],
    baseUrlPath: '/openai/v1',
    defaultModel: 'openai/gpt-oss-120b',
  },
  {
    id: 'together',
    name: 'Together',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.together.xyz/v1',
        quirks: { reasoningField: 'reasoning', toolSchema: 'compatible', answerSchema: 'compatible' },
        capabilities: { ...compatibleChat, media: [] },
        caching: 'none',
      },
    ],
    keyVariables: ['TOGETHER_API_KEY'],
    auth: bearer,
    keysAt: 'https://api.together.ai/settings/api-keys',
    baseUrlVariables: ['TOGETHER_BASE_URL'],
    defaultModel: 'openai/gpt-oss-120b',
  },
  {
    id: 'fireworks',
    name: 'Fireworks',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.fireworks.ai/inference/v1',
        quirks: { reasoningField: 'reasoning_content', toolSchema: 'fireworks', answerSchema: 'compatible' },
        capabilities: { ...compatibleChat, media: [] },
        caching: 'prefix',
      },
    ],
    keyVariables: ['FIREWORKS_API_KEY'],
    auth: bearer,
    keysAt: 'https://app.fireworks.ai/settings/users/api-keys',
    defaultModel: 'accounts/fireworks/models/gpt-oss-120b',
  },
  {
    id: 'cerebras',
    name: 'Cerebras',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.cerebras.ai/v1',
        quirks: { reasoningField: 'reasoning', toolSchema: 'compatible', answerSchema: 'bounded' },
        capabilities: { ...compatibleChat, media: [], outputField: 'max_completion_tokens' },
        caching: 'none',
      },
    ],
    keyVariables: ['CEREBRAS_API_KEY'],
    auth: bearer,
    keysAt: 'https://cloud.cerebras.ai',
    baseUrlVariables: ['CEREBRAS_BASE_URL'],
    baseUrlPath: '/v1',
    defaultModel: 'gpt-oss-120b',
  },
  {
    id: 'moonshot',
    name: 'Moonshot Kimi',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.moonshot.ai/v1',
        quirks: {
          reasoningField: 'reasoning_content',
          echoReasoning: 'tool-turns',
          toolSchema: 'moonshot',
          answerSchema: 'compatible',
        },
        capabilities: { ...compatibleChat, media: [] },
        caching: 'prefix',
      },
    ],
    keyVariables: ['MOONSHOT_API_KEY'],
    auth: bearer,
    keysAt: 'https://platform.moonshot.ai/console/api-keys',
    defaultModel: 'kimi-k3',
  },
  {
    id: 'qwen',
    name: 'Qwen (DashScope)',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
        quirks: { reasoningField: 'reasoning_content', toolSchema: 'compatible', answerSchema: 'compatible' },
        capabilities: { ...compatibleChat, media: [], answer: 'json' },
        caching: 'prefix',
      },
    ],
    keyVariables: ['DASHSCOPE_API_KEY'],
    auth: bearer,
    keysAt: 'https://bailian.console.alibabacloud.com',
    defaultModel: 'qwen3.7-plus',
  },
]
