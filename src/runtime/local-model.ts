// What a local server reports about its model: chat template, context window and capabilities. Queried once per model;
// if the server does not answer, its row applies.

import { badInput, SynapseError } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { type Endpoint, rendersPrompt } from '../providers/resolve.ts'
import { formFor } from '../providers/templates.ts'
import type { Fetch } from '../transport/send.ts'
import type { Capabilities, Quirks } from '../wires/wire.ts'

export interface LocalModel {
  quirks: Quirks
  capabilities: Partial<Capabilities>
}

/** The endpoint with what its server reports; the answer is cached. */
export async function withLocalModel(
  endpoint: Endpoint,
  fetch: Fetch,
  cache: Map<string, LocalModel>,
): Promise<Endpoint> {
  const { describes } = endpoint.provider
  if (!describes) return endpoint
  const key = `${endpoint.baseUrl} ${endpoint.model}`
  let model = cache.get(key)
  if (!model) {
    const answer = await ask(endpoint, fetch, describes)
    if (!answer) return endpoint
    model = describes === 'props' ? fromProps(answer) : fromShow(answer)
    cache.set(key, model)
  }
  const { contextWindow } = endpoint.capabilities
  const { separateCalls: _, oneCallPerTurn: __, ...others } = endpoint.quirks
  return {
    ...endpoint,
    quirks: { ...others, ...model.quirks },
    capabilities: {
      ...endpoint.capabilities,
      ...model.capabilities,
      // The user's settings take precedence.
      ...(contextWindow !== undefined && { contextWindow }),
    },
  }
}

/** The prompt that the server would make of a request; nothing is generated. */
export async function renderedPrompt(endpoint: Endpoint, body: JsonObject, fetch: Fetch): Promise<string> {
  const { name } = endpoint.provider
  if (!rendersPrompt(endpoint)) {
    throw badInput(
      `${name} does not show the prompt that it makes of a request on ${endpoint.protocol.id}; llama.cpp does on openai-chat.`,
    )
  }
  const answer = await post(endpoint, fetch, '/apply-template', body)
  if (typeof answer?.prompt === 'string') return answer.prompt
  throw new SynapseError({
    kind: 'network',
    message: `${name} did not render the prompt; check that its server is running and that its chat template takes this history.`,
  })
}

/** A running server answers at once. */
const timeoutMs = 2000

function ask(endpoint: Endpoint, fetch: Fetch, describes: 'props' | 'show'): Promise<JsonObject | undefined> {
  if (describes === 'show') return post(endpoint, fetch, '/api/show', { model: endpoint.model })
  return request(endpoint, fetch, '/props', { method: 'GET' })
}

function post(endpoint: Endpoint, fetch: Fetch, path: string, body: JsonObject): Promise<JsonObject | undefined> {
  return request(endpoint, fetch, path, { method: 'POST', body: JSON.stringify(body) })
}

async function request(
  { baseUrl, headers }: Endpoint,
  fetch: Fetch,
  path: string,
  init: { method: string; body?: string },
): Promise<JsonObject | undefined> {
  try {
    const response = await fetch(baseUrl.replace(/\/v1$/, '') + path, {
      ...init,
      headers: { ...headers, 'content-type': 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer = response.status === 200 ? (JSON.parse(await response.text()) as Json) : undefined
    return isObject(answer) ? answer : undefined
  } catch {
    return undefined
  }
}

/** llama.cpp. */
function fromProps(props: JsonObject): LocalModel {
  const generation = isObject(props.default_generation_settings) ? props.default_generation_settings : {}
  const window = countIn(generation.n_ctx)
  const sees = isObject(props.modalities) ? props.modalities.vision : undefined
  return {
    quirks: typeof props.chat_template === 'string' ? formFor(props.chat_template).form : formFor('').form,
    capabilities: {
      ...(window !== undefined && { contextWindow: window }),
      ...(sees === false && { media: [], resultMedia: [] }),
    },
  }
}

/**
 * Requested if a model of Ollama sets none: the server's own default may be as low as 4,096 tokens (checked 2026-11).
 */
const defaultWindow = 16_384

/** Ollama. Its templates are in Go's template language, so most of them resemble no known one. */
function fromShow(shown: JsonObject): LocalModel {
  const capabilities = Array.isArray(shown.capabilities) ? shown.capabilities : undefined
  const parameters = typeof shown.parameters === 'string' ? shown.parameters : ''
  // A model of Ollama's cloud has its whole window.
  const mostTokens = typeof shown.remote_host === 'string' ? Infinity : defaultWindow
  const set = countIn(Number(/^\s*num_ctx\s+(\d+)/m.exec(parameters)?.[1]))
  return {
    quirks: formFor(typeof shown.template === 'string' ? shown.template : '').form,
    capabilities: {
      contextWindow: set ?? Math.min(mostTokens, longest(shown.model_info) ?? defaultWindow),
      ...(capabilities && { tools: capabilities.includes('tools') }),
      ...(capabilities && !capabilities.includes('vision') && { media: [], resultMedia: [] }),
      ...(capabilities && !capabilities.includes('thinking') && { efforts: [] }),
    },
  }
}

/** `<architecture>.context_length`. */
function longest(info: Json | undefined): number | undefined {
  const length = Object.entries(isObject(info) ? info : {}).find(([key]) => key.endsWith('.context_length'))
  return countIn(length?.[1])
}

function countIn(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}
