// A streaming reply, from its events. Only the text of a part changes in place: what grows is rendered again, the rest
// is not.

import { signal, type Signal } from '@preact/signals'
import type { Note, Part, ReplyEvent } from '../api/types.ts'
import { readOut } from './announce.ts'

export interface LivePart {
  part: Part
  /** Grows while the part is streaming; the arguments of a call as JSON text. */
  text: Signal<string>
  done: boolean
}

export interface LiveExchange {
  id: string
  provider: string
  model: string
  notes: Note[]
  parts: (LivePart | undefined)[]
}

/** `aloud`: its text is announced to a screen reader. */
export function withReply(exchange: LiveExchange, event: ReplyEvent, aloud = true): LiveExchange {
  switch (event.type) {
    case 'part-start':
      return withPart(exchange, event.index, { part: event.part, text: signal(textIn(event.part)), done: false })
    case 'part-delta': {
      const at = exchange.parts[event.index]
      if (at) at.text.value += event.text
      if (aloud && at?.part.type === 'text') readOut(at.text.value, false)
      return exchange
    }
    case 'part-end': {
      const at = exchange.parts[event.index]
      const text = at?.text ?? signal('')
      text.value = textIn(event.part)
      if (aloud && event.part.type === 'text') readOut(text.value, true)
      return withPart(exchange, event.index, { part: event.part, text, done: true })
    }
    default:
      return exchange
  }
}

function withPart(exchange: LiveExchange, index: number, part: LivePart): LiveExchange {
  const parts = [...exchange.parts]
  parts[index] = part
  return { ...exchange, parts }
}

function textIn(part: Part): string {
  if (part.type === 'tool-call') return ''
  return 'text' in part ? (part.text ?? '') : ''
}
