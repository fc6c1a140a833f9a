// Makers that serve their own models.

import type { ProviderRow, StateStrategy } from '../provider.ts'
import { azureCredentials } from './clouds.ts'
import { bearer, compatibleChat } from './shared.ts'

const minute = 60_000
const day = 24 * 60 * minute

const responseChain: StateStrategy = {
  kind: 'response-chain',
  field: 'previous_response_id',
  idPath: 'id',
  lifetimeMs: 30 * day,
  resend: ['system', 'tools', 'options'],
  branches: true,
}

/** Repeating `system` or `tools` is refused; a reply can be continued once. */
const thread: StateStrategy = {
  kind: 'thread',
  field: 'thread.previous_message_id',
  idPath: 'id',
  lifetimeMs: 5 * minute,
  resend: ['options'],
  branches: false,
}

/** The free tier stores it for one day; whether an id can be continued twice is not documented. */
const interaction: StateStrategy = {
  kind: 'interaction',
  field: 'previous_interaction_id',
  idPath: 'id',
  lifetimeMs: day,
  resend: ['system', 'tools', 'options'],
  branches: false,
}

export const makers: readonly ProviderRow[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    wires: [
      {
        protocol: 'openai-responses',
        baseUrl: 'https://api.openai.com/v1',
        quirks: { cacheKey: true },
        capabilities: { toolKinds: true },
        state: responseChain,
        caching: 'key',
        compaction: 'native',
        counts: true,
      },
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.openai.com/v1',
        quirks: { cacheKey: true },
        caching: 'key',
      },
    ],
    keyVariables: ['OPENAI_API_KEY'],
    auth: bearer,
    keysAt: 'https://platform.openai.com/api-keys',
    baseUrlVariables: ['OPENAI_BASE_URL'],
    defaultModel: 'gpt-5.6',
  },
  {
    id: 'azure-openai',
    name: 'Azure OpenAI',
    wires: [
      {
        protocol: 'openai-responses',
        baseUrl: '/openai/v1',
        quirks: { cacheKey: true },
        capabilities: { toolKinds: true },
        state: responseChain,
        caching: 'key',
      },
      {
        protocol: 'openai-chat',
        baseUrl: '/openai/v1',
        quirks: { cacheKey: true },
        caching: 'key',
      },
    ],
    keyVariables: ['AZURE_OPENAI_API_KEY'],
    auth: { header: 'api-key' },
    ...azureCredentials,
    keysAt: 'https://portal.azure.com',
    baseUrlVariables: ['AZURE_OPENAI_ENDPOINT'],
    defaultModel: 'gpt-5.6',
    catalogue: 'openai',
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    wires: [
      {
        protocol: 'anthropic-messages',
        baseUrl: 'https://api.anthropic.com/v1',
        capabilities: { cacheMarks: true, contextEdits: true },
        state: thread,
        caching: 'marks',
        compaction: 'native',
        counts: true,
      },
    ],
    otherWires: ['openai-chat'],
    keyVariables: ['ANTHROPIC_API_KEY'],
    auth: { header: 'x-api-key' },
    keysAt: 'https://platform.claude.com/settings/keys',
    baseUrlVariables: ['ANTHROPIC_BASE_URL'],
    baseUrlPath: '/v1',
    defaultModel: 'claude-opus-5',
  },
  {
    id: 'google',
    name: 'Google Gemini',
    wires: [
      {
        protocol: 'gemini-generate',
        baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
        caching: 'prefix',
        counts: true,
      },
      {
        protocol: 'gemini-interactions',
        baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
        state: interaction,
        caching: 'prefix',
      },
    ],
    otherWires: ['openai-chat'],
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    auth: { header: 'x-goog-api-key' },
    keysAt: 'https://aistudio.google.com/apikey',
    baseUrlVariables: ['GOOGLE_GEMINI_BASE_URL'],
    baseUrlPath: '/v1beta',
    defaultModel: 'gemini-3.8-flash',
  },
  {
    id: 'mistral',
    name: 'Mistral',
    wires: [
      {
        protocol: 'mistral-chat',
        baseUrl: 'https://api.mistral.ai/v1',
        // No `state`: Conversations bill the whole history again, with no known use of the cache (checked 2026-11).
        quirks: { cacheKey: true },
        caching: 'key',
      },
    ],
    keyVariables: ['MISTRAL_API_KEY'],
    auth: bearer,
    keysAt: 'https://console.mistral.ai/api-keys',
    defaultModel: 'mistral-medium-latest',
  },
  {
    id: 'cohere',
    name: 'Cohere',
    wires: [{ protocol: 'cohere-chat', baseUrl: 'https://api.cohere.com', caching: 'prefix' }],
    otherWires: ['openai-chat'],
    keyVariables: ['CO_API_KEY', 'COHERE_API_KEY'],
    auth: bearer,
    keysAt: 'https://dashboard.cohere.com/api-keys',
    baseUrlVariables: ['CO_API_URL'],
    defaultModel: 'command-a-plus-05-2026',
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.deepseek.com',
        // A tool turn without its reasoning is refused in thinking mode, which is on by default (D1).
        quirks: {
          reasoningField: 'reasoning_content',
          echoReasoning: 'tool-turns',
          thinkingSwitch: true,
          toolSchema: 'compatible',
        },
        capabilities: {
          ...compatibleChat,
          media: [],
          resultMedia: [],
          efforts: ['none', 'low', 'high', 'max'],
          answer: 'json',
        },
        caching: 'prefix',
      },
    ],
    // Which reasoning it expects back on this wire is unknown.
    otherWires: ['openai-responses'],
    keyVariables: ['DEEPSEEK_API_KEY'],
    auth: bearer,
    keysAt: 'https://platform.deepseek.com/api_keys',
    defaultModel: 'deepseek-v4-flash',
  },
  {
    id: 'xai',
    name: 'xAI Grok',
    wires: [
      {
        protocol: 'openai-responses',
        baseUrl: 'https://api.x.ai/v1',
        quirks: { systemInInput: true, cacheKey: true, toolSchema: 'compatible', answerSchema: 'compatible' },
        capabilities: { media: ['image/png', 'image/jpeg'], resultMedia: ['image/png', 'image/jpeg'] },
        state: responseChain,
        caching: 'key',
      },
      {
        protocol: 'openai-chat',
        baseUrl: 'https://api.x.ai/v1',
        quirks: { toolSchema: 'compatible', answerSchema: 'compatible' },
        capabilities: { ...compatibleChat, media: ['image/png', 'image/jpeg'] },
        caching: 'prefix',
      },
    ],
    keyVariables: ['XAI_API_KEY'],
    auth: bearer,
    keysAt: 'https://console.x.ai',
    defaultModel: 'grok-4.7',
  },
]
