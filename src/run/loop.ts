// The loop: ask the model, run the tools it asks for, ask again, until it is done. Every message is in the log before
// the next thing happens, so a run can be aborted or killed at any point and goes on from its log.

import type { RunOutcome } from '../core/event.ts'
import { asFailure, SynapseError, type Failure } from '../core/error.ts'
import type { Reply, UserMessage } from '../core/message.ts'
import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import { exchange } from './exchange.ts'
import { nextStep } from './next-step.ts'
import type { Running } from './running.ts'
import { runCalls } from './tool-step.ts'

export interface RunEnd {
  outcome: RunOutcome
  usage: Usage
  failure?: Failure
  /** The last thing the model said, if it said anything. */
  reply?: Reply
}

/** Goes on from the head of the conversation; `message` is appended first. Never throws for what a provider or tool did. */
export async function loop(run: Running, message: UserMessage | undefined): Promise<RunEnd> {
  const { store, owner, conversationId } = run
  let usage = noUsage
  let reply: Reply | undefined
  try {
    const conversation = await store.conversation(owner, conversationId)
    if (!conversation)
      throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${conversationId}.` })
    const history = conversation.head ? await store.history(owner, conversation.head) : []
    if (message) history.push(await store.append(owner, conversationId, { message }, run.write()))
    run.emit({ type: 'run-start', conversationId, entryId: history.at(-1)?.id ?? '' })

    for (let step = 0; ;) {
      if (run.signal.aborted) return end('cancelled')
      const next = nextStep(history)
      if (next.kind === 'rest') return end(outcomeOf(next.reply))
      if (next.kind === 'tools') {
        history.push(...(await runCalls(run, next.replyEntry, next.calls)))
        continue
      }
      if (step++ >= run.maxSteps) return end('max-steps')
      const { entry, exchange: done } = await exchange(run, history, step)
      if (done.usage) usage = addUsage(usage, done.usage)
      if (entry) history.push(entry)
      if (entry?.message.role === 'assistant') reply = entry.message
      if (done.outcome === 'cancelled') return end('cancelled')
      if (done.outcome !== 'done') return end('failed', done.failure)
      if (!entry) return end('done')
    }
  } catch (error) {
    return end('failed', asFailure(error))
  }

  function end(outcome: RunOutcome, failure?: Failure): RunEnd {
    run.emit({ type: 'run-end', outcome, usage, ...(failure && { failure }) })
    return { outcome, usage, ...(failure && { failure }), ...(reply && { reply }) }
  }
}

function outcomeOf(reply: Reply | undefined): RunOutcome {
  const reason = reply?.stop.reason
  return reason === 'length' || reason === 'refusal' ? reason : 'done'
}
