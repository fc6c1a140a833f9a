// Hosts that serve models, their own or others', on OpenAI's chat wire.

import type { Capabilities } from '../../wires/wire.ts'
import type { ProviderRow, ProviderWire } from '../provider.ts'
import { bearer, compatibleChat, images } from './shared.ts'

/** A host whose differences from OpenAI are few. The reasoning effort is sent only if the host's field for it is known. */
interface Host extends Pick<ProviderRow, 'id' | 'name' | 'keyVariables' | 'places'> {
  baseUrl: string
  keysAt: string
  defaultModel: string
  quirks?: ProviderWire['quirks']
  capabilities?: Partial<Capabilities>
  caching?: ProviderWire['caching']
}

function host({ baseUrl, quirks, capabilities, caching = 'none', ...row }: Host): ProviderRow {
  return {
    ...row,
    auth: bearer,
    wires: [
      {
        protocol: 'openai-chat',
        baseUrl,
        quirks: { toolSchema: 'compatible', answerSchema: 'compatible', ...quirks },
        capabilities: { ...compatibleChat, media: [], ...capabilities },
        caching,
      },
    ],
  }
}

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
  host({
    id: 'vercel',
    name: 'Vercel AI Gateway',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    keyVariables: ['AI_GATEWAY_API_KEY', 'VERCEL_AI_GATEWAY_API_KEY'],
    keysAt: 'https://vercel.com/dashboard/ai-gateway',
    defaultModel: 'anthropic/claude-sonnet-5',
    quirks: { reasoningField: 'reasoning' },
    capabilities: { media: images },
    caching: 'prefix',
  }),
  host({
    id: 'zai',
    name: 'Z.AI',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keyVariables: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    keysAt: 'https://z.ai/manage-apikey/apikey-list',
    defaultModel: 'glm-5.3',
    quirks: { reasoningField: 'reasoning_content', thinkingSwitch: true },
    caching: 'prefix',
  }),
  host({
    id: 'huggingface',
    name: 'Hugging Face',
    baseUrl: 'https://router.huggingface.co/v1',
    keyVariables: ['HF_TOKEN'],
    keysAt: 'https://huggingface.co/settings/tokens',
    defaultModel: 'zai-org/GLM-5.3',
    quirks: { reasoningField: 'reasoning_content' },
  }),
  host({
    id: 'cloudflare',
    name: 'Cloudflare Workers AI',
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1',
    keyVariables: ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_API_KEY'],
    keysAt: 'https://dash.cloudflare.com/profile/api-tokens',
    places: {
      account: { what: 'the id of an account', variables: ['CLOUDFLARE_ACCOUNT_ID'], example: 'example-account' },
    },
    defaultModel: '@cf/openai/gpt-oss-120b',
    quirks: { reasoningField: 'reasoning_content' },
  }),
  host({
    id: 'nvidia',
    name: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keyVariables: ['NVIDIA_API_KEY', 'NVIDIA_NIM_API_KEY'],
    keysAt: 'https://build.nvidia.com',
    defaultModel: 'openai/gpt-oss-120b',
    // The chat templates of Mistral's models are strict here.
    quirks: { bridgeAfterTool: true },
    capabilities: { midSystem: false },
  }),
  host({
    id: 'nebius',
    name: 'Nebius Token Factory',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    keyVariables: ['NEBIUS_API_KEY'],
    keysAt: 'https://tokenfactory.nebius.com',
    defaultModel: 'openai/gpt-oss-120b',
    quirks: { reasoningField: 'reasoning_content' },
  }),
  host({
    id: 'baseten',
    name: 'Baseten',
    baseUrl: 'https://inference.baseten.co/v1',
    keyVariables: ['BASETEN_API_KEY'],
    keysAt: 'https://app.baseten.co/settings/api_keys',
    defaultModel: 'openai/gpt-oss-120b',
  }),
  host({
    id: 'ovhcloud',
    name: 'OVHcloud AI Endpoints',
    baseUrl: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
    keyVariables: ['OVHCLOUD_API_KEY'],
    keysAt: 'https://endpoints.ai.cloud.ovh.net',
    defaultModel: 'gpt-oss-120b',
    quirks: { reasoningField: 'reasoning' },
  }),
  host({
    id: 'inception',
    name: 'Inception',
    baseUrl: 'https://api.inceptionlabs.ai/v1',
    keyVariables: ['INCEPTION_API_KEY'],
    keysAt: 'https://platform.inceptionlabs.ai',
    defaultModel: 'mercury-2.5',
    capabilities: { efforts: ['low', 'medium', 'high'] },
  }),
  host({
    id: 'upstage',
    name: 'Upstage',
    baseUrl: 'https://api.upstage.ai/v1/solar',
    keyVariables: ['UPSTAGE_API_KEY'],
    keysAt: 'https://console.upstage.ai',
    defaultModel: 'solar-pro4',
  }),
  host({
    id: 'chutes',
    name: 'Chutes',
    baseUrl: 'https://llm.chutes.ai/v1',
    keyVariables: ['CHUTES_API_KEY'],
    keysAt: 'https://chutes.ai',
    defaultModel: 'zai-org/GLM-5.2-TEE',
  }),
]
