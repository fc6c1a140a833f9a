import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Capabilities } from '../../src/wires/wire.ts'
import { resolve } from '../../src/providers/resolve.ts'

type Row = [model: string, expected: Partial<Capabilities>, cacheMinimum?: number]

const all = ['none', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const upToXhigh = ['none', 'low', 'medium', 'high', 'xhigh'] as const

const known: Record<string, Row[]> = {
  'openai openai-chat': [
    ['gpt-4o', { sampling: true, efforts: [], maxOutput: 16_384, contextWindow: 128_000 }],
    ['gpt-4.1-mini', { sampling: true, maxOutput: 32_768, contextWindow: 1_047_576 }],
    ['gpt-4', { media: [], maxOutput: 4096 }],
    ['o3', { sampling: false, systemRole: 'developer', efforts: ['low', 'medium', 'high'], maxOutput: 100_000 }],
    ['o3-mini', { media: [] }],
    ['gpt-5', { sampling: false, outputField: 'max_completion_tokens', efforts: ['minimal', 'low', 'medium', 'high'] }],
    ['gpt-5-mini-2025-08-07', { efforts: ['minimal', 'low', 'medium', 'high'], contextWindow: 400_000 }],
    ['gpt-5-pro', { efforts: ['high'] }],
    ['gpt-5-chat-latest', { efforts: [], maxOutput: 16_384 }],
    ['gpt-5.1', { efforts: ['none', 'low', 'medium', 'high'] }],
    ['gpt-5.2', { efforts: [...upToXhigh] }],
    ['gpt-5.3-codex', { efforts: ['low', 'medium', 'high', 'xhigh'] }],
    ['gpt-5.4', { effortWithTools: 'omitted', efforts: [...upToXhigh] }],
    ['gpt-5.5-pro', { effortWithTools: 'omitted', efforts: ['medium', 'high', 'xhigh'] }],
    ['gpt-5.6', { effortWithTools: 'none', cacheMarks: true, efforts: [...upToXhigh] }, 1024],
  ],
  'openai openai-responses': [
    ['gpt-4o', { sampling: true, efforts: [] }],
    ['gpt-5.6', { sampling: false, efforts: [...all], cacheMarks: true, contextWindow: 1_050_000, maxOutput: 128_000 }],
    ['gpt-6-astra', { efforts: [...all], systemRole: 'developer' }],
  ],
  'anthropic anthropic-messages': [
    [
      'claude-3-5-sonnet-20241022',
      { prefill: true, sampling: true, thinking: [], maxOutput: 8192, contextWindow: 200_000, forcedTool: true },
      1024,
    ],
    ['claude-3-haiku-20240307', { maxOutput: 4096, prefill: true }],
    ['claude-3-7-sonnet-20250219', { thinking: ['enabled', 'disabled'], maxOutput: 64_000 }],
    ['claude-opus-4-20250514', { maxOutput: 32_000, prefill: true, sampling: true, thinking: ['enabled', 'disabled'] }],
    ['claude-opus-4-1-20250805', { maxOutput: 32_000, boundReasoning: false }],
    [
      'claude-sonnet-4-5-20250929',
      { prefill: true, sampling: true, thinking: ['enabled', 'disabled'], contextWindow: 200_000, maxOutput: 64_000 },
      1024,
    ],
    ['claude-haiku-4-5', { prefill: true, maxImages: 100, forcedTool: true }, 4096],
    [
      'claude-opus-4-6',
      { prefill: false, sampling: true, thinking: ['enabled', 'adaptive', 'disabled'], contextWindow: 1_000_000 },
      4096,
    ],
    ['claude-sonnet-4-6', { prefill: false, sampling: true, maxOutput: 64_000 }, 1024],
    [
      'claude-opus-4-7',
      { sampling: false, thinking: ['adaptive', 'disabled'], midSystem: false, forcedTool: true },
      2048,
    ],
    ['claude-opus-4-8', { sampling: false, midSystem: true, boundReasoning: false }, 1024],
    [
      'claude-opus-5',
      { thinking: ['adaptive', 'disabled'], midSystem: true, forcedTool: true, boundReasoning: false },
      512,
    ],
    [
      'claude-sonnet-5',
      { thinking: ['adaptive', 'disabled'], midSystem: false, forcedTool: true, sampling: false },
      1024,
    ],
    ['claude-fable-5', { thinking: ['adaptive'], midSystem: true, forcedTool: true, boundReasoning: false }, 512],
    ['claude-fable-5-1', { thinking: ['adaptive'], forcedTool: false, boundReasoning: true, midSystem: true }, 512],
    ['claude-mythos-5-2', { thinking: ['adaptive'], forcedTool: false }, 512],
    ['claude-opus-5-5', { thinking: ['adaptive'], forcedTool: false, boundReasoning: true, prefill: false }, 512],
    ['claude-sonnet-5-5', { thinking: ['adaptive'], forcedTool: false, boundReasoning: true, cacheMarks: true }, 512],
    ['claude-something-9', { sampling: false, prefill: false, forcedTool: false, boundReasoning: true }, 512],
  ],
  'google gemini-generate': [
    ['gemini-2.0-flash', { signedCalls: false, efforts: [], maxOutput: 8192, resultMedia: [] }, 2048],
    ['gemini-2.5-pro', { signedCalls: false, sampling: true, efforts: ['low', 'medium', 'high'] }, 2048],
    ['gemini-2.5-flash', { efforts: ['none', 'low', 'medium', 'high'], resultMedia: [] }],
    ['gemini-3-pro-preview', { signedCalls: true, efforts: ['low', 'high'] }, 4096],
    ['gemini-3.1-pro-preview', { signedCalls: true, efforts: ['low', 'medium', 'high'], sampling: true }],
    ['gemini-3.5-flash', { efforts: ['minimal', 'low', 'medium', 'high'], sampling: true }],
    ['gemini-3.8-flash', { signedCalls: true, efforts: ['low', 'medium', 'high'], sampling: false }],
    ['gemini-3.8-flash', { resultMedia: ['image/png', 'image/jpeg', 'image/webp'], contextWindow: 1_048_576 }],
  ],
  'mistral mistral-chat': [
    ['mistral-medium-latest', { efforts: ['none', 'high'], contextWindow: 262_144 }, 64],
    ['mistral-large-latest', { efforts: [] }],
    ['codestral-latest', { media: [], efforts: [] }],
  ],
  'deepseek openai-chat': [
    ['deepseek-v4-pro', { media: [], systemRole: 'system', outputField: 'max_tokens', contextWindow: 1_000_000 }],
    ['deepseek-v4-flash-vision-exp', { media: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] }],
  ],
  'xai openai-responses': [
    ['grok-4.3', { efforts: ['none', 'low', 'medium', 'high'] }],
    ['grok-4.6', { efforts: ['low', 'medium', 'high', 'xhigh'] }],
    ['grok-4-1-fast-reasoning', { efforts: [] }],
  ],
  'groq openai-chat': [
    ['openai/gpt-oss-120b', { efforts: ['low', 'medium', 'high'], media: [], contextWindow: 131_072 }],
    ['meta-llama/llama-4-scout-17b-16e-instruct', { media: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] }],
  ],
  'ollama ollama-chat': [
    ['qwen3', { efforts: ['none', 'medium'], mediaUrls: false }],
    ['gpt-oss:20b', { efforts: ['low', 'medium', 'high'] }],
  ],
  'llama.cpp openai-chat': [['anything', { midSystem: false, prefill: false, outputField: 'max_tokens' }]],
}

