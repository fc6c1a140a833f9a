// Which door a request is for: the APIs of providers that the server speaks to clients, by their paths. Each is served
// under its usual path and under the name of its provider, because clients differ in what they take for a base URL.

export type DoorWire = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini-generate'

export type DoorOperation =
  /** `model` and `stream` where the path says them. */
  | { do: 'reply'; wire: DoorWire; model?: string; stream?: boolean }
  | { do: 'count'; wire: DoorWire; model?: string }
  | { do: 'models'; wire: DoorWire; id?: string }
  | { do: 'response'; wire: 'openai-responses'; id: string; method: 'GET' | 'DELETE' }
  | { do: 'input-items'; wire: 'openai-responses'; id: string }
  /** A WebSocket, which clients try first and do without where they hear that there is none. */
  | { do: 'upgrade'; wire: 'openai-responses' }
  /** Some clients look whether there is anything before they ask. */
  | { do: 'head'; wire: DoorWire }
  | { do: 'unknown'; wire: DoorWire }

export interface Door {
  /** Whose model a bare name is. */
  provider: string
  operation: DoorOperation
}

/** Undefined: the request is for the page or the server's own API. */
export function doorOf(method: string, url: URL, headers: Headers): Door | undefined {
  const [, prefix, version, rest = ''] =
    /^(?:\/(openai|anthropic|google|mistral|ollama))?(?:\/(v1|v1beta|v1alpha))?(\/.*)?$/.exec(url.pathname) ?? []
  if (prefix === undefined && version === undefined) return undefined
  const isGemini = prefix === 'google' || (prefix === undefined && version !== 'v1')
  const usual = isGemini
    ? 'gemini-generate'
    : prefix === 'anthropic' || (prefix === undefined && headers.has('anthropic-version'))
      ? 'anthropic-messages'
      : 'openai-chat'
  const isUpgrade = headers.get('upgrade')?.toLowerCase() === 'websocket' && rest === '/responses'
  const operation: DoorOperation = isUpgrade
    ? { do: 'upgrade', wire: 'openai-responses' }
    : operationOf(method, rest, usual)
  return { provider: prefix ?? providers[operation.wire], operation }
}

const providers: Record<DoorWire, string> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  'anthropic-messages': 'anthropic',
  'gemini-generate': 'google',
}

function operationOf(method: string, path: string, usual: DoorWire): DoorOperation {
  if (method === 'HEAD') return { do: 'head', wire: usual }
  if (method === 'POST') return posted(path) ?? { do: 'unknown', wire: usual }
  const [, id, part] = /^\/responses\/([A-Za-z0-9_-]{1,100})(\/input_items)?$/.exec(path) ?? []
  if (id !== undefined) {
    const wire = 'openai-responses'
    if (part !== undefined && method === 'GET') return { do: 'input-items', wire, id }
    if (part === undefined && (method === 'GET' || method === 'DELETE')) return { do: 'response', wire, id, method }
  }
  const models = method === 'GET' ? /^\/models(?:\/(.{1,200}))?$/.exec(path) : null
  if (!models) return { do: 'unknown', wire: usual }
  return { do: 'models', wire: usual, ...(models[1] !== undefined && { id: decoded(models[1]) }) }
}

function posted(path: string): DoorOperation | undefined {
  const [, name, method] = /^\/models\/(.{1,200}):(generateContent|streamGenerateContent|countTokens)$/.exec(path) ?? []
  if (name !== undefined) {
    const gemini = { wire: 'gemini-generate', model: decoded(name) } as const
    if (method === 'countTokens') return { do: 'count', ...gemini }
    return { do: 'reply', ...gemini, stream: method === 'streamGenerateContent' }
  }
  switch (path) {
    case '/chat/completions':
      return { do: 'reply', wire: 'openai-chat' }
    case '/responses':
      return { do: 'reply', wire: 'openai-responses' }
    case '/responses/input_tokens':
      return { do: 'count', wire: 'openai-responses' }
    case '/messages':
      return { do: 'reply', wire: 'anthropic-messages' }
    case '/messages/count_tokens':
      return { do: 'count', wire: 'anthropic-messages' }
    default:
      return undefined
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
