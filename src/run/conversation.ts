// A conversation that can be continued on any provider at any moment: the log in a store, and the loop over it.

import type { RunEvent } from '../core/event.ts'
import { SynapseError } from '../core/error.ts'
import { joinDeltas } from '../core/fold.ts'
import type { Branch, Conversation as Stored, Entry, EntryOutline } from '../core/log.ts'
import { textOf, type Reply, type UserMessage } from '../core/message.ts'
import { withFailpoints } from '../store/failpoint.ts'
import { answerApproval, waitingApprovals, type Approval, type Verdict } from './approval.ts'
import { beforeAnswer, beforeMessage, forkAt } from './branching.ts'
import { channel } from './channel.ts'
import { compactNow } from './compact-now.ts'
import type { Compacted } from './compact.ts'
import { countTokens, type TokenCount } from './count-tokens.ts'
import { startRun, stepSettings, type RunRequest } from './start-run.ts'
import { inspectRequest, type Inspected } from './inspect.ts'
import { cachedPath } from './path-cache.ts'
import { holdLease, type Held } from './lease.ts'
import type { RunEnd } from './loop.ts'
import type { RunContext } from './run-context.ts'
import { closeInterrupted } from './close-interrupted.ts'
import { userMessage, withChanges, type RunSettings, type UserInput, type Runtime } from './settings.ts'
import { usageOf, type ConversationUsage } from './usage.ts'

export type { RunSettings, Runtime } from './settings.ts'

/** A run under way. It continues whether or not its events are read; only `abort` stops it. */
export interface Run extends AsyncIterable<RunEvent> {
  /** How it ended. Never rejects: what went wrong is in the outcome. */
  ended: Promise<RunEnd>
  /** Stops it; what was said so far is kept. */
  abort(): void
  /** Says something while it continues: the model gets it with its next request. */
  steer(message: UserInput): void
  /** Other tools, another model, another policy: from the next request on. */
  update(change: Partial<RunSettings>): void
  /** The text of the final reply; rejects if the run failed. */
  text(): Promise<string>
}

/** One conversation. All its methods take settings that count for that one time, over those it was opened with. */
export interface Conversation {
  readonly id: string
  /** Appends what the user says, and answers it. */
  send(message: UserInput, settings?: Partial<RunSettings>): Run
  /** Continues where a run was interrupted, stopped by a guard, or waited for an approval. */
  resume(settings?: Partial<RunSettings>): Run
  /** Answers what the user said last once more; the earlier answer stays in the log as a branch. */
  retry(settings?: Partial<RunSettings>): Run
  /** Says something else in place of an earlier message of the user, and answers that. */
  edit(entryId: string, message: UserInput, settings?: Partial<RunSettings>): Run
  /** Continues from an earlier entry; what came after it stays in the log as a branch. A name makes it easy to find. */
  fork(entryId: string, options?: { name?: string }): Promise<void>
  /** Goes to a branch by its name. */
  checkout(branch: string): Promise<void>
  /** Lets a call run that waits for it. `argsHash` says which arguments were looked at; then `resume`. */
  approve(callId: string, answer: { argsHash: string }): Promise<void>
  /** Does not let it run; the model is informed why. Then `resume`. */
  deny(callId: string, reason?: string): Promise<void>
  /** The calls that wait for a person. */
  approvals(): Promise<Approval[]>
  /** Lets a summary represent the older part of what is sent; undefined: there is too little to summarise. */
  compact(settings?: Partial<RunSettings>): Promise<Compacted | undefined>
  /** Takes a summary back, or any other decision about what is sent: the log was never changed. */
  undo(overlayId: string): Promise<void>
  /** Tokens, money and requests so far, in all and by model. */
  usage(): Promise<ConversationUsage>
  /** The request that would be sent now, and everything in which it differs from the log. */
  inspect(settings?: Partial<RunSettings>): Promise<Inspected>
  /** The tokens of that request by the provider's own count; rejects where the provider has no answer to that. */
  count(settings?: Partial<RunSettings>): Promise<TokenCount>
  /** The path from the root to where the conversation continues, whole, whatever was sent of it. */
  history(): Promise<Entry[]>
  /** All entries of all branches, without their messages. */
  tree(): Promise<EntryOutline[]>
  /** The places that the conversation can continue from. */
  branches(): Promise<Branch[]>
  info(): Promise<Stored>
}

