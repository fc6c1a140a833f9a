// A call of the AI SDK as a run of a conversation in a store. The SDK sends the whole history each time: stored
// messages are found by the references in our replies, new ones are appended, and a difference becomes a branch. The
// SDK runs the tools, so each run ends with the first reply.

import type { Note, ToolSpec } from '../core/context.ts'
import type { ReplyEvent, RunEvent } from '../core/event.ts'
import { badInput, SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Entry } from '../core/log.ts'
import { callsOf, textOf, type Message, type Reply } from '../core/message.ts'
import { channel } from '../run/events/channel.ts'
import type { Held } from '../run/log/lease.ts'
import { cachedPath } from '../run/log/path-cache.ts'
import type { RunSettings, Runtime } from '../run/settings.ts'
import { startRun } from '../run/start-run.ts'
import { settingsToStore } from '../run/stored-settings.ts'
import { titleOf } from '../core/title.ts'
import { settingsOf, type Policy } from '../settings/policy.ts'
import type { Options } from '../settings/options.ts'
import { uuidv7 } from '../store/ids.ts'
import type { Store } from '../store/store.ts'

/** The position of a reply in the store. */
export interface Reference {
  conversationId: string
  entryId: string
}

export interface LoggedCall {
  model: string
  protocol?: string | undefined
  policy: Policy
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  options: Options
  signal?: AbortSignal | undefined
  /** The conversation that the caller named. */
  conversationId?: string | undefined
  /** Our newest reply in the prompt that is in the store. */
  latest?: Reference | undefined
}

export interface LoggedReply {
  conversationId: string
  /** The reply as it arrives; its end comes when it is stored. Throws a failure before the first output. */
  events: AsyncGenerator<ReplyEvent, void>
  /** Of the request. */
  notes: Note[]
  /** Known when the reply has ended. */
  reference(): Reference | undefined
}

/** Conversations in which this process is answering a call. */
const busy = new Set<string>()

export async function loggedReply(runtime: Runtime, call: LoggedCall): Promise<LoggedReply> {
  const { store, owner } = runtime
  const { system, rest } = withoutSystem(call.messages)
  const settings = settingsFor(call, system)
  const place = await placeOf(runtime, call, rest, settings)
  const { conversationId } = place
  const events = channel<RunEvent>()
  const notes: Note[] = []
  let entryId: string | undefined
  const ended = startRun(runtime, {
    conversationId,
    pathTo: cachedPath(store, owner),
    settings: () => settings,
    incoming: () => [],
    prepare: (lease) => append(store, owner, place, lease),
    oneReply: true,
    stop: new AbortController(),
    emit(event) {
      if (event.type === 'request') notes.push(...event.notes)
      if (event.type === 'message' && event.message.role === 'assistant') entryId = event.entryId
      events.push(event)
    },
  }).finally(() => {
    busy.delete(conversationId)
    events.end()
  })
  return {
    conversationId,
    notes,
    events: replyEvents(),
    reference: () => (entryId === undefined ? undefined : { conversationId, entryId }),
  }

  async function* replyEvents(): AsyncGenerator<ReplyEvent, void> {
    let end: ReplyEvent | undefined
    for await (const event of events) {
      // A repeated, shorter request replaces the one that failed.
      if (event.type === 'request') end = undefined
      if (event.type !== 'reply-event') continue
      if (event.event.type === 'reply-end') end = event.event
      else yield event.event
    }
    // The next call of the SDK may come at once: the conversation is free for it then.
    const { failure } = await ended
    if (end) yield end
    else if (failure) throw new SynapseError(failure)
  }
}

/** The system prompt of the SDK comes first in its prompt, and belongs to the settings. */
function withoutSystem(messages: readonly Message[]): { system: string; rest: Message[] } {
  const first = messages.findIndex(({ role }) => role !== 'system')
  const rest = first < 0 ? [] : messages.slice(first)
  if (rest.length === 0) throw badInput('The prompt has no messages: give at least one.')
  const system = messages.slice(0, first).map(({ parts }) => textOf(parts))
  return { system: system.join('\n\n'), rest }
}

