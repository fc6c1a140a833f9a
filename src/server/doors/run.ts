// One request of a client as a run of its conversation: the same planning, repairs, retries, budget and log as any other,
// but it ends with the first reply, because the client runs its own tools. Calls of tools of the server are answered in between.

import { hash } from 'node:crypto'
import type { RunEvent } from '../../core/event.ts'
import { badInput } from '../../core/error.ts'
import type { Entry } from '../../core/log.ts'
import type { Reply } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import type { Held } from '../../run/log/lease.ts'
import type { RunEnd } from '../../run/loop.ts'
import { pathCache } from '../../run/log/path-cache.ts'
import { settingsOf as policySettings } from '../../settings/policy.ts'
import type { RecordsOf, Verbatim } from '../../run/run-context.ts'
import type { RunSettings } from '../../run/settings.ts'
import { startRun } from '../../run/start-run.ts'
import { withFailpoints } from '../../store/failpoint.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { NewRecord } from '../../store/records.ts'
import type { NewEntry, Store } from '../../store/store.ts'
import type { WireService } from '../../wires/service.ts'
import type { ServerContext } from '../context.ts'
import { addSpend } from '../keys.ts'
import type { Principal } from '../principal.ts'
import type { RunView } from '../views.ts'
import { nextHash } from './canonical.ts'
import { busy, chooseConversation, type ChosenConversation } from './choose-conversation.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import { conversationLocked } from './conversations.ts'
import { isCallOf, isOursBeside, mostAnswered, shownReply, withoutHiddenCalls } from './hidden-calls.ts'
import { match, type StartingPoint } from './match.ts'
import { prefixRecord } from './match-records.ts'
import type { DoorModel } from './models.ts'
import { passThrough, type PassThrough } from './pass-through.ts'
import type { DoorRequest } from './read-request.ts'
import { relay, type Relay } from './relay.ts'
import { recordsOfRun, type RecordsOfRun } from './reply-records.ts'
import { servedTools, type ServedTools } from './served-tools.ts'
import type { Delivery } from './undelivered.ts'

export interface DoorRun {
  conversationId: string
  /** Bytes of the provider that are passed to the client unchanged. */
  passThrough?: PassThrough
  events: Pick<Relay<RunEvent>, 'listen'>
  /** Never rejects. Afterwards later requests can find the reply. */
  ended: Promise<DoorEnd>
  abort(): void
  /** The exchange of the reply, once there is one. */
  exchangeId(): string | undefined
  /** How many notes describe changes in the request to the provider. */
  noteCount(): number
}

export interface DoorEnd extends RunEnd {
  /** Of the exchange of the reply. */
  replyUsage?: Usage
}

export interface DoorRunOptions {
  server: ServerContext
  principal: Principal
  request: DoorRequest
  model: DoorModel
  service: WireService
  /** What the client sent, unchanged. */
  sent: { client?: string; protocol: string; path: string; body: Uint8Array }
  /** The request that can be sent unchanged. */
  verbatim?: Verbatim
  /** How the client receives the answer. */
  delivery?: { replyId: string } & Delivery
  /** The position where the request continues, as it says. */
  start?: StartingPoint | undefined
  /** No other conversation may be used: the client named it. */
  isNamed?: boolean
  /** Stores the response for this connection only. */
  memory?: ConnectionMemory | undefined
  /** What is stored of a response that can be retrieved later. */
  response?: {
    id: string
    isStored: boolean
    about: (exchangeId: string) => { [name: string]: string | number | object }
  }
}

const paths = new WeakMap<Store, ReturnType<typeof pathCache>>()

function pathsOf(store: Store): ReturnType<typeof pathCache> {
  const known = paths.get(store) ?? pathCache(store)
  paths.set(store, known)
  return known
}

