// One request of a client as a run of its conversation: the same planning, repairs, retries, budget and log as any other,
// but it ends with the first reply, because the client runs its own tools. Calls of tools of the server are answered in between.

import { hash } from 'node:crypto'
import type { RunEvent } from '../../core/event.ts'
import { badInput } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Conversation, Entry } from '../../core/log.ts'
import type { Usage } from '../../core/usage.ts'
import type { Held } from '../../run/log/lease.ts'
import type { RunEnd } from '../../run/loop.ts'
import { pathCache } from '../../run/log/path-cache.ts'
import type { Opening, RecordsOf } from '../../run/run-context.ts'
import { startRun, type RunRequest } from '../../run/start-run.ts'
import { withFailpoints } from '../../store/failpoint.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { NewRecord } from '../../store/records.ts'
import type { NewEntry, Store } from '../../store/store.ts'
import type { WireService } from '../../wires/service.ts'
import type { ServerContext } from '../context.ts'
import { addSpend } from '../keys.ts'
import type { Principal } from '../principal.ts'
import type { RunView } from '../views.ts'
import { whenAborted } from '../when-aborted.ts'
import { holdBudget } from './budget-hold.ts'
import { nextHash } from './canonical.ts'
import { busy, chooseConversation, type ChosenConversation } from './choose-conversation.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import { checkUnchanged } from './conversation-start.ts'
import { isCallOf, isOursBeside, shownReply, withoutHiddenCalls, type IsOurs } from './hidden-calls.ts'
import { match, type Match, type StartingPoint } from './match.ts'
import { prefixRecord } from './match-records.ts'
import type { DoorModel } from './models.ts'
import { passThrough, type PassThrough } from './pass-through.ts'
import type { PassableRequest } from './passable-request.ts'
import type { DoorRequest } from './read-request.ts'
import { relay, type Relay } from './relay.ts'
import { recordsOfRun, type RecordsOfRun } from './reply-records.ts'
import { newProgress, trackEvent, type Progress } from './run-progress.ts'
import { currentSettings } from './request-settings.ts'
import { servedTools, type ServedTools } from './served-tools.ts'
import type { Delivery } from './undelivered.ts'

export interface DoorRun {
  conversationId: string
  /** Bytes of the provider that are passed to the client unchanged. */
  passThrough?: PassThrough
  events: Pick<Relay<RunEvent>, 'listen'>
  /** Resolves once the request is in the store; false: the run ended before. */
  stored: Promise<boolean>
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
  verbatim?: PassableRequest | undefined
  /** The client's id of the answer, unless it gets that of the provider. */
  replyId?: string
  /** Aborted when the client leaves. */
  signal?: AbortSignal
  /** How the client receives the answer. */
  delivery?: Delivery | undefined
  /** The position where the request continues, as it says. */
  start?: StartingPoint | undefined
  /** Stores the response for this connection only. */
  memory?: ConnectionMemory | undefined
  /** What is stored of a response that can be retrieved later. */
  response?: {
    isStored: boolean
    /** The client does not wait for it, and retrieves it later. */
    isBackground: boolean
    /** The request is the first one of its conversation. */
    isFirst: boolean
    data: JsonObject
  }
}

const paths = new WeakMap<Store, ReturnType<typeof pathCache>>()

function pathsOf(store: Store): ReturnType<typeof pathCache> {
  const known = paths.get(store) ?? pathCache(store)
  paths.set(store, known)
  return known
}

/** Starts it once the budget of the key has room for it. It ends if the client leaves, unless it is in the background. */
export async function startDoorRun(options: DoorRunOptions): Promise<DoorRun> {
  const release = await holdBudget(options.server, options.principal, options)
  try {
    const run = await start(options)
    run.ended.then(release, release)
    if (options.signal && !options.response?.isBackground) whenAborted(options.signal, run.abort)
    return run
  } catch (error) {
    release()
    throw error
  }
}

async function start(options: DoorRunOptions): Promise<DoorRun> {
  const { server, principal, request, model, service } = options
  const { owner } = principal
  server.runs.checkOpen()
  const served = await servedTools(server, owner, { request, model, home: service.home })
  const matched = await match(withFailpoints(server.store), owner, request, options.start)
  if (request.unchangedOnly !== undefined && !passableIn(options, matched)) throw badInput(request.unchangedOnly)
  const first = runIn(options, served, await chooseConversation(options, matched))
  if (await first.hasLease) return first.run
  // Another server has begun to answer there since it was chosen. Nothing was written or sent yet.
  return runIn(options, served, await chooseConversation(options, matched, { isTaken: true })).run
}

