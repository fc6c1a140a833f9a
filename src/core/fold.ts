// Folds the events of a reply into a Reply. The part of a `part-end` is authoritative; a part that never ended has the
// text of its deltas.

import type { Note } from './context.ts'
import type { ReplyEvent } from './event.ts'
import type { Failure } from './error.ts'
import type { Origin, Part, Reply } from './message.ts'
import type { Usage } from './usage.ts'

export interface Folded {
  reply: Reply
  usage?: Usage
  failure?: Failure
  notes?: Note[]
}

export interface Fold {
  push(event: ReplyEvent): void
  /** The reply so far; without a `reply-end` it counts as interrupted. */
  result(): Folded
}

export function createFold(origin: Origin): Fold {
  const parts: (Part | undefined)[] = []
  const pending: (string[] | undefined)[] = []
  let end: Extract<ReplyEvent, { type: 'reply-end' }> | undefined
  let from = origin

  return {
    push(event) {
      switch (event.type) {
        case 'reply-start':
          from = event.origin
          parts.length = 0
          pending.length = 0
          break
        case 'part-start':
          parts[event.index] = event.part
          pending[event.index] = []
          break
        case 'part-delta':
          pending[event.index]?.push(event.text)
          break
        case 'part-end':
          parts[event.index] = event.part
          pending[event.index] = undefined
          break
        case 'reply-end':
          end = event
      }
    },
    result() {
      const finished: Part[] = []
      for (const [index, part] of parts.entries()) {
        if (part) finished.push(withText(part, pending[index]))
      }
      const reply: Reply = {
        role: 'assistant',
        parts: finished,
        native: end?.native ?? [],
        origin: end?.origin ?? from,
        stop: end?.stop ?? { reason: 'interrupted' },
      }
      return {
        reply,
        ...(end?.usage && { usage: end.usage }),
        ...(end?.failure && { failure: end.failure }),
        ...(end?.notes && { notes: end.notes }),
      }
    },
  }
}

export function fold(events: Iterable<ReplyEvent>, origin: Origin): Folded {
  const folded = createFold(origin)
  for (const event of events) folded.push(event)
  return folded.result()
}

/** Merges two consecutive deltas into one, up to `maxLength` characters; undefined: they stay two events. */
export function joinDeltas(a: ReplyEvent, b: ReplyEvent, maxLength: number): ReplyEvent | undefined {
  if (a.type !== 'part-delta' || b.type !== 'part-delta' || a.index !== b.index) return undefined
  return a.text.length + b.text.length > maxLength ? undefined : { ...a, text: a.text + b.text }
}

function withText(part: Part, pieces: string[] | undefined): Part {
  if (!pieces || pieces.length === 0) return part
  const text = pieces.join('')
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { ...part, text: part.text + text }
    case 'compaction':
      return { ...part, text: (part.text ?? '') + text }
    case 'tool-call':
      return { ...part, malformed: (part.malformed ?? '') + text }
    default:
      return part
  }
}