export function conversationOf(given: Runtime, id: string, defaults: RunSettings): Conversation {
  const runtime = { ...given, store: withFailpoints(given.store) }
  const { store, owner } = runtime
  const place = { store, owner, conversationId: id }
  const now = runtime.now ?? Date.now
  const pathTo = runtime.paths?.(id) ?? cachedPath(store, owner)
  /** Runs of this object that have not ended yet. */
  const under = new Set<Promise<unknown>>()

  return {
    id,
    send: (said, settings) => start({ message: userMessage(said) }, settings),
    resume: (settings) => start({}, settings),
    retry: (settings) => start({ before: (held) => beforeAnswer(place, held.write()) }, settings),
    edit(entryId, said, settings) {
      const before = (held: Held) => beforeMessage(place, entryId, held.write())
      return start({ message: userMessage(said), before }, settings)
    },
    fork: (entryId, { name } = {}) => withLease((held) => forkAt(place, entryId, name, held.write())),
    checkout: (branch) => withLease(async (held) => void (await store.setHead(owner, id, { branch }, held.write()))),
    approve: (callId, { argsHash }) => answer({ callId, allowed: true, argsHash }),
    deny: (callId, reason) => answer({ callId, allowed: false, ...(reason !== undefined && { reason }) }),
    approvals: async () => waitingApprovals({ ...place, now }, await history()),
    compact: (settings) => withLease(async (held) => compactNow(await running(held, settings), await history())),
    undo: (overlayId) =>
      withLease(async (held) => void (await store.setOverlayUndone(owner, overlayId, true, held.write()))),
    usage: () => usageOf(store, owner, id),
    inspect: async (settings) => inspectRequest(runtime, id, await history(), withChanges(defaults, settings)),
    count: async (settings) => countTokens(runtime, id, await history(), withChanges(defaults, settings)),
    history,
    tree: () => store.outline(owner, id),
    branches: () => store.branches(owner, id),
    info,
  }

  async function info(): Promise<Stored> {
    const stored = await store.conversation(owner, id)
    if (!stored) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${id}.` })
    return stored
  }

  async function history(): Promise<Entry[]> {
    const { head } = await info()
    return head ? store.history(owner, head) : []
  }

  function start(how: Pick<RunRequest, 'message' | 'before'>, changes?: Partial<RunSettings>): Run {
    let settings = withChanges(defaults, changes)
    const said: UserMessage[] = []
    const events = channel<RunEvent>(joinEvents)
    const stop = new AbortController()
    const ended = startRun(runtime, {
      ...how,
      conversationId: id,
      pathTo,
      settings: () => settings,
      incoming: () => said.splice(0),
      emit: (event) => events.push(event),
      stop,
    }).finally(() => events.end())
    under.add(ended)
    void ended.finally(() => under.delete(ended))
    return {
      ended,
      abort: () => stop.abort(),
      steer: (message) => void said.push(userMessage(message)),
      update: (change) => void (settings = withChanges(settings, change)),
      text: async () => textOf((await succeeded(ended)).parts),
      [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
    }
  }

  async function answer(verdict: Verdict): Promise<void> {
    await withLease(async (held) => answerApproval({ ...place, now, write: held.write }, await history(), verdict))
  }

  /** What is done between two runs. Runs of this object are waited for; those of others are a conflict. */
  async function withLease<T>(act: (held: Held) => Promise<T>): Promise<T> {
    await Promise.allSettled(under)
    const held = await holdLease(store, owner, id)
    try {
      await closeInterrupted({ ...place, write: held.write }, false)
      return await act(held)
    } finally {
      await held.release()
    }
  }

  async function running(held: Held, changes?: Partial<RunSettings>): Promise<RunContext> {
    const settings = withChanges(defaults, changes)
    const found = await runtime.endpoint(settings.model, settings.protocol)
    const signal = settings.signal ?? new AbortController().signal
    return { ...place, ...stepSettings(id, () => settings), ...found, signal, write: held.write, emit: () => {} }
  }
}

/** Deltas of one reply become longer ones, and of a call only the end is left, which has all of it. */
function joinEvents(a: RunEvent, b: RunEvent): RunEvent | undefined {
  if (a.type !== 'reply-event' || b.type !== 'reply-event' || a.exchangeId !== b.exchangeId) return undefined
  const [before, after] = [a.event, b.event]
  if (before.type === 'part-start' && before.part.type === 'tool-call') {
    if (after.type === 'part-delta' && after.index === before.index) return a
    if (after.type === 'part-end' && after.index === before.index) return b
  }
  const event = joinDeltas(before, after, 64 * 1024)
  return event && { ...a, event }
}

async function succeeded(ended: Promise<RunEnd>): Promise<Reply> {
  const { failure, reply } = await ended
  if (failure) throw new SynapseError(failure)
  if (!reply) throw new SynapseError({ kind: 'aborted', message: 'The run ended before the model said anything.' })
  return reply
}
