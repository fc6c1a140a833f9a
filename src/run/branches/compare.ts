// The same question to several models at once. Each answers on its own branch, under one lease, with the same history,
// decisions and tools as any other run of the conversation; afterwards the conversation continues from one of them, and
// the others stay as alternative answers.

import { badInput } from '../../core/error.ts'
import type { Tool } from '../../core/tool.ts'
import { mostCandidates } from '../../settings/run.ts'
import { beforeAnswer } from './branching.ts'
import { branchStore, type RequestsOfBranches } from './branch-store.ts'
import { closeInterrupted } from '../log/close-interrupted.ts'
import { holdLease } from '../log/lease.ts'
import type { RunEnd } from '../loop.ts'
import { cachedPath } from '../log/path-cache.ts'
import { runHandle, type Run } from '../events/run-handle.ts'
import { userMessage, withChanges, type RunSettings, type Runtime, type UserInput } from '../settings.ts'
import { setTitle, runUnderLease } from '../start-run.ts'

/** One model's answer. */
export interface Candidate {
  model: string
  run: Run
  /** Where its answer currently ends. */
  leaf(): string
}

export interface Comparison {
  /** The message that is answered. */
  entryId: string
  candidates: Candidate[]
  /** All have ended. The conversation continues from the first that has an answer, until another one is chosen. */
  ended: Promise<RunEnd[]>
}

export interface CompareRequest {
  conversationId: string
  models: readonly string[]
  settings: RunSettings
  /** Without it, the last user message is answered again. */
  message?: UserInput | undefined
}

/** Resolves once all models have started. Throws if another run of the conversation is active. */
export async function compareModels(runtime: Runtime, request: CompareRequest): Promise<Comparison> {
  const { store, owner } = runtime
  const { conversationId, models, settings, message } = request
  if (models.length === 0 || models.length > mostCandidates) {
    throw badInput(`A comparison takes 1 to ${mostCandidates} models, not ${models.length}.`)
  }
  const stop = new AbortController()
  const held = await holdLease(store, owner, conversationId, () => stop.abort())
  try {
    const place = { store, owner, conversationId }
    await closeInterrupted({ ...place, write: held.write }, message !== undefined)
    if (message === undefined) await beforeAnswer(place, held.write())
    else {
      const question = userMessage(message)
      const stored = await store.conversation(owner, conversationId)
      await setTitle(store, owner, conversationId, question, stored)
      await store.append(owner, conversationId, { message: question }, held.write())
    }
    const entryId = (await store.conversation(owner, conversationId))?.head ?? ''
    const requests: RequestsOfBranches = new Map()
    const candidates = models.map((model) => candidateOf(model, entryId, requests))
    const ended = finish(candidates, entryId)
    return { entryId, candidates, ended }
  } catch (error) {
    await held.release()
    throw error
  }

  function candidateOf(model: string, entryId: string, requests: RequestsOfBranches): Candidate {
    const branch = branchStore(store, conversationId, entryId, requests)
    const mine = new AbortController()
    let own: RunSettings = withoutSideEffects(withChanges(settings, { model }))
    const run = runHandle(
      {
        abort: () => mine.abort(),
        steer: () => {
          throw badInput('A comparison takes one question. Continue with one of the answers to say more.')
        },
        update: (change) => void (own = withoutSideEffects(withChanges(own, change))),
      },
      () => own.answer,
      (emit) =>
        runUnderLease({ ...runtime, store: branch.store }, held, {
          conversationId,
          pathTo: cachedPath(branch.store, owner),
          settings: () => ({ ...own, signal: AbortSignal.any([stop.signal, ...(own.signal ? [own.signal] : [])]) }),
          incoming: () => [],
          emit,
          stop: mine,
        }),
    )
    return { model, run, leaf: branch.head }
  }

  async function finish(candidates: readonly Candidate[], entryId: string): Promise<RunEnd[]> {
    try {
      const ends = await Promise.all(candidates.map(({ run }) => run.ended))
      const answered = candidates.findIndex((one, i) => one.leaf() !== entryId && ends[i]?.failure === undefined)
      const leaf = (candidates[answered] ?? candidates.find((one) => one.leaf() !== entryId))?.leaf()
      if (leaf !== undefined) await store.setHead(owner, conversationId, { entryId: leaf }, held.write())
      return ends
    } finally {
      await held.release()
    }
  }
}

/** A tool that must not run twice is not run by several models: such a call waits until its answer is chosen. */
function withoutSideEffects(settings: RunSettings): RunSettings {
  return { ...settings, ...(settings.tools && { tools: settings.tools.map(asking) }) }
}

function asking(tool: Tool): Tool {
  if (tool.repeatable) return tool
  const { read } = tool
  return {
    ...tool,
    ask: true,
    ...(read && {
      async read(input) {
        const ready = await read.call(tool, input)
        return 'problem' in ready ? ready : { ...ready, asks: () => true }
      },
    }),
  }
}
