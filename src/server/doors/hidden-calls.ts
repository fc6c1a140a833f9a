// Calls at a front door that the server answers itself, of `recall` and of tools that it serves in place of a
// provider's: the client sees one reply without them. If a client has a tool of such a name, ours is not offered.

import { recallName } from '../../context/mention-recall.ts'
import type { RunEvent } from '../../core/event.ts'
import type { Entry } from '../../core/log.ts'
import type { Message, Part, Reply } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'

/** How many calls of a model are answered before it has to answer itself. */
export const mostAnswered = 8

/** The names of the tools that the server offers in place of those of a provider. */
const servedPrefix = 'synapse_'

export function servedName(kind: string): string {
  return servedPrefix + kind.replaceAll('-', '_')
}

/** Whether the server answers calls of this name. */
export type IsOurs = (name: string) => boolean

const isOurs: IsOurs = (name) => name === recallName || name.startsWith(servedPrefix)

/** For a client with these tools: a call of a tool that the client has is the client's. */
export function isOursBeside(tools: readonly { name: string }[]): IsOurs {
  const names = new Set(tools.map(({ name }) => name))
  return (name) => isOurs(name) && !names.has(name)
}

type ReplyRunEvent = RunEvent & { type: 'reply-event' }

/** Passes on the events of one reply, which may have arrived as several because of calls in between. */
export function withoutHiddenCalls(
  isHiddenName: IsOurs,
  pass: (event: RunEvent) => void,
): { take(event: RunEvent): void; end(): void } {
  /** Indexes of hidden calls in the current reply. */
  const hidden = new Set<number>()
  let hasOthers = false
  let isContinued = false
  let held: ReplyRunEvent | undefined

  return {
    take(event) {
      if (event.type !== 'reply-event' || !isHidden(event)) pass(event)
    },
    /** A run that ended before the model answered still ends its reply. */
    end() {
      if (held?.event.type === 'reply-end') pass({ ...held, event: { ...held.event, stop: { reason: 'done' } } })
      held = undefined
    },
  }

  function isHidden(run: ReplyRunEvent): boolean {
    const { event } = run
    if (event.type === 'reply-start') {
      hidden.clear()
      hasOthers = false
      held = undefined
      return isContinued
    }
    if (event.type === 'reply-end') {
      if (hidden.size === 0 || hasOthers) return false
      isContinued = true
      held = run
      return true
    }
    if (event.type === 'part-start') {
      if (isCallOf(event.part, isHiddenName)) hidden.add(event.index)
      else hasOthers ||= event.part.type === 'tool-call'
    }
    return hidden.has(event.index)
  }
}

export function isCallOf(part: Part, isWanted: IsOurs): boolean {
  return part.type === 'tool-call' && isWanted(part.name)
}

/** Merges several replies into the one that the client has. */
export function shownReply(replies: readonly Reply[], isHidden: IsOurs = isOurs): Reply | undefined {
  const last = replies.at(-1)
  if (!last) return undefined
  const parts = replies.flatMap((reply) => reply.parts.filter((part) => !isCallOf(part, isHidden)))
  if (replies.length === 1 && parts.length === last.parts.length) return last
  const isAnswer = last.stop.reason !== 'tool-calls' || parts.some((part) => part.type === 'tool-call')
  return { ...last, parts, native: [], ...(!isAnswer && { stop: { reason: 'done' } }) }
}

/** A history as the client has it: without calls that the server answered, and their results. */
export function withoutAnswered(path: readonly Entry[]): Entry[] {
  const ours = new Set(path.flatMap(({ message }) => answeredIn(message)))
  if (ours.size === 0) return [...path]
  return path.flatMap((entry) => {
    const parts = (entry.message.parts as Part[]).filter((part) => !('callId' in part && ours.has(part.callId)))
    if (parts.length === entry.message.parts.length) return [entry]
    if (parts.length === 0) return []
    const native = entry.message.role === 'assistant' ? { native: [] } : {}
    return [{ ...entry, message: { ...entry.message, parts, ...native } as Message }]
  })
}

/** Calls that the server answered: it stores the results of its own tools, which no client sends. */
function answeredIn(message: Message): string[] {
  if (message.role !== 'tool') return []
  return message.parts
    .filter(({ name, value }) => (name === recallName ? value !== undefined : isOurs(name)))
    .map(({ callId }) => callId)
}

/** A reply, and what was recalled for it. */
const mostEntries = 64

/** The reply that ends at an entry, as the client has it. */
export async function replyAt(store: Store, owner: string, entryId: string): Promise<Reply | undefined> {
  return lastShown(await store.history(owner, entryId, { last: mostEntries })).reply
}

/** A path that ends with a reply, which may consist of several: what is before it, and the reply. */
export function lastShown(path: readonly Entry[]): { before: Entry[]; reply?: Reply } {
  const isOfReply = ({ message }: Entry): boolean => message.role === 'assistant' || answeredIn(message).length > 0
  const start = path.findLastIndex((entry) => !isOfReply(entry)) + 1
  const own = path.slice(start)
  // Two consecutive replies without a lookup between them are two.
  const first = own.findLastIndex(
    ({ message }, i) => message.role === 'assistant' && own[i - 1]?.message.role !== 'tool',
  )
  const replies = own
    .slice(Math.max(0, first))
    .flatMap(({ message }) => (message.role === 'assistant' ? [message] : []))
  const reply = shownReply(replies)
  return { before: withoutAnswered(path.slice(0, start + Math.max(0, first))), ...(reply && { reply }) }
}
