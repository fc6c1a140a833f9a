// The default chat endpoint of `useChat` of the AI SDK. Its transport sends every message of the chat with an id each
// time, and reads a UI message stream. The conversation is in the store, its runs are runs of the server with the
// server's tools, and a reopened page continues to read the active run.

import { hash } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import { badInput, SynapseError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Conversation, Entry } from '../../core/log.ts'
import type { Message, UserMessage } from '../../core/message.ts'
import { answerApproval } from '../../run/tools/approval.ts'
import { titleOf } from '../../core/title.ts'
import { uiMessageResponse } from '../../run/events/ui-message-stream.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { NewRecord } from '../../store/records.ts'
import type { NewEntry } from '../../store/store.ts'
import { isLeft, readerCame, readerLeft } from '../chat-readers.ts'
import { lastingContext, type ServerContext } from '../context.ts'
import { doorOf } from '../doors/door.ts'
import { respondTo } from '../doors/respond.ts'
import { route, type Call, type Route } from '../route.ts'
import { checkRun, mergeSettings, settingsToStore } from '../run-settings.ts'
import { checkCapacity, releaseSlot, takeSlot } from '../run-stream.ts'
import { eventStream } from '../runs/sse.ts'
import { settings as settingsSchema, type Settings } from '../schema.ts'
import { uiMessageParts, type UiMessage } from '../ui-message.ts'
import type { RunView } from '../views.ts'
import { whenAborted } from '../when-aborted.ts'
import { textIn } from '../../wires/shared/json-fields.ts'

interface ChatRequest {
  id: string
  messages: UiMessage[]
  trigger?: string
  messageId?: string
  settings?: Settings
}

/** Programs add their own fields. */
const chatRequest = z
  .object({
    id: z.string().regex(/^[A-Za-z0-9._:-]{1,100}$/),
    messages: z
      .array(
        z.object({
          id: z.string().min(1).max(200),
          role: z.enum(['system', 'user', 'assistant']),
          parts: z.array(z.record(z.string(), z.unknown())).max(10_000),
        }),
      )
      .min(1)
      .max(10_000),
    trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
    messageId: z.string().max(200).nullable().optional(),
    settings: settingsSchema.optional(),
  })
  .openapi('ChatRequest') as unknown as z.ZodType<ChatRequest>

/** Ollama has the same path: its requests name a model. */
const ollamaRequest = z.looseObject({ model: z.string() }) as unknown as z.ZodType<JsonObject>

function isForOllama(body: object): boolean {
  return 'model' in body
}

const stream = { status: 200, description: 'A UI message stream of the AI SDK.', types: ['text/event-stream'] }

export const chatRoutes: readonly Route[] = [
  route({
    operationId: 'chat',
    method: 'post',
    path: '/api/chat',
    access: 'write',
    summary: 'Continues a chat of the AI SDK (useChat), or regenerates a reply',
    body: z.union([ollamaRequest, chatRequest]),
    untyped: isForOllama,
    answer: stream,
    hasPlainErrors: true,
    handle: (call) => (isForOllama(call.body) ? atOllama(call) : startChat(call as Call<unknown, ChatRequest>)),
  }),
  route({
    operationId: 'resumeChat',
    method: 'get',
    path: '/api/chat/{id}/stream',
    access: 'read',
    summary: 'The active answer of a chat of the AI SDK; 204: there is none',
    answer: stream,
    hasPlainErrors: true,
    async handle({ server, owner, request, param }) {
      const chat = await server.store.record(owner, kinds.chat, param('id'))
      const run = chat && (await server.runs.active(owner, textIn(chat.data['conversationId'])))
      if (!run) return new Response(null, { status: 204 })
      return chatStream({ server, owner, request }, run.id, textIn(chat.data['messageId']) || run.id)
    },
  }),
]

const kinds = { chat: 'ui-chat', message: 'ui-message' } as const

/** A request of an Ollama client that uses this server as its host. */
async function atOllama({ server, principal, request, text }: Call<unknown, unknown>): Promise<Response> {
  const url = new URL('/ollama/api/chat', request.url)
  const door = await doorOf('POST', url, request.headers)
  if (!door) throw new TypeError('there is no door for Ollama')
  const { headers, signal } = request
  const inner = new Request(url, { method: 'POST', headers, body: text, signal })
  return respondTo({ door, request: inner, url, server }, principal)
}

