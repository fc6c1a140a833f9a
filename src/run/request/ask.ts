// One request: written to the log before it is sent, and read to its end, whatever the outcome.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { folding, type Folded } from '../../core/fold.ts'
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

export interface Asked extends Folded {
  opened: Exchange
}

export interface Asking {
  plan: () => Assembled | Promise<Assembled>
  /** The last entry that the request was built from. */
  basedOn: string
  notes: readonly Note[]
  /** It is in the log now and is being sent. */
  onOpen?: (opened: Exchange) => void
  /** A promise is waited for before more of the reply is read. */
  onEvent?: (event: ReplyEvent | RetryEvent, opened: Exchange) => Promise<unknown> | undefined
}

export async function ask(run: RunContext, { plan, basedOn, notes, onOpen, onEvent }: Asking): Promise<Asked> {
  const { store, owner, conversationId, endpoint, verbatim } = run
  let prepared = verbatim ? undefined : await plan()
  const asked = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const body = prepared ? bodyBytes(prepared.body, prepared.context.messages) : (verbatim?.body ?? '')
  const opening = store.openExchange(owner, conversationId, { ...asked, basedOn, body, notes }, run.write())
  // Earlier writes are reported first; if one has failed, the error says why.
  opening.catch(() => {})
  // What a client wrote is planned while the disk is awaited: nothing of the plan is sent.
  if (!prepared) {
    await nextTurn()
    prepared = await plan()
  }
  await run.pending?.settled()
  const opened = await opening
  onOpen?.(opened)

  const origin: Origin = { ...asked, ...(prepared.basis && { basis: prepared.basis }) }
  const fold = folding(origin)
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
  const timed = thinkingClock()
  await readReply(call, (read) => {
    const event = timed(read.type === 'part-delta' ? read : marked(endpoint.offline ? unbilled(read) : read, tools))
    if (event.type === 'retry') {
      return store.retryExchange(owner, opened.id, run.write()).then(() => onEvent?.(event, opened))
    }
    if (event.type !== 'no-retry') fold.push(event)
    return onEvent?.(event, opened)
  })
  return { opened, ...fold.result() }
}

/** Tokens counted by the emulator are marked, so that they are not mistaken for a bill. */
function unbilled<E extends ReplyEvent | RetryEvent>(event: E): E {
  return event.type === 'reply-end' && event.usage ? { ...event, usage: { ...event.usage, offline: true } } : event
}

/** Marks calls of tools that are more than functions, whichever wire they arrived on. */
function marked<E extends ReplyEvent | RetryEvent>(event: E, tools: readonly ToolSpec[]): E {
  if (!('part' in event)) return event
  const part = markedPart(event.part, tools)
  return part === event.part ? event : { ...event, part }
}
