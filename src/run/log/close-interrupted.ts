// After a crash, closes what was in progress before anything else is written. A partial reply is stored and marked
// interrupted. A tool that had started and has no result gets one that says that its effect is unknown, unless it may
// be run again: then its call stays open, and the loop runs it. Each step is one transaction that leaves less to close,
// so a crash during this recovery is recovered the same way.

import { SynapseError } from '../../core/error.ts'
import type { ReplyEvent, RunEvent } from '../../core/event.ts'
import { createFold } from '../../core/fold.ts'
import type { Conversation, Entry, Exchange, RecordedToolRun } from '../../core/log.ts'
import type { StopReason, ToolMessage } from '../../core/message.ts'
import { withFailpoints } from '../../store/failpoint.ts'
import type { NewEntry, Store } from '../../store/store.ts'
import { isInterrupted } from '../../wires/shared/replayable.ts'
import type { ConversationLog, WritableLog } from '../run-context.ts'
import { holdLease } from './lease.ts'

/**
 * `hasNewMessage`: the user has sent something new, so a tool that could be run again will not be. Returns whether there was
 * anything to close.
 */
export async function closeInterrupted(log: WritableLog, hasNewMessage: boolean): Promise<boolean> {
  const { store, owner, conversationId } = log
  const openExchanges = () => store.exchanges(owner, conversationId, { outcome: 'open' })
  const [first, runs] = await Promise.all([
    openExchanges(),
    store.toolRuns(owner, conversationId, { unfinished: true }),
  ])
  for (let page = first; page.items.length > 0; page = await openExchanges()) {
    for (const exchange of page.items.toReversed()) await closeExchange(log, exchange)
  }
  for (const run of runs) if (hasNewMessage || !run.repeatable) await closeTool(log, run)
  return first.items.length > 0 || runs.length > 0
}

/**
 * Requests an interrupted reply again: the head moves back before it, and it stays in the log as a branch. Returns
 * whether there was one.
 */
export async function stepBack(log: WritableLog): Promise<boolean> {
  const { store, owner, conversationId, write } = log
  const stored = await store.conversation(owner, conversationId)
  const last = stored?.head ? await store.entry(owner, stored.head) : undefined
  if (!stored || last?.message.role !== 'assistant' || !isInterrupted(last.message.stop)) return false
  const { branch } = stored
  if (branch !== undefined && last.parentId !== null) {
    await store.nameBranch(owner, conversationId, branch, last.parentId, write())
    await store.setHead(owner, conversationId, { branch }, write())
  } else {
    await store.setHead(owner, conversationId, { entryId: last.parentId }, write())
  }
  return true
}

async function closeExchange({ store, owner, conversationId, write }: WritableLog, exchange: Exchange): Promise<void> {
  const { id, provider, protocol, model, basedOn } = exchange
  const fold = createFold({ provider, protocol, model })
  for (const event of await storedEvents({ store, owner, conversationId }, id)) fold.push(event)
  // If the journal has the end of the reply, the reply is complete and counts as such.
  const { reply, usage, failure } = fold.result()
  const { head: currentHead } = (await store.conversation(owner, conversationId)) ?? {}
  // If the conversation was continued on another branch in the meantime, the head stays there.
  const head = currentHead === basedOn ? 'advance' : 'stay'
  await store.finishExchange(
    owner,
    id,
    {
      outcome: outcomeOf(reply.stop.reason),
      ...(reply.parts.length > 0 && { reply: { message: reply, parentId: basedOn, head } }),
      ...(usage && { usage }),
      ...(failure && { failure }),
    },
    write(),
  )
}

/** From its journal; a run of a server has no journal, and its events are in a stream that has not ended. */
async function storedEvents(
  { store, owner, conversationId }: ConversationLog,
  exchangeId: string,
): Promise<ReplyEvent[]> {
  const journaled = await store.journaled(owner, exchangeId)
  if (journaled.length > 0) return journaled
  for (const streamId of await store.currentStreams(owner, conversationId)) {
    const events = await replyIn(store, owner, streamId, exchangeId)
    if (events.length > 0) return events
  }
  return []
}

async function replyIn(store: Store, owner: string, streamId: string, exchangeId: string): Promise<ReplyEvent[]> {
  const found: ReplyEvent[] = []
  for (let from = 0; ;) {
    const { events = [], next = from } = (await store.stream(owner, streamId, from)) ?? {}
    if (events.length === 0) return found
    for (const line of events) {
      if (!line.includes(exchangeId)) continue
      const event = JSON.parse(line) as RunEvent
      if (event.type === 'reply-event' && event.exchangeId === exchangeId) found.push(event.event)
    }
    from = next
  }
}

export function outcomeOf(reason: StopReason): Exclude<Exchange['outcome'], 'open'> {
  return reason === 'cancelled' || reason === 'interrupted' || reason === 'failed' ? reason : 'done'
}

async function closeTool(log: WritableLog, run: RecordedToolRun): Promise<Entry> {
  const { store, owner, write } = log
  const text = `${run.name} was interrupted while it ran; whether it had any effect is not known.`
  const { conversationId, callId, name, startedAt } = run
  const message: ToolMessage = {
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text }], failed: true, startedAt }],
  }
  const position = await parentOfResult(log, run.entryId)
  const end = { outcome: 'unknown', result: { message, ...position } } as const
  return (await store.finishTool(owner, conversationId, callId, end, write())).entry
}

/** A result is appended to the head if that follows its call; otherwise to the end of the branch of the call. */
async function parentOfResult(log: WritableLog, callEntryId: string): Promise<Pick<NewEntry, 'parentId' | 'head'>> {
  const { store, owner, conversationId } = log
  const outline = await store.outline(owner, conversationId)
  const stored: Conversation | undefined = await store.conversation(owner, conversationId)
  const parents = new Map(outline.map(({ id, parentId }) => [id, parentId]))
  for (let id = stored?.head; id; id = parents.get(id)) if (id === callEntryId) return {}
  let last = callEntryId
  for (const { id, parentId } of outline) if (parentId === last) last = id
  return { parentId: last, head: 'stay' }
}

/**
 * When a store is opened: closes what a killed process left in progress, so that readers see it. A conversation with an
 * active run elsewhere is left alone.
 */
export async function recover(base: Store, owner: string, conversationId: string): Promise<void> {
  const store = withFailpoints(base)
  const [open, unfinished] = await Promise.all([
    store.exchanges(owner, conversationId, { outcome: 'open', limit: 1 }),
    store.toolRuns(owner, conversationId, { unfinished: true }),
  ])
  if (open.items.length === 0 && unfinished.every((run) => run.repeatable)) return
  try {
    const held = await holdLease(store, owner, conversationId)
    try {
      await closeInterrupted({ store, owner, conversationId, write: held.write }, false)
    } finally {
      await held.release()
    }
  } catch (error) {
    if (!(error instanceof SynapseError && error.kind === 'conflict')) throw error
  }
}
