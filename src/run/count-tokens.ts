// The tokens of the next request by the provider's own count, for those who ask: it is a question over the network, so
// nothing else in here waits for it. What the provider may hold of the conversation is counted too.

import { badInput, SynapseError } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Entry } from '../core/log.ts'
import type { Assembled } from '../context/assemble.ts'
import type { Endpoint } from '../providers/resolve.ts'
import { post } from '../transport/post.ts'
import { lookingOn } from './explain-next.ts'
import { lookingAhead } from './inspect.ts'
import { planRequest } from './plan-request.ts'
import type { RunSettings, Runtime } from './settings.ts'

export interface TokenCount {
  provider: string
  protocol: string
  model: string
  /** Tokens of the whole prompt, by the provider's count. */
  tokens: number
  /** By ours, as `inspect` gives it. */
  estimate: number
}

/** Throws one sentence where the provider does not count. */
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
  const message = `${provider.name} was asked for a number of tokens and gave none.`
  throw new SynapseError({ kind: 'malformed-reply', message })
}

/** The question for the number of tokens of a request, in place of the request. */
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
