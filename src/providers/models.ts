// What differs by model: rows of data, each a patch of the capabilities of its wire and provider. Every row that
// matches a model applies, later ones over earlier ones. An unknown name gets the newest, strictest rules of its
// family, because those are valid on older models too. Facts checked 2026-11.

import type { Capabilities } from '../wires/wire.ts'
import type { Caching } from './provider.ts'

export interface ModelPatch {
  capabilities: Partial<Capabilities>
  cache: Omit<Caching, 'kind'>
}

/** `providers`: who serves it, and whose rules apply to it. */
export function patchFor(providers: readonly string[], protocol: string, model: string): ModelPatch {
  const patch: ModelPatch = { capabilities: {}, cache: {} }
  for (const row of modelRows) {
    if (
      !row.providers.some((candidate) => providers.includes(candidate)) ||
      (row.protocol && row.protocol !== protocol)
    )
      continue
    if (row.model && !row.model.test(model)) continue
    Object.assign(patch.capabilities, row.capabilities)
    Object.assign(patch.cache, row.cache)
  }
  return patch
}

export interface ModelRow {
  providers: readonly string[]
  protocol?: string
  /** Absent: every model. */
  model?: RegExp
  capabilities?: Partial<Capabilities>
  cache?: Omit<Caching, 'kind'>
}

const minute = 60_000
const images = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

const openai = ['openai', 'azure-openai']
const anthropic = ['anthropic']
const google = ['google']
const mistral = ['mistral']
const cohere = ['cohere']
const xai = ['xai']

/** Hosts of other makers' models: what a model can see does not depend on the host. */
const hosts = [
  'groq',
  'together',
  'fireworks',
  'cerebras',
  'moonshot',
  'qwen',
  'deepseek',
  'zai',
  'huggingface',
  'cloudflare',
  'nvidia',
  'nebius',
  'baseten',
  'ovhcloud',
  'chutes',
]
const home = ['ollama', 'lmstudio', 'vllm', 'llama.cpp', 'openai-compatible']

