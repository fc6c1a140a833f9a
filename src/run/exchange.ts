// One step of a run: a request to a model and what comes of it. It is in the log before it is sent, and its reply is in
// the log before anything is done about it.
//
// What a provider refuses because of what we sent is put right and sent again, once for each reason: what is too long,
// state that is gone, words of its own that it cannot read any more, fields of its own that it does not take back. Every attempt is an exchange in the log.

import type { Note } from '../core/context.ts'
import type { ReplyEvent, RunEvent } from '../core/event.ts'
import type { Failure } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Entry, Exchange } from '../core/log.ts'
import type { Part, StopReason } from '../core/message.ts'
import { addUsage, noUsage } from '../core/usage.ts'
import { compactionData } from '../context/overlay-codec.ts'
import { forecastNote } from '../context/forecast.ts'
import { hasField } from '../context/refused.ts'
import { refusedFields } from '../wires/shared/refused-fields.ts'
import { costOf } from '../providers/cost.ts'
import type { FinishedExchange } from '../store/store.ts'
import { ask } from './ask.ts'
import type { Spending } from './compact.ts'
import { rememberField } from './field-memory.ts'
import { journaling, type Journal } from './journal.ts'
import { planRequest, type PlannedRequest, type PlanOptions } from './plan-request.ts'
import type { RunContext } from './run-context.ts'
import { absentToolNotes } from './absent-tools.ts'
import { savedBy } from './savings.ts'
import { isStateless, keepState, stateNote } from './state.ts'

export async function exchange(run: RunContext, history: readonly Entry[], step: number): Promise<FinishedExchange> {
  const tried = new Set<Remedy>()
  const others: Spending[] = []
  for (let planOptions: PlanOptions = {}; ;) {
    const planned = await planRequest(run, history, planOptions)
    const finished = await attempt(run, history, planned, step)
    others.push(...planned.spent)
    const remedy = remedyFor(finished, planned, fieldsOf(run, history, finished.exchange.failure).length > 0)
    if (!remedy || tried.has(remedy) || run.signal.aborted) return withSpending(finished, others)
    tried.add(remedy)
    const next = await apply(remedy, run, history, planned, finished.exchange.failure)
    if (!next) return withSpending(finished, others)
    others.push(finished.exchange)
    planOptions = { ...planOptions, ...next }
  }
}

async function attempt(
  run: RunContext,
  history: readonly Entry[],
  planned: PlannedRequest,
  step: number,
): Promise<FinishedExchange> {
  const { store, owner, endpoint } = run
  const { prepared, forecast, keep, state } = planned
  const basedOn = history.at(-1)?.id ?? ''
  const requestNotes = [...absentToolNotes(run), ...prepared.notes]
  let journal: Journal | undefined
  const typed = partTypes()
  const {
    opened,
    reply,
    usage,
    failure,
    notes = [],
  } = await ask(run, {
    prepared,
    basedOn,
    notes: requestNotes,
    onOpen({ id, provider, model }) {
      journal = journaling((offset, events) => store.journal(owner, id, offset, events, run.write()))
      run.emit({ type: 'request', exchangeId: id, provider, model, step, notes: requestNotes })
    },
    onEvent(event, { id }) {
      if (event.type === 'retry' || event.type === 'no-retry') {
        run.emit({ ...event, exchangeId: id })
        return undefined
      }
      const behind = journal?.push(event)
      run.emit({ type: 'reply-event', exchangeId: id, event: typed(event) })
      return behind
    },
  })
  await journal?.close()

  const cost = usage && costOf(usage, endpoint.price, forecast.ttl)
  const saved = usage && savedBy(forecast, usage, endpoint.price)
  const kept = keep ? stateNote(prepared.context, history, endpoint.model, reply) : undefined
  const finished = await store.finishExchange(
    owner,
    opened.id,
    {
      outcome: outcomeOf(reply.stop.reason),
      notes: [...notes, ...cutNotes(failure), forecastNote(forecast, usage, saved), ...(kept ? [kept] : [])],
      ...(reply.parts.length > 0 && { reply: { message: reply, parentId: basedOn } }),
      ...(usage && { usage }),
      ...(cost !== undefined && { cost }),
      ...(failure && { failure }),
    },
    run.write(),
  )
  if (finished.entry && kept) await keepState(run, finished.exchange, finished.entry, state?.kept)
  if (finished.entry) await keepSummary(run, finished.entry, basedOn)
  if (finished.entry) run.emit(messageEvent(finished))
  return finished
}

/** Tells of each delta what it is a part of. The journal does without: it has the start of each part. */
function partTypes(): (event: ReplyEvent) => ReplyEvent {
  const types = new Map<number, Part['type']>()
  return (event) => {
    if (event.type === 'part-start') types.set(event.index, event.part.type)
    const partType = event.type === 'part-delta' ? types.get(event.index) : undefined
    return event.type === 'part-delta' && partType ? { ...event, partType } : event
  }
}

