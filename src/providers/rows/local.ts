// Local servers, and any other server with OpenAI's chat wire.

import type { Capabilities, Quirks } from '../../wires/wire.ts'
import type { ProviderRow, ProviderWire } from '../provider.ts'
import { bearer, compatibleChat, images } from './shared.ts'

/** The chat templates of these servers require one system message first, and then alternating user and assistant messages. */
const templated: Partial<Capabilities> = { ...compatibleChat, midSystem: false }

/** For an unknown chat template; one that the server reports is looked up (templates.ts). */
const carefulCalls: Quirks = { separateCalls: true, oneCallPerTurn: true }

const localSchemas: Quirks = { toolSchema: 'compatible', answerSchema: 'compatible' }

/** Responses as these servers implement it: without reliable state, and without a cache key. */
function homeResponses(baseUrl: string, differs: Pick<ProviderWire, 'quirks' | 'capabilities'> = {}): ProviderWire {
  return {
    protocol: 'openai-responses',
    baseUrl,
    quirks: { cacheKey: false, ...localSchemas, ...differs.quirks },
    capabilities: { media: images, resultMedia: [], systemRole: 'system', prefill: false, ...differs.capabilities },
    caching: 'prefix',
  }
}

export const local: readonly ProviderRow[] = [
  {
    id: 'ollama',
    name: 'Ollama',
    wires: [
      {
        protocol: 'ollama-chat',
        baseUrl: 'http://localhost:11434',
        quirks: carefulCalls,
        // An output format keeps a model from calling tools.
        capabilities: { answerWithTools: 'none' },
        caching: 'prefix',
      },
      {
        protocol: 'openai-chat',
        baseUrl: 'http://localhost:11434/v1',
        quirks: {
          reasoningField: 'reasoning',
          noToolChoice: true,
          ...carefulCalls,
          toolSchema: 'ollama',
          answerSchema: 'compatible',
        },
        capabilities: { ...compatibleChat, mediaUrls: false, forcedTool: false },
        caching: 'prefix',
      },
      homeResponses('http://localhost:11434/v1', {
        quirks: { noToolChoice: true, toolSchema: 'ollama' },
        capabilities: { mediaUrls: false, forcedTool: false },
      }),
    ],
    keyVariables: ['OLLAMA_API_KEY'],
    auth: bearer,
    keyOptional: true,
    describes: 'show',
    baseUrlVariables: ['OLLAMA_HOST'],
  },
  {
    id: 'lmstudio',
    name: 'LM Studio',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'http://localhost:1234/v1',
        quirks: { reasoningField: 'reasoning', alternate: true, ...carefulCalls, ...localSchemas },
        capabilities: templated,
        caching: 'prefix',
      },
      homeResponses('http://localhost:1234/v1', { quirks: { alternate: true }, capabilities: { midSystem: false } }),
    ],
    keyVariables: ['LMSTUDIO_API_KEY'],
    auth: bearer,
    keyOptional: true,
    baseUrlVariables: ['LMSTUDIO_BASE_URL'],
  },
  {
    id: 'vllm',
    name: 'vLLM',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'http://localhost:8000/v1',
        quirks: { reasoningField: 'reasoning', alternate: true, ...carefulCalls, ...localSchemas },
        capabilities: templated,
        caching: 'prefix',
      },
      homeResponses('http://localhost:8000/v1', {
        quirks: { alternate: true, echoReasoning: 'always' },
        capabilities: { midSystem: false },
      }),
    ],
    keyVariables: ['VLLM_API_KEY'],
    auth: bearer,
    keyOptional: true,
    baseUrlVariables: ['VLLM_BASE_URL'],
  },
  {
    id: 'llama.cpp',
    name: 'llama.cpp',
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl: 'http://localhost:8080/v1',
        quirks: {
          reasoningField: 'reasoning_content',
          alternate: true,
          ...carefulCalls,
          ...localSchemas,
          toolSchema: 'llama',
        },
        capabilities: templated,
        caching: 'prefix',
        rendersPrompt: true,
      },
      homeResponses('http://localhost:8080/v1', {
        quirks: { alternate: true, echoReasoning: 'always', toolSchema: 'llama' },
        // A forced tool call and an answer schema are accepted and have no effect (probe, 2026-11).
        capabilities: { midSystem: false, forcedTool: false, answer: 'none' },
      }),
    ],
    keyVariables: ['LLAMA_API_KEY'],
    auth: bearer,
    keyOptional: true,
    describes: 'props',
    baseUrlVariables: ['LLAMA_BASE_URL'],
  },
  { ...compatible('/v1', 'openai-compatible'), baseUrlVariables: ['OPENAI_COMPATIBLE_BASE_URL'] },
]

/** A row for any server with OpenAI's chat wire. */
export function compatible(baseUrl: string, id: string, name = 'OpenAI-compatible server'): ProviderRow {
  return {
    id,
    name,
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl,
        quirks: { reasoningField: 'reasoning_content', ...localSchemas },
        capabilities: compatibleChat,
        caching: 'prefix',
      },
    ],
    keyVariables: [`${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`],
    auth: bearer,
    keyOptional: true,
  }
}
