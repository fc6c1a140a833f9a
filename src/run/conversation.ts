// A conversation that can be continued on any provider at any moment: the log in a store, and the loop over it.

import { SynapseError } from '../core/error.ts'
import type { Branch, Conversation as Stored, Entry, EntryOutline } from '../core/log.ts'
import type { Message, UserMessage } from '../core/message.ts'
import { withFailpoints } from '../store/failpoint.ts'
import type { AnswerOf } from './answer-schema.ts'
import { answerApproval, waitingApprovals, type Approval, type Verdict } from './approval.ts'
import { beforeAnswer, beforeMessage, forkAt } from './branching.ts'
import { checkMessages } from './check-messages.ts'
import { compactNow } from './compact-now.ts'
import type { Compacted } from './compact.ts'
import { countTokens, type TokenCount } from './count-tokens.ts'
import { startRun, stepSettings, type RunRequest } from './start-run.ts'
import { inspectRequest, type Inspected } from './inspect.ts'
import { cachedPath } from './path-cache.ts'
import { holdLease, type Held } from './lease.ts'
import { runHandle, type Run } from './run-handle.ts'
import type { RunContext } from './run-context.ts'
import { closeInterrupted } from './close-interrupted.ts'
import { userMessage, withChanges, type RunSettings, type UserInput, type Runtime } from './settings.ts'
import { usageOf, type ConversationUsage } from './usage.ts'

export type { Run } from './run-handle.ts'
export type { RunSettings, Runtime } from './settings.ts'

/** Settings for one time, with a schema for the answer. */
type WithAnswer<S> = Partial<RunSettings> & { answer: S }

/**
 * One conversation. All its methods take settings that count for that one time, over those it was opened with. `Answer` is
 * what its answer schema gives.
 */
export interface Conversation<Answer = unknown> {
  readonly id: string
  /** Appends what the user says, and answers it. */
  send<const S extends object>(message: UserInput, settings: WithAnswer<S>): Run<AnswerOf<S>>
  send(message: UserInput, settings?: Partial<RunSettings>): Run<Answer>
  /** Appends messages without asking a model. */
  append(...messages: Message[]): Promise<Entry[]>
  /** Continues where a run was interrupted, stopped by a guard, or waited for an approval. */
  resume(settings?: Partial<RunSettings>): Run<Answer>
  /** Answers what the user said last once more; the earlier answer stays in the log as a branch. */
  retry(settings?: Partial<RunSettings>): Run<Answer>
  /** Says something else in place of an earlier message of the user, and answers that. */
  edit(entryId: string, message: UserInput, settings?: Partial<RunSettings>): Run<Answer>
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

/** `toolNames`: the tools that the conversation was started with, where they may not be among the settings. */
export function conversationOf(
  given: Runtime,
  id: string,
  defaults: RunSettings,
  toolNames?: readonly string[],
): Conversation {
  const runtime = { ...given, store: withFailpoints(given.store) }
  const { store, owner } = runtime
  const place = { store, owner, conversationId: id }
  const now = runtime.now ?? Date.now
  const pathTo = runtime.paths?.(id) ?? cachedPath(store, owner)
  /** Runs of this object that have not ended yet. */
  const under = new Set<Promise<unknown>>()

  return {
    id,
    send: (said: UserInput, settings?: Partial<RunSettings>) => start({ message: userMessage(said) }, settings),
    append: (...messages) =>
      withLease((held) => {
        checkMessages(messages)
        const entries = messages.map((message) => ({ message }))
        return store.appendAll(owner, id, entries, held.write())
      }),
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
    const stop = new AbortController()
    const controls = {
      abort: () => stop.abort(),
      steer: (message: UserInput) => void said.push(userMessage(message)),
      update: (change: Partial<RunSettings>) => void (settings = withChanges(settings, change)),
    }
    const run = runHandle(
      controls,
      () => settings.answer,
      (emit) =>
        startRun(runtime, {
          ...how,
          conversationId: id,
          pathTo,
          settings: () => settings,
          incoming: () => said.splice(0),
          emit,
          stop,
          toolNames,
        }),
    )
    under.add(run.ended)
    void run.ended.finally(() => under.delete(run.ended))
    return run
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
