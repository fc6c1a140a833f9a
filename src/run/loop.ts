// The loop: ask the model, run the tools it asks for, ask again, until it is done. Every message is in the log before
// the next step, so a run can be aborted or killed at any point and continues from its log.

import type { CheckedAnswer, GuardReason, RunOutcome } from '../core/event.ts'
import { asFailure, isStorageFull, SynapseError, type Failure } from '../core/error.ts'
import type { Conversation, Entry } from '../core/log.ts'
import type { Reply, UserMessage } from '../core/message.ts'
import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import { uuidv7 } from '../store/ids.ts'
import { carriesMedia } from '../store/media.ts'
import type { Approval } from './tools/approval.ts'
import { afterReply } from './hooks.ts'
import { modelStep } from './request/model-step.ts'
import { nothingSpent, overBudget, spentSoFar, type Spent } from './budget.ts'
import { answerOf } from './answer.ts'
import { nextStep, type NextStep } from './next-step.ts'
import { readWhole } from './log/path-cache.ts'
import { isOwnRecall } from './tools/offer-recall.ts'
import { stuck } from './tools/repeats.ts'
import { userMessage } from './settings.ts'
import type { LoopContext, Opening } from './run-context.ts'
import { runCalls } from './tools/tool-step.ts'
import type { RouteStep } from '../settings/run.ts'
import { namedModel } from './route.ts'

/** How a run ended. */
export interface RunEnd {
  outcome: RunOutcome
  /** Of all requests of the run. */
  usage: Usage
  /** In US dollars, as far as prices are known. */
  cost: number
  failure?: Failure
  /** The guard that ended it, and why. */
  guard?: GuardReason
  /** The calls that wait for approval, if the outcome is `waiting`. */
  waiting?: Approval[]
  /** The last reply parsed with the requested schema; absent: there is none, or no finished reply. */
  answer?: CheckedAnswer
  /** The last reply of the model, if there is one. */
  reply?: Reply
}

/**
 * Continues from the head of the conversation; `message` is appended first. `stored` is the conversation as it is now, where
 * that was read already. Never throws for what a provider or tool did.
 */
export async function loop(run: LoopContext, message: UserMessage | undefined, stored?: Conversation): Promise<RunEnd> {
  const state: LoopState = {
    run,
    history: [],
    spentBefore: nothingSpent,
    step: 0,
    usage: noUsage,
    reply: undefined,
    answer: undefined,
    askedAgain: false,
  }
  try {
    await begin(state, message, stored)
    for (;;) {
      const ended = await takeStep(state)
      if (ended) return ended
    }
  } catch (error) {
    const failure = asFailure(error)
    // Earlier writes are reported first; an error in one of them is reported if there is no other error.
    await run.pending?.settled().catch(() => {})
    return end(state, 'failed', failure)
  }
}

interface LoopState {
  readonly run: LoopContext
  history: Entry[]
  /** What the conversation had cost before the run. */
  spentBefore: Spent
  step: number
  usage: Usage
  /** The last one of this run. */
  reply: Reply | undefined
  answer: CheckedAnswer | undefined
  /** The model was asked to correct its answer. */
  askedAgain: boolean
}

