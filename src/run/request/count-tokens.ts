// The tokens of the next request as counted by the provider. It needs a network request, so nothing else waits for it.
// State that the provider stores for the conversation is counted too.

import { badInput, SynapseError } from '../../core/error.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Entry } from '../../core/log.ts'
import type { Assembled } from '../../context/assemble.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import { post } from '../../transport/post.ts'
import { lookingOn, lookingAhead } from './inspect.ts'
import { planRequest } from './plan-request.ts'
import type { RunSettings, Runtime } from '../settings.ts'

export interface TokenCount {
  provider: string
  protocol: string
  model: string
  /** Tokens of the whole prompt, as counted by the provider. */
  tokens: number
  /** Our own estimate, as `inspect` returns it. */
  estimate: number
}

/** Throws one sentence if the provider does not count tokens. */
export async function countTokens(
  runtime: Runtime,
  conversationId: string,
  log: readonly Entry[],
  settings: RunSettings,
): Promise<TokenCount> {
  const { looking, history } = await lookingAhead(runtime, conversationId, log, settings)
  const { endpoint, transport } = looking
  const { counting, provider, protocol, model } = endpoint
  const { prepared, past } = await planRequest(lookingOn(looking), history, { look: true, whole: true })
  const estimate = Math.round(prepared.estimate.input * past.ratio)
  if (!counting) {
    throw badInput(
      `${provider.name} does not count tokens on request over ${protocol.id}; by estimate there are ${estimate}.`,
    )
  }
  const answer = await post({
    ...countQuestion(endpoint, counting, prepared),
    protocol,
    provider: provider.name,
    ...(settings.signal && { signal: settings.signal }),
    ...(endpoint.keyVariable && { keyVariable: endpoint.keyVariable }),
    ...transport,
  })
  const tokens = isObject(answer) ? answer[counting.answer] : undefined
  if (typeof tokens === 'number') return { provider: provider.id, protocol: protocol.id, model, tokens, estimate }
  const message = `${provider.name} returned no number of tokens.`
  throw new SynapseError({ kind: 'malformed-reply', message })
}

/** The request that counts the tokens of another request. */
export function countQuestion(
  { baseUrl, headers, model }: Endpoint,
  { path, fields, question }: NonNullable<Endpoint['counting']>,
  prepared: Assembled,
): { url: string; headers: Record<string, string>; body: string } {
  const counted: JsonObject = Object.fromEntries(
    Object.entries(prepared.body).filter(([name]) => fields.includes(name)),
  )
  return {
    url: baseUrl + path.replace('{model}', encodeURIComponent(model)),
    headers: { ...headers, ...prepared.headers },
    body: JSON.stringify(question?.(counted, model) ?? counted),
  }
}
