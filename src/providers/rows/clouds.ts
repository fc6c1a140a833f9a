// Models in the clouds of Amazon, Google and Microsoft: the wires of their makers at other addresses, with cloud
// credentials if there is no key. What differs by model is in models.ts, what it costs in the catalogue.

import type { Capabilities } from '../../wires/wire.ts'
import type { AddressPlace, ProviderRow, ProviderWire } from '../provider.ts'
import { bearer, compatibleChat } from './shared.ts'

const region: AddressPlace = {
  what: 'a region of AWS',
  variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'],
  profile: 'region',
  example: 'us-east-1',
}

/** The host suffixes of AWS, by partition. */
const domain: AddressPlace = {
  from: 'region',
  cases: [
    ['cn-', 'amazonaws.com.cn'],
    ['eusc-', 'amazonaws.eu'],
    ['us-iso-', 'c2s.ic.gov'],
    ['us-isob-', 'sc2s.sgov.gov'],
    ['', 'amazonaws.com'],
  ],
}

const runtime = 'https://bedrock-runtime.{region}.{domain}'
const mantle = 'https://bedrock-mantle.{region}.api.aws'

/** One or another of its endpoints refuses a schema: the schema goes into the prompt instead. */
const claude: Partial<Capabilities> = { cacheMarks: true, answer: 'none' }

const isClaude = /claude/i

const bedrockKeys: Pick<ProviderRow, 'keyVariables' | 'auth' | 'keysAt'> = {
  keyVariables: ['AWS_BEARER_TOKEN_BEDROCK'],
  auth: bearer,
  keysAt: 'https://console.aws.amazon.com/bedrock/home#/api-keys',
}

/** Like OpenAI's own, but served by Amazon: no reliable state, and no documented cache key. */
function amazonResponses(baseUrl: string, models: RegExp): ProviderWire {
  return {
    protocol: 'openai-responses',
    baseUrl,
    models,
    defaultModel: 'openai.gpt-5.6-sol',
    family: 'openai',
    catalogue: 'openai',
    quirks: { cacheKey: false, noStore: true },
    capabilities: { prefill: false },
    caching: 'prefix',
  }
}

function amazonChat(baseUrl: string, models?: RegExp): ProviderWire {
  return {
    protocol: 'openai-chat',
    baseUrl,
    ...(models && { models }),
    defaultModel: 'openai.gpt-oss-120b-1:0',
    quirks: { reasoningField: 'reasoning', toolSchema: 'compatible', answerSchema: 'compatible' },
    capabilities: { ...compatibleChat, media: [], outputField: 'max_completion_tokens', answer: 'none' },
    caching: 'none',
  }
}

/** The host of a location of Google Cloud. */
const vertexHost: AddressPlace = {
  from: 'location',
  cases: [
    ['global$', 'aiplatform.googleapis.com'],
    ['us$', 'aiplatform.us.rep.googleapis.com'],
    ['eu$', 'aiplatform.eu.rep.googleapis.com'],
    ['', '*-aiplatform.googleapis.com'],
  ],
}
const inProject = 'projects/{project}/locations/{location}'

/** Both audiences are in use; which one a resource wants is not documented. */
const entra = {
  kind: 'entra',
  scopes: ['https://cognitiveservices.azure.com/.default', 'https://ai.azure.com/.default'],
} as const

export const azureCredentials: Pick<ProviderRow, 'credentials'> = { credentials: entra }

