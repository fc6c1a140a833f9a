// An example for each exported type, under a label with its name. scripts/api-reference.ts writes them into docs/api; the
// compiler checks them here. Nothing of this file is run.
/* oxlint-disable -- the names are there to be read */
/* eslint-disable */

import { readFile } from 'node:fs/promises'
import { trace } from '@opentelemetry/api'
import { generateText } from 'ai'
import { z } from 'zod'
import { synapseModel, type SynapseModelOptions } from '../src/ai-sdk.ts'
import {
  connectMcp,
  createProvider,
  defineTool,
  defineWire,
  loadAgent,
  openPostgresStore,
  openSqliteStore,
  openSynapse,
  prepare,
  readTranscript,
  refuse,
  replay,
  type Adapter,
  type AddressPlace,
  type Agent,
  type AgentOptions,
  type AnswerOf,
  type AnswerSupport,
  type Approval,
  type Auth,
  type Beginning,
  type Blobs,
  type Branch,
  type Branches,
  type Budget,
  type Caching,
  type Candidate,
  type Capabilities,
  type ChatLoop,
  type CheckedAnswer,
  type Compacted,
  type Compacting,
  type CompactionPart,
  type CompactionSettings,
  type Comparison,
  type Composing,
  type Context,
  type Conversation,
  type ConversationChange,
  type ConversationUsage,
  type Conversations,
  type Counting,
  type Decoder,
  type DeclaredServerTool,
  type DecoderOptions,
  type DeepPartial,
  type Effort,
  type Encoded,
  type EndCause,
  type Endpoint,
  type Entries,
  type Entry,
  type EntryOutline,
  type ErrorKind,
  type Estimate,
  type Exchange,
  type ExchangeEnd,
  type ExchangePage,
  type Exchanges,
  type Explained,
  type Failure,
  type Fallback,
  type FinishedExchange,
  type FoldStyle,
  type Framing,
  type Grammar,
  type GuardReason,
  type Guards,
  type Handoff,
  type HeadTarget,
  type Hit,
  type HitKind,
  type HookEvent,
  type HookPlace,
  type Hooks,
  type ImageLimits,
  type ImageTokens,
  type InputProblem,
  type Inspected,
  type Issue,
  type Json,
  type JsonObject,
  type Lease,
  type Leases,
  type McpConnectOptions,
  type McpConnection,
  type McpServerEntry,
  type MediaData,
  type MediaPart,
  type Message,
  type NewConversation,
  type NewEntry,
  type NewExchange,
  type NewLease,
  type NewOverlay,
  type NewState,
  type NewToolRun,
  type Note,
  type OpaquePart,
  type Options,
  type Origin,
  type Origins,
  type Outage,
  type Outages,
  type Overlay,
  type Overlays,
  type OwnModel,
  type Page,
  type PageOf,
  type Part,
  type Policy,
  type PolicySettings,
  type PostgresOptions,
  type PrepareInput,
  type Prepared,
  type PresetName,
  type Profile,
  type Provider,
  type ProviderConfig,
  type ProviderOptions,
  type ProviderRow,
  type ProviderState,
  type ProviderWire,
  type Quirks,
  type ReadCall,
  type ReasoningPart,
  type RecordedToolRun,
  type RefusalPart,
  type Replayed,
  type Reply,
  type ReplyEvent,
  type Route,
  type RouteStep,
  type Run,
  type RunEnd,
  type RunEvent,
  type RunOutcome,
  type RunSettings,
  type Search,
  type SearchQuery,
  type ServerTool,
  type ServerToolPart,
  type Source,
  type Spend,
  type Spending,
  type SqliteOptions,
  type StandardSchema,
  type StateRef,
  type StateStrategy,
  type States,
  type Stop,
  type StopReason,
  type Store,
  type StoreOptions,
  type StoredConversation,
  type StoredProviderState,
  type SubmittedResult,
  type Synapse,
  type SynapseOptions,
  type SystemMessage,
  type Target,
  type TelemetryOptions,
  type TextPart,
  type TokenCount,
  type Tool,
  type ToolCallPart,
  type ToolDefinition,
  type ToolKind,
  type ToolMessage,
  type ToolResultPart,
  type ToolRun,
  type ToolRunEnd,
  type ToolRuns,
  type ToolSpec,
  type Transcript,
  type Transport,
  type Usage,
  type UserInput,
  type UserMessage,
  type WholeProfile,
  type Wire,
  type WireDefinition,
  type Write,
} from '../src/index.ts'
import * as anthropicMessages from '../src/one-wire/anthropic-messages.ts'
import {
  createEmulator,
  serveEmulator,
  type Emulator,
  type EmulatorOptions,
  type Fault,
  type Received,
  type ResponderInput,
  type Script,
  type ServeOptions,
  type ServedEmulator,
} from '../src/testing.ts'
import { readRequest, type OneWire, type ReadRequest } from '../src/wires.ts'

