// The result of the last run, if it is not simply the answer: what went wrong, and what to do about it.

import type { Failure, RunView } from '../api/types.ts'
import { approvals, current, elsewhere, entries, lastRun, leaf } from '../state/conversation.ts'
import { live } from '../state/run.ts'
import { continueRun, retry, send } from '../state/actions.ts'
import { pickingModel } from '../state/surface.ts'

export function hasNotice(): boolean {
  const run = lastRun.value
  if (live.value !== undefined || elsewhere.value) return false
  return run ? wordsOf(run) !== undefined : isUnanswered()
}

/** A message without a run: it was imported, or a comparison was interrupted. */
function isUnanswered(): boolean {
  const last = leaf.value === null ? undefined : entries.value.get(leaf.value)
  return last?.message.role === 'user' && current.value?.run === undefined
}

export function NoticeRow() {
  const run = lastRun.value
  if (!run && isUnanswered()) {
    return (
      <div class="notice" role="status">
        <p class="notice-what">This message was not answered yet.</p>
        <div class="buttons">
          <button type="button" onClick={() => void continueRun()}>
            Answer it
          </button>
        </div>
      </div>
    )
  }
  const words = run && wordsOf(run)
  if (!run || words === undefined) return null
  const { failure } = run
  return (
    <div class={failure ? 'notice failed' : 'notice'} role={failure ? 'alert' : 'status'}>
      <p class="notice-what">{words}</p>
      {failure && <p class="notice-advice">{adviceFor(failure)}</p>}
      <div class="buttons">
        {!isAsking(run) && <WaysOn hasFailed={failure !== undefined} />}
        {failure && (
          <button type="button" onClick={() => (pickingModel.value = true)}>
            Ask another model
          </button>
        )}
      </div>
    </div>
  )
}

/** After an interrupted reply there is nothing to resume: it is continued with a message, or regenerated. */
function WaysOn({ hasFailed }: { hasFailed: boolean }) {
  const last = leaf.value === null ? undefined : entries.value.get(leaf.value)
  const isCut = last?.message.role === 'assistant' && cutOff.has(last.message.stop.reason)
  if (!last || !isCut) {
    return (
      <button type="button" onClick={() => void continueRun()}>
        {hasFailed ? 'Try again' : 'Resume'}
      </button>
    )
  }
  return (
    <>
      <button type="button" onClick={() => void send([{ type: 'text', text: 'Continue.' }])}>
        Resume
      </button>
      <button type="button" onClick={() => void retry(last)}>
        {hasFailed ? 'Try again' : 'Regenerate'}
      </button>
    </>
  )
}

const cutOff: ReadonlySet<string> = new Set(['cancelled', 'interrupted', 'failed'])

/** Whether a call still waits: it was not answered elsewhere, and has not expired. */
function isAsking(run: RunView): boolean {
  return run.outcome === 'waiting' && approvals.value.size > 0
}

function wordsOf(run: RunView): string | undefined {
  if (run.failure) return run.failure.message
  if (run.outcome === 'cancelled') return 'Stopped. The partial reply is saved.'
  if (isAsking(run)) return 'A tool waits for your approval.'
  if (run.outcome === 'waiting') return 'The request for approval has expired.'
  if (run.outcome === 'stopped') return 'A guard stopped the run: it made no progress or used too much.'
  if (run.outcome === 'max-steps') return 'The run reached its step limit.'
  if (run.outcome === 'storage-full') return 'There is no space left on the server. Free some, then continue.'
  if (run.outcome === 'failed') return 'The run failed.'
  return undefined
}

function adviceFor(failure: Failure): string {
  switch (failure.kind) {
    case 'auth':
      return 'The provider rejected the API key. Correct it where the server runs, then restart the server.'
    case 'permission':
      return 'The key may not use this model. Pick another model, or ask for access at the provider.'
    case 'quota':
      return 'The account has no credit left, or the budget is used up. Top it up, or continue with another provider: nothing is lost.'
    case 'rate-limit':
      return 'The provider asks to slow down. Try again in a moment, or continue with another provider.'
    case 'overloaded':
      return 'The provider is too busy right now. Try again in a moment, or continue with another provider.'
    case 'context-overflow':
      return "The conversation does not fit this model's context window. Pick a model with a larger window, or a shorter context policy in the settings."
    case 'too-large':
      return "The request exceeds the provider's size limit. Remove an attachment, or pick another model."
    case 'invalid-request':
      return 'The provider refused the request. The inspector shows the exact body; another model may accept it.'
    case 'not-found':
      return 'The provider does not have this model. Pick another one.'
    case 'timeout':
    case 'network':
      return 'The connection broke. The partial reply is saved; try again.'
    case 'malformed-reply':
      return 'The answer was incomplete. The partial reply is saved; try again.'
    case 'conflict':
      return 'Another process is writing to this conversation. Wait until it is done.'
    default:
      return 'Try again, or continue with another model: the conversation is saved.'
  }
}
