// A conversation that can be continued on any provider at any point: the log in a store, and the loop over it.

import { SynapseError } from '../core/error.ts'
import type { Branch, Conversation as Stored, Entry, EntryOutline, ProviderState } from '../core/log.ts'
import type { Message, UserMessage } from '../core/message.ts'
import { withFailpoints } from '../store/failpoint.ts'
import type { AnswerOf } from './answer.ts'
import { answerApproval, waitingApprovals, type Approval, type Verdict } from './tools/approval.ts'
import { beforeAnswer, beforeMessage, forkAt } from './branches/branching.ts'
import { checkMessages } from './check-messages.ts'
import { compareModels, type Comparison } from './branches/compare.ts'
import { compactNow, type Compacted } from './compaction/compact.ts'
import { countTokens, type TokenCount } from './request/count-tokens.ts'
import { startRun, stepSettings, type RunRequest } from './start-run.ts'
import { inspectRequest, type Inspected } from './request/inspect.ts'
import { cachedPath, type PathTo } from './log/path-cache.ts'
import { holdLease, type Held } from './log/lease.ts'
import { runHandle, type Run } from './events/run-handle.ts'
import type { ConversationLog, RunContext } from './run-context.ts'
import { closeInterrupted } from './log/close-interrupted.ts'
import { protocolOf, userMessage, withChanges, type RunSettings, type UserInput, type Runtime } from './settings.ts'
import { withHandoffs } from './handoff.ts'
import { settingsToStore } from './stored-settings.ts'
import { heldState } from './request/state.ts'
import { usageOf, type ConversationUsage } from './usage.ts'

export type { Run } from './events/run-handle.ts'
export type { RunSettings, Runtime } from './settings.ts'

/** Settings for one call, with a schema for the answer. */
type WithAnswer<S> = Partial<RunSettings> & { answer: S }

/**
 * One conversation. All its methods take settings for that one call, which override those it was opened with. `Answer`
 * is the output type of its answer schema.
 */
export interface Conversation<Answer = unknown> {
  readonly id: string
  /** Appends a user message, and answers it. */
  send<const S extends object>(message: UserInput, settings: WithAnswer<S>): Run<AnswerOf<S>>
  send(message: UserInput, settings?: Partial<RunSettings>): Run<Answer>
  /** Appends messages without asking a model. */
  append(...messages: Message[]): Promise<Entry[]>
  /** Continues where a run was interrupted, stopped by a guard, or waited for an approval. */
  resume(settings?: Partial<RunSettings>): Run<Answer>
  /** Answers the last user message again; the earlier answer stays in the log as a branch. */
  retry(settings?: Partial<RunSettings>): Run<Answer>
  /** Replaces an earlier user message on a new branch, and answers it. */
  edit(entryId: string, message: UserInput, settings?: Partial<RunSettings>): Run<Answer>
  /**
   * The same question to several models at once, each on its own branch; without a message, the last user message is
   * answered again. `fork` continues from the answer that is chosen. Tools that are not `repeatable` wait for that.
   */
  compare(models: readonly string[], message?: UserInput, settings?: Partial<RunSettings>): Promise<Comparison>
  /** Continues from an earlier entry; what came after it stays in the log as a branch. A name makes it easy to find. */
  fork(entryId: string, options?: { name?: string }): Promise<void>
  /** Switches to a branch by its name. */
  checkout(branch: string): Promise<void>
  /** Approves a waiting call. `argsHash` identifies the arguments that were shown; call `resume` afterwards. */
  approve(callId: string, answer: { argsHash: string }): Promise<void>
  /** Denies a waiting call; the model gets the reason. Call `resume` afterwards. */
  deny(callId: string, reason?: string): Promise<void>
  /** The calls that wait for approval. */
  approvals(): Promise<Approval[]>
  /** Replaces the older part of what is sent with a summary; undefined: there is too little to summarise. */
  compact(settings?: Partial<RunSettings>): Promise<Compacted | undefined>
  /** Undoes a summary, or any other decision about what is sent: the log was never changed. */
  undo(overlayId: string): Promise<void>
  /** Tokens, cost and requests so far, in total and by model. */
  usage(): Promise<ConversationUsage>
  /** The next request, and everything in which it differs from the log. */
  inspect(settings?: Partial<RunSettings>): Promise<Inspected>
  /** The tokens of that request as counted by the provider; rejects if the provider does not support it. */
  count(settings?: Partial<RunSettings>): Promise<TokenCount>
  /** The complete path from the root to the head, whatever part of it was sent. */
  history(): Promise<Entry[]>
  /** All entries of all branches, without their messages. */
  tree(): Promise<EntryOutline[]>
  /** The positions that the conversation can continue from. */
  branches(): Promise<Branch[]>
  /** What is stored about it, and what providers currently store of it. */
  info(): Promise<Stored & { state: ProviderState[] }>
}

