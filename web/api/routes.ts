// Every route that the page uses, by name.

import { call, failureOf } from './client.ts'
import type {
  AgentView,
  Approval,
  CapabilitiesView,
  ConversationChange,
  ConversationUsage,
  ConversationView,
  EntriesPage,
  Entry,
  Exchange,
  GrantView,
  Hit,
  ImportedView,
  Inspection,
  InspectRequest,
  Json,
  McpServerView,
  ModelView,
  NewMessage,
  Overlay,
  Page,
  PreferredModels,
  NextRequest,
  Prompt,
  ProviderView,
  RunView,
  MessageInput,
  SessionsView,
  Settings,
  StatusView,
  ToolView,
  Tree,
  UsageRow,
  Verdict,
} from './types.ts'

type Query = Record<string, string | number | undefined>

export const api = {
  status: () => call<StatusView>('GET', '/api/status'),
  providers: async () => (await call<Page<ProviderView>>('GET', '/api/providers')).items,
  storeKey: (provider: string, key: string) =>
    call<ProviderView>('POST', `/api/providers/${encodeURIComponent(provider)}/key`, { body: { key } }),
  removeKey: (provider: string) => call<ProviderView>('DELETE', `/api/providers/${encodeURIComponent(provider)}/key`),
  models: async () => (await call<Page<ModelView>>('GET', '/api/models')).items,

  preferred: () => call<PreferredModels>('GET', '/api/models/preferred'),
  setFavourite: (body: { model: string; favourite: boolean }) =>
    call<{ favourites: string[] }>('POST', '/api/models/favourites', { body }),
  agents: async () => (await call<Page<AgentView>>('GET', '/api/agents')).items,
  prompts: async () => (await call<Page<Prompt>>('GET', '/api/prompts')).items,
  tools: async () => (await call<Page<ToolView>>('GET', '/api/tools')).items,
  mcpServers: async () => (await call<Page<McpServerView>>('GET', '/api/mcp')).items,
  restartMcp: (name: string) => call<McpServerView>('POST', `/api/mcp/${encodeURIComponent(name)}/restart`),
  allowMcpTool: (name: string, tool: string) =>
    call<McpServerView>('POST', `/api/mcp/${encodeURIComponent(name)}/tools/${encodeURIComponent(tool)}/allow`),
  grants: async () => (await call<Page<GrantView>>('GET', '/api/grants')).items,
  revokeGrant: (id: string) => call<unknown>('DELETE', `/api/grants/${encodeURIComponent(id)}`),
  capabilities: (model: string) => call<CapabilitiesView>('GET', `/api/capabilities${asked({ model })}`),

  conversations: (query: Query = {}) => call<Page<ConversationView>>('GET', `/api/conversations${asked(query)}`),
  create: (body: { settings?: Settings; labels?: string[] }) =>
    call<ConversationView>('POST', '/api/conversations', { body }),
  conversation: (id: string) => call<ConversationView>('GET', of(id)),
  change: (id: string, body: ConversationChange) => call<ConversationView>('PATCH', of(id), { body }),
  remove: (id: string) => call<unknown>('DELETE', of(id)),
  fork: (id: string, entryId: string, name?: string) =>
    call<ConversationView>('POST', of(id, 'fork'), { body: { entryId, ...(name && { name }) } }),

  tree: (id: string, query: { limit: number; before?: string }) => call<Tree>('GET', of(id, 'tree') + asked(query)),
  entries: (id: string, query: Query) => call<EntriesPage>('GET', of(id, 'entries') + asked(query)),
  entry: (id: string) => call<Entry>('GET', `/api/entries/${encodeURIComponent(id)}`),

  send: (id: string, body: NewMessage) => startRun(of(id, 'messages'), body),
  edit: (id: string, entryId: string, body: MessageInput & { settings?: Settings }) =>
    startRun(of(id, 'entries', entryId, 'edit'), body),
  retry: (id: string, entryId: string) => startRun(of(id, 'entries', entryId, 'retry'), {}),
  continueRun: (id: string) => startRun(of(id, 'runs'), {}),
  approvals: async (id: string) => (await call<Page<Approval>>('GET', of(id, 'approvals'))).items,
  answer: (id: string, callId: string, body: Verdict) => startRun(of(id, 'approvals', callId), body),
  runs: (id: string, query: Query) => call<Page<RunView>>('GET', of(id, 'runs') + asked(query)),
  allRuns: (query: Query) => call<Page<RunView>>('GET', `/api/runs${asked(query)}`),
  cancel: (runId: string) => call<unknown>('POST', `/api/runs/${encodeURIComponent(runId)}/cancel`),

  /** Without an id, the first request of a new conversation. */
  inspect: (id: string | undefined, body: InspectRequest, signal?: AbortSignal) =>
    call<Inspection>('POST', id === undefined ? '/api/inspect' : of(id, 'inspect'), {
      body,
      ...(signal && { signal }),
    }),
  prompt: async (id: string, body: NextRequest) =>
    (await call<{ prompt: string }>('POST', of(id, 'prompt'), { body })).prompt,
  exchanges: (id: string, query: Query) => call<Page<Exchange>>('GET', of(id, 'exchanges') + asked(query)),
  compact: (id: string) => call<{ overlay: Overlay | null }>('POST', of(id, 'compact'), { body: {} }),
  import: (content: Json) => call<ImportedView>('POST', '/api/import', { body: { content } }),
  sessions: () => call<SessionsView>('GET', '/api/sessions'),
  importSession: (body: { agent: string; id: string }) => call<ImportedView>('POST', '/api/sessions/import', { body }),
  overlays: async (id: string) => (await call<Page<Overlay>>('GET', of(id, 'overlays'))).items,
  setUndone: (id: string, overlayId: string, undone: boolean) =>
    call<Overlay>('PATCH', of(id, 'overlays', overlayId), { body: { undone } }),

  search: (query: Query, signal?: AbortSignal) =>
    call<Page<Hit>>('GET', `/api/search${asked(query)}`, { ...(signal && { signal }) }),
  usageOf: (id: string) => call<ConversationUsage>('GET', of(id, 'usage')),
  usage: async (query: Query) => (await call<{ items: UsageRow[] }>('GET', `/api/usage${asked(query)}`)).items,
}

export const paths = {
  compare: (id: string) => of(id, 'compare'),
  watch: (id: string) => of(id, 'watch'),
  events: (runId: string) => `/api/runs/${encodeURIComponent(runId)}/events`,
  blob: (sha256: string) => `/api/blobs/${encodeURIComponent(sha256)}`,
  export: (id: string, format: string) => of(id, 'export') + asked({ format }),
}

/**
 * A request that starts a run may be repeated without starting two: if the answer got lost, or if the previous run has
 * reported its end but is not quite over yet.
 */
async function startRun(path: string, body: unknown): Promise<RunView> {
  const headers = { 'idempotency-key': newKey() }
  for (let tries = 1; ; tries++) {
    try {
      return (await call<{ run: RunView }>('POST', path, { body, headers })).run
    } catch (error) {
      const { kind, code } = failureOf(error)
      if ((code !== 'busy' && kind !== 'network') || tries === mostTries) throw error
      await new Promise((resolve) => setTimeout(resolve, 60 * tries))
    }
  }
}

const mostTries = 6

/** Without TLS a browser has no `randomUUID`, but it has random numbers. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((piece) => piece.toString(36)).join('-')
}

function of(id: string, ...rest: string[]): string {
  return ['/api/conversations', id, ...rest].map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join('/')
}

function asked(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}
