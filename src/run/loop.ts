// The loop: ask the model, run the tools it asks for, ask again, until it is done. Every message is in the log before
// the next thing happens, so a run can be aborted or killed at any point and continues from its log.

import type { CheckedAnswer, GuardReason, RunOutcome } from '../core/event.ts'
import { asFailure, isStorageFull, SynapseError, type Failure } from '../core/error.ts'
import type { Entry } from '../core/log.ts'
import type { Reply, UserMessage } from '../core/message.ts'
import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import type { Approval } from './approval.ts'
import { modelStep } from './model-step.ts'
import { meter, nothing, overBudget, spentSoFar, type Meter, type Spent } from './budget.ts'
import { answerOf } from './check-answer.ts'
import { composingModel } from './composing-model.ts'
import { nextStep, type NextStep } from './next-step.ts'
import { stuck } from './repeats.ts'
import { userMessage } from './settings.ts'
import type { LoopContext } from './run-context.ts'
import { runCalls } from './tool-step.ts'

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
  /** The calls that wait for a person, where the outcome is `waiting`. */
  waiting?: Approval[]
  /** What the last reply says by the schema that was asked for; absent: there is none, or no reply that was finished. */
  answer?: CheckedAnswer
  /** The last thing the model said, if it said anything. */
  reply?: Reply
}