async function begin(state: LoopState, message: UserMessage | undefined, stored?: Conversation): Promise<void> {
  const { run } = state
  const { store, owner, conversationId } = run
  const conversation = stored ?? (await store.conversation(owner, conversationId))
  if (!conversation)
    throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${conversationId}.` })
  const position = run.opening ? { ...conversation, head: run.opening.after } : conversation
  // A resumed run counts repeated calls from an earlier message.
  const history = await run.pathTo(position, !message || run.route !== undefined)
  state.history = history
  const emitStart = () => run.emit({ type: 'run-start', conversationId, entryId: history.at(-1)?.id ?? '' })
  if (run.opening) await appendOpening(state, run.opening, emitStart)
  else if (message && run.pending && !carriesMedia(message)) {
    const { entry, fresh } = run.pending.entryAfter(history, conversationId, message)
    run.pending.add(store.append(owner, conversationId, fresh, run.write()), emitStart)
    history.push(entry)
  } else {
    if (message) history.push(await store.append(owner, conversationId, { message }, run.write()))
    emitStart()
  }
  if (run.budget?.conversation) state.spentBefore = await spentSoFar(store, owner, conversationId)
}

/** Appends the messages of a client, in the commit of the request if the store allows it. */
async function appendOpening(
  { run, history }: LoopState,
  { messages, write }: Opening,
  emitStart: () => void,
): Promise<void> {
  const { pending, conversationId } = run
  if (pending && !messages.some(carriesMedia)) {
    const entries = messages.map((message) => {
      const { entry, fresh } = pending.entryAfter(history, conversationId, message)
      history.push(entry)
      return fresh
    })
    pending.add(write(entries), emitStart)
    return
  }
  let parentId = history.at(-1)?.id ?? null
  const entries = messages.map((message) => {
    const entry = { id: uuidv7(), message, parentId }
    parentId = entry.id
    return entry
  })
  history.push(...(await write(entries)))
  emitStart()
}

/** Returns the end of the run if this was its last step. */
async function takeStep(state: LoopState): Promise<RunEnd | undefined> {
  const { run, history } = state
  if (run.signal.aborted) {
    await run.pending?.settled()
    return end(state, 'cancelled')
  }
  const next = run.oneReply ? nextForOneReply(run, state.step, history) : nextStep(history)
  if (next.kind === 'tools') {
    const { entries, waiting } = await runCalls(run, history, next.replyEntry, next.calls)
    history.push(...entries)
    if (waiting.length === 0 || run.signal.aborted) return undefined
    await run.pending?.settled()
    return pause(state, waiting)
  }
  if (await appendIncoming(state)) return undefined
  if (next.kind === 'finish') return finish(state, next.reply)
  const guard = limitReached(state)
  if (!guard) return askModel(state)
  await run.pending?.settled()
  return end(state, guard.guard === 'max-steps' ? 'max-steps' : 'stopped', undefined, guard)
}

async function askModel(state: LoopState): Promise<RunEnd | undefined> {
  const { run, history } = state
  state.step++
  const { entry, exchange: done } = await ask(state, 'ask')
  if (entry) history.push(entry)
  if (entry?.message.role === 'assistant') state.reply = entry.message
  if (done.outcome === 'cancelled') return end(state, 'cancelled')
  if (done.outcome !== 'done') return end(state, 'failed', done.failure)
  if (!entry) return end(state, 'done')
  const denied = state.reply && (await afterReply(run, state.reply))
  return denied === undefined ? undefined : end(state, 'stopped', undefined, { guard: 'hook', why: denied })
}

/** The model is done. The route may name another model for the answer, and an answer that does not fit its schema is requested once more. */
async function finish(state: LoopState, last: Reply | undefined): Promise<RunEnd | undefined> {
  const { run, history } = state
  await run.pending?.settled()
  const about = { step: state.step + 1, usage: state.usage, cost: run.meter.spent.usd }
  const answerModel = state.reply && last === state.reply && (await modelForAnswer(run, history, about))
  if (answerModel) {
    state.step++
    state.reply = await rewriteAnswer(state, answerModel)
  }
  const { reply } = state
  const outcome = run.signal.aborted ? 'cancelled' : outcomeOfReply(reply ?? last)
  if (outcome === 'done') state.answer = await answerOf(run, reply ?? last)
  const { answer } = state
  const mayAskAgain = answer && 'problem' in answer && reply && !state.askedAgain && !run.oneReply
  if (!mayAskAgain || limitReached(state)) return end(state, outcome)
  state.askedAgain = true
  await appendMessage(state, userMessage(answer.problem))
  state.answer = undefined
  return undefined
}

async function ask(state: LoopState, kind: 'ask' | 'answer') {
  const { run, history, step, usage } = state
  const finished = await modelStep(run, history, { step, kind, usage, cost: run.meter.spent.usd })
  const exchanges = run.meter.read()
  for (const exchange of exchanges) {
    run.onExchange?.(exchange)
    if (exchange.usage) state.usage = addUsage(state.usage, exchange.usage)
  }
  const unpriced = exchanges.find((exchange) => exchange.usage && exchange.cost === undefined)
  if (unpriced && (run.budget?.run?.usd ?? run.budget?.conversation?.usd) !== undefined) {
    const why = `The price of ${unpriced.provider}/${unpriced.model} is not known, so its cost is not counted.`
    run.emit({ type: 'guard', action: 'warned', guard: 'spend', why })
  }
  return finished
}

/**
 * The final answer by another model: in place of the reply that ended the work with tools, which stays in the log. If
 * that model fails, the original reply is used, and an event says why.
 */
async function rewriteAnswer(state: LoopState, model: string): Promise<Reply | undefined> {
  const { run, history, reply } = state
  const { store, owner, conversationId } = run
  const original = history.pop()
  const base = history.at(-1)
  if (!reply || !original || !base) return reply
  await store.setHead(owner, conversationId, { entryId: base.id }, run.write())
  let failure: Failure | undefined
  try {
    const { entry, exchange: done } = await ask(state, 'answer')
    await run.pending?.settled()
    failure = done.failure
    if (entry?.message.role === 'assistant' && !failure) {
      history.push(entry)
      return entry.message
    }
  } catch (error) {
    failure = asFailure(error)
  }
  await store.setHead(owner, conversationId, { entryId: original.id }, run.write())
  history.push(original)
  const { origin } = reply
  if (failure) run.emit({ type: 'fallback', from: model, to: `${origin.provider}/${origin.model}`, failure })
  return reply
}

/** User messages that arrive during the run are inserted between two steps, never between a call and its result. */
async function appendIncoming(state: LoopState): Promise<boolean> {
  const { run } = state
  const messages = run.incoming()
  if (messages.length > 0) await run.pending?.settled()
  for (const message of messages) await appendMessage(state, message)
  return messages.length > 0
}

async function appendMessage({ run, history }: LoopState, message: UserMessage): Promise<void> {
  const entry = await run.store.append(run.owner, run.conversationId, { message }, run.write())
  history.push(entry)
  run.emit({ type: 'message', entryId: entry.id, message: entry.message })
}

function pause(state: LoopState, waiting: Approval[]): RunEnd {
  for (const approval of waiting) state.run.emit({ type: 'approval-needed', ...approval })
  return { ...end(state, 'waiting'), waiting }
}

function end(state: LoopState, reached: RunOutcome, failure?: Failure, by?: GuardReason): RunEnd {
  const { run, usage, reply, answer } = state
  const guard = by ?? (reached === 'cancelled' || run.signal.aborted ? run.stoppedBy() : undefined)
  const outcome = guard && reached === 'cancelled' ? 'stopped' : failure ? outcomeOfFailure(failure) : reached
  if (guard) run.emit({ type: 'guard', action: 'stopped', ...guard })
  const details = { ...(failure && { failure }), ...(guard && { guard }), ...(answer && { answer }) }
  run.emit({ type: 'run-end', outcome, usage, ...details })
  return { outcome, usage, cost: run.meter.spent.usd, ...details, ...(reply && { reply }) }
}

/** Only `recall` and the server's tools are run here: the client runs the others and sends their results with its next request. */
function nextForOneReply(run: LoopContext, step: number, history: readonly Entry[]): NextStep {
  if (step === 0) return { kind: 'ask' }
  const last = history.findLast(({ message }) => message.role === 'assistant')?.message
  const finish: NextStep = { kind: 'finish', ...(last?.role === 'assistant' && { reply: last }) }
  const next = nextStep(history)
  if (next.kind === 'tools') {
    const calls = next.calls.filter((call) => isOwnRecall(run, call) || run.serverTools?.includes(call.name))
    return calls.length > 0 ? { ...next, calls } : finish
  }
  // All calls of the reply are answered.
  return next.kind === 'ask' && history.at(-1)?.message.role === 'tool' ? next : finish
}

/** The guard that forbids another request, if any. */
function limitReached({ run, history, step, spentBefore }: LoopState): GuardReason | undefined {
  const { spent } = run.meter
  if (step >= run.maxSteps) return { guard: 'max-steps', why: `The run reached its limit of ${run.maxSteps} steps.` }
  const total = { usd: spentBefore.usd + spent.usd, tokens: spentBefore.tokens + spent.tokens }
  return (
    overBudget(run.budget?.run, spent, 'run') ??
    overBudget(run.budget?.conversation, total, 'conversation') ??
    (run.repeats && stuck(history, run.repeats))
  )
}

export function outcomeOfFailure(failure: Failure): RunOutcome {
  return isStorageFull(failure) ? 'storage-full' : 'failed'
}

export function outcomeOfReply(reply: Reply | undefined): RunOutcome {
  const reason = reply?.stop.reason
  return reason === 'length' || reason === 'refusal' ? reason : 'done'
}

/**
 * The model that the route names for the final answer, if it is another one than that which used the tools. Undefined:
 * the reply is final, as is every reply that needed no tools.
 */
async function modelForAnswer(
  run: LoopContext,
  history: readonly Entry[],
  about: Pick<RouteStep, 'step' | 'usage' | 'cost'>,
): Promise<string | undefined> {
  if (!run.route || run.signal.aborted) return undefined
  const reply = history.at(-1)?.message
  if (reply?.role !== 'assistant' || (reply.stop.reason !== 'done' && reply.stop.reason !== 'length')) return undefined
  const since = history.slice(history.findLastIndex(({ message }) => message.role === 'user') + 1)
  if (!since.some(({ message }) => message.role === 'tool')) return undefined
  const messages = (await readWhole(run, history)).map(({ message }) => message)
  const model = await namedModel(run.route, { ...about, kind: 'answer', messages, model: run.model })
  if (model === undefined) return undefined
  try {
    const { endpoint } = await run.endpointOf(model, undefined)
    const isSame = endpoint.provider.id === reply.origin.provider && endpoint.model === reply.origin.model
    return isSame ? undefined : model
  } catch {
    // The request itself will report why it cannot be sent.
    return model
  }
}