declare const synapse: Synapse
declare const store: Store
declare const chat: Conversation
declare const run: Run
declare const provider: Provider
declare const end: RunEnd
declare const entry: Entry
declare const exchange: Exchange
declare const lease: Lease
declare const usage: Usage
declare const messages: Message[]
declare const reply: Reply
declare const result: ToolResultPart
declare const weather: Tool
declare const wire: Wire
declare const context: Context
declare const target: Target
declare const origin: Origin
declare const chunks: Json[]
declare const row: ProviderRow
declare const host: ProviderRow
declare const found: Awaited<ReturnType<Adapter['endpoint']>>
declare const json: Json
declare const body: JsonObject
declare const definition: WireDefinition
declare const request: NewExchange
declare const sha256: string
declare const base64: string
declare const apiKey: string
declare const server: McpServerEntry
const citySchema = z.object({ name: z.string(), country: z.string() })

Adapter: {
  const own: Adapter = { id: 'own', endpoint: async () => found }
  const opened = await openSynapse({ adapters: [own] })
}
AddressPlace: {
  const region: AddressPlace = { what: 'region', variables: ['AWS_REGION'], profile: 'region', example: 'eu-central-1' }
}
Agent: {
  const agent: Agent = await loadAgent('agents/helper.yaml')
  const chat = await synapse.start(await agent.settings())
  await agent.close()
}
AgentOptions: {
  const options: AgentOptions = { env: process.env, onNote: (note) => console.error(note.what, note.why) }
  const agent = await loadAgent('agents/helper.yaml', options)
}
AnswerOf: {
  type City = AnswerOf<typeof citySchema>
  const city: City = await chat.send('Where is the Louvre?', { answer: citySchema }).object()
}
AnswerSupport: {
  const support: AnswerSupport = 'json'
  const row: ProviderRow = { ...host, wires: [{ ...host.wires[0], capabilities: { answer: support } }] }
}
Approval: {
  const waiting: Approval[] = await chat.approvals()
  for (const { call, argsHash } of waiting) await chat.approve(call.callId, { argsHash })
}
Auth: {
  const auth: Auth = { header: 'authorization', prefix: 'Bearer ' }
}
Beginning: {
  const beginning: Beginning = { transcript: await readFile('session.jsonl', 'utf8') }
  const chat = await synapse.start({ model: 'anthropic/claude-opus-5', ...beginning })
}
Blobs: {
  const image = await store.blob('local', sha256)
}
Branch: {
  const current: Branch | undefined = (await chat.branches()).find((branch) => branch.current)
}
Branches: {
  await store.nameBranch('local', chat.id, 'draft', entry.id)
  await store.setHead('local', chat.id, { branch: 'draft' })
}
Budget: {
  const budget: Budget = { run: { usd: 0.5 }, conversation: { usd: 5 } }
  const run = chat.send('And then?', { budget })
}
Caching: {
  const { minimum = 0, lifetimeMs }: Caching = found.endpoint.caching
}
Candidate: {
  const [first]: Candidate[] = (await chat.compare(['anthropic/claude-opus-5', 'openai/gpt-5.6'], 'Hello')).candidates
  console.log(first?.model, await first?.run.text())
}
Capabilities: {
  const { contextWindow, media, tools }: Capabilities = found.endpoint.capabilities
}
ChatLoop: {
  const loop: ChatLoop = createProvider({ provider: 'anthropic' }).chatLoop('What is the weather?', [weather])
  for await (const event of loop) {
    if (event.type === 'tool-start') loop.submit({ callId: event.call.callId, result: 'Sunny' })
  }
}
CheckedAnswer: {
  const { answer }: { answer?: CheckedAnswer } = await chat.send('Where?', { answer: citySchema }).ended
  if (answer && 'problem' in answer) console.error(answer.problem)
}
Compacted: {
  const compacted: Compacted | undefined = await chat.compact()
  console.log(compacted?.by, compacted?.spent)
}
Compacting: {
  const compacting: Compacting = { kind: 'reply', fields: { compact: true } }
}
CompactionPart: {
  const summaries = reply.parts.filter((part): part is CompactionPart => part.type === 'compaction')
}
CompactionSettings: {
  const compaction: CompactionSettings = { keep: 6, budget: 2000 }
  const run = chat.send('And then?', { policy: { compaction } })
}
Comparison: {
  const { candidates, ended }: Comparison = await chat.compare(['anthropic/claude-opus-5', 'openai/gpt-5.6'], 'Hello')
  const ends = await ended
}
Composing: {
  const answer: Composing = {
    model: 'anthropic/claude-opus-5',
    guidance: 'Two sentences.',
    options: { maxOutput: 200 },
  }
  const run = chat.send('What time is it?', { route: { answer } })
}
Context: {
  const { body }: { body: JsonObject } = wire.encode(context satisfies Context, target)
}
Conversation: {
  const chat: Conversation = await synapse.start({ model: 'anthropic/claude-opus-5' })
  console.log(await chat.send('Hello').text())
}
ConversationChange: {
  const change: ConversationChange = { title: 'Trip to Paris', labels: ['travel'] }
  await store.updateConversation('local', chat.id, change)
}
ConversationUsage: {
  const { cost, saved, models }: ConversationUsage = await chat.usage()
}
Conversations: {
  const { id } = await store.createConversation('local', { title: 'Trip' })
  const { items } = await store.conversations('local', { label: 'travel' })
}
Counting: {
  const { path, answer }: Counting = { path: '/v1/count', fields: ['model', 'messages'], answer: 'input_tokens' }
}
Decoder: {
  const decoder: Decoder = wire.decoder(origin)
  const events = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}
