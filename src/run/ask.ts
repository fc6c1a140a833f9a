// One request on its way: in the log before it is sent, and read to its end, whatever that is.

import { folding, type Folded } from '../core/fold.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Exchange } from '../core/log.ts'
import type { Origin } from '../core/message.ts'
import type { Note, ToolSpec } from '../core/context.ts'
import { markedPart } from '../core/tool-kinds.ts'
import type { Assembled } from '../context/assemble.ts'
import { bodyBytes } from '../wires/shared/body-bytes.ts'
import { streamReply, type RetryEvent } from '../transport/reply.ts'
import type { RunContext } from './run-context.ts'

export interface Asked extends Folded {
  opened: Exchange
}

export interface Asking {
  prepared: Assembled
  /** The last entry that the request was made from. */
  basedOn: string
  notes: readonly Note[]
  /** It is in the log now, and goes out. */
  onOpen?: (opened: Exchange) => void
  /** A promise is waited for before more of the reply is read. */
  onEvent?: (event: ReplyEvent | RetryEvent, opened: Exchange) => Promise<unknown> | undefined
}

export async function ask(run: RunContext, { prepared, basedOn, notes, onOpen, onEvent }: Asking): Promise<Asked> {
  const { store, owner, conversationId, endpoint } = run
  const asked = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const body = bodyBytes(prepared.body)
  const opened = await store.openExchange(owner, conversationId, { ...asked, basedOn, body, notes }, run.write())
  onOpen?.(opened)

  const origin: Origin = { ...asked, ...(prepared.basis && { basis: prepared.basis }) }
  const fold = folding(origin)
  const events = streamReply({
    protocol: endpoint.protocol,
    url: endpoint.baseUrl + prepared.path,
    headers: { ...endpoint.headers, ...prepared.headers },
    body,
    origin,
    decoder: { callId: (position) => `${opened.id}.${position}`, toolNames: prepared.toolNames },
    signal: run.signal,
    provider: endpoint.provider.name,
    ...(endpoint.keyVariable && { keyVariable: endpoint.keyVariable }),
    ...run.transport,
  })
  for await (const read of events) {
    const event = marked(endpoint.offline ? unbilled(read) : read, prepared.context.tools)
    if (event.type === 'retry') await store.retryExchange(owner, opened.id, run.write())
    else if (event.type !== 'no-retry') fold.push(event)
    const behind = onEvent?.(event, opened)
    if (behind) await behind
  }
  return { opened, ...fold.result() }
}

/** What the emulator counts is marked, so that no one takes it for a bill. */
function unbilled<E extends ReplyEvent | RetryEvent>(event: E): E {
  return event.type === 'reply-end' && event.usage ? { ...event, usage: { ...event.usage, offline: true } } : event
}

/** Calls of tools that are more than functions say so, whatever wire they came by. */
function marked<E extends ReplyEvent | RetryEvent>(event: E, tools: readonly ToolSpec[]): E {
  return 'part' in event ? { ...event, part: markedPart(event.part, tools) } : event
}