/** The rest of a reply that was too large was not read: how much there would have been no one knows. */
function cutNotes(failure: Failure | undefined): Note[] {
  if (failure?.code !== 'reply-size') return []
  return [{ kind: 'dropped', what: 'the rest of the reply', why: failure.message }]
}

/** A provider that has summarised by itself reads on from its reply; what came before need not be sent again. */
async function keepSummary(
  { store, owner, conversationId, write }: RunContext,
  entry: Entry,
  through: string,
): Promise<void> {
  const { message } = entry
  if (message.role !== 'assistant' || !message.parts.some((part) => part.type === 'compaction')) return
  const { provider, protocol, model } = message.origin
  const why = 'the provider summarised by itself'
  const native = { provider, protocol, model, as: 'reply' as const, items: [] }
  const data = compactionData({ native }, through, { by: 'provider', why })
  await store.addOverlay(owner, conversationId, { entryId: entry.id, kind: 'compaction', data }, write())
}

type Remedy = 'tighter' | 'whole' | 'plain' | 'fields'

/** What can be done about a refusal that is about what was sent. Once some of a reply is there, nothing. */
function remedyFor(
  { exchange, entry }: FinishedExchange,
  { state }: PlannedRequest,
  namesFields: boolean,
): Remedy | undefined {
  const { failure } = exchange
  if (entry || !failure) return undefined
  if (failure.kind === 'context-overflow') return 'tighter'
  if (namesFields) return 'fields'
  // How a chain is refused is not documented everywhere, and without one the refusal may not come again.
  if (state && (failure.kind === 'state-lost' || failure.status === 400 || failure.status === 404)) return 'whole'
  if (failure.kind === 'state-lost') return isStateless(failure) ? 'whole' : 'plain'
  return failure.code === 'invalid_encrypted_content' ? 'plain' : undefined
}

/** The fields that a refusal names and that stand in the history as the provider's own words. */
function fieldsOf({ endpoint }: RunContext, history: readonly Entry[], failure: Failure | undefined): string[] {
  if (failure?.kind !== 'invalid-request') return []
  const provider = endpoint.provider.id
  return refusedFields(failure.message).filter((field) =>
    history.some(({ message }) => hasField(message, { provider, field })),
  )
}

/** Gives nothing where there is nothing left to do. */
async function apply(
  remedy: Remedy,
  run: RunContext,
  history: readonly Entry[],
  planned: PlannedRequest,
  failure: Failure | undefined,
): Promise<PlanOptions | undefined> {
  const { store, owner, conversationId, endpoint } = run
  const entryId = history.at(-1)?.id ?? ''
  const { id: provider } = endpoint.provider
  const why = failure?.message ?? ''
  if (remedy === 'tighter') {
    const { estimate, context } = planned.prepared
    // The newest message alone is too long: less of the history would not help.
    return context.messages.length > 1 ? { limit: estimate.input * tighter } : undefined
  }
  if (remedy === 'fields') {
    for (const field of fieldsOf(run, history, failure)) {
      await rememberField(run, history, { provider, model: endpoint.model, field })
    }
    return {}
  }
  if (remedy === 'whole') {
    if (planned.state) await store.dropState(owner, planned.state.kept.id)
    if (failure && isStateless(failure)) await record('stateless', { provider, why })
    return { whole: true }
  }
  const through = history.findLast((entry) => isOf(entry, provider))?.id
  if (through === undefined) return undefined
  await record('plain', { through, provider, protocol: endpoint.protocol.id, why })
  return {}

  async function record(kind: string, data: JsonObject): Promise<void> {
    await store.addOverlay(owner, conversationId, { entryId, kind, data }, run.write())
  }
}

/** How much of a request that was too long the next one may be: providers do not say how far off it was. */
const tighter = 0.6

function isOf({ message }: Entry, provider: string): boolean {
  return message.role === 'assistant' && message.origin.provider === provider && message.native.length > 0
}

/** What the step has cost as a whole, with what it took to get there. */
function withSpending(finished: FinishedExchange, others: readonly Spending[]): FinishedExchange {
  const { usage = noUsage, cost } = finished.exchange
  const all = others.filter((one) => one.usage)
  if (all.length === 0) return finished
  const total = all.reduce((sum, one) => addUsage(sum, one.usage ?? noUsage), usage)
  const costs = [cost, ...all.map((one) => one.cost)].filter((one) => one !== undefined)
  const summed = costs.length > 0 && { cost: costs.reduce((sum, one) => sum + one, 0) }
  return { ...finished, exchange: { ...finished.exchange, usage: total, ...summed } }
}

function outcomeOf(reason: StopReason): Exclude<Exchange['outcome'], 'open'> {
  return reason === 'cancelled' || reason === 'interrupted' || reason === 'failed' ? reason : 'done'
}

function messageEvent({ entry, exchange: done }: FinishedExchange): RunEvent {
  if (!entry) throw new TypeError('a finished exchange without an entry has no message')
  return { type: 'message', entryId: entry.id, message: entry.message, ...(done.usage && { usage: done.usage }) }
}