export const clouds: readonly ProviderRow[] = [
  {
    id: 'bedrock',
    name: 'Amazon Bedrock',
    wires: [
      {
        protocol: 'anthropic-messages',
        baseUrl: `${runtime}/anthropic/v1`,
        models: isClaude,
        // A request that also carries a bearer token is refused here.
        auth: { header: 'x-api-key' },
        family: 'anthropic',
        catalogue: 'anthropic',
        capabilities: claude,
        caching: 'marks',
      },
      amazonChat(`${runtime}/openai/v1`, /openai\.gpt-oss/),
      amazonResponses(`${runtime}/openai/v1`, /openai\.gpt-(?!oss)|xai\.grok/),
      // Everything else: Nova, Llama, Mistral, DeepSeek, and whatever a guardrail must inspect.
      {
        protocol: 'bedrock-converse',
        baseUrl: runtime,
        defaultModel: 'us.amazon.nova-2-lite-v1:0',
        caching: 'marks',
      },
    ],
    ...bedrockKeys,
    credentials: { kind: 'aws', service: 'bedrock' },
    baseUrlVariables: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_ENDPOINT_URL'],
    places: { region, domain },
    defaultModel: 'global.anthropic.claude-opus-5',
  },
  {
    id: 'bedrock-invoke',
    name: 'Amazon Bedrock (InvokeModel)',
    wires: [
      {
        protocol: 'anthropic-messages',
        baseUrl: runtime,
        family: 'anthropic',
        catalogue: 'anthropic',
        quirks: { cloud: 'bedrock' },
        capabilities: claude,
        caching: 'marks',
      },
    ],
    ...bedrockKeys,
    credentials: { kind: 'aws', service: 'bedrock' },
    baseUrlVariables: ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME', 'AWS_ENDPOINT_URL'],
    places: { region, domain },
    catalogue: 'bedrock',
    defaultModel: 'global.anthropic.claude-opus-5',
  },
  {
    id: 'bedrock-mantle',
    name: 'Amazon Bedrock (Mantle)',
    wires: [
      {
        protocol: 'anthropic-messages',
        baseUrl: `${mantle}/anthropic/v1`,
        models: isClaude,
        auth: { header: 'x-api-key' },
        family: 'anthropic',
        catalogue: 'anthropic',
        capabilities: claude,
        caching: 'marks',
        counts: true,
      },
      { ...amazonChat(`${mantle}/v1`), defaultModel: 'openai.gpt-oss-120b' },
      amazonResponses(`${mantle}/openai/v1`, /openai\.gpt-(?!oss)|xai\.grok/),
    ],
    ...bedrockKeys,
    credentials: { kind: 'aws', service: 'bedrock-mantle' },
    places: { region },
    catalogue: 'bedrock',
    defaultModel: 'anthropic.claude-opus-5',
  },
  {
    id: 'claude-aws',
    name: 'Claude Platform on AWS',
    wires: [
      {
        protocol: 'anthropic-messages',
        baseUrl: 'https://aws-external-anthropic.{region}.api.aws/v1',
        headers: { 'anthropic-workspace-id': '{workspace}' },
        capabilities: { cacheMarks: true },
        caching: 'marks',
        counts: true,
      },
    ],
    keyVariables: ['ANTHROPIC_AWS_API_KEY'],
    auth: bearer,
    keysAt: 'https://console.aws.amazon.com',
    credentials: { kind: 'aws', service: 'aws-external-anthropic' },
    places: {
      region,
      workspace: {
        what: 'the id of a workspace',
        variables: ['ANTHROPIC_AWS_WORKSPACE_ID'],
        example: 'example-workspace',
      },
    },
    defaultModel: 'claude-opus-5',
    catalogue: 'anthropic',
    family: 'anthropic',
  },
  {
    id: 'vertex',
    name: 'Google Vertex AI',
    wires: [
      {
        protocol: 'gemini-generate',
        baseUrl: `https://{host}/v1beta1/${inProject}/publishers/google`,
        family: 'google',
        catalogue: 'google',
        caching: 'prefix',
        counts: true,
      },
      {
        protocol: 'anthropic-messages',
        baseUrl: `https://{host}/v1/${inProject}/publishers/anthropic`,
        models: isClaude,
        defaultModel: 'claude-opus-5@default',
        family: 'anthropic',
        catalogue: 'anthropic',
        quirks: { cloud: 'vertex' },
        capabilities: claude,
        caching: 'marks',
      },
      // Models of other makers: publisher/model.
      {
        protocol: 'openai-chat',
        baseUrl: `https://{host}/v1/${inProject}/endpoints/openapi`,
        models: /\//,
        defaultModel: 'openai/gpt-oss-120b-maas',
        quirks: { reasoningField: 'reasoning_content', toolSchema: 'compatible', answerSchema: 'compatible' },
        capabilities: { ...compatibleChat, media: [], answer: 'none' },
        caching: 'none',
      },
    ],
    keyVariables: ['CLOUDSDK_AUTH_ACCESS_TOKEN'],
    auth: bearer,
    keysAt: 'https://console.cloud.google.com/vertex-ai',
    credentials: { kind: 'google' },
    baseUrlVariables: ['GOOGLE_VERTEX_BASE_URL'],
    places: {
      host: vertexHost,
      location: {
        what: 'a location of Google Cloud',
        variables: ['GOOGLE_VERTEX_LOCATION', 'GOOGLE_CLOUD_LOCATION', 'CLOUD_ML_REGION'],
        usual: 'global',
        example: 'global',
      },
      project: {
        what: 'a project of Google Cloud',
        variables: ['GOOGLE_VERTEX_PROJECT', 'GOOGLE_CLOUD_PROJECT', 'ANTHROPIC_VERTEX_PROJECT_ID'],
        example: 'example-project',
      },
    },
    defaultModel: 'gemini-3.8-flash',
  },
  {
    id: 'vertex-express',
    name: 'Google Vertex AI (express mode)',
    wires: [
      {
        protocol: 'gemini-generate',
        baseUrl: 'https://aiplatform.googleapis.com/v1/publishers/google',
        caching: 'prefix',
        counts: true,
      },
    ],
    keyVariables: ['GOOGLE_VERTEX_API_KEY'],
    auth: { header: 'x-goog-api-key' },
    keysAt: 'https://console.cloud.google.com/expressmode',
    defaultModel: 'gemini-3.8-flash',
    catalogue: 'vertex',
    family: 'google',
  },
  {
    id: 'foundry',
    name: 'Claude in Microsoft Foundry',
    wires: [
      {
        protocol: 'anthropic-messages',
        baseUrl: 'https://{resource}.services.ai.azure.com/anthropic/v1',
        capabilities: { cacheMarks: true },
        caching: 'marks',
        counts: true,
      },
    ],
    keyVariables: ['ANTHROPIC_FOUNDRY_API_KEY'],
    auth: { header: 'x-api-key' },
    keysAt: 'https://ai.azure.com',
    credentials: entra,
    baseUrlVariables: ['ANTHROPIC_FOUNDRY_BASE_URL'],
    baseUrlPath: '/v1',
    places: {
      resource: {
        what: 'the name of a resource',
        variables: ['ANTHROPIC_FOUNDRY_RESOURCE'],
        example: 'example-resource',
      },
    },
    defaultModel: 'claude-opus-5',
    catalogue: 'anthropic',
    family: 'anthropic',
  },
]