async function startChat(call: Call<unknown, ChatRequest>): Promise<Response> {
  const { server, owner, principal, body } = call
  const conversation = await conversationFor(call)
  const { id: conversationId } = conversation
  await stopUnread(server, owner, conversationId)
  const settings = mergeSettings(server, owner, conversation.settings, body.settings)
  await checkRun(server, principal, settings)
  const place = await placeOf(server, owner, body)
  const added = newEntries(body.messages.slice(place.count), place.entryId)
  const last = body.messages.at(-1)
  const basedOn = added.at(-1)?.entry.id ?? place.entryId
  if (basedOn === null || !last) throw badInput('messages must contain a user message.')
  const isContinued = last.role === 'assistant'
  const messageId = isContinued ? last.id : undefined
  const move = isContinued ? await readApprovals(server, conversation, basedOn, last) : moving()
  const first = body.messages.find(({ role }) => role === 'user')
  const title = conversation.title === undefined && first ? titleOf(userMessageOf(first)) : ''
  const { keyId, budget } = principal
  const run = await server.runs.start({
    owner,
    conversationId,
    settings,
    ...(keyId !== undefined && { keyId }),
    ...(budget !== undefined && { budget }),
    entries: added.map(({ entry }) => entry),
    basedOn,
    ...(added.length > 0 && { entryId: basedOn }),
    ...(title && { title }),
    ...(added.length === 0 && { move }),
    records: (view) => recordsOf(view, messageId ?? view.id),
  })
  return chatStream(call, run.id, messageId ?? run.id)

  /** The client's ids: of its message, and of the answer to come. */
  function recordsOf(view: RunView, answerId: string): NewRecord[] {
    const record = (kind: string, id: string, data: JsonObject) => ({ owner, kind, id, conversationId, data })
    return [
      record(kinds.chat, body.id, { conversationId, messageId: answerId }),
      record(kinds.message, nameOf(body.id, answerId), { runId: view.id }),
      ...added.map(({ uiId, entry }) => record(kinds.message, nameOf(body.id, uiId), { entryId: entry.id })),
    ]
  }

  function moving() {
    return async () => void (await server.store.setHead(owner, conversationId, { entryId: basedOn }))
  }
}

/** The client has stopped the answer, and continues. With a reader, such as another tab, it is an answer to wait for. */
async function stopUnread({ runs }: ServerContext, owner: string, conversationId: string): Promise<void> {
  const run = await runs.active(owner, conversationId)
  if (run && (await isLeft(run.id))) await runs.cancel(owner, run.id)
}

async function conversationFor({ server, owner, body, request }: Call<unknown, ChatRequest>): Promise<Conversation> {
  const { store } = server
  const chat = await store.record(owner, kinds.chat, body.id)
  const conversation = chat && (await store.conversation(owner, textIn(chat.data['conversationId'])))
  if (conversation) return conversation
  const client = request.headers.get('user-agent')?.slice(0, 200)
  const settings = settingsToStore(server, owner, body.settings ?? {}, {})
  return store.createConversation(owner, { settings: { ...settings, ...(client && { client }) } })
}

interface Place {
  /** The entry of the last known message; null: none is known. */
  entryId: string | null
  /** How many messages are known up to there. */
  count: number
}

/** What the client changed or left out before a known message is ignored: the id identifies it. */
async function placeOf(server: ServerContext, owner: string, { id, messages, trigger }: ChatRequest): Promise<Place> {
  // An edited message keeps its id.
  const isNew = trigger === 'submit-message' && messages.at(-1)?.role === 'user'
  for (let count = messages.length - (isNew ? 1 : 0); count > 0; count--) {
    const record = await server.store.record(owner, kinds.message, nameOf(id, messages[count - 1]?.id ?? ''))
    const entryId = record && (await entryOf(server, owner, record.data))
    if (entryId !== undefined) return { entryId, count }
  }
  return { entryId: null, count: 0 }
}