const openaiRows: ModelRow[] = [
  {
    providers: openai,
    // Patches of 32 × 32, each a little more than a token (measured by third parties on GPT-6.1, 2026-10).
    capabilities: { maxImages: 500, imageTokens: { pixels: 853 } },
    cache: { minimum: 1024, lifetimeMs: 5 * minute },
  },
  // Tiles of an image whose shorter side is scaled to 768 pixels.
  {
    providers: openai,
    model: /^(gpt-4|o[13]|gpt-5(-|$))(?!.*(mini|nano))/,
    capabilities: { imageTokens: { base: 85, tile: { side: 512, tokens: 170 }, longer: 2048, shorter: 768 } },
  },
  {
    providers: openai,
    model: /^(gpt-4\.1|gpt-5|o4)-(mini|nano)/,
    capabilities: { imageTokens: { pixels: 632, most: 2489 } },
  },
  { providers: openai, model: /^gpt-(3|4)/, capabilities: { maxOutput: 4096 } },
  { providers: openai, model: /^(gpt-3|gpt-4($|-0|-32k))/, capabilities: { media: [] } },
  { providers: openai, model: /^(gpt-4o|chatgpt-4o)/, capabilities: { maxOutput: 16_384 } },
  { providers: openai, model: /^gpt-4\.1/, capabilities: { maxOutput: 32_768 } },
  // Schemas of answers came with gpt-4o-2024-08-06, JSON as such with the models of 1106.
  { providers: openai, model: /^(gpt-3|gpt-4(-|$)|o1-(mini|preview))/, capabilities: { answer: 'none' } },
  {
    providers: openai,
    model: /^(gpt-4-(turbo|1106|0125)|gpt-3\.5-turbo($|-(1106|0125))|gpt-4o-2024-05|chatgpt-4o)/,
    capabilities: { answer: 'json' },
  },
  // Reasoning models: C15 and C16; `developer` is their name for the system role.
  {
    providers: openai,
    model: /^(o\d|gpt-([5-9]|\d\d))/,
    capabilities: {
      sampling: false,
      outputField: 'max_completion_tokens',
      systemRole: 'developer',
      efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
      maxOutput: 128_000,
    },
  },
  { providers: openai, model: /^o\d/, capabilities: { efforts: ['low', 'medium', 'high'], maxOutput: 100_000 } },
  { providers: openai, model: /^o\d-mini/, capabilities: { media: [] } },
  { providers: openai, model: /^o4-mini/, capabilities: { media: [...images, 'application/pdf'] } },
  { providers: openai, model: /^gpt-5(-|$)/, capabilities: { efforts: ['minimal', 'low', 'medium', 'high'] } },
  { providers: openai, model: /^gpt-5\.1/, capabilities: { efforts: ['none', 'low', 'medium', 'high'] } },
  { providers: openai, model: /^gpt-5\.\d+-codex/, capabilities: { efforts: ['low', 'medium', 'high', 'xhigh'] } },
  { providers: openai, model: /^gpt-5(\.1)?-codex(?!-max)/, capabilities: { efforts: ['low', 'medium', 'high'] } },
  { providers: openai, model: /^gpt-5\.\d+-pro/, capabilities: { efforts: ['medium', 'high', 'xhigh'] } },
  { providers: openai, model: /^gpt-5-pro/, capabilities: { efforts: ['high'] } },
  { providers: openai, model: /^gpt-5[.\d]*-chat/, capabilities: { efforts: [], maxOutput: 16_384 } },
  // From GPT-5.6 on caches have breakpoints and last half an hour; older models refuse their fields.
  { providers: openai, model: /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/, cache: { lifetimeMs: 30 * minute } },
  { providers: ['openai'], model: /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/, capabilities: { cacheMarks: true } },
  {
    providers: openai,
    protocol: 'openai-responses',
    model: /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)(?!.*-pro)/,
    capabilities: { efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
  },
  // Free-form tools came with GPT-5; the chat models have none.
  {
    providers: openai,
    protocol: 'openai-chat',
    model: /^gpt-([5-9]|\d\d)(?!.*-chat)/,
    capabilities: { toolKinds: true },
  },
  // C13 and C14: on the chat wire these models take tools only with no effort, or with effort `none`.
  { providers: openai, protocol: 'openai-chat', model: /^gpt-5\.[45]/, capabilities: { effortWithTools: 'omitted' } },
  {
    providers: openai,
    protocol: 'openai-chat',
    model: /^gpt-5\.([6-9]|\d\d)/,
    capabilities: { effortWithTools: 'none' },
  },
]