/** Continues from the head of the conversation; `message` is appended first. Never throws for what a provider or tool did. */
export async function loop(run: LoopContext, message: UserMessage | undefined): Promise<RunEnd> {
  const { store, owner, conversationId } = run
  let counter: Meter | undefined
  let usage = noUsage
  let reply: Reply | undefined
  let answer: CheckedAnswer | undefined
  let askedAgain = false
  try {
    const conversation = await store.conversation(owner, conversationId)
    if (!conversation)
      throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${conversationId}.` })
    const history = await run.pathTo(conversation.head)
    if (message) history.push(await store.append(owner, conversationId, { message }, run.write()))
    run.emit({ type: 'run-start', conversationId, entryId: history.at(-1)?.id ?? '' })
    counter = await meter(store, owner, conversationId)
    const before = run.budget?.conversation ? await spentSoFar(store, owner, conversationId) : nothing

    for (let step = 0; ;) {
      if (run.signal.aborted) return end('cancelled')
      const next = run.oneReply ? forOneReply(step, reply) : nextStep(history)
      if (next.kind === 'tools') {
        const { entries, waiting } = await runCalls(run, history, next.replyEntry, next.calls)
        history.push(...entries)
        if (waiting.length > 0 && !run.signal.aborted) return pause(waiting)
        continue
      }
      if (await heard(history)) continue
      if (next.kind === 'rest') {
        const about = { step: step + 1, usage, cost: counter.spent.usd }
        const composer = reply && next.reply === reply && (await composingModel(run, history, about))
        if (composer) {
          step++
          reply = await compose(history, step, composer)
        }
        const outcome = run.signal.aborted ? 'cancelled' : outcomeOf(reply ?? next.reply)
        if (outcome === 'done') answer = await answerOf(run, reply ?? next.reply)
        if (
          answer &&
          'problem' in answer &&
          reply &&
          !askedAgain &&
          !guarded(run, history, step, counter.spent, before)
        ) {
          askedAgain = true
          await add(history, userMessage(answer.problem))
          answer = undefined
          continue
        }
        return end(outcome)
      }
      const guard = guarded(run, history, step, counter.spent, before)
      if (guard) return end(guard.guard === 'max-steps' ? 'max-steps' : 'stopped', undefined, guard)
      step++
      const { entry, exchange: done } = await ask(history, step, 'ask')
      if (entry) history.push(entry)
      if (entry?.message.role === 'assistant') reply = entry.message
      if (done.outcome === 'cancelled') return end('cancelled')
      if (done.outcome !== 'done') return end('failed', done.failure)
      if (!entry) return end('done')
    }
  } catch (error) {
    return end('failed', asFailure(error))
  }

  async function ask(history: readonly Entry[], step: number, kind: 'ask' | 'answer') {
    const finished = await modelStep(run, history, { step, kind, usage, cost: counter?.spent.usd ?? 0 })
    const counted = (await counter?.read()) ?? []
    for (const each of counted) {
      run.counted?.(each)
      if (each.usage) usage = addUsage(usage, each.usage)
    }
    const unpriced = counted.find((each) => each.usage && each.cost === undefined)
    if (unpriced && (run.budget?.run?.usd ?? run.budget?.conversation?.usd) !== undefined) {
      const why = `The price of ${unpriced.provider}/${unpriced.model} is not known, so what it costs is not counted.`
      run.emit({ type: 'guard', action: 'warned', guard: 'spend', why })
    }
    return finished
  }

  /**
   * The final answer by another model: in place of the reply that ended the work with tools, which stays in the log. If
   * that model fails, the reply counts, and an event says why.
   */
  async function compose(history: Entry[], step: number, model: string): Promise<Reply | undefined> {
    const rough = history.pop()
    const base = history.at(-1)
    if (!reply || !rough || !base) return reply
    await store.setHead(owner, conversationId, { entryId: base.id }, run.write())
    let failure: Failure | undefined
    try {
      const { entry, exchange: done } = await ask(history, step, 'answer')
      failure = done.failure
      if (entry?.message.role === 'assistant' && !failure) {
        history.push(entry)
        return entry.message
      }
    } catch (error) {
      failure = asFailure(error)
    }
    await store.setHead(owner, conversationId, { entryId: rough.id }, run.write())
    history.push(rough)
    const { provider, model: own } = reply.origin
    if (failure) run.emit({ type: 'fallback', from: model, to: `${provider}/${own}`, failure })
    return reply
  }

  /** What the user has said while the run continued goes in between two steps, never between a call and its result. */
  async function heard(history: Entry[]): Promise<boolean> {
    const said = run.incoming()
    for (const each of said) await add(history, each)
    return said.length > 0
  }

  async function add(history: Entry[], said: UserMessage): Promise<void> {
    const entry = await store.append(owner, conversationId, { message: said }, run.write())
    history.push(entry)
    run.emit({ type: 'message', entryId: entry.id, message: entry.message })
  }

  function pause(waiting: Approval[]): RunEnd {
    for (const approval of waiting) run.emit({ type: 'approval-needed', ...approval })
    return { ...end('waiting'), waiting }
  }

  function end(given: RunOutcome, failure?: Failure, by?: GuardReason): RunEnd {
    const guard = by ?? (given === 'cancelled' || run.signal.aborted ? run.stoppedBy() : undefined)
    const outcome = guard && given === 'cancelled' ? 'stopped' : failure ? outcomeOfFailure(failure) : given
    if (guard) run.emit({ type: 'guard', action: 'stopped', ...guard })
    const why = { ...(failure && { failure }), ...(guard && { guard }), ...(answer && { answer }) }
    run.emit({ type: 'run-end', outcome, usage, ...why })
    return { outcome, usage, cost: counter?.spent.usd ?? 0, ...why, ...(reply && { reply }) }
  }
}

/** Whoever runs the tools asks again with their results. */
function forOneReply(step: number, reply: Reply | undefined): NextStep {
  return step === 0 ? { kind: 'ask' } : { kind: 'rest', ...(reply && { reply }) }
}

/** The guard that forbids the next request; undefined: none does. */
function guarded(
  run: LoopContext,
  history: readonly Entry[],
  step: number,
  spent: Spent,
  before: Spent,
): GuardReason | undefined {
  if (step >= run.maxSteps)
    return { guard: 'max-steps', why: `The run has made the ${run.maxSteps} steps that it may.` }
  const all = { ...spent, usd: before.usd + spent.usd, tokens: before.tokens + spent.tokens }
  return (
    overBudget(run.budget?.run, spent, 'run') ??
    overBudget(run.budget?.conversation, all, 'conversation') ??
    (run.repeats && stuck(history, run.repeats))
  )
}

export function outcomeOfFailure(failure: Failure): RunOutcome {
  return isStorageFull(failure) ? 'storage-full' : 'failed'
}

function outcomeOf(reply: Reply | undefined): RunOutcome {
  const reason = reply?.stop.reason
  return reason === 'length' || reason === 'refusal' ? reason : 'done'
}
