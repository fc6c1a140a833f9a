// One request to a model and what comes of it. It is in the log before it is sent, and its reply is in the log before
// anything is done about it.

import type { RunEvent } from '../core/event.ts'
import { folding } from '../core/fold.ts'
import type { Entry, Exchange } from '../core/log.ts'
import type { Origin, StopReason } from '../core/message.ts'
import { assemble } from '../context/prepare.ts'
import { costOf } from '../providers/cost.ts'
import { streamReply } from '../transport/reply.ts'
import type { FinishedExchange } from '../store/store.ts'
import { journaling } from './journal.ts'
import type { Running } from './running.ts'

export async function exchange(run: Running, history: readonly Entry[], step: number): Promise<FinishedExchange> {
  const { store, owner, conversationId, endpoint, write, emit } = run
  const basedOn = history.at(-1)?.id ?? ''
  const prepared = assemble({
    history: history.map((entry) => entry.message),
    system: run.system,
    tools: run.tools,
    policy: run.policy,
    protocol: endpoint.protocol,
    target: {
      provider: endpoint.provider.id,
      model: endpoint.model,
      options: { stream: true, ...run.options },
      quirks: endpoint.quirks,
      capabilities: endpoint.capabilities,
    },
  })
  const body = JSON.stringify(prepared.body)
  const asked = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const opened = await store.openExchange(
    owner,
    conversationId,
    { ...asked, basedOn, body, notes: prepared.notes },
    write(),
  )
  emit({
    type: 'request',
    exchangeId: opened.id,
    provider: asked.provider,
    model: asked.model,
    step,
    notes: prepared.notes,
  })

  const origin: Origin = { ...asked, ...(prepared.basis && { basis: prepared.basis }) }
  const fold = folding(origin)
  const journal = journaling((offset, events) => store.journal(owner, opened.id, offset, events, write()))
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
  for await (const event of events) {
    if (event.type === 'retry') {
      await store.retryExchange(owner, opened.id, write())
      emit({ ...event, exchangeId: opened.id })
      continue
    }
    fold.push(event)
    journal.push(event)
    emit({ type: 'reply-event', exchangeId: opened.id, event })
  }
  await journal.close()

  const { reply, usage, failure } = fold.result()
  const cost = usage && costOf(usage, endpoint.price)
  const finished = await store.finishExchange(
    owner,
    opened.id,
    {
      outcome: outcomeOf(reply.stop.reason),
      ...(reply.parts.length > 0 && { reply: { message: reply, parentId: basedOn } }),
      ...(usage && { usage }),
      ...(cost !== undefined && { cost }),
      ...(failure && { failure }),
    },
    write(),
  )
  if (finished.entry) emit(messageEvent(finished))
  return finished
}

function outcomeOf(reason: StopReason): Exclude<Exchange['outcome'], 'open'> {
  return reason === 'cancelled' || reason === 'interrupted' || reason === 'failed' ? reason : 'done'
}

function messageEvent({ entry, exchange }: FinishedExchange): RunEvent {
  if (!entry) throw new TypeError('a finished exchange without an entry has no message')
  return {
    type: 'message',
    entryId: entry.id,
    message: entry.message,
    ...(exchange.usage && { usage: exchange.usage }),
  }
}