export async function startDoorRun(options: DoorRunOptions): Promise<DoorRun> {
  const { server, principal, request } = options
  const store = withFailpoints(server.store)
  const { owner } = principal
  const served = await servedTools(server, owner, { request, model: options.model, home: options.service.home })
  const found = await match(store, owner, request, options.start)
  const place = await chooseConversation(options, found)
  const { verbatim } = options
  const isPassable = verbatim && (found.passedBy === '' || found.passedBy === verbatim.provider)
  const passes = isPassable ? passThrough(verbatim, server.endpoint, options.service) : undefined
  const { conversationId } = place
  const events = relay<RunEvent>()
  const stop = new AbortController()
  const progress: Progress = { replies: [], answered: 0, exchangeId: '', notes: 0 }
  const isHidden = isOursBeside(request.tools)
  const shown = withoutHiddenCalls(isHidden, (event) => events.push(event))
  const records = recordsOfRun(options, { conversationId, hash: found.hash }, passes)
  const live = server.runs.follow(owner, viewOf(options, place), () => stop.abort())
  let lease: Held | undefined
  const ended = startRun(
    { store, owner, endpoint: passes?.endpoint ?? server.endpoint },
    {
      conversationId,
      pathTo: pathsOf(server.store)(owner, conversationId),
      settings: currentSettings(options, passes, served, progress),
      notes: [...request.notes, ...served.notes],
      serverTools: served.tools.map(({ name }) => name),
      verbatim: passes?.verbatim,
      incoming: () => [],
      opening: (held) => ({
        after: place.parentId,
        messages: place.append.map(({ message }) => message),
        write(entries) {
          lease = held
          return append(options, place, entries, held)
        },
      }),
      recordsOf,
      oneReply: true,
      stop,
      emit(event) {
        note(progress, event)
        live.push(event)
        if (event.type === 'reply-event' && event.event.type === 'part-start' && passes?.shown()) events.close()
        shown.take(event)
      },
    },
  )
    .then(async (given): Promise<DoorEnd> => {
      const end = withKnownConflict(given)
      const reply = shownReply(progress.replies, isHidden) ?? progress.empty
      await settle(options, { store, place, records, progress }, end, reply)
      return { ...end, ...(reply && { reply }), ...(progress.usage && { replyUsage: progress.usage }) }
    })
    .finally(() => {
      shown.end()
      busy.delete(conversationId)
      live.end()
      server.changes.notify(conversationId)
      passes?.ended()
    })
  return {
    conversationId,
    events,
    ended,
    abort: () => stop.abort(),
    exchangeId: () => progress.exchangeId || undefined,
    noteCount: () => progress.notes,
    ...(passes && { passThrough: passes }),
  }

  /** A reply that is continued after a call that is answered here is not the answer yet. */
  async function recordsOf({ exchangeId, basedOn, entryId, outcome, reply }: EndOfExchange): Promise<NewRecord[]> {
    const bodySha256 = await storeBody()
    const asked = bodySha256 === undefined ? [] : [records.ofRequest(exchangeId, bodySha256)]
    if (entryId === undefined && outcome === 'done' && progress.replies.length === 0) {
      progress.empty = reply
      progress.entryId = progress.recordedId = basedOn
      return [...asked, ...records.ofEmptyReply({ entryId: basedOn, exchangeId, reply })]
    }
    const isKnown = outcome === 'done' || outcome === 'cancelled'
    const isAnswer = !reply.parts.some((part) => isCallOf(part, isHidden))
    if (entryId === undefined || !isKnown || !isAnswer) return asked
    progress.recordedId = entryId
    const whole = shownReply([...progress.replies, reply], isHidden) ?? reply
    return [...asked, ...records.ofReply({ entryId, exchangeId, outcome, reply: whole })]
  }

  /** Stores the client's request with its reply, which matters more: undefined if that fails. */
  async function storeBody(): Promise<string | undefined> {
    if (!lease) return undefined
    const { body } = options.sent
    const storing = store.keepBody(owner, conversationId, body, lease.write()).catch(() => undefined)
    // A store that writes in order commits it together with the records.
    return store.ordered ? hash('sha256', body) : storing
  }
}

/** Another server may have begun to answer in the conversation since it was chosen. The client need not know which. */
function withKnownConflict(end: RunEnd): RunEnd {
  return end.failure?.code === 'lease-held' ? { ...end, failure: conversationLocked().failure } : end
}

/** Before the client sees the end: its next request may arrive at once. */
async function settle(
  { server, principal, response, memory }: DoorRunOptions,
  {
    store,
    place,
    records,
    progress,
  }: { store: Store; place: ChosenConversation; records: RecordsOfRun; progress: Progress },
  end: RunEnd,
  reply: Reply | undefined,
): Promise<void> {
  const { owner, keyId } = principal
  if (keyId !== undefined && end.cost > 0) await addSpend(server.accounts ?? store, keyId, end.cost)
  const { conversationId } = place
  const { entryId, exchangeId } = progress
  if (entryId === undefined || !reply || end.failure) return
  if (response && !response.isStored) {
    const hash = nextHash(place.hash, [reply])
    memory?.remember(records.responseId() ?? '', { conversationId, entryId, hash })
  }
  if (place.isAside && place.head !== undefined) await store.setHead(owner, conversationId, { entryId: place.head })
  if (progress.recordedId === entryId) return
  const outcome = end.outcome === 'cancelled' ? 'cancelled' : 'done'
  await store.putRecords(records.ofReply({ entryId, exchangeId, outcome, reply }))
}

