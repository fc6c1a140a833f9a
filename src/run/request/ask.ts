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
import { answerUnwrapper } from './unwrapped-answer.ts'
import { readReply, type ReplyCall, type RetryEvent } from '../../transport/reply.ts'
import type { RunContext } from '../run-context.ts'

export interface Answered extends Folded {
  opened: Exchange
}

export interface AskOptions {
  /** The same each time. */
  plan: () => Assembled | Promise<Assembled>
  /** The last entry that the request was built from. */
  basedOn: string
  notes: readonly Note[]
  /** Called when the request is in the log, just before it is sent. */
  onOpen?: (opened: Exchange) => void
  /** The reply is read on when the promise has resolved. */
  onEvent?: (event: ReplyEvent | RetryEvent, opened: Exchange) => Promise<unknown> | undefined
}

export async function ask(run: RunContext, options: AskOptions): Promise<Answered> {
  const { store, owner, conversationId, endpoint, verbatim } = run
  const { basedOn, notes, onEvent } = options
  const { path, headers, body, toolNames } = verbatim ? { ...verbatim, toolNames: {} } : requestOf(await options.plan())
  const origin: Origin = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const opening = store.openExchange(owner, conversationId, { ...origin, basedOn, body, notes }, run.write())
  let logged: LoggedRequest | undefined
  const committed = waitForLog()
  // Reported by `readReply`.
  committed.catch(() => {})

  const fold = createFold(origin)
  const call: ReplyCall = {
    protocol: endpoint.protocol,
    url: endpoint.baseUrl + path,
    headers: { ...endpoint.headers, ...headers },
    body,
    committed,
    ...(verbatim?.whole && { whole: true }),
    origin,
    decoder: { callId: (position) => `${request().opened.id}.${position}`, toolNames },
    signal: run.signal,
    provider: endpoint.provider.name,
    ...(endpoint.keyVariable && { keyVariable: endpoint.keyVariable }),
    ...run.transport,
  }
  const withDuration = thinkingClock()
  const unwrapped = answerUnwrapper(verbatim ? undefined : run.options.answerSchema)
  await readReply(call, (read) => {
    const { opened, prepared } = request()
    const { tools } = prepared.context
    const event = unwrapped(
      withDuration(
        read.type === 'part-delta' ? read : withToolKind(endpoint.offline ? markedOffline(read) : read, tools),
      ),
    )
    if (!event) return undefined
    if (event.type === 'retry') {
      return store.retryExchange(owner, opened.id, run.write()).then(() => onEvent?.(event, opened))
    }
    if (event.type !== 'no-retry') fold.push(event)
    return onEvent?.(event, opened)
  })
  return { opened: request().opened, ...fold.result() }

  async function waitForLog(): Promise<void> {
    logged = await commit(run, options, opening)
    const { basis } = logged.prepared
    if (basis !== undefined) origin.basis = basis
  }

  /** Nothing of a reply is read before its request is in the log. */
  function request(): LoggedRequest {
    if (!logged) throw new TypeError('a reply arrived before its request was committed')
    return logged
  }
}

function requestOf({ path, headers = {}, body, context, toolNames }: Assembled) {
  return { path, headers, body: bodyBytes(body, context.messages), toolNames }
}

interface LoggedRequest {
  opened: Exchange
  prepared: Assembled
}

/** Waits until the request is in the log. Most of its body is sent meanwhile. */
async function commit(
  run: RunContext,
  { plan, onOpen }: AskOptions,
  opening: Promise<Exchange>,
): Promise<LoggedRequest> {
  // Earlier writes are reported first; if one has failed, the error says why.
  opening.catch(() => {})
  // Nothing of the plan for a client's own request is sent, so it is made while the disk is awaited.
  if (run.verbatim) await nextTurn()
  const prepared = await planned(run, plan, opening)
  await run.pending?.settled()
  const opened = await opening
  onOpen?.(opened)
  return { opened, prepared }
}

/** A request that cannot be planned is not sent, and the log says so. If that cannot be written, the next run does it. */
async function planned(
  { store, owner, write }: RunContext,
  plan: AskOptions['plan'],
  opening: Promise<Exchange>,
): Promise<Assembled> {
  try {
    return await plan()
  } catch (error) {
    const failure = asFailure(error)
    await opening
      .then(({ id }) => store.finishExchange(owner, id, { outcome: 'failed', failure }, write()))
      // The error of the plan says more.
      .catch(() => {})
    throw error
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
