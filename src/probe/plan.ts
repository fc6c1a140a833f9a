// The plan of a probe of one wire: the requests, the expected answers, and the cost. Nothing is sent here.

import type { JsonObject } from '../core/json.ts'
import type { Origin, Reply } from '../core/message.ts'
import { assemble, type Assembled } from '../context/assemble.ts'
import { costOf } from '../providers/price.ts'
import type { Endpoint } from '../providers/resolve.ts'
import { countQuestion } from '../run/request/count-tokens.ts'
import type { Options } from '../settings/options.ts'
import { loadService } from '../wires/list.ts'
import type { RefusedCheck } from '../wires/shared/refused-check.ts'
import type { Issue } from '../wires/wire.ts'
import { acceptedChecks, callOf, replyOf, type AcceptedCheck, type Draft } from './accepted.ts'

export interface ProbeStep {
  /** The name of the check, or the number of the rule that it breaks. */
  id: string
  about: string
  /** Continues the reply to the step of this name. */
  after?: string
  /** The expected refusals, any of these; empty: it should be accepted. */
  issues: readonly Issue[]
  missing?: AcceptedCheck['missing']
  /** The answer has a number of tokens in this field, and is not a reply. */
  countField?: string
  request(reply?: Reply): ProbeRequest
  cost: Cost | undefined
}

export interface ProbeRequest {
  url: string
  headers: Record<string, string>
  body: JsonObject
  origin: Origin
}

/** In US dollars: with an answer of the usual length, and with the longest one allowed. */
export interface Cost {
  likely: number
  most: number
}

export async function planProbe(endpoint: Endpoint): Promise<ProbeStep[]> {
  const accepted = acceptedChecks.filter(({ applies }) => applies?.(endpoint) ?? true)
  const refused = (await (await loadService(endpoint.protocol.id)).refusedRequests?.()) ?? []
  return [...accepted.map((check) => acceptedStep(endpoint, check)), ...refusedSteps(endpoint, refused)]
}

/** The sum of the steps; undefined if prices are unknown. */
export function totalCost(steps: readonly ProbeStep[]): Cost | undefined {
  let total: Cost = { likely: 0, most: 0 }
  for (const { cost } of steps) {
    if (!cost) return undefined
    total = { likely: total.likely + cost.likely, most: total.most + cost.most }
  }
  return total
}

const usualOptions: Options = { maxOutput: 60, effort: 'none', stream: false }

/** A placeholder for a reply that does not exist yet, to estimate the cost of the request. */
const replyToCome = replyOf([callOf('later', 'UTC')])

function acceptedStep(endpoint: Endpoint, check: AcceptedCheck): ProbeStep {
  const { id, about, after, missing, counts } = check
  const { counting } = endpoint
  const write = (reply: Reply = replyToCome): { assembled: Assembled; options: Options } => {
    const draft = check.draft(endpoint, reply)
    const options = { ...usualOptions, ...draft.options }
    return { assembled: assembleStep(endpoint, draft, options), options }
  }
  const { assembled: sample, options } = write()
  return {
    id,
    about,
    ...(after !== undefined && { after }),
    ...(missing && { missing }),
    ...(counts && counting && { countField: counting.answer }),
    issues: [],
    request: (reply) => requestOf(endpoint, write(reply).assembled, counts === true),
    cost: counts
      ? { likely: 0, most: 0 }
      : costWith(endpoint, sample, { likely: 30, most: outputLimit(sample, options) }),
  }
}

/** One request for each rule that this service is expected to enforce. */
function refusedSteps(endpoint: Endpoint, checks: readonly RefusedCheck[]): ProbeStep[] {
  const { protocol, provider, model } = endpoint
  const options = { ...usualOptions, maxOutput: 16 }
  const valid = assembleStep(
    endpoint,
    { history: [{ role: 'user', parts: [{ type: 'text', text: 'Say ok.' }] }] },
    options,
  )
  const profile = { provider: provider.family ?? provider.id, model }
  const cost = costWith(endpoint, valid, { likely: 0, most: 16 })
  return checks.flatMap(({ rule, about, change }): ProbeStep[] => {
    const body = change(valid.body)
    const issues = protocol.refuse(body, profile)
    if (!issues.some((issue) => issue.rule === rule)) return []
    return [
      {
        id: rule,
        about,
        issues,
        request: () => ({ ...requestOf(endpoint, valid, false), body }),
        cost: cost && { likely: 0, most: cost.most },
      },
    ]
  })
}

function assembleStep(
  { protocol, provider, model, quirks, capabilities }: Endpoint,
  draft: Draft,
  options: Options,
): Assembled {
  const { history, system, tools } = draft
  return assemble({
    history,
    ...(system !== undefined && { system }),
    ...(tools && { tools }),
    protocol,
    target: { provider: provider.id, model, options, quirks, capabilities },
  })
}

function requestOf(endpoint: Endpoint, prepared: Assembled, counts: boolean): ProbeRequest {
  const { provider, protocol, model, counting, baseUrl } = endpoint
  const { path, body, headers, basis } = prepared
  const origin = { protocol: protocol.id, provider: provider.id, model, ...(basis !== undefined && { basis }) }
  if (counts && counting) {
    const question = countQuestion(endpoint, counting, prepared)
    return { ...question, body: JSON.parse(question.body) as JsonObject, origin }
  }
  return { url: baseUrl + path, headers: { ...endpoint.headers, ...headers }, body, origin }
}

function costWith(
  { price, provider, offline }: Endpoint,
  { estimate }: Assembled,
  output: { likely: number; most: number },
): Cost | undefined {
  // Your own server is not billed.
  if (offline || (provider.keyOptional && !price)) return { likely: 0, most: 0 }
  const dollars = (tokens: number): number | undefined =>
    costOf({ input: estimate.input, output: tokens, cacheRead: 0, cacheWrite: estimate.input, reasoning: 0 }, price)
  const [likely, most] = [dollars(output.likely), dollars(output.most)]
  return likely === undefined || most === undefined ? undefined : { likely, most }
}

/** Manual thinking raises the limit above the requested one. */
function outputLimit({ body }: Assembled, { maxOutput = 0 }: Options): number {
  return typeof body.max_tokens === 'number' ? Math.max(body.max_tokens, maxOutput) : maxOutput
}