function settingsFor(call: LoggedCall, system: string): RunSettings {
  const { model, protocol, tools, options, policy, signal } = call
  return {
    model,
    ...(protocol !== undefined && { protocol }),
    ...(system && { system }),
    tools: tools.map((tool) => ({ ...tool, run: notHere })),
    options,
    // The SDK runs the tools, and handles its own loops.
    policy: { ...settingsOf(policy), recall: false },
    guards: { repeats: false },
    ...(signal && { signal }),
  }
}

function notHere(): never {
  throw new TypeError('a tool of the AI SDK was run by Synapse')
}

interface Place {
  conversationId: string
  /** The entry before the new messages. */
  parentId: string | null
  append: readonly Message[]
}

/** The conversation that the prompt continues, and the new part of the prompt. */
async function placeOf(
  { store, owner }: Runtime,
  { conversationId: named, latest }: LoggedCall,
  messages: readonly Message[],
  settings: RunSettings,
): Promise<Place> {
  const id = named ?? latest?.conversationId
  const stored = id === undefined ? undefined : await store.conversation(owner, id)
  if (named !== undefined && !stored)
    throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${named}.` })
  const at = latest && latest.conversationId === stored?.id ? latest.entryId : stored?.head
  const path = at ? await store.history(owner, at) : []
  const common = commonLength(path, messages)
  const isLeased = stored && named === undefined && (await store.lease(owner, stored.id)) !== undefined
  if (stored && !isLeased && (named !== undefined || !busy.has(stored.id))) {
    // At once, before another call can check.
    busy.add(stored.id)
    return { conversationId: stored.id, parentId: path[common - 1]?.id ?? null, append: messages.slice(common) }
  }
  // Two concurrent calls are two conversations: the second begins with a copy of what both have in common.
  const first = messages.find((message) => message.role === 'user')
  const created = await store.createConversation(owner, {
    ...(first && { title: titleOf(first) }),
    settings: { ...settingsToStore(settings), client: 'ai-sdk' } satisfies JsonObject,
  })
  return { conversationId: created.id, parentId: null, append: messages }
}

function commonLength(path: readonly Entry[], messages: readonly Message[]): number {
  const differs = messages.findIndex((message, i) => {
    const entry = path[i]
    return !entry || visible(entry.message) !== visible(message)
  })
  return differs < 0 ? messages.length : differs
}

/** What the user of the SDK sees of a message. Reasoning and ids may change in an application. */
function visible(message: Message): string {
  const results = message.role === 'tool' ? message.parts.map(({ callId, output }) => [callId, output]) : []
  const media =
    message.role === 'user' ? message.parts.flatMap((part) => (part.type === 'media' ? [part.data] : [])) : []
  const calls = callsOf(message).map(({ callId, name, input }) => [callId, name, input])
  return JSON.stringify([message.role, textOf(message.parts), media, calls, results])
}

async function append(store: Store, owner: string, { conversationId, parentId, append: messages }: Place, lease: Held) {
  let parent = parentId
  const entries = messages.map((message) => {
    const entry = { id: uuidv7(), message, parentId: parent, head: 'move' as const }
    parent = entry.id
    return entry
  })
  if (entries.length > 0) await store.appendAll(owner, conversationId, entries, lease.write())
  else if (parentId !== null) await store.setHead(owner, conversationId, { entryId: parentId }, lease.write())
}

/** The replies that the references of a prompt name, and the newest of these references. */
export async function referredReplies(
  store: Store,
  owner: string,
  references: readonly Reference[],
): Promise<{ replies: ReadonlyMap<string, Reply>; latest: Reference | undefined }> {
  const replies = new Map<string, Reply>()
  let latest: Reference | undefined
  for (const reference of references) {
    const entry = await store.entry(owner, reference.entryId)
    if (entry?.message.role !== 'assistant') continue
    replies.set(reference.entryId, entry.message)
    latest = { conversationId: entry.conversationId, entryId: entry.id }
  }
  return { replies, latest }
}
