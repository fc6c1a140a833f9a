// Models as a table, and a provider's own list of them.

import type { Authorizer } from '../auth/authorizer.ts'
import { badInput, SynapseError } from '../core/error.ts'
import { isObject, parseJson, type Json } from '../core/json.ts'
import type { ListedModel } from '../providers/find-model.ts'
import type { Catalogue } from '../providers/price.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Fetch, FetchedReply } from '../transport/send.ts'
import { loadService } from '../wires/list.ts'
import { dollars, inShort } from './format-number.ts'
import { table } from './table.ts'
import { neutral, type Style } from './terminal.ts'

export interface LiveQuery {
  row: ProviderRow
  baseUrl: string
  headers: Record<string, string>
  authorize?: Authorizer | undefined
  catalogue: Catalogue
  fetch?: Fetch
}

/** Queries the provider. Missing facts about a model are filled in from the catalogue. */
export async function live({
  row,
  baseUrl,
  headers,
  authorize,
  catalogue,
  fetch = globalThis.fetch,
}: LiveQuery): Promise<ListedModel[]> {
  const { modelsPath = '/models' } = await loadService(row.wires[0].protocol)
  const address = new URL(baseUrl + modelsPath)
  if (row.id === 'anthropic') address.searchParams.set('limit', '1000')
  if (row.id === 'google') address.searchParams.set('pageSize', '1000')
  const added = await authorize?.headers({ method: 'GET', url: address.href, headers, body: '' }, fetch)
  const body = await get(row, address, { ...headers, ...added }, fetch)
  const list = isObject(body) ? (body['data'] ?? body['models']) : body
  if (!Array.isArray(list))
    throw badInput(`${address.origin}, the address of ${row.name}, did not return a list of models.`)
  const { factsOf } = await import('../providers/price.ts')
  return list.flatMap((item) => {
    const model = nameIn(item)
    if (model === undefined) return []
    const window = windowIn(item)
    const facts = factsOf(catalogue, row.catalogue ?? row.id, model)
    return [{ provider: row.id, model, ...facts, ...(window !== undefined && { contextWindow: window }) }]
  })
}

export function modelTable(models: readonly ListedModel[], width: number, style: Style): string[] {
  const cells = models.map(({ provider, model, contextWindow, price }) => [
    neutral(`${provider}/${model}`),
    contextWindow === undefined ? '' : inShort(contextWindow),
    ...(price
      ? [dollars(price.input), price.cacheRead === undefined ? '' : dollars(price.cacheRead), dollars(price.output)]
      : []),
  ])
  const columns = [
    { head: 'model', grows: true },
    { head: 'context', right: true },
    { head: 'in', right: true },
    { head: 'cached', right: true },
    { head: 'out', right: true },
  ]
  return table(columns, cells, width, style)
}

async function get(row: ProviderRow, address: URL, headers: Record<string, string>, fetch: Fetch): Promise<Json> {
  // Anthropic requires its version with every request (checked 2026-11).
  const all = { ...headers, ...(row.id === 'anthropic' && { 'anthropic-version': '2023-06-01' }) }
  let reply: FetchedReply
  try {
    reply = await fetch(address.href, {
      method: 'GET',
      headers: all,
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    })
  } catch (error) {
    const { networkFailure } = await import('../transport/network.ts')
    const failure = networkFailure(error, address.href, row.name, false)
    throw failure ? new SynapseError(failure, { cause: error }) : error
  }
  const text = await reply.text()
  const body = parseJson(text)
  if (reply.status === 200 && body !== undefined) return body
  const [{ readFailure }, { redactFailure }] = await Promise.all([
    import('../wires/shared/failure.ts'),
    import('../transport/redact.ts'),
  ])
  const failure = readFailure({ status: reply.status, body: body ?? text.slice(0, 2000), provider: row.name })
  throw new SynapseError(redactFailure(failure, headers))
}

function nameIn(item: Json): string | undefined {
  if (!isObject(item)) return undefined
  const name = item['id'] ?? item['name'] ?? item['model']
  return typeof name === 'string' ? name.replace(/^models\//, '') : undefined
}

function windowIn(item: Json): number | undefined {
  if (!isObject(item)) return undefined
  const fields = ['max_input_tokens', 'inputTokenLimit', 'context_length', 'context_window', 'max_context_length']
  const number = fields.map((field) => item[field]).find((value) => typeof value === 'number')
  return typeof number === 'number' ? number : undefined
}
