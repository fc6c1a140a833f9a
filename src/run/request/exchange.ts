// A request to one model, repeated while it can be corrected. The request is in the log before it is sent, and the reply
// before it is acted on. A request that the provider refuses because of its content is corrected and sent again, once for
// each reason: too long, lost server-side state, provider data that it can no longer read, fields that it does not accept
// back. Every attempt is an exchange in the log.

import type { Note } from '../../core/context.ts'
import type { ReplyEvent, RunEvent } from '../../core/event.ts'
import type { Failure } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Entry, Exchange } from '../../core/log.ts'
import type { Message, Part, Reply } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import type { Assembled } from '../../context/assemble.ts'
import { compactionData } from '../../context/overlay-codec.ts'
import { forecastNote, type Forecast } from '../../context/forecast.ts'
import { originsNote } from '../../context/origins.ts'
import { hasField } from '../../context/refused.ts'
import { refusesReasoning } from '../../wires/shared/failure.ts'
import { refusedFields } from '../../wires/shared/refused-fields.ts'
import { costOf, type Price } from '../../providers/price.ts'
import { uuidv7 } from '../../store/ids.ts'
import { carriesMedia } from '../../store/media.ts'
import type { ExchangeEnd, FinishedExchange } from '../../store/store.ts'
import { ask } from './ask.ts'
import { outcomeOf } from '../log/close-interrupted.ts'
import { rememberField } from './field-memory.ts'
import { addOverlay } from '../log/known-overlays.ts'
import { journaling, type Journal } from './journal.ts'
import { planRequest, type PlannedRequest, type PlanOptions } from './plan-request.ts'
import type { PendingWrites } from '../log/pending-writes.ts'
import type { RunContext, Verbatim } from '../run-context.ts'
import { costOfReply } from './reply-cost.ts'
import { isStateless, keepState, stateNote } from './state.ts'

export async function exchange(run: RunContext, history: readonly Entry[], step: number): Promise<FinishedExchange> {
  const applied = new Set<Remedy>()
  for (let planOptions: PlanOptions = {}; ;) {
    // A client's request cannot be corrected: after a refusal it is written from the log.
    const verbatim = applied.size === 0 ? verbatimFor(run) : undefined
    const isVerbatim = verbatim !== undefined
    let planning: Promise<PlannedRequest> | undefined
    const plan = () => (planning ??= planRequest(run, history, { ...planOptions, isVerbatim }))
    const finished = await attempt(verbatim === run.verbatim ? run : { ...run, verbatim }, history, plan, step)
    const planned = await plan()
    const namesFields = fieldsOf(run, history, finished.exchange.failure).length > 0
    const remedy = verbatim ? remedyForVerbatim(finished) : remedyFor(finished, planned, namesFields)
    if (!remedy || applied.has(remedy) || run.signal.aborted) return finished
    applied.add(remedy)
    const next = await applyRemedy(remedy, run, history, planned, finished.exchange.failure)
    if (!next) return finished
    planOptions = { ...planOptions, ...next }
  }
}

function verbatimFor({ verbatim, endpoint }: RunContext): Verbatim | undefined {
  const fits = verbatim?.provider === endpoint.provider.id && verbatim.protocol === endpoint.protocol.id
  return fits ? verbatim : undefined
}

async function attempt(
  run: RunContext,
  history: readonly Entry[],
  plan: () => Promise<PlannedRequest>,
  step: number,
): Promise<FinishedExchange> {
  const { store, owner, endpoint } = run
  const basedOn = history.at(-1)?.id ?? ''
  const requestNotes = run.verbatim
    ? [...(run.verbatim.notes ?? [])]
    : [...(run.notes ?? []), ...absentToolNotes(run), ...(run.hookNotes ?? []), ...(await plan()).prepared.notes]
  let journal: Journal | undefined
  const withType = partTypes()
  const {
    opened,
    reply,
    usage,
    failure,
    notes = [],
  } = await ask(run, {
    plan: async () => (await plan()).prepared,
    basedOn,
    notes: requestNotes,
    onOpen({ id, provider, model }) {
      if (!run.storesEvents) {
        const write = (offset: number, events: ReplyEvent[]) => store.journal(owner, id, offset, events, run.write())
        journal = journaling(write, run.pending !== undefined)
      }
      run.emit({ type: 'request', exchangeId: id, provider, model, step, notes: requestNotes })
    },
    onEvent(event, { id }) {
      if (event.type === 'retry' || event.type === 'no-retry') {
        run.emit({ ...event, exchangeId: id })
        return undefined
      }
      const writing = journal?.push(event)
      run.emit({ type: 'reply-event', exchangeId: id, event: withType(event) })
      return writing
    },
  })
  await journal?.close()

  const { prepared, forecast, keep, state } = await plan()
  const saved = usage && savedBy(forecast, usage, endpoint.price)
  const newState = keep ? stateNote(prepared.context, history, endpoint.model, reply) : undefined
  const outcome = outcomeOf(reply.stop.reason)
  const { cost, notes: costNotes } = costOfReply(endpoint, { reply, usage, outcome }, forecast)
  const entryId = reply.parts.length > 0 ? uuidv7() : undefined
  const records = await run.recordsOf?.({
    exchangeId: opened.id,
    basedOn,
    outcome,
    reply,
    ...(entryId !== undefined && { entryId }),
  })
  const end: ExchangeEnd = {
    outcome,
    notes: [
      ...notes,
      ...cutNotes(failure),
      ...costNotes,
      ...originsOf(prepared),
      forecastNote(forecast, usage, saved),
      ...(newState ? [newState] : []),
    ],
    ...(entryId !== undefined && { reply: { id: entryId, message: reply, parentId: basedOn } }),
    ...(usage && { usage }),
    ...(cost !== undefined && { cost }),
    ...(failure && { failure }),
    ...(records && { records }),
  }
  if (run.pending && startsTools(end) && !newState) return finishWithTools(run, run.pending, history, opened, end)
  const finished = await store.finishExchange(owner, opened.id, end, run.write())
  recordEnd(run, finished.exchange)
  if (finished.entry && newState) await keepState(run, finished.exchange, finished.entry, state?.stored)
  if (finished.entry) await keepSummary(run, finished.entry, basedOn)
  if (finished.entry) run.emit(messageEvent(finished))
  return finished
}

