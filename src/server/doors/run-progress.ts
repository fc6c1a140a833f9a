// What a run of a client's request has written so far, by its events.

import type { RunEvent } from '../../core/event.ts'
import type { Reply } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'

export interface Progress {
  /** The newest entry. */
  entryId?: string
  /** The reply that was written together with its records. */
  recordedId?: string
  replies: Reply[]
  /** The answer, if the model wrote nothing: it has a stop reason and a price, but no entry. */
  empty?: Reply
  /** How many calls were answered here. */
  answered: number
  usage?: Usage | undefined
  exchangeId: string
  /** How many notes describe changes in the request. */
  notes: number
}

export function newProgress(): Progress {
  return { replies: [], answered: 0, exchangeId: '', notes: 0 }
}

export function trackEvent(progress: Progress, event: RunEvent): void {
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
