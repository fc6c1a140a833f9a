// One request of a client as a run of its conversation: the same planning, repairs, retries, budget and log as any other,
// but it ends with the first reply, because the client runs its own tools.

import type { RunEvent } from '../../core/event.ts'
import { SynapseError } from '../../core/error.ts'
import type { Reply } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { channel } from '../../run/channel.ts'
import type { Held } from '../../run/lease.ts'
import type { RunEnd } from '../../run/loop.ts'
import { cachedPath } from '../../run/path-cache.ts'
import { settingsOf as policySettings } from '../../settings/policy.ts'
import type { RunSettings } from '../../run/settings.ts'
import { startRun } from '../../run/start-run.ts'
import { titleOf } from '../../run/title.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { NewEntry } from '../../store/store.ts'
import type { ServerContext } from '../context.ts'
import { addSpend } from '../keys.ts'
import type { Principal } from '../principal.ts'
import { match, prefixRecord, replyRecords, type Match } from './match.ts'
import type { DoorModel } from './models.ts'
import type { DoorRequest } from './read-request.ts'

export interface DoorRun {
  conversationId: string
  events: AsyncIterable<RunEvent>
  /** Never rejects. The reply can be found by later requests then. */
  ended: Promise<DoorEnd>
  abort(): void
}

export interface DoorEnd extends RunEnd {
  /** Of the exchange that the reply came by. */
  replyUsage?: Usage
}

export interface DoorRunOptions {
  server: ServerContext
  principal: Principal
  request: DoorRequest
  model: DoorModel
  /** The name that the client gives itself. */
  client: string | undefined
  /** What is kept of a response that can be asked for later. */
  response?: { id: string; about: (exchangeId: string) => { [name: string]: string | number | object } }
}

/** Conversations of this process that a request is being answered in. */
const busy = new Set<string>()

export async function startDoorRun(options: DoorRunOptions): Promise<DoorRun> {
  const { server, principal, request } = options
  const { store } = server
  const { owner } = principal
  const found = await match(store, owner, request)
  const place = await roomFor(options, found)
  busy.add(place.conversationId)
  const { conversationId } = place
  const events = channel<RunEvent>()
  const stop = new AbortController()
  const seen: { entryId?: string; reply?: Reply; usage?: Usage; exchangeId: string } = { exchangeId: '' }
  server.changes.tell(conversationId)
  const ended = startRun(
    { store, owner, endpoint: server.endpoint },
    {
      conversationId,
      pathTo: cachedPath(store, owner),
      settings: () => settingsOf(options),
      incoming: () => [],
      before: (held) => append(options, place, held),
      oneReply: true,
      stop,
      emit(event) {
        if (event.type === 'request') seen.exchangeId = event.exchangeId
        if (event.type === 'message' && event.message.role === 'assistant') {
          Object.assign(seen, { entryId: event.entryId, reply: event.message, usage: event.usage })
        }
        events.push(event)
      },
    },
  )
    .then(async (end): Promise<DoorEnd> => {
      await settle(end)
      return { ...end, ...(seen.usage && { replyUsage: seen.usage }) }
    })
    .finally(() => {
      busy.delete(conversationId)
      server.changes.tell(conversationId)
      events.end()
    })
  return { conversationId, events, ended, abort: () => stop.abort() }

  /** Before the client hears of the end: its next request may come at once. */
  async function settle(end: RunEnd): Promise<void> {
    const { keyId } = principal
    if (keyId !== undefined && end.cost > 0) await addSpend(store, keyId, end.cost)
    const { entryId, reply, exchangeId } = seen
    if (entryId === undefined || !reply || end.failure) return
    const about = options.response?.about(exchangeId)
    await store.putRecords(
      replyRecords(owner, { conversationId, entryId }, reply, {
        hash: found.hash,
        session: request.session,
        ...(options.response && { responseId: options.response.id }),
        ...(about && { response: JSON.parse(JSON.stringify(about)) }),
      }),
    )
  }
}

interface Room extends Match {
  conversationId: string
}

/** The conversation of the request; a new one where none is known, or where it is being answered in right now. */
async function roomFor(options: DoorRunOptions, found: Match): Promise<Room> {
  const { server, principal, request, client, model } = options
  const { store } = server
  const { owner } = principal
  const { conversationId } = found
  const isFree =
    conversationId !== undefined && !busy.has(conversationId) && !(await store.lease(owner, conversationId))
  if (isFree && (await store.conversation(owner, conversationId))) return { ...found, conversationId }
  // Two requests at once are two conversations: the second begins with a copy of what both have in common.
  const before = found.parentId === null ? [] : await store.history(owner, found.parentId)
  const first = [...before.map(({ message }) => message), ...request.messages].find(({ role }) => role === 'user')
  const title = first?.role === 'user' ? titleOf(first) : ''
  const { id } = await store.createConversation(owner, {
    ...(title && { title }),
    settings: {
      model: model.model,
      ...(client !== undefined && { client }),
      ...(request.system && { system: request.system }),
    },
  })
  const copied = before.map(({ message }) => ({ message }))
  return { ...found, conversationId: id, parentId: null, append: [...copied, ...found.append] }
}

/** Writes what is new of the request, and goes to its end. */
async function append({ server, principal, request }: DoorRunOptions, place: Room, held: Held): Promise<void> {
  const { store } = server
  const { owner } = principal
  const { conversationId } = place
  let parentId = place.parentId
  const entries = place.append.map(({ message }): NewEntry & { id: string } => {
    const entry = { id: uuidv7(), message, parentId, head: 'move' as const }
    parentId = entry.id
    return entry
  })
  const records = place.append.flatMap(({ hash }, i) => {
    const entryId = entries[i]?.id
    if (hash === undefined || entryId === undefined) return []
    return [prefixRecord(owner, { conversationId, entryId }, hash, request.session)]
  })
  if (entries.length > 0) await store.appendAll(owner, conversationId, entries, held.write(), records)
  else if (parentId !== null) await store.setHead(owner, conversationId, { entryId: parentId }, held.write())
  else throw new SynapseError({ kind: 'bad-input', message: 'The request has no messages: send at least one.' })
}

function settingsOf({ server, request, model }: DoorRunOptions): RunSettings {
  const { system, tools, options } = request
  return {
    ...model,
    ...(system && { system }),
    tools: tools.map((tool) => ({ ...tool, run: notHere })),
    options,
    // The client runs the tools of its requests, so the model is offered none of ours.
    policy: { ...policySettings(server.defaultPolicy ?? 'full'), recall: false },
    // The client sees its own loops.
    guards: { repeats: false },
  }
}

function notHere(): never {
  throw new TypeError('a tool of the client was run by the server')
}