function originsOf(prepared: Assembled): Note[] {
  try {
    return originsNote(prepared.origins)
  } catch {
    // A client's own request may contain something that cannot be encoded.
    return []
  }
}

/** Whether the next write will be the start of a tool. */
function startsTools({ outcome, reply }: ExchangeEnd): boolean {
  if (outcome !== 'done' || !reply || carriesMedia(reply.message)) return false
  const { parts } = reply.message
  return parts.some(({ type }) => type === 'tool-call') && !parts.some(({ type }) => type === 'compaction')
}

/** Stores the end of the exchange in the commit that records the start of its first tool. */
function finishWithTools(
  run: RunContext,
  pending: PendingWrites,
  history: readonly Entry[],
  opened: Exchange,
  end: ExchangeEnd,
): FinishedExchange {
  const { store, owner, conversationId } = run
  const { reply, outcome, notes = [], usage, cost } = end
  if (!reply) throw new TypeError('a reply with calls has parts')
  const { entry, fresh } = pending.entryAfter(history, conversationId, reply.message, reply.id)
  const exchange: Exchange = {
    ...opened,
    notes: [...opened.notes, ...notes],
    outcome,
    endedAt: entry.at,
    replyEntryId: entry.id,
    ...(usage && { usage }),
    ...(cost !== undefined && { cost }),
  }
  const finished = { exchange, entry }
  const finishing = store.finishExchange(owner, opened.id, { ...end, reply: fresh }, run.write())
  pending.add(finishing, () => run.emit(messageEvent(finished)))
  recordEnd(run, exchange)
  return finished
}

function recordEnd({ meter, learned }: RunContext, exchange: Exchange): void {
  meter?.add(exchange)
  if (learned) learned.exchange = exchange
}

/** Adds the type of its part to each delta. The journal does not need it: it has the start of each part. */
function partTypes(): (event: ReplyEvent) => ReplyEvent {
  const types: (Part['type'] | undefined)[] = []
  return (event) => {
    if (event.type === 'part-start') types[event.index] = event.part.type
    if (event.type !== 'part-delta') return event
    const { type, index, text } = event
    const partType = types[index]
    return partType ? { type, index, text, partType } : event
  }
}

/** The rest of a reply that was too large was not read, so its size is unknown. */
function cutNotes(failure: Failure | undefined): Note[] {
  if (failure?.code !== 'reply-size') return []
  return [{ kind: 'dropped', what: 'the rest of the reply', why: failure.message }]
}

/** If the provider has compacted by itself, later requests start with this reply. */
async function keepSummary(run: RunContext, entry: Entry, through: string): Promise<void> {
  const { message } = entry
  if (message.role !== 'assistant' || !message.parts.some((part) => part.type === 'compaction')) return
  const { provider, protocol, model } = message.origin
  const why = 'the provider summarised by itself'
  const native = { provider, protocol, model, as: 'reply' as const, items: [] }
  const data = compactionData({ native }, through, { by: 'provider', why })
  await addOverlay(run, { entryId: entry.id, kind: 'compaction', data })
}

/** What is changed in a refused request: `plain` sends replies without provider data, `whole` sends all without state. */
type Remedy = 'from-log' | 'shorter' | 'whole' | 'plain' | 'without-fields'

/** A client's request that the provider refuses may be accepted once it is written from the log. */
function remedyForVerbatim({ exchange, entry }: FinishedExchange): Remedy | undefined {
  const kind = entry ? undefined : exchange.failure?.kind
  return kind === 'invalid-request' || kind === 'state-lost' ? 'from-log' : undefined
}