/** `toolNames`: the tools that the conversation was started with, if they may be missing from the settings. */
export function conversationOf(
  runtimeOptions: Runtime,
  id: string,
  settingsAtStart: RunSettings,
  toolNames?: readonly string[],
): Conversation {
  /** After a hand-off: the settings of the next agent. */
  let defaults = settingsAtStart
  const runtime = { ...runtimeOptions, store: withFailpoints(runtimeOptions.store) }
  const { store, owner } = runtime
  const log = { store, owner, conversationId: id }
  const now = runtime.now ?? Date.now
  const pathTo = runtime.paths?.(id) ?? cachedPath(store, owner)
  /** Runs of this object that have not ended yet. */
  const activeRuns = new Set<Promise<unknown>>()

  return {
    id,
    send: (input: UserInput, settings?: Partial<RunSettings>) => start({ message: userMessage(input) }, settings),
    append: (...messages) =>
      withLease((held) => {
        checkMessages(messages)
        const entries = messages.map((message) => ({ message }))
        return store.appendAll(owner, id, entries, held.write())
      }),
    resume: (settings) => start({}, settings),
    retry: (settings) => start({ prepare: (held) => beforeAnswer(log, held.write()) }, settings),
    edit(entryId, input, settings) {
      const prepare = (held: Held) => beforeMessage(log, entryId, held.write())
      return start({ message: userMessage(input), prepare }, settings)
    },
    async compare(models, message, changes) {
      await Promise.allSettled(activeRuns)
      const settings = withChanges(defaults, changes)
      const comparison = await compareModels(runtime, { conversationId: id, models, message, settings })
      activeRuns.add(comparison.ended)
      void comparison.ended.catch(() => {}).finally(() => activeRuns.delete(comparison.ended))
      return comparison
    },
    fork: (entryId, { name } = {}) => withLease((held) => forkAt(log, entryId, name, held.write())),
    checkout: (branch) => withLease(async (held) => void (await store.setHead(owner, id, { branch }, held.write()))),
    approve: (callId, shown) => answer({ callId, allowed: true, argsHash: shown?.argsHash }),
    deny: (callId, reason) => answer({ callId, allowed: false, ...(reason !== undefined && { reason }) }),
    approvals: async () => waitingApprovals({ ...log, now }, await history()),
    compact: (settings) =>
      withLease(async (held) => {
        const run = await contextOf(runtime, log, held, withChanges(defaults, settings))
        return compactNow(run, await history())
      }),
    undo: (overlayId) =>
      withLease(async (held) => void (await store.setOverlayUndone(owner, overlayId, true, held.write()))),
    usage: () => usageOf(store, owner, id),
    inspect: async (more) => inspectRequest(runtime, id, await history(), withChanges(defaults, more), toolNames),
    count: async (settings) => countTokens(runtime, id, await history(), withChanges(defaults, settings)),
    history,
    tree: () => store.outline(owner, id),
    branches: () => store.branches(owner, id),
    async info() {
      const conversation = await stored()
      return { ...conversation, state: await heldState(runtime, id, conversation.head) }
    },
  }

  async function stored(): Promise<Stored> {
    const conversation = await store.conversation(owner, id)
    if (!conversation) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${id}.` })
    return conversation
  }

  async function history(): Promise<Entry[]> {
    const { head } = await stored()
    return head ? store.history(owner, head) : []
  }

  function start(how: Pick<RunRequest, 'message' | 'prepare'>, changes?: Partial<RunSettings>): Run {
    const run = beginRun({ runtime, id, pathTo, toolNames }, how, withChanges(defaults, changes), async (next) => {
      defaults = next
      if (!runtime.storesHandoffs) await storeHandoff(log, await stored(), next)
    })
    activeRuns.add(run.ended)
    void run.ended.finally(() => activeRuns.delete(run.ended))
    return run
  }

  async function answer(verdict: Verdict): Promise<void> {
    await withLease(async (held) => answerApproval({ ...log, now, write: held.write }, await history(), verdict))
  }

  /** For writes between two runs: waits for the runs of this object; a run elsewhere is a conflict. */
  async function withLease<T>(act: (held: Held) => Promise<T>): Promise<T> {
    await Promise.allSettled(activeRuns)
    const held = await holdLease(store, owner, id)
    try {
      await closeInterrupted({ ...log, write: held.write }, false)
      return await act(held)
    } finally {
      await held.release()
    }
  }
}

interface RunTarget {
  runtime: Runtime
  id: string
  pathTo: PathTo
  toolNames: readonly string[] | undefined
}

/** `handedTo` is called with the settings of the agent that takes over. */
function beginRun(
  { runtime, id, pathTo, toolNames }: RunTarget,
  how: Pick<RunRequest, 'message' | 'prepare'>,
  settingsAtStart: RunSettings,
  handedTo: (next: RunSettings) => Promise<void>,
): Run {
  let settings = settingsAtStart
  const queued: UserMessage[] = []
  const stop = new AbortController()
  const handOver = async (next: RunSettings): Promise<void> => {
    const { signal, context, hooks } = settings
    settings = withChanges(next, { ...(signal && { signal }), context, ...(hooks && { hooks }) })
    await handedTo(next)
  }
  const controls = {
    abort: () => stop.abort(),
    steer: (message: UserInput) => void queued.push(userMessage(message)),
    update: (change: Partial<RunSettings>) => void (settings = withChanges(settings, change)),
  }
  return runHandle(
    controls,
    () => settings.answer,
    (emit) =>
      startRun(runtime, {
        ...how,
        conversationId: id,
        pathTo,
        settings: () => withHandoffs(settings, handOver),
        incoming: () => queued.splice(0),
        emit,
        stop,
        toolNames,
      }),
  )
}

/** Replaces the stored settings of the previous agent. */
async function storeHandoff(
  { store, owner, conversationId }: ConversationLog,
  { settings }: Stored,
  next: RunSettings,
): Promise<void> {
  const { system: _, policy: __, options: ___, protocol: ____, toolNames: _____, ...others } = settings
  await store.updateConversation(owner, conversationId, { settings: { ...others, ...settingsToStore(next) } })
}

/** For requests that are made between two runs. */
async function contextOf(
  runtime: Runtime,
  log: ConversationLog,
  held: Held,
  settings: RunSettings,
): Promise<RunContext> {
  const resolved = await runtime.endpoint(settings.model, protocolOf(settings))
  const signal = settings.signal ?? new AbortController().signal
  const ofStep = stepSettings(log.conversationId, () => settings)
  return { ...log, ...ofStep, ...resolved, signal, write: held.write, emit: () => {} }
}