const anthropicRows: ModelRow[] = [
  {
    providers: anthropic,
    capabilities: {
      contextWindow: 1_000_000,
      maxOutput: 128_000,
      maxImages: 600,
      // Newer models accept more pixels than older ones.
      imageLimits: { side: 8000, many: { over: 20, side: 2000 }, size: 10_000_000 },
      imageTokens: { pixels: 750, longer: 2576, most: 4784 },
      sampling: false,
      prefill: false,
      forcedTool: false,
      midSystem: false,
      thinking: ['adaptive'],
      efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      boundReasoning: true,
    },
    cache: { minimum: 512, lifetimeMs: 5 * minute },
  },
  { providers: anthropic, model: /(opus|fable|mythos)-5/, capabilities: { midSystem: true } },
  // Up to 5.0 a call can be forced, and thinking is not bound to its prefix.
  {
    providers: anthropic,
    model: /(opus|sonnet|haiku|fable|mythos)-(5(-\d{8})?$|4)|claude-[123]/,
    capabilities: { forcedTool: true, boundReasoning: false },
  },
  {
    providers: anthropic,
    model: /(opus|sonnet|haiku)-(5(-\d{8})?$|4)/,
    capabilities: { thinking: ['adaptive', 'disabled'], efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
  },
  { providers: anthropic, model: /sonnet-5(-\d{8})?$/, cache: { minimum: 1024 } },
  { providers: anthropic, model: /opus-4[-.]8/, capabilities: { midSystem: true }, cache: { minimum: 1024 } },
  { providers: anthropic, model: /opus-4[-.]7/, cache: { minimum: 2048 } },
  {
    providers: anthropic,
    model: /(opus|sonnet|haiku)-4([-.][0-6])?(-\d{8})?$|claude-[123]/,
    capabilities: { imageTokens: { pixels: 750, longer: 1568, most: 1600 } },
  },
  {
    providers: anthropic,
    model: /(opus|sonnet)-4[-.]6/,
    capabilities: {
      sampling: true,
      thinking: ['enabled', 'adaptive', 'disabled'],
      efforts: ['none', 'low', 'medium', 'high', 'max'],
    },
    cache: { minimum: 4096 },
  },
  { providers: anthropic, model: /sonnet-4[-.]6/, capabilities: { maxOutput: 64_000 }, cache: { minimum: 1024 } },
  {
    providers: anthropic,
    model: /(opus|sonnet|haiku)-4([-.][0-5])?(-\d{8})?$|claude-[1234]/,
    capabilities: {
      contextWindow: 200_000,
      maxOutput: 64_000,
      maxImages: 100,
      sampling: true,
      prefill: true,
      thinking: ['enabled', 'disabled'],
      efforts: ['none', 'low', 'medium', 'high'],
    },
    cache: { minimum: 1024 },
  },
  { providers: anthropic, model: /(opus|haiku)-4[-.]5/, cache: { minimum: 4096 } },
  { providers: anthropic, model: /opus-4([-.][01])?(-\d{8})?$/, capabilities: { maxOutput: 32_000 } },
  {
    providers: anthropic,
    model: /claude-([12]|3[-.]5|3-(opus|sonnet|haiku))/,
    capabilities: { maxOutput: 4096, thinking: [], efforts: [] },
  },
  { providers: anthropic, model: /claude-3[-.]5/, capabilities: { maxOutput: 8192 } },
  // Answer schemas are supported by 4.5 and later, and by Opus 4.1.
  { providers: anthropic, model: /(opus|sonnet)-4(-0)?(-\d{8})?$|claude-[123]/, capabilities: { answer: 'none' } },
]

const googleRows: ModelRow[] = [
  {
    providers: google,
    capabilities: {
      signedCalls: true,
      sampling: false,
      efforts: ['low', 'medium', 'high'],
      maxImages: 3000,
      imageTokens: { base: 1120, page: 560 },
    },
    cache: { minimum: 4096 },
  },
  {
    providers: google,
    protocol: 'gemini-generate',
    model: /gemini-([3-9]|flash|pro)/,
    capabilities: { resultMedia: ['image/png', 'image/jpeg', 'image/webp'] },
  },
  {
    providers: google,
    model: /gemini-3([.][0-6])?-flash|flash-lite/,
    capabilities: { efforts: ['minimal', 'low', 'medium', 'high'] },
  },
  { providers: google, model: /gemini-3([.][0-6])?-/, capabilities: { sampling: true } },
  { providers: ['openrouter'], model: /gemini-/, capabilities: { penalties: false } },
  { providers: [...google, 'openrouter'], model: /gemini-2\.0/, capabilities: { penalties: true } },
  { providers: google, model: /gemini-3-pro/, capabilities: { efforts: ['low', 'high'], maxImages: 900 } },
  {
    providers: google,
    model: /gemini-[12]/,
    capabilities: {
      signedCalls: false,
      sampling: true,
      efforts: [],
      imageTokens: { tile: { side: 768, tokens: 258 }, page: 258 },
    },
    cache: { minimum: 2048 },
  },
  { providers: google, model: /gemini-2\.5-pro/, capabilities: { efforts: ['low', 'medium', 'high'] } },
  { providers: google, model: /gemini-2\.5-flash/, capabilities: { efforts: ['none', 'low', 'medium', 'high'] } },
  { providers: google, model: /gemini-(1|2\.0)/, capabilities: { maxOutput: 8192 } },
  // G-15: before Gemini 3, a JSON answer cannot be combined with functions.
  { providers: google, model: /gemini-[12]/, capabilities: { answerWithTools: 'none' } },
  { providers: google, model: /gemini-1/, capabilities: { answer: 'json' } },
  // Before Gemini 3, Vertex refused ids of calls; since then an answer without them may be empty.
  { providers: ['vertex', 'vertex-express'], model: /gemini-[12]/, capabilities: { callIds: false } },
]

const mistralRows: ModelRow[] = [
  {
    providers: mistral,
    capabilities: {
      efforts: [],
      maxImages: 8,
      imageLimits: { size: 13_900_000 },
      // Patches of 28 × 28.
      imageTokens: { pixels: 784, longer: 1540 },
    },
    cache: { minimum: 64 },
  },
  {
    providers: mistral,
    model: /^mistral-(small|medium)-(latest|2603|260[4-9]|26[1-9]|3[-.]5)/,
    capabilities: { efforts: ['none', 'high'] },
  },
  {
    providers: mistral,
    model: /^(codestral|devstral|labs-devstral|open-|mistral-nemo|mistral-large-24|magistral-\w+-250[67]|zai-)/,
    capabilities: { media: [] },
  },
  { providers: mistral, model: /^(codestral-mamba|open-(mistral-7b|mixtral))/, capabilities: { answer: 'json' } },
]

const cohereRows: ModelRow[] = [
  { providers: cohere, capabilities: { media: [], efforts: [] } },
  { providers: cohere, model: /vision|command-a-plus/, capabilities: { media: images } },
  {
    providers: cohere,
    model: /reasoning|command-a-plus/,
    capabilities: { efforts: ['none', 'low', 'medium', 'high'] },
  },
  // Tool choice came with Command R7B.
  { providers: cohere, model: /^command-r(-plus)?(-0|$)/, capabilities: { forcedTool: false } },
]

const xaiRows: ModelRow[] = [
  {
    providers: xai,
    capabilities: {
      imageLimits: { size: 13_900_000 },
      imageTokens: { base: 256, tile: { side: 448, tokens: 256 }, most: 1792 },
    },
  },
  // Models that reason refuse penalties.
  { providers: xai, model: /^grok-(3-mini|code|build|[4-9])(?!.*non-reasoning)/, capabilities: { penalties: false } },
  { providers: xai, model: /^grok-3-mini/, capabilities: { efforts: ['low', 'high'] } },
  { providers: xai, model: /^grok-4\.3/, capabilities: { efforts: ['none', 'low', 'medium', 'high'] } },
  { providers: xai, model: /^grok-(4\.[5-9]|[5-9])/, capabilities: { efforts: ['low', 'medium', 'high'] } },
  { providers: xai, model: /^grok-4\.6/, capabilities: { efforts: ['low', 'medium', 'high', 'xhigh'] } },
  { providers: xai, model: /^grok-(3|code|build)/, capabilities: { media: [], resultMedia: [] } },
]

const openModelRows: ModelRow[] = [
  {
    providers: hosts,
    model:
      /vision|[-_]?vl\b|vl-|llama-4|gemma-?[34]|omni|pixtral|qwen3[.p][5-9]|kimi-k(2[.p][5-9]|[3-9])|glm-[\d.p]+v/i,
    capabilities: { media: images },
  },
  { providers: [...hosts, ...home], model: /gpt-oss/, capabilities: { efforts: ['low', 'medium', 'high'] } },
  {
    providers: ['groq'],
    capabilities: { maxImages: 5, imageLimits: { size: 4_000_000 } },
    cache: { lifetimeMs: 120 * minute },
  },
  // Only these of Groq's models support a schema, and none of them together with tools.
  { providers: ['groq'], capabilities: { answer: 'json', answerWithTools: 'none' } },
  { providers: ['groq'], model: /gpt-oss|llama-4|kimi-k2/, capabilities: { answer: 'schema' } },
  // Kimi's sampling is fixed, and neither Moonshot, Z.ai nor DeepSeek documents a seed.
  { providers: ['moonshot', 'zai', 'deepseek'], capabilities: { seed: false } },
  { providers: ['moonshot'], model: /^kimi/, capabilities: { penalties: false } },
  { providers: ['cerebras', 'zai'], capabilities: { penalties: false } },
  {
    providers: ['openrouter', 'together', 'fireworks', 'qwen', 'lmstudio', 'vllm', 'llama.cpp'],
    capabilities: { topK: true },
  },
  { providers: ['moonshot'], model: /^moonshot-v1/, capabilities: { answer: 'json' } },
  { providers: ['qwen'], model: /^qwen3\.[89]-max/, capabilities: { answer: 'schema' } },
  // "Hours to days" according to its documentation; the lower end is assumed.
  { providers: ['deepseek'], cache: { minimum: 64, lifetimeMs: 360 * minute, units: true } },
  // Only this one supports images, and it accepts them from tools too.
  { providers: ['deepseek'], model: /deepseek-(reasoner|r1)/i, capabilities: { alternation: true } },
  { providers: ['deepseek'], model: /vision/, capabilities: { resultMedia: images } },
]

const converse = { providers: ['bedrock'], protocol: 'bedrock-converse' } as const
const documents = ['application/pdf', 'text/csv', 'text/html', 'text/plain', 'text/markdown']

/** The capabilities of models on Converse depend on their makers; an unknown one is treated conservatively. */
const converseRows: ModelRow[] = [
  { ...converse, capabilities: { media: [], resultMedia: [], forcedTool: false } },
  // Names of Amazon's and other makers' models that support images.
  {
    ...converse,
    model: /^nova-(?!micro)/,
    capabilities: { media: [...images, ...documents], resultMedia: images },
  },
  { ...converse, model: /^nova/, capabilities: { forcedTool: true } },
  {
    ...converse,
    model: /^nova-2/,
    capabilities: { efforts: ['none', 'low', 'medium', 'high'], effortField: 'reasoningConfig' },
  },
  { ...converse, model: /^(llama4|llama3-2-(11|90)b|pixtral|qwen3-vl|kimi-k2\.5)/, capabilities: { media: images } },
  // BM-3: these call tools only without streaming.
  { ...converse, model: /^(llama|mistral-(7b|large-24|small-24)|mixtral)/, capabilities: { toolsInStream: false } },
  { ...converse, model: /^r1/, capabilities: { tools: false } },
  {
    ...converse,
    model: /^(mistral|mixtral|ministral|magistral|devstral|pixtral)/,
    capabilities: { callIdLength: 9, forcedTool: true },
  },
  {
    ...converse,
    model: /^gpt-oss/,
    capabilities: { efforts: ['low', 'medium', 'high'], effortField: 'reasoning_effort' },
  },
  {
    ...converse,
    model: /claude/,
    capabilities: {
      media: [...images, ...documents],
      resultMedia: images,
      sampling: false,
      cacheMarks: true,
      efforts: ['low', 'medium', 'high', 'max'],
      effortField: 'output_config',
    },
    cache: { minimum: 4096, lifetimeMs: 5 * minute },
  },
  // Up to 4.5 thinking has a budget, which is not requested on this wire.
  {
    ...converse,
    model: /(opus|sonnet|haiku)-4([-.][0-5])?(-\d{8})?$|claude-[123]/,
    capabilities: { sampling: true, efforts: [], forcedTool: true },
  },
  { ...converse, model: /(opus|sonnet)-(4[-.][6-9]|5(-\d{8})?$)/, capabilities: { forcedTool: true } },
]

export const modelRows: readonly ModelRow[] = [
  ...openaiRows,
  ...anthropicRows,
  ...googleRows,
  ...mistralRows,
  ...cohereRows,
  ...xaiRows,
  ...openModelRows,
  ...converseRows,
]