/** What the steps of a run share. */
interface RunParts {
  options: DoorRunOptions
  store: Store
  place: ChosenConversation
  passes: PassThrough | undefined
  records: RecordsOfRun
  progress: Progress
  /** Whether calls of this name are answered here, unseen by the client. */
  isHidden: IsOurs
  /** Once the run has it. */
  lease?: Held
  /** The position of the conversation before the run. */
  headBefore?: string | null
  /** The last entry of the request. */
  basedOn?: string
  /** By which users of this server follow it. */
  view: RunView
}

/** `hasLease`: false if another process has the conversation, so that nothing was done. */
function runIn(
  options: DoorRunOptions,
  served: ServedTools,
  place: ChosenConversation,
): { run: DoorRun; hasLease: Promise<boolean> } {
  const { server, principal, request } = options
  const { owner } = principal
  const { conversationId } = place
  const parts = partsOf(options, place)
  const { store, passes, progress } = parts
  const leased = Promise.withResolvers<boolean>()
  const stored = Promise.withResolvers<boolean>()
  const events = relay<RunEvent>()
  const stop = new AbortController()
  let isAnswer = false
  const shown = withoutHiddenCalls(parts.isHidden, (event) => events.push(event))
  const live = server.runs.follow(owner, parts.view, () => stop.abort())
  const runRequest: RunRequest = {
    conversationId,
    pathTo: pathsOf(server.store)(owner, conversationId),
    settings: currentSettings(options, passes, served, progress),
    notes: [...request.notes, ...served.notes],
    serverTools: served.tools.map(({ name }) => name),
    verbatim: passes?.verbatim,
    incoming: () => [],
    prepare: request.conversation === undefined ? undefined : () => checkUnchanged(store, owner, options.start),
    opening(held, before) {
      leased.resolve(true)
      return openingOf(parts, held, before, () => stored.resolve(true))
    },
    beforeRelease: () => restoreHead(parts),
    recordsOf: (end) => recordsOf(parts, end),
    oneReply: true,
    stop,
    emit(event) {
      trackEvent(progress, event)
      live.push(event)
      if (event.type === 'reply-event' && event.event.type === 'part-start' && passes?.shown()) events.close()
      shown.take(event)
    },
  }
  const ended = startRun({ store, owner, endpoint: passes?.endpoint ?? server.endpoint }, runRequest)
    .then(async (end) => {
      leased.resolve(end.failure?.code !== 'lease-held')
      // On a full disk there may be room for the lease, but not for the conversation.
      const failure = end.failure?.kind === 'not-found' ? await place.notCreated : undefined
      const settled = await settle(parts, failure ? { ...end, failure } : end)
      isAnswer = !settled.failure
      return settled
    })
    .finally(() => {
      stored.resolve(false)
      shown.end()
      busy.delete(conversationId)
      live.end()
      server.changes.notify(conversationId)
      passes?.ended(!isAnswer)
    })
  const run: DoorRun = {
    conversationId,
    events,
    stored: stored.promise,
    ended,
    abort: () => stop.abort(),
    exchangeId: () => progress.exchangeId || undefined,
    noteCount: () => progress.notes,
    ...(passes && { passThrough: passes }),
  }
  return { run, hasLease: leased.promise }
}

function partsOf(options: DoorRunOptions, place: ChosenConversation): RunParts {
  const { server, request, service } = options
  const verbatim = passableIn(options, place)
  const passes = verbatim && passThrough(verbatim, server.endpoint, service)
  return {
    options,
    store: withFailpoints(server.store),
    place,
    passes,
    records: recordsOfRun(options, place, passes),
    progress: newProgress(),
    view: viewOf(options, place),
    isHidden: isOursBeside(request.tools),
  }
}

/** The request that can be sent unchanged: no reply in its history was translated. */
function passableIn({ verbatim }: DoorRunOptions, { passedBy }: Match): PassableRequest | undefined {
  return passedBy === '' || passedBy === verbatim?.provider ? verbatim : undefined
}

/** The run for those who have the conversation open. */
function viewOf({ model }: DoorRunOptions, { conversationId, parentId }: ChosenConversation): RunView {
  const startedAt = new Date().toISOString()
  return { id: uuidv7(), conversationId, state: 'running', model: model.model, basedOn: parentId ?? '', startedAt }
}

