// The cost of a session, if its lines record usage: an estimate at list prices.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Usage } from '../core/usage.ts'
import { catalogue } from '../providers/catalogue.ts'
import { costOf } from '../providers/cost.ts'
import { factsOf } from '../providers/price.ts'
import { stringAt, type SessionHead } from '../transcripts/session.ts'

type Tokens = Omit<Usage, 'offline' | 'raw'>

/** Undefined if nothing is recorded, or a price is unknown. */
export function costOfLines(agent: string, lines: readonly JsonObject[], head: SessionHead): number | undefined {
  if (agent === 'codex') return codexCost(lines, head)
  if (agent === 'pi') return sumOf(lines.map((line) => numberAt(line, 'message', 'usage', 'cost', 'total')))
  if (agent !== 'claude-code') return undefined
  // The lines of one reply repeat its usage.
  const byReply = new Map<string, JsonObject>()
  for (const line of lines) {
    const id = stringAt(line, 'message', 'id')
    if (line.type === 'assistant' && id !== undefined && isObject(line.message)) byReply.set(id, line.message)
  }
  return sumOf(
    [...byReply.values()].map((message) => {
      const usage = isObject(message.usage) ? message.usage : {}
      const read = numberAt(usage, 'cache_read_input_tokens') ?? 0
      const written = numberAt(usage, 'cache_creation_input_tokens') ?? 0
      const input = (numberAt(usage, 'input_tokens') ?? 0) + read + written
      const output = numberAt(usage, 'output_tokens') ?? 0
      return priced(
        { input, output, cacheRead: read, cacheWrite: written, reasoning: 0 },
        'anthropic',
        stringAt(message, 'model'),
      )
    }),
  )
}

/** Codex records cumulative counts: the last line with a count has the total. */
function codexCost(lines: readonly JsonObject[], { provider, model }: SessionHead): number | undefined {
  const counts = lines.flatMap(({ payload }) => {
    const info = isObject(payload) && payload.type === 'token_count' ? payload.info : undefined
    return isObject(info) && isObject(info.total_token_usage) ? [info.total_token_usage] : []
  })
  const total = counts.at(-1)
  if (!total) return undefined
  const usage = {
    input: numberAt(total, 'input_tokens') ?? 0,
    output: numberAt(total, 'output_tokens') ?? 0,
    cacheRead: numberAt(total, 'cached_input_tokens') ?? 0,
    cacheWrite: 0,
    reasoning: 0,
  }
  return priced(usage, provider ?? 'openai', model)
}

function priced(usage: Tokens, provider: string, model: string | undefined): number | undefined {
  return model === undefined ? undefined : costOf(usage, factsOf(catalogue, provider, model).price)
}

function sumOf(costs: readonly (number | undefined)[]): number | undefined {
  const known = costs.filter((cost) => cost !== undefined)
  const sum = known.reduce((total, cost) => total + cost, 0)
  return sum > 0 ? sum : undefined
}

function numberAt(value: Json | undefined, ...path: string[]): number | undefined {
  let at: Json | undefined = value
  for (const key of path) at = isObject(at) ? at[key] : undefined
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}
