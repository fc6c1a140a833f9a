// Sends one request: it is written to the log first, and its reply is read to the end, whatever the outcome.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { asFailure } from '../../core/error.ts'
import { createFold, type Folded } from '../../core/fold.ts'
import type { ReplyEvent } from '../../core/event.ts'
import type { Exchange } from '../../core/log.ts'
import type { Origin } from '../../core/message.ts'
import type { Note, ToolSpec } from '../../core/context.ts'
import { markedPart } from '../../core/tool-kinds.ts'
import type { Assembled } from '../../context/assemble.ts'
import { bodyBytes } from '../../wires/shared/body-bytes.ts'
import { thinkingClock } from './thinking-time.ts'
import { readReply, type ReplyCall, type RetryEvent } from '../../transport/reply.ts'
import type { RunContext } from '../run-context.ts'

export interface Answered extends Folded {
  opened: Exchange
}

export interface AskOptions {
  plan: () => Assembled | Promise<Assembled>
  /** The last entry that the request was built from. */
  basedOn: string
  notes: readonly Note[]
  /** Called when the request is in the log, just before it is sent. */
  onOpen?: (opened: Exchange) => void
  /** The reply is read on when the promise has resolved. */
  onEvent?: (event: ReplyEvent | RetryEvent, opened: Exchange) => Promise<unknown> | undefined
}

export async function ask(run: RunContext, { plan, basedOn, notes, onOpen, onEvent }: AskOptions): Promise<Answered> {
  const { store, owner, conversationId, endpoint, verbatim } = run
  let prepared = verbatim ? undefined : await plan()
  const target = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const body = prepared ? bodyBytes(prepared.body, prepared.context.messages) : (verbatim?.body ?? '')
  const opening = store.openExchange(owner, conversationId, { ...target, basedOn, body, notes }, run.write())
  // Earlier writes are reported first; if one has failed, the error says why.
  opening.catch(() => {})
  // Nothing of the plan for a client's own request is sent, so it is made while the disk is awaited.
  if (!prepared) {
    await nextTurn()
    try {
      prepared = await plan()
    } catch (error) {
      await closeUnsent(run, opening, error)
      throw error
    }
  }
  await run.pending?.settled()
  const opened = await opening
  onOpen?.(opened)

  const origin: Origin = { ...target, ...(prepared.basis && { basis: prepared.basis }) }
  const fold = createFold(origin)
  const call: ReplyCall = {
    protocol: endpoint.protocol,
    url: endpoint.baseUrl + (verbatim?.path ?? prepared.path),
    headers: { ...endpoint.headers, ...(verbatim?.headers ?? prepared.headers) },
    body,
    ...(verbatim?.whole && { whole: true }),
    origin,
    decoder: { callId: (position) => `${opened.id}.${position}`, toolNames: verbatim ? {} : prepared.toolNames },
    signal: run.signal,
    provider: endpoint.provider.name,
    ...(endpoint.keyVariable && { keyVariable: endpoint.keyVariable }),
    ...run.transport,
  }
  const { tools } = prepared.context
  const withDuration = thinkingClock()
  await readReply(call, (read) => {
    const event = withDuration(
      read.type === 'part-delta' ? read : withToolKind(endpoint.offline ? markedOffline(read) : read, tools),
    )
    if (event.type === 'retry') {
      return store.retryExchange(owner, opened.id, run.write()).then(() => onEvent?.(event, opened))
    }
    if (event.type !== 'no-retry') fold.push(event)
    return onEvent?.(event, opened)
  })
  return { opened, ...fold.result() }
}

/** A request that is in the log and will not be sent. If that cannot be written, the next run does it. */
async function closeUnsent(
  { store, owner, write }: RunContext,
  opening: Promise<Exchange>,
  why: unknown,
): Promise<void> {
  try {
    const { id } = await opening
    await store.finishExchange(owner, id, { outcome: 'failed', failure: asFailure(why) }, write())
  } catch {
    // The error of the plan says more.
  }
}

/** Tokens counted by the emulator are marked, so that they are not mistaken for a bill. */
function markedOffline<E extends ReplyEvent | RetryEvent>(event: E): E {
  return event.type === 'reply-end' && event.usage ? { ...event, usage: { ...event.usage, offline: true } } : event
}

/** Marks calls of tools that are more than functions, whichever wire they arrived on. */
function withToolKind<E extends ReplyEvent | RetryEvent>(event: E, tools: readonly ToolSpec[]): E {
  if (!('part' in event)) return event
  const part = markedPart(event.part, tools)
  return part === event.part ? event : { ...event, part }
}