function openingOf(parts: RunParts, held: Held, before: Conversation | undefined, isStored: () => void): Opening {
  const { place } = parts
  parts.lease = held
  if (before) parts.headBefore = before.head
  return {
    after: place.parentId,
    messages: place.append.map(({ message }) => message),
    async write(entries) {
      const appended = await append(parts, entries, held)
      isStored()
      return appended
    },
  }
}

/** Writes the new messages of the request, and moves to its end. */
async function append(parts: RunParts, entries: readonly NewEntry[], held: Held): Promise<readonly Entry[]> {
  const { options, place } = parts
  const { server, principal, request } = options
  const { store } = server
  const { owner } = principal
  const { conversationId, parentId, isAside, isNew } = place
  const records = place.append.flatMap(({ hash }, i) => {
    const entryId = entries[i]?.id
    // The question that a side call is about may come next with the same history: it is not its continuation.
    if (hash === undefined || entryId === undefined || (isAside && isNew)) return []
    return [
      prefixRecord(owner, { conversationId, entryId }, hash, { session: request.session, passedBy: place.passedBy }),
    ]
  })
  if (parentId === null && entries.length === 0) throw badInput('The request has no messages: send at least one.')
  parts.basedOn = entries.at(-1)?.id ?? parentId ?? ''
  const writtenBy = { runId: parts.view.id, ...held.write() }
  records.push(...parts.records.ofUnfinished(parts.basedOn, { status: 'in_progress' }, writtenBy))
  if (entries.length === 0) {
    await store.setHead(owner, conversationId, { entryId: parentId }, held.write())
    await store.putRecords(records)
  }
  const moving = entries.map((entry) => ({ ...entry, head: 'move' as const }))
  const appended = entries.length > 0 ? await store.appendAll(owner, conversationId, moving, held.write(), records) : []
  server.changes.notify(conversationId)
  return appended
}

/**
 * The records to store with a reply, and with each request to the provider. A reply that is continued after a call that
 * is answered here is not the answer yet.
 */
async function recordsOf(
  parts: RunParts,
  { exchangeId, basedOn, entryId, outcome, reply }: Parameters<RecordsOf>[0],
): Promise<NewRecord[]> {
  const { records, progress, isHidden } = parts
  const bodySha256 = await storeBody(parts)
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
async function storeBody({ options, store, place, lease }: RunParts): Promise<string | undefined> {
  if (!lease) return undefined
  const { body } = options.sent
  const { owner } = options.principal
  const storing = store.keepBody(owner, place.conversationId, body, lease.write()).catch(() => undefined)
  // A store that writes in order commits it together with the records.
  return store.ordered ? hash('sha256', body) : storing
}

/** A conversation does not continue from a side call. */
async function restoreHead({ options, store, place, lease, headBefore }: RunParts): Promise<void> {
  if (!place.isAside || place.isNew || headBefore === undefined || !lease) return
  try {
    await store.setHead(options.principal.owner, place.conversationId, { entryId: headBefore }, lease.write())
  } catch {
    // The answer matters more.
  }
}

/** Before the client sees the end: its next request may arrive at once. */
async function settle(parts: RunParts, end: RunEnd): Promise<DoorEnd> {
  const { options, store, place, records, progress, isHidden, basedOn } = parts
  const { server, principal, response, memory } = options
  const { keyId } = principal
  if (keyId !== undefined && end.cost > 0) await addSpend(server.accounts ?? store, keyId, end.cost)
  const reply = shownReply(progress.replies, isHidden) ?? progress.empty
  const { entryId, exchangeId, usage } = progress
  const ended = { ...end, ...(reply && { reply }), ...(usage && { replyUsage: usage }) }
  if (entryId === undefined || !reply || end.failure) {
    const { failure } = end
    const state = failure ? { status: 'failed' as const, failure } : { status: 'cancelled' as const }
    if (basedOn !== undefined) await store.putRecords(records.ofUnfinished(basedOn, state))
    return ended
  }
  if (response && !response.isStored) {
    const { conversationId } = place
    memory?.remember(records.clientReplyId() ?? '', { conversationId, entryId, hash: nextHash(place.hash, [reply]) })
  }
  if (progress.recordedId !== entryId) {
    const outcome = end.outcome === 'cancelled' ? 'cancelled' : 'done'
    await store.putRecords(records.ofReply({ entryId, exchangeId, outcome, reply }))
  }
  return ended
}