DeclaredServerTool: {
  const declared: DeclaredServerTool | undefined = wire.declareServerTool?.({ kind: 'web-search' }, 'openai')
}
DecoderOptions: {
  const options: DecoderOptions = { callId: (position) => `call-${position}` }
  const decoder = wire.decoder(origin, options)
}
DeepPartial: {
  for await (const part of chat.send('Where?', { answer: citySchema }).partialObjectStream) {
    const city: DeepPartial<{ name: string; country: string }> = part
    console.log(city.name ?? '…')
  }
}
Effort: {
  const effort: Effort = 'high'
  const run = chat.send('Prove it.', { options: { effort } })
}
Encoded: {
  const { path, body, notes }: Encoded = wire.encode(context, target)
}
EndCause: {
  const cause: EndCause = { reason: 'cancelled' }
  const events = wire.decoder(origin).end(cause)
}
Endpoint: {
  const { provider, model, baseUrl }: Endpoint = found.endpoint
}
Entries: {
  const { id } = await store.append('local', chat.id, {
    message: { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
  })
  const path = await store.history('local', id)
}
Entry: {
  const [first]: Entry[] = await chat.history()
  console.log(first?.message.role, first?.at)
}
EntryOutline: {
  const tree: EntryOutline[] = await store.outline('local', chat.id)
}
ErrorKind: {
  const temporary: ErrorKind[] = ['rate-limit', 'overloaded', 'network', 'timeout']
  if (end.failure && temporary.includes(end.failure.kind)) await chat.resume().ended
}
Estimate: {
  const { input }: Estimate = prepare({ provider: 'openai', messages }).estimate
}
Exchange: {
  const { items }: Page<Exchange> = await store.exchanges('local', chat.id)
  for (const { model, usage, cost } of items) console.log(model, usage?.input, cost)
}
ExchangeEnd: {
  const end: ExchangeEnd = { outcome: 'done', reply: { message: reply }, usage }
  await store.finishExchange('local', exchange.id, end)
}
ExchangePage: {
  const page: ExchangePage = { outcome: 'failed', limit: 10 }
  const { items } = await store.exchanges('local', chat.id, page)
}
Exchanges: {
  const opened = await store.openExchange('local', chat.id, request)
  await store.finishExchange('local', opened.id, { outcome: 'cancelled' })
}
Explained: {
  const { tokens, cached, price }: Explained = (await chat.inspect()).explained
}
Failure: {
  const { failure }: { failure?: Failure } = await run.ended
  if (failure) console.error(failure.kind, failure.message, failure.status)
}
Fallback: {
  const fallback: Fallback[] = ['openai/gpt-5.6', { model: 'mistral', on: ['overloaded', 'rate-limit'] }]
  const run = chat.send('Hello', { fallback })
}
FinishedExchange: {
  const { entry }: FinishedExchange = await store.finishExchange('local', exchange.id, { outcome: 'cancelled' })
}
FoldStyle: {
  const fold: FoldStyle = 'stub'
  const run = chat.send('And then?', { policy: { fold } })
}
Framing: {
  const framing: Framing = { kind: 'sse', done: '[DONE]' }
}
Grammar: {
  const grammar: Grammar = { syntax: 'lark', definition: 'start: "yes" | "no"' }
  const spec: ToolSpec = { name: 'decide', input: {}, kind: 'free-form', grammar }
}
GuardReason: {
  const { guard }: { guard?: GuardReason } = await run.ended
  if (guard) console.error(guard.guard, guard.why)
}
Guards: {
  const guards: Guards = { repeats: 3, timeoutMs: 60_000 }
  const run = chat.send('Tidy up the folder.', { guards })
}
Handoff: {
  const bob: Handoff = {
    name: 'bob',
    description: 'For invoices.',
    settings: { model: 'mistral', system: 'You are Bob.' },
  }
  const chat = await synapse.start({ model: 'openai', handoffs: [bob] })
}
HeadTarget: {
  const target: HeadTarget = { entryId: entry.id }
  await store.setHead('local', chat.id, target)
}
Hit: {
  const { items }: Page<Hit> = await store.search('local', { text: 'invoice' })
  for (const { title, snippet } of items) console.log(title, snippet)
}
HitKind: {
  const kind: HitKind = 'title'
  const { items } = await store.search('local', { text: 'invoice', kind })
}
HookEvent: {
  for await (const event of run) {
    if (event.type === 'hook') console.log((event satisfies HookEvent).hook, event.action, event.why)
  }
}
HookPlace: {
  const audit = ({ conversationId, owner }: HookPlace) => console.log(owner, conversationId)
}
Hooks: {
  const hooks: Hooks = { beforeTool: ({ call }) => (call.name === 'shell' ? { deny: 'No commands here.' } : undefined) }
  const run = chat.send('List the files.', { hooks })
}
ImageLimits: {
  const limits: ImageLimits = { side: 8000, many: { over: 20, side: 2000 } }
}
ImageTokens: {
  const tokens: ImageTokens = { pixels: 750, longer: 1568 }
}
InputProblem: {
  const read: Tool['read'] = async (): Promise<InputProblem> => ({ problem: 'city: must be a text.' })
}
Inspected: {
  const { url, body, notes }: Inspected = await chat.inspect({ model: 'openai/gpt-5.6' })
}
Issue: {
  const { protocol, body } = prepare({ provider: 'mistral', messages })
  const issues: Issue[] = refuse(protocol, body, { provider: 'mistral' })
}
Json: {
  const value: Json = { city: 'Paris', days: [1, 2, 3], booked: null }
}
JsonObject: {
  const input: JsonObject = { type: 'object', properties: { city: { type: 'string' } } }
}
Lease: {
  const { epoch }: Lease = await store.takeLease('local', chat.id, { holder: 'worker-1', ttlMs: 30_000 })
  await store.releaseLease('local', chat.id, epoch)
}
Leases: {
  const lease = await store.takeLease('local', chat.id, { holder: 'worker-1', ttlMs: 30_000 })
  await store.renewLease('local', chat.id, lease.epoch, 30_000)
}
McpConnectOptions: {
  const options: McpConnectOptions = { folder: '/srv/files', onNote: (note) => console.error(note.why) }
  const mcp = await connectMcp({ files: server }, options)
}
McpConnection: {
  const mcp: McpConnection = await connectMcp({ files: server })
  const chat = await synapse.start({ model: 'anthropic', tools: mcp.tools('files') })
  await mcp.close()
}
McpServerEntry: {
  const server: McpServerEntry = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }
}
MediaData: {
  const data: MediaData = { kind: 'url', url: 'https://example.com/cat.png' }
}
MediaPart: {
  const image: MediaPart = { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } }
  const run = chat.send([image, { type: 'text', text: 'What is this?' }])
}
Message: {
  const history: Message[] = readTranscript(json).messages
  await chat.append(...history)
}
NewConversation: {
  const fields: NewConversation = { title: 'Trip', labels: ['travel'] }
  const { id } = await store.createConversation('local', fields)
}
NewEntry: {
  const next: NewEntry = { message: { role: 'user', parts: [{ type: 'text', text: 'Hi' }] } }
  await store.append('local', chat.id, next)
}
NewExchange: {
  const request: NewExchange = {
    basedOn: entry.id,
    provider: 'openai',
    protocol: 'openai-chat',
    model: 'gpt-5.6',
    body: '{}',
  }
  await store.openExchange('local', chat.id, request)
}
NewLease: {
  const lease: NewLease = { holder: 'worker-1', ttlMs: 30_000 }
  await store.takeLease('local', chat.id, lease)
}
NewOverlay: {
  const overlay: NewOverlay = { entryId: entry.id, kind: 'note', data: { text: 'checked' } }
  await store.addOverlay('local', chat.id, overlay)
}
NewState: {
  const state: NewState = {
    provider: 'openai',
    protocol: 'openai-responses',
    kind: 'response-chain',
    ref: 'resp_1',
    covers: entry.id,
  }
  await store.keepState('local', chat.id, state)
}
NewToolRun: {
  const started: NewToolRun = { callId: 'call-1', entryId: entry.id, name: 'weather', argsSha256: sha256 }
  await store.startTool('local', chat.id, started)
}
Note: {
  const notes: Note[] = prepare({ provider: 'mistral', messages }).notes
  for (const { kind, what, why } of notes) console.log(kind, what, why)
}
OpaquePart: {
  const own = reply.parts.filter((part): part is OpaquePart => part.type === 'opaque')
}
Options: {
  const options: Options = { effort: 'high', maxOutput: 4000, serverTools: [{ kind: 'web-search' }] }
  const run = chat.send('What is new?', { options })
}
Origin: {
  const { provider, model }: Origin = reply.origin
}
Origins: {
  const { field, from }: Origins = prepare({ provider: 'openai', messages }).origins ?? { field: 'input', from: [] }
}
Outage: {
  const outage: Outage | undefined = store.outages?.current()
  if (outage) console.error(`The database has been unreachable since ${outage.since}`)
}
Outages: {
  const stop = store.outages?.watch((outage) => console.error(outage ? 'away' : 'back'))
}
Overlay: {
  const overlays: Overlay[] = await store.overlays('local', chat.id)
}
Overlays: {
  const { id } = await store.addOverlay('local', chat.id, { entryId: entry.id, kind: 'note', data: {} })
  await store.setOverlayUndone('local', id, true)
}
OwnModel: {
  const model: OwnModel = { contextWindow: 32_000, capabilities: { tools: false } }
  const row: ProviderRow = { ...host, models: { 'my-model': model } }
}
Page: {
  let page: Page<StoredConversation> = await synapse.conversations({ limit: 100 })
  while (page.next !== undefined) page = await synapse.conversations({ cursor: page.next })
}
PageOf: {
  const first: PageOf = { limit: 100 }
  const { items, next } = await synapse.conversations(first)
}
Part: {
  const words = reply.parts.map((part: Part) => (part.type === 'text' ? part.text : '')).join('')
}
Policy: {
  const policy: Policy = 'full'
  const chat = await synapse.start({ model: 'anthropic', policy })
}
PolicySettings: {
  const policy: PolicySettings = { preset: 'classic', maxToolTurns: 3, step: 1 }
  const chat = await synapse.start({ model: 'anthropic', policy })
}
PostgresOptions: {
  const options: PostgresOptions = { connections: 20, waitMs: 10_000 }
  const store = await openPostgresStore('postgres://localhost/chats', options)
}
PrepareInput: {
  const input: PrepareInput = { provider: 'anthropic', messages, system: 'Be brief.', tools: [weather] }
  const { url, headers, body } = prepare(input)
}
Prepared: {
  const { url, headers, body }: Prepared = prepare({ provider: 'anthropic', messages, apiKey })
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}
PresetName: {
  const preset: PresetName = 'classic'
  const chat = await synapse.start({ model: 'anthropic', policy: { preset, maxMessages: 20 } })
}
Profile: {
  const profile: Profile = { provider: 'deepseek' }
  const issues = refuse('openai-chat', body, profile)
}
Provider: {
  const provider: Provider = createProvider({ provider: 'mistral' })
  console.log(await provider.chat('Hello').text())
}
ProviderConfig: {
  const { model, temperature }: ProviderConfig & Options = { ...provider.config(), ...provider.config().options }
}
ProviderOptions: {
  const options: ProviderOptions = { provider: 'anthropic', model: 'claude-opus-5', system: 'Be brief.' }
  const provider = createProvider(options)
}
ProviderRow: {
  const row: ProviderRow = {
    id: 'gateway',
    name: 'Our gateway',
    wires: [{ protocol: 'openai-chat', baseUrl: 'https://llm.example.com/v1', caching: 'none' }],
    keyVariables: ['GATEWAY_API_KEY'],
    auth: { header: 'authorization', prefix: 'Bearer ' },
  }
  const synapse = await openSynapse({ rows: [row] })
}
ProviderState: {
  const { requests, cost, cacheRead }: ProviderState = provider.state()
}
ProviderWire: {
  const wire: ProviderWire = { protocol: 'openai-chat', baseUrl: 'https://llm.example.com/v1', caching: 'none' }
}
Quirks: {
  const quirks: Quirks = { toolMessages: 'text', alternate: true }
  const row: ProviderRow = { ...host, wires: [{ ...host.wires[0], quirks }] }
}
ReadCall: {
  const read: Tool['read'] = async (): Promise<ReadCall> => ({ run: () => 'Sunny', asks: () => false })
}
ReasoningPart: {
  const thoughts = reply.parts.filter((part): part is ReasoningPart => part.type === 'reasoning')
}
RecordedToolRun: {
  const unfinished: RecordedToolRun[] = await store.toolRuns('local', chat.id, { unfinished: true })
}
RefusalPart: {
  const refusal = reply.parts.find((part): part is RefusalPart => part.type === 'refusal')
}
Replayed: {
  const { reply, usage, failure }: Replayed = replay('anthropic-messages', await readFile('recorded.sse', 'utf8'))
}
Reply: {
  const { reply }: { reply?: Reply } = await chat.send('Hello').ended
  console.log(reply?.origin.model, reply?.stop.reason)
}
ReplyEvent: {
  for await (const event of run) {
    if (event.type !== 'reply-event') continue
    const inner: ReplyEvent = event.event
    if (inner.type === 'part-delta' && inner.partType === 'text') process.stdout.write(inner.text)
  }
}
Route: {
  const route: Route = ({ kind }) => (kind === 'answer' ? 'anthropic/claude-opus-5' : undefined)
  const run = chat.send('What time is it?', { route })
}
RouteStep: {
  const cheapFirst = ({ step }: RouteStep) => (step === 1 ? 'openai/gpt-5.6-mini' : undefined)
  const run = chat.send('Hello', { route: cheapFirst })
}
Run: {
  const run: Run = chat.send('Tell me a story.')
  for await (const text of run.textStream) process.stdout.write(text)
}
RunEnd: {
  const { outcome, cost, usage, failure }: RunEnd = await chat.send('Hello').ended
}
RunEvent: {
  for await (const event of chat.send('Hello')) console.log((event satisfies RunEvent).type)
}
RunOutcome: {
  const good: RunOutcome[] = ['done', 'waiting']
  if (!good.includes((await run.ended).outcome)) console.error('Try again.')
}
RunSettings: {
  const settings: RunSettings = { model: 'anthropic/claude-opus-5', system: 'Be brief.', tools: [weather] }
  const chat = await synapse.start(settings)
}
Search: {
  const { items } = await store.search('local', { text: 'invoice', after: '2026-01-01' })
}
SearchQuery: {
  const query: SearchQuery = { text: 'invoice', provider: 'openai', limit: 20 }
  const { items } = await store.search('local', query)
}
ServerTool: {
  const search: ServerTool = { kind: 'web-search', domains: ['example.com'] }
  const run = chat.send('What is new?', { options: { serverTools: [search] } })
}
ServerToolPart: {
  const searches = reply.parts.filter((part): part is ServerToolPart => part.type === 'server-tool')
}
Source: {
  const source: Source | undefined = readTranscript(json).messages[0]?.source
}
Spend: {
  const most: Spend = { usd: 0.5, tokens: 100_000 }
  const run = chat.send('And then?', { budget: { run: most } })
}
Spending: {
  const { cost, requests, unpriced }: Spending = await chat.usage()
}
SqliteOptions: {
  const options: SqliteOptions = { busyMs: 10_000 }
  const store = await openSqliteStore('chats.db', options)
}
StandardSchema: {
  const schema: StandardSchema = z.object({ name: z.string() })
  const run = chat.send('Who?', { answer: schema })
}
StateRef: {
  const { kind, id }: StateRef = { kind: 'response-chain', id: 'resp_1', covers: 4 }
}
StateStrategy: {
  const state: StateStrategy = {
    kind: 'conversation',
    field: 'conversation',
    idPath: '$.conversation.id',
    lifetimeMs: 86_400_000,
    resend: ['system'],
    branches: false,
  }
  const row: ProviderRow = { ...host, wires: [{ ...host.wires[0], state }] }
}
States: {
  const at = { provider: 'openai', protocol: 'openai-responses' }
  const state = await store.stateAt('local', entry.id, at)
}
Stop: {
  const { reason, raw }: Stop = reply.stop
}
StopReason: {
  const cut: StopReason[] = ['length', 'interrupted']
  if (cut.includes(reply.stop.reason)) await chat.resume().ended
}
Store: {
  const store: Store = await openSqliteStore('chats.db')
  const synapse = await openSynapse({ store })
}
StoreOptions: {
  const options: StoreOptions = { warn: (sentence) => console.error(sentence) }
  const store = await openSqliteStore('chats.db', options)
}
StoredConversation: {
  const { items }: Page<StoredConversation> = await synapse.conversations({ label: 'travel' })
  const chat = await synapse.open(items[0]?.id ?? '')
}
StoredProviderState: {
  const states: StoredProviderState[] = (await chat.inspect()).state
}
SubmittedResult: {
  const result: SubmittedResult = { callId: 'call-1', result: { temperature: 21 } }
}
Synapse: {
  const synapse: Synapse = await openSynapse({ store: 'chats.db' })
  const chat = await synapse.start({ model: 'anthropic' })
  await synapse.close()
}
SynapseOptions: {
  const options: SynapseOptions = { store: 'chats.db', owner: 'alice', keys: { anthropic: apiKey } }
  const synapse = await openSynapse(options)
}
SystemMessage: {
  const message: SystemMessage = { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }
  await chat.append(message)
}
Target: {
  const { model, options }: Target = target
}
TelemetryOptions: {
  const telemetry: TelemetryOptions = { tracer: trace.getTracer('app'), content: false }
  const synapse = await openSynapse({ telemetry })
}
TextPart: {
  const part: TextPart = { type: 'text', text: 'Hello' }
  const run = chat.send([part])
}
TokenCount: {
  const { tokens, estimate }: TokenCount = await chat.count()
}
Tool: {
  const clock: Tool = { name: 'clock', input: { type: 'object' }, run: () => new Date().toISOString() }
  const chat = await synapse.start({ model: 'anthropic', tools: [clock] })
}
ToolCallPart: {
  const calls = reply.parts.filter((part): part is ToolCallPart => part.type === 'tool-call')
  for (const { name, input } of calls) console.log(name, input)
}
ToolDefinition: {
  const definition: ToolDefinition<JsonObject, { city: string }> = {
    name: 'weather',
    input: { type: 'object', properties: { city: { type: 'string' } } },
    run: ({ city }) => `Sunny in ${city}`,
  }
  const weather = defineTool(definition)
}
ToolKind: {
  const kind: ToolKind = 'free-form'
}
ToolMessage: {
  const message: ToolMessage = { role: 'tool', parts: [result] }
  await chat.append(message)
}
ToolResultPart: {
  const result: ToolResultPart = {
    type: 'tool-result',
    callId: 'call-1',
    name: 'weather',
    output: [{ type: 'text', text: 'Sunny' }],
  }
}
ToolRun: {
  const slow = async (_: Json, { emit, signal }: ToolRun) => {
    emit({ percent: 50 })
    return fetch('https://example.com/report', { signal }).then((response) => response.text())
  }
}
ToolRunEnd: {
  const end: ToolRunEnd = { outcome: 'done', result: { message: { role: 'tool', parts: [result] } } }
  await store.finishTool('local', chat.id, 'call-1', end)
}
ToolRuns: {
  const runs = await store.toolRuns('local', chat.id)
  const waiting = await store.unsettled('local')
}
ToolSpec: {
  const weather: ToolSpec = { name: 'weather', input: { type: 'object', properties: { city: { type: 'string' } } } }
  const { body } = prepare({ provider: 'google', messages, tools: [weather] })
}
Transcript: {
  const { messages, system, tools, notes }: Transcript = readTranscript(json)
}
Transport: {
  const transport: Transport = { fetch: async (url, init) => fetch(url, init), retry: { retries: 5 } }
  const synapse = await openSynapse({ transport })
}
Usage: {
  const { input, output, cacheRead }: Usage = (await run.ended).usage
}
UserInput: {
  const input: UserInput = [{ type: 'text', text: 'Hello' }]
  const run = chat.send(input)
}
UserMessage: {
  const message: UserMessage = { role: 'user', parts: [{ type: 'text', text: 'Hello' }] }
  await chat.append(message)
}
WholeProfile: {
  const body = wire.whole(reply, {
    model: 'gpt-5.6',
    replyId: 'r1',
    createdAt: Date.now(),
    usage,
  } satisfies WholeProfile)
}
Wire: {
  const wire: Wire = defineWire(definition)
  const synapse = await openSynapse({ wires: [wire], rows: [row] })
}
WireDefinition: {
  const definition: WireDefinition = {
    id: 'own-chat',
    framing: { kind: 'sse' },
    encode: wire.encode,
    decoder: wire.decoder,
  }
  const own = defineWire(definition)
}
Write: {
  const write: Write = { epoch: lease.epoch }
  await store.append('local', chat.id, { message: { role: 'user', parts: [{ type: 'text', text: 'Hi' }] } }, write)
}
SynapseModelOptions: {
  const options: SynapseModelOptions = { store, owner: 'alice', conversationId: chat.id }
  const { text } = await generateText({ model: synapseModel('anthropic/claude-opus-5', options), prompt: 'Hello' })
}
Emulator: {
  const emulator: Emulator = createEmulator()
  const synapse = await openSynapse({ offline: emulator })
  console.log(emulator.requests.length)
}
EmulatorOptions: {
  const options: EmulatorOptions = { contextWindow: 8000, reply: () => ({ parts: [{ type: 'text', text: 'Noon.' }] }) }
  const emulator = createEmulator(options)
}
Fault: {
  const fault: Fault = { status: 529 }
  createEmulator().order(fault, 2)
}
Received: {
  const last: Received | undefined = createEmulator().requests.at(-1)
  console.log(last?.provider, last?.body)
}
ResponderInput: {
  const echo = ({ messages }: ResponderInput) => ({ parts: [{ type: 'text' as const, text: `${messages.length}` }] })
  const emulator = createEmulator({ reply: echo })
}
Script: {
  const reply: Script = ({ model }) => ({ parts: [{ type: 'text', text: `I am ${model}.` }] })
  const emulator = createEmulator({ reply })
}
ServeOptions: {
  const options: ServeOptions = { port: 8099, requireKey: false }
  const served = await serveEmulator(options)
}
ServedEmulator: {
  const { url, close }: ServedEmulator = await serveEmulator()
  await close()
}
OneWire: {
  const one: OneWire = anthropicMessages
  const { body } = one.prepare({ provider: 'anthropic', messages })
}
ReadRequest: {
  const { messages, system, tools, options }: ReadRequest = readRequest('openai-chat', body)
}
