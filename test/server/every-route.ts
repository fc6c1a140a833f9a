// Every route of a server, from its OpenAPI document, with a request for each that would work.

import type { Json, JsonObject } from '../../src/core/json.ts'
import { grantTool, listGrants } from '../../src/run/tools/grants.ts'
import { clientRequestRecord } from '../../src/server/doors/client-request.ts'
import type { Api, Serving } from './serving.ts'
import { newConversation, say, str } from './serving.ts'

export interface KnownRoute {
  method: string
  path: string
  access: string
  /** The name of the schema of its body. */
  body?: string
  startsRun: boolean
}

export async function routesOf(url: string): Promise<KnownRoute[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, JsonObject>>
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => {
      const text = JSON.stringify(about['requestBody'] ?? null)
      const [, body] = /#\/components\/schemas\/(\w+)/.exec(text) ?? []
      return {
        method: method.toUpperCase(),
        path,
        access: /Access: (\w+)/.exec(str(about['description']))?.[1] ?? '',
        ...(body !== undefined && { body }),
        startsRun: JSON.stringify(about).includes('idempotency-key'),
      }
    }),
  )
}

/** A body that each schema accepts. */
export const samples: Record<string, Json> = {
  NewConversation: { title: 'Tea', labels: ['a'], settings: { maxSteps: 3 } },
  ConversationChange: { title: 'Coffee' },
  Fork: { entryId: 'ENTRY' },
  NewMessage: { text: 'Hello' },
  EditedMessage: { text: 'Good day' },
  ResumeRequest: {},
  CompareRequest: { text: 'Hello', models: ['openai/gpt-5.6'] },
  ImportSession: { agent: 'pi', id: 'session' },
  ChatRequest: { id: 'chat', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
  ApprovalAnswer: { allowed: false },
  PrepareRequest: { targets: [{ model: 'openai/gpt-5.6' }] },
  InspectRequest: { requests: [{ model: 'openai/gpt-5.6' }], lines: { limit: 10 } },
  PromptRequest: {},
  OverlayChange: { undone: true },
  FavouriteChange: { model: 'openai/gpt-5.6', favourite: true },
  NewProviderKey: { key: 'sk-sample-12345678' },
  ImportRequest: { content: [{ role: 'user', content: 'Hello' }], format: 'openai-chat', labels: ['a'] },
}

/** What a path's names represent. */
export type Things = Record<string, Record<string, string>>

/** A conversation with something of everything in it. */
export async function furnish(server: Serving, api: Api, owner: string): Promise<Things> {
  const id = await newConversation(api, { title: `Secret of ${owner}` })
  const runId = await say({ api }, id, `The secret of ${owner} is tea. What time is it?`)
  const entries = (await api('GET', `/api/conversations/${id}/entries`)).body['items'] as JsonObject[]
  const exchanges = (await api('GET', `/api/conversations/${id}/exchanges`)).body['items'] as JsonObject[]
  const entryId = str(entries[0]?.['id'])
  const sent = { exchangeId: str(exchanges[0]?.['id']), conversationId: id }
  const client = { protocol: 'openai-chat', path: '/v1', bodySha256: str(exchanges[0]?.['bodySha256']) }
  await server.store.putRecords([clientRequestRecord(owner, sent, client)])
  const image = Buffer.alloc(80_000, owner).toString('base64')
  const [media] = await server.store.appendAll(owner, id, [
    {
      message: {
        role: 'user',
        parts: [{ type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: image } }],
      },
    },
  ])
  const [part] = media?.message.parts ?? []
  const sha256 = part?.type === 'media' && part.data.kind === 'blob' ? part.data.sha256 : ''
  const overlay = await server.store.addOverlay(owner, id, { entryId, kind: 'test', data: {} })
  await grantTool(server.store, owner, { tool: `tool-of-${owner}`, source: 'built-in' })
  const [grant] = await listGrants(server.store, owner)
  return {
    conversations: { id, entryId, overlayId: overlay.id, callId: 'call-1' },
    runs: { id: runId },
    chat: { id: `chat-${owner}` },
    entries: { id: entryId },
    exchanges: { id: str(exchanges[0]?.['id']) },
    blobs: { sha256 },
    providers: { provider: 'anthropic' },
    mcp: { server: 'files', tool: 'files__read' },
    grants: { id: grant?.id ?? '' },
  }
}

export function fill(path: string, things: Things): string {
  const [, kind = ''] = /^\/api\/(\w+)/.exec(path) ?? []
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = things[kind]?.[name]
    if (value === undefined || value === '') throw new Error(`nothing for {${name}} of ${path}`)
    return value
  })
}

/** Queries that some routes need. */
export const queries: Record<string, string> = {
  '/api/search': '?text=secret',
  '/api/capabilities': '?model=openai/gpt-5.6',
}
