// The other direction of a decoder: events of a reply in, chunks of a wire out, while the reply is still streaming.
// Parts may open and close in any order; no wire supports that, so a part is written when the previous one is complete.
// Only reasoning does not keep others waiting: on wires of messages it has no end of its own, and the answer follows it.

import type { ReplyEvent } from '../../core/event.ts'
import { createFold } from '../../core/fold.ts'
import type { Json } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import type { Issue, WholeProfile } from '../wire.ts'

export interface StreamWriter {
  push(event: ReplyEvent): Json[]
  /** The last chunks, once the reply has ended. */
  end(): Json[]
  /** The last chunks of a reply that cannot be finished. */
  fail(issue: Issue): Json[]
}

/** What is known before the first event. */
export interface StreamProfile extends Omit<WholeProfile, 'usage'> {
  /** Estimated tokens of the prompt, for wires that report them first. */
  inputTokens: number
  /** The usage of a reply for which the provider reported none; zeros by default. */
  estimate?: (reply: Reply) => Usage
  /** Chat: whether the client wants a last chunk with the usage. */
  includeUsage?: boolean
}

/** How a wire writes one part: its start, pieces of its text, its end. */
export interface PartWriter {
  open(part: Part): Json[]
  more(part: Part, text: string): Json[]
  close(part: Part): Json[]
}

/** How a wire writes a whole reply. */
interface ReplyWriter extends PartWriter {
  /** The chunks before all others; none by default. */
  first?(): Json[]
  /** The chunks that end a reply. */
  last(reply: Reply, profile: WholeProfile): Json[]
  error(issue: Issue): Json
}

export function streamWriter(protocol: string, profile: StreamProfile, writer: ReplyWriter): StreamWriter {
  const fold = createFold({ protocol, provider: '', model: profile.model })
  const parts = partsInOrder(writer)
  let begun = false
  const afterFirst = (chunks: Json[]): Json[] => {
    if (begun || chunks.length === 0) return chunks
    begun = true
    return [...(writer.first?.() ?? []), ...chunks]
  }
  return {
    push(event) {
      fold.push(event)
      return afterFirst(parts.push(event))
    },
    end() {
      const { reply, usage: reported } = fold.result()
      const usage = shownUsage(reply, reported, profile)
      return afterFirst([...parts.end(), ...writer.last({ ...reply, native: [] }, { ...profile, usage })])
    },
    fail: (issue) => [writer.error(issue)],
  }
}

/** The usage that a client gets: one of zero tokens would make it think that its context is empty. */
export function shownUsage(reply: Reply, usage: Usage = noUsage, { estimate }: Pick<StreamProfile, 'estimate'>): Usage {
  return estimate && usage.input + usage.output === 0 ? estimate(reply) : usage
}

interface Pending {
  part: Part
  /** The whole text so far. */
  text: string
  /** The end of it that is not written yet. */
  unwritten: string
  ended: boolean
  /** How much of the text was closed before its part ended. What comes later is written as another part. */
  closed: number
}

export function partsInOrder(writer: PartWriter): Pick<StreamWriter, 'push' | 'end'> {
  const queue: number[] = []
  const pending = new Map<number, Pending>()
  let isOpen = false

  return {
    push(event) {
      if (event.type === 'part-start') {
        const text = textIn(event.part)
        enqueue(event.index)
        pending.set(event.index, { part: event.part, text, unwritten: text, ended: false, closed: 0 })
      } else if (event.type === 'part-delta') {
        const entry = pending.get(event.index)
        if (!entry) return advance()
        entry.text += event.text
        entry.unwritten += event.text
        if (entry.unwritten !== '') enqueue(event.index)
      } else if (event.type === 'part-end') {
        const entry = pending.get(event.index)
        if (!entry) return advance()
        close(entry, event.part)
        if (entry.unwritten !== '') enqueue(event.index)
      } else return []
      return advance()
    },
    end() {
      for (const entry of pending.values()) entry.ended = true
      return advance()
    },
  }

  /** A part that was closed before its end is written again, after the others. */
  function enqueue(index: number): void {
    if (!queue.includes(index)) queue.push(index)
  }

  function advance(): Json[] {
    const chunks: Json[] = []
    for (;;) {
      const [index] = queue
      const entry = index === undefined ? undefined : pending.get(index)
      if (index === undefined || !entry) return chunks
      if (!isOpen) chunks.push(...writer.open(entry.part))
      isOpen = true
      if (entry.unwritten !== '') chunks.push(...writer.more(entry.part, entry.unwritten))
      entry.unwritten = ''
      const isWaitedFor = queue.length > 1 && entry.part.type === 'reasoning'
      if (!entry.ended && !isWaitedFor) return chunks
      chunks.push(...writer.close(writtenPart(entry)))
      isOpen = false
      queue.shift()
      if (entry.ended) pending.delete(index)
      else entry.closed = entry.text.length
    }
  }
}

function close(entry: Pending, part: Part): void {
  const full = wholeText(part, entry.text)
  entry.unwritten += full.slice(entry.text.length)
  entry.part = part
  entry.text = full
  entry.ended = true
}

/** The part as it is written: reasoning may be in several pieces. */
function writtenPart({ part, text, closed, ended }: Pending): Part {
  return part.type === 'reasoning' && (closed > 0 || !ended) ? { ...part, text: text.slice(closed) } : part
}

/** The initial content of a part. */
function textIn(part: Part): string {
  return part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal' ? part.text : ''
}

/** What to write of a part that has ended: never less than before, because that has been sent. */
function wholeText(part: Part, written: string): string {
  const full = part.type === 'tool-call' ? (part.malformed ?? JSON.stringify(part.input)) : textIn(part)
  return written === '' || full.startsWith(written) ? full : written
}