/** The remedy for a refusal that concerns the content of the request. None once a part of the reply has arrived. */
function remedyFor(
  { exchange, entry }: FinishedExchange,
  { state }: PlannedRequest,
  namesFields: boolean,
): Remedy | undefined {
  const { failure } = exchange
  if (entry || !failure) return undefined
  if (failure.kind === 'context-overflow') return 'shorter'
  if (namesFields) return 'without-fields'
  // Not every provider documents how it refuses a chain, and without a chain the refusal may not repeat.
  if (state && (failure.kind === 'state-lost' || failure.status === 400 || failure.status === 404)) return 'whole'
  if (failure.kind === 'state-lost') return isStateless(failure) ? 'whole' : 'plain'
  return refusesReasoning(failure) ? 'plain' : undefined
}

/** The fields that a refusal names and that appear in the history as provider data. */
function fieldsOf({ endpoint }: RunContext, history: readonly Entry[], failure: Failure | undefined): string[] {
  if (failure?.kind !== 'invalid-request') return []
  const provider = endpoint.provider.id
  return refusedFields(failure.message).filter((field) =>
    history.some(({ message }) => hasField(message, { provider, field })),
  )
}

/** Returns undefined if nothing is left to try. */
async function applyRemedy(
  remedy: Remedy,
  run: RunContext,
  history: readonly Entry[],
  planned: PlannedRequest,
  failure: Failure | undefined,
): Promise<PlanOptions | undefined> {
  const { store, owner, endpoint } = run
  const entryId = history.at(-1)?.id ?? ''
  const { id: provider } = endpoint.provider
  const why = failure?.message ?? ''
  if (remedy === 'from-log') return {}
  if (remedy === 'shorter') {
    const { estimate, context } = planned.prepared
    // The newest message alone is too long: a shorter history would not help.
    return context.messages.length > 1 ? { limit: estimate.input * shorterBy } : undefined
  }
  if (remedy === 'without-fields') {
    for (const field of fieldsOf(run, history, failure)) {
      await rememberField(run, history, { provider, model: endpoint.model, field })
    }
    return {}
  }
  if (remedy === 'whole') {
    if (planned.state) await store.dropState(owner, planned.state.stored.id)
    if (failure && isStateless(failure)) await record('stateless', { provider, why })
    return { whole: true }
  }
  const protocol = endpoint.protocol.id
  // Claude's replies are valid at all of its hosts, so it may be the reply of another one.
  const last =
    history.findLast(({ message }) => hasNative(message) && message.origin.provider === provider) ??
    history.findLast(({ message }) => hasNative(message) && message.origin.protocol === protocol)
  if (last?.message.role !== 'assistant') return undefined
  await record('plain', { through: last.id, provider: last.message.origin.provider, protocol, why })
  return {}

  async function record(kind: string, data: JsonObject): Promise<void> {
    await addOverlay(run, { entryId, kind, data })
  }
}

/** Relative to the request that was too long: providers do not say by how much. */
const shorterBy = 0.6

function hasNative(message: Message): message is Reply {
  return message.role === 'assistant' && message.native.length > 0
}

function messageEvent({ entry, exchange }: FinishedExchange): RunEvent {
  if (!entry) throw new TypeError('a finished exchange without an entry has no message')
  return {
    type: 'message',
    entryId: entry.id,
    message: entry.message,
    ...(exchange.usage && { usage: exchange.usage }),
  }
}

/** A note about the tools that the conversation was started with and that are missing now. */
export function absentToolNotes({ absentTools = [] }: Pick<RunContext, 'absentTools'>): Note[] {
  if (absentTools.length === 0) return []
  const why = 'The conversation was started with them, and they were not given when it was opened.'
  return [{ kind: 'dropped', what: `tools: ${absentTools.join(', ')}`, why, rule: 'absent-tools' }]
}

/**
 * What was saved by leaving out a part of the history, in US dollars: the price of the actual prompt, compared with that
 * of the whole history with the same cache. The tokens of the whole are estimated, and corrected by what the provider
 * reported. Undefined if the price is unknown, or if nothing was left out.
 */
export function savedBy(forecast: Forecast, usage: Usage, price: Price | undefined): number | undefined {
  const { estimate, whole, wholeCached, ttl } = forecast
  if (whole <= estimate || estimate <= 0 || usage.offline) return undefined
  const ratio = usage.input / estimate
  const input = Math.round(whole * ratio)
  const cacheRead = Math.round(wholeCached * ratio)
  // The whole prompt would have been written to the cache too.
  const cacheWrite = usage.cacheWrite > 0 ? input - cacheRead : 0
  const prompt = { output: 0, reasoning: 0 }
  const { raw: _, ...counted } = usage
  const asSent = costOf({ ...counted, ...prompt }, price, ttl)
  const asWhole = costOf({ ...counted, ...prompt, input, cacheRead, cacheWrite }, price, ttl)
  return asSent === undefined || asWhole === undefined ? undefined : asWhole - asSent
}