/** The run for those who have the conversation open. */
function viewOf({ model }: DoorRunOptions, { conversationId, parentId }: ChosenConversation): RunView {
  const startedAt = new Date().toISOString()
  return { id: uuidv7(), conversationId, state: 'running', model: model.model, basedOn: parentId ?? '', startedAt }
}

type EndOfExchange = Parameters<RecordsOf>[0]

function note(progress: Progress, event: RunEvent): void {
  if (event.type === 'request') {
    progress.exchangeId = event.exchangeId
    progress.notes = event.notes.length
  }
  if (event.type === 'reply-event' && event.event.type === 'reply-end') progress.usage = event.event.usage
  if (event.type !== 'message') return
  progress.entryId = event.entryId
  if (event.message.role === 'assistant') {
    progress.replies.push(event.message)
    progress.usage = event.usage
  } else progress.answered++
}

/** What a run has written so far. */
interface Progress {
  /** The newest entry. */
  entryId?: string
  /** The reply that was written together with its records. */
  recordedId?: string
  replies: Reply[]
  /** The answer, if the model wrote nothing: it has a stop reason and a price, but no entry. */
  empty?: Reply
  answered: number
  usage?: Usage | undefined
  exchangeId: string
  notes: number
}

/** Writes the new messages of the request, and moves to its end. */
async function append(
  { server, principal, request }: DoorRunOptions,
  place: ChosenConversation,
  entries: readonly NewEntry[],
  held: Held,
): Promise<readonly Entry[]> {
  const { store } = server
  const { owner } = principal
  const { conversationId, parentId } = place
  const records = place.append.flatMap(({ hash }, i) => {
    const entryId = entries[i]?.id
    if (hash === undefined || entryId === undefined) return []
    return [
      prefixRecord(owner, { conversationId, entryId }, hash, { session: request.session, passedBy: place.passedBy }),
    ]
  })
  if (parentId === null && entries.length === 0) throw badInput('The request has no messages: send at least one.')
  if (entries.length === 0) await store.setHead(owner, conversationId, { entryId: parentId }, held.write())
  const moving = entries.map((entry) => ({ ...entry, head: 'move' as const }))
  const appended = entries.length > 0 ? await store.appendAll(owner, conversationId, moving, held.write(), records) : []
  server.changes.notify(conversationId)
  return appended
}

/** The same for all requests of a session, and for the same request again, wherever it is stored. */
function cacheKeyOf({ principal, request, start }: DoorRunOptions): string {
  const about = request.session ?? start?.conversationId
  return nextHash(`${principal.owner} ${about ?? ''}`, about === undefined ? request.messages.slice(0, 1) : [])
}

/** A run reads one setting at a time; they change only with the number of answered calls. */
function currentSettings(
  options: DoorRunOptions,
  passes: PassThrough | undefined,
  served: ServedTools,
  progress: Pick<Progress, 'answered'>,
): () => RunSettings {
  let last: { answered: number; settings: RunSettings } | undefined
  return () => {
    const { answered } = progress
    if (last?.answered !== answered) last = { answered, settings: settingsOf(options, passes, { served, answered }) }
    return last.settings
  }
}

function settingsOf(
  given: DoorRunOptions,
  passes: PassThrough | undefined,
  { served, answered }: { served: ServedTools; answered: number },
): RunSettings {
  const { request, model } = given
  const { serverTools } = served
  const mayAsk = answered < mostAnswered
  const { system, tools, options } = request
  const protocol = passes?.verbatim.protocol ?? model.protocol
  const policy = policySettings(model.policy ?? 'full')
  return {
    model: model.model,
    ...(protocol !== undefined && { protocol }),
    ...(system && { system }),
    tools: [...tools.map((tool) => ({ ...tool, run: notHere })), ...(mayAsk ? served.tools : [])],
    options: { cacheKey: cacheKeyOf(given), ...options, ...(serverTools.length > 0 && { serverTools }) },
    ...(model.fallback && { fallback: model.fallback }),
    policy: passes || !mayAsk ? { ...policy, recall: false } : policy,
    // The client sees its own loops.
    guards: { repeats: false },
  }
}

function notHere(): never {
  throw new TypeError('a tool of the client was run by the server')
}
