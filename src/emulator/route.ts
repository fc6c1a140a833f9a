// The provider, wire and operation of a request, from its URL. Every provider is served under `/<its id>/…`; at its own
// host, which is how a `fetch` without a socket sees it; and the wires with an original provider also under their bare
// path.
//
// Only the end of a path counts, because base URLs differ: `/v1/chat/completions`, `/api/v1/chat/completions`,
// `/openai/deployments/x/chat/completions` are all the same call.

import type { Json } from '../core/json.ts'
import { loadService, wireIds } from '../wires/list.ts'
import type { Operation, WireService } from '../wires/service.ts'
import { openaiRefusal, Refusal } from '../wires/shared/refusal.ts'
import { isProvider, protocolsOf, providerAt } from './known-providers.ts'
import { decodedName } from '../wires/shared/path.ts'

/** The part of headers that is used; a Map of lower-case names will do. */
export interface GivenHeaders {
  get(name: string): string | null | undefined
  has(name: string): boolean
}

interface Route {
  provider: string
  /** The wire of the request. */
  protocol: string
  operation: Operation
}

export async function routeOf(method: string, url: URL, headers: GivenHeaders): Promise<Route | undefined> {
  const { provider, path } = providerIn(url)
  for (const protocol of provider === undefined ? wireIds : protocolsOf(provider)) {
    const service = await loadService(protocol)
    const operation = service.route(method, path, provider)
    if (operation) return { provider: provider ?? homeOf(service, operation, url), protocol, operation }
  }
  return modelsRoute(method, path, provider ?? modelsHome(path, headers))
}

/** The provider of the address, and the path at that provider. */
export function providerIn(url: URL): { provider?: string; path: string } {
  const host = providerAt(url)
  if (host !== undefined) return { provider: host, path: url.pathname }
  const [, first = '', ...rest] = url.pathname.split('/')
  return isProvider(first) ? { provider: first, path: `/${rest.join('/')}` } : { path: url.pathname }
}

/** The provider if only the path shows it. */
function homeOf({ home, homeElsewhere }: WireService, operation: Operation, { hostname, pathname }: URL): string {
  if (operation.do !== 'reply' && operation.do !== 'count') return home
  if (isCompatible(pathname)) return 'google'
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname)
  return isLocal ? home : (homeElsewhere ?? home)
}

/** Google has separate paths for clients of OpenAI. */
export function isCompatible(path: string): boolean {
  return path.includes('/v1beta/openai/')
}

/** The list of models is the same for all wires of a provider. */
function modelsRoute(method: string, path: string, provider: string): Route | undefined {
  const models = method === 'GET' ? /\/models(?:\/(.+))?$/.exec(path) : null
  const [protocol] = protocolsOf(provider)
  if (!models || protocol === undefined) return undefined
  return { provider, protocol, operation: { do: 'models', ...(models[1] && { id: decodedName(models[1]) }) } }
}

function modelsHome(path: string, headers: GivenHeaders): string {
  if (path.startsWith('/v1beta/') || headers.has('x-goog-api-key')) return 'google'
  return headers.has('anthropic-version') ? 'anthropic' : 'openai'
}

/** Each host's answer for an unknown path. Hosts that are not listed answer like OpenAI. */
export function unknownAddress(provider: string | undefined, method: string, path: string): Refusal {
  const form = provider === undefined ? undefined : forms[provider]
  if (form) return form(method, path)
  return openaiRefusal(404, `Invalid URL (${method} ${path})`)
}

type Form = (method: string, path: string) => Refusal

const json = (body: Json): Refusal => new Refusal(404, body)
const text = (body: string, type: string): Refusal => new Refusal(404, body, { 'content-type': type })

const googlePage = (path: string): string =>
  `<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n<p><b>404.</b> <ins>That’s an error.</ins>\n` +
  `<p>The requested URL <code>${path.replaceAll(/[<>&"]/g, '')}</code> was not found on this server. <ins>That’s all we know.</ins>\n`

const forms: Record<string, Form> = {
  anthropic: () => json({ type: 'error', error: { type: 'not_found_error', message: 'Not Found' } }),
  // Not JSON: the API's front end answers before the API does.
  google: (_, path) => text(googlePage(path), 'text/html; charset=UTF-8'),
  mistral: () => json({ message: 'no Route matched with those values' }),
  ollama: () => text('404 page not found', 'text/plain'),
  groq: (method, path) =>
    openaiRefusal(404, `Unknown request URL: ${method} ${path}. Please check the URL for typos.`, {
      code: 'unknown_url',
    }),
  vllm: () => json({ detail: 'Not Found' }),
  'llama.cpp': () => json({ error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }),
  lmstudio: (method, path) => json({ error: `Unexpected endpoint or method. (${method} ${path})` }),
}
