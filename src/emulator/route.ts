// What a request is about, from its URL: which provider, which wire, and what is to be done. Every provider is served
// under `/<its id>/…`; at its own host, which is how a `fetch` without a socket sees it; and the wires that have a home
// of their own also under their bare path.
//
// Only the end of a path counts, because base URLs differ: `/v1/chat/completions`, `/api/v1/chat/completions`,
// `/openai/deployments/x/chat/completions` are all the same call.

import { isProvider, providerAt } from './known-providers.ts'

export type Operation =
  | { do: 'reply'; protocol: string; model?: string; stream?: boolean }
  | { do: 'count'; protocol: string; model?: string }
  | { do: 'compact' }
  /** Stored chat completions. */
  | { do: 'completions'; id?: string; part?: string }
  /** Explicit caches of Gemini. */
  | { do: 'caches'; id?: string }
  /** Ollama's prompt without roles, and what it says about a model or itself. */
  | { do: 'generate' }
  | { do: 'about'; what: 'model' | 'version' }
  | { do: 'models'; id?: string }
  | { do: 'responses'; id: string; part?: string }
  | { do: 'conversations'; id?: string; part?: string; item?: string }
  | { do: 'interactions'; id: string }

/** As much of headers as is looked at; a Map of lower-case names will do. */
export interface GivenHeaders {
  get(name: string): string | null | undefined
  has(name: string): boolean
}

export interface Route {
  provider: string
  operation: Operation
}

export function routeOf(method: string, url: URL, headers: GivenHeaders): Route | undefined {
  const { provider, path } = providerIn(url)
  const operation = operationOf(method, path, provider)
  if (!operation) return undefined
  return { provider: provider ?? homeOf(operation, url, headers), operation: spoken(operation, provider) }
}

/** Whose address it is, and the path at that provider. */
export function providerIn(url: URL): { provider?: string; path: string } {
  const host = providerAt(url)
  if (host !== undefined) return { provider: host, path: url.pathname }
  const [, first = '', ...rest] = url.pathname.split('/')
  return isProvider(first) ? { provider: first, path: `/${rest.join('/')}` } : { path: url.pathname }
}

function operationOf(method: string, path: string, provider: string | undefined): Operation | undefined {
  if (method === 'POST') {
    const gemini = /\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(path)
    if (gemini) {
      const model = decodeURIComponent(gemini[1] ?? '')
      return gemini[2] === 'countTokens'
        ? { do: 'count', protocol: 'gemini-generate', model }
        : { do: 'reply', protocol: 'gemini-generate', model, stream: gemini[2] === 'streamGenerateContent' }
    }
    if (path.endsWith('/chat/completions')) return { do: 'reply', protocol: 'openai-chat' }
    if (path.endsWith('/responses')) return { do: 'reply', protocol: 'openai-responses' }
    if (path.endsWith('/responses/compact')) return { do: 'compact' }
    if (path.endsWith('/responses/input_tokens')) return { do: 'count', protocol: 'openai-responses' }
    if (path.endsWith('/messages') && !path.includes('/conversations/'))
      return { do: 'reply', protocol: 'anthropic-messages' }
    if (path.endsWith('/messages/count_tokens')) return { do: 'count', protocol: 'anthropic-messages' }
    if (path.endsWith('/interactions')) return { do: 'reply', protocol: 'gemini-interactions' }
    if (path.endsWith('/api/chat')) return { do: 'reply', protocol: 'ollama-chat' }
    if (path.endsWith('/api/generate')) return { do: 'generate' }
    if (path.endsWith('/api/show')) return { do: 'about', what: 'model' }
  }
  const completions = /\/chat\/completions(?:\/([^/]+)(?:\/(messages))?)?$/.exec(path)
  if (completions) {
    return {
      do: 'completions',
      ...(completions[1] && { id: completions[1] }),
      ...(completions[2] && { part: 'messages' }),
    }
  }
  const caches = /\/cachedContents(?:\/([^/]+))?$/.exec(path)
  if (caches) return { do: 'caches', ...(caches[1] && { id: caches[1] }) }
  const responses = /\/responses\/([^/]+)(?:\/([a-z_]+))?$/.exec(path)
  if (responses?.[1]) return { do: 'responses', id: responses[1], ...(responses[2] && { part: responses[2] }) }
  const conversations = /\/conversations(?:\/([^/]+)(?:\/([a-z_]+)(?:\/([^/]+))?)?)?$/.exec(path)
  if (conversations) {
    const [, id, part, item] = conversations
    return { do: 'conversations', ...(id && { id }), ...(part && { part }), ...(item && { item }) }
  }
  const interaction = /\/interactions\/([^/]+)$/.exec(path)?.[1]
  if (interaction) return { do: 'interactions', id: interaction }
  if (method !== 'GET') return undefined
  if (path.endsWith('/api/version')) return { do: 'about', what: 'version' }
  if (path.endsWith('/api/tags') && (provider === undefined || provider === 'ollama')) return { do: 'models' }
  const models = /\/models(?:\/(.+))?$/.exec(path)
  return models ? { do: 'models', ...(models[1] && { id: decodeURIComponent(models[1]) }) } : undefined
}

/** Mistral's own wire has the path of another one. */
function spoken(operation: Operation, provider: string | undefined): Operation {
  const isOwn = provider === 'mistral' && operation.do === 'reply' && operation.protocol === 'openai-chat'
  return isOwn ? { ...operation, protocol: 'mistral-chat' } : operation
}

/** Whose it is where nothing but the path says so. */
function homeOf(operation: Operation, { hostname, pathname: path }: URL, headers: GivenHeaders): string {
  if (operation.do === 'interactions' || operation.do === 'caches') return 'google'
  if (operation.do === 'generate' || operation.do === 'about') return 'ollama'
  if (operation.do === 'models') {
    if (path.endsWith('/api/tags')) return 'ollama'
    if (path.startsWith('/v1beta/')) return 'google'
    return headers.has('anthropic-version') ? 'anthropic' : 'openai'
  }
  if (operation.do !== 'reply' && operation.do !== 'count') return 'openai'
  if (path.startsWith('/v1beta/openai/')) return 'google'
  // A host that no row names, as a row of the user's own does: nothing is known of it but the wire.
  const atHome = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(hostname)
  if (operation.protocol === 'openai-chat' && !atHome) return 'openai-compatible'
  return homes[operation.protocol] ?? 'openai'
}

const homes: Record<string, string> = {
  'anthropic-messages': 'anthropic',
  'gemini-generate': 'google',
  'gemini-interactions': 'google',
  'ollama-chat': 'ollama',
}