async function entryOf(server: ServerContext, owner: string, data: JsonObject): Promise<string | undefined> {
  const entryId = textIn(data['entryId'])
  const entry = entryId === '' ? undefined : await server.store.entry(owner, entryId)
  if (entry) return entryId
  const run = await server.runs.run(owner, textIn(data['runId']))
  return run && lastOf(server, owner, run)
}

/** The last entry of a run: the replies and results after the entry that it began from. */
async function lastOf({ store }: ServerContext, owner: string, run: RunView): Promise<string> {
  let last = run.basedOn
  for (;;) {
    const next = (await store.children(owner, run.conversationId, last)).find((entry) => isOf(run, entry))
    if (!next) return last
    last = next.id
  }
}

function isOf({ startedAt }: RunView, { message, at }: Entry): boolean {
  return message.role !== 'user' && Date.parse(at) >= Date.parse(startedAt)
}

function newEntries(messages: readonly UiMessage[], after: string | null) {
  let parentId = after
  return messages.flatMap((message) => {
    const content = messageOf(message)
    if (content.parts.length === 0) return []
    const entry: NewEntry & { id: string } = { id: uuidv7(), message: content, parentId, head: 'move' }
    parentId = entry.id
    return [{ uiId: message.id, entry }]
  })
}

function messageOf(message: UiMessage): Message {
  if (message.role !== 'assistant') return userMessageOf(message)
  const parts = uiMessageParts(message).filter((part) => part.type === 'text')
  const origin = { protocol: '', provider: '', model: '' }
  return { role: 'assistant', parts, native: [], origin, stop: { reason: 'done' } }
}

function userMessageOf(message: UiMessage): UserMessage {
  return { role: 'user', parts: uiMessageParts(message) }
}

/** A person's answers to waiting calls, which the client writes into the message with the calls. */
async function readApprovals(
  { store }: ServerContext,
  { id: conversationId, owner }: Conversation,
  head: string,
  { parts }: UiMessage,
): Promise<() => Promise<void>> {
  const approvals = parts.flatMap((part) => {
    const approval = part['approval']
    const isAnswer = part['state'] === 'approval-responded' && isObject(approval)
    return isAnswer ? [{ callId: textIn(part['toolCallId']), approval }] : []
  })
  if (approvals.length === 0)
    throw badInput('The last message is neither a user message nor the result of a waiting tool call.')
  const history = await store.history(owner, head)
  const asking = { store, owner, conversationId, now: Date.now, write: () => ({}) }
  return async () => {
    for (const { callId, approval } of approvals) {
      const reason = textIn(approval['reason'])
      const allowed = approval['approved'] === true
      const verdict = { callId, allowed, argsHash: textIn(approval['id']), ...(reason && { reason }) }
      await answerApproval(asking, history, verdict)
    }
  }
}

async function chatStream(
  { server, owner, request: { signal } }: Pick<Call<unknown, unknown>, 'server' | 'owner' | 'request'>,
  runId: string,
  messageId: string,
): Promise<Response> {
  const source = await server.runs.source(owner, runId)
  if (!source) return new Response(null, { status: 204 })
  checkCapacity(server)
  const lasting = lastingContext(server)
  const bytes = eventStream(source, 0, {
    onOpen() {
      takeSlot(lasting)
      readerCame(runId)
    },
    onClose() {
      releaseSlot(lasting)
      readerLeft(runId)
    },
  })
  return uiMessageResponse(eventsIn(bytes, signal), {}, messageId)
}

/** The events of a run, in their stored form, as long as the client is there: the next event may be far away. */
async function* eventsIn(bytes: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const reader = bytes.getReader()
  const leave = () => void reader.cancel().catch(() => {})
  whenAborted(signal, leave)
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) yield eventIn(line.slice('data: '.length))
    }
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

function eventIn(text: string): RunEvent {
  try {
    return JSON.parse(text) as RunEvent
  } catch {
    throw new SynapseError({ kind: 'internal', message: 'An event of a run cannot be read.' })
  }
}

/** Clients choose the ids of messages. */
function nameOf(chatId: string, messageId: string): string {
  return hash('sha256', `${chatId}\n${messageId}`)
}