for (const [target, cases] of Object.entries(known)) {
  const [provider = '', protocol = ''] = target.split(' ')
  describe(`models of ${provider} on ${protocol}`, () => {
    for (const [model, expected, minimum] of cases) {
      test(`${model}: ${Object.keys(expected).join(', ')}`, async () => {
        const { capabilities, caching } = await resolve({ provider, protocol, model, keyless: true, env: {} })
        for (const [field, value] of Object.entries(expected)) {
          assert.deepEqual(capabilities[field as keyof Capabilities], value, field)
        }
        if (minimum !== undefined) assert.equal(caching.minimum, minimum)
      })
    }
  })
}

test('the fields of older and newer caches are distinguished on OpenAI, and not assumed on Azure', async () => {
  const marks = async (provider: string, model: string) =>
    (await resolve({ provider, model, keyless: true, env: { AZURE_OPENAI_ENDPOINT: 'https://a.b' } })).capabilities
      .cacheMarks
  assert.equal(await marks('openai', 'gpt-5.5'), undefined)
  assert.equal(await marks('openai', 'gpt-5.6-luna'), true)
  assert.equal(await marks('azure-openai', 'gpt-5.6'), undefined)
})

test('one model does not change another', async () => {
  const efforts = async (model: string) =>
    (await resolve({ provider: 'openai', model, keyless: true, env: {} })).capabilities.efforts
  const before = await efforts('gpt-5')
  await efforts('gpt-5.6')
  assert.deepEqual(await efforts('gpt-5'), before)
})
