// All calls of one reply, several at the same time where the model asked for several. Each start is in the log before
// the tool runs, and each result when it is there: after a crash no one has to guess which tools had run (P5). A reply
// may hold any number of calls: those beyond a limit are answered as not run, together.

import type { Entry } from '../core/log.ts'
import { callsOf, type ToolCallPart, type ToolMessage, type ToolResultPart } from '../core/message.ts'
import { answerTo, argsHashOf, type Approval } from './approval.ts'
import { callableTools } from './offer-recall.ts'
import { readCall } from './read-call.ts'
import { repeatNotes, withNote } from './repeats.ts'
import { notRun, runTool } from './run-tool.ts'
import type { LoopContext } from './run-context.ts'
import { limitResult } from './tool-value.ts'

export interface ToolStep {
  /** The results, in the order of the log. */
  entries: Entry[]
  /** Calls that a person must allow first. */
  waiting: Approval[]
}

export async function runCalls(
  run: LoopContext,
  history: readonly Entry[],
  replyEntry: Entry,
  calls: readonly ToolCallPart[],
): Promise<ToolStep> {
  const { store, owner, conversationId } = run
  const tools = callableTools(run, history)
  const { callsPerReply, concurrentTools, resultSize } = run.limits
  const step: ToolStep = { entries: [], waiting: [] }
  const taken = new Set(callsOf(replyEntry.message).slice(0, callsPerReply))
  const [runnable, surplus] = [calls.filter((call) => taken.has(call)), calls.filter((call) => !taken.has(call))]
  const repeats = run.repeats && repeatNotes(history, runnable, run.repeats)
  let told = 0
  let stopped = false
  if (surplus.length > 0) await answerSurplus()
  // All that were started are waited for, also after one that could not be recorded: what they did is still to be kept.
  const queue = runnable.values()
  const ends = await Promise.allSettled(Array.from({ length: concurrentTools }, work))
  while (told < step.entries.length) tellNext()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return step

  async function work(): Promise<void> {
    for (const call of queue) {
      // What is not started stays open in the log, for a run that continues from there.
      if (stopped || run.signal.aborted) return
      try {
        await one(call)
      } catch (error) {
        stopped = true
        throw error
      }
    }
  }

  async function answerSurplus(): Promise<void> {
    const { length } = callsOf(replyEntry.message)
    const why = `The reply has ${length} calls, and ${callsPerReply} of one reply are run.`
    const parts = surplus.map((call) => notRun(call, `${call.name} was not run: too many calls. ${why}`))
    const messages: ToolMessage[] = []
    for (let i = 0; i < parts.length; i += partsPerMessage)
      messages.push({ role: 'tool', parts: parts.slice(i, i + partsPerMessage) })
    const entries = await store.appendAll(
      owner,
      conversationId,
      messages.map((message) => ({ message })),
      run.write(),
    )
    run.emit({ type: 'guard', action: 'warned', guard: 'calls-per-reply', why })
    for (const entry of entries) written(entry)
  }

  async function one(call: ToolCallPart): Promise<void> {
    const ready = await readCall(tools, call)
    if ('problem' in ready) return keep(call, async () => notRun(call, ready.problem))
    const tool = tools.find((candidate) => candidate.name === call.name)
    if (await asks(ready.asks)) {
      const answer = await answerTo(run, replyEntry, call, tool?.askTimeoutMs)
      if (answer.state === 'waiting') return void step.waiting.push(answer.approval)
      if (answer.state === 'denied') return keep(call, async () => notRun(call, answer.why))
    }
    return keep(
      call,
      () =>
        runTool(call, ready, {
          conversationId,
          owner,
          context: run.context,
          signal: run.signal,
          timeoutMs: tool?.timeoutMs,
          progress: (value) => run.emit({ type: 'tool-progress', call, value }),
        }),
      tool?.repeatable === true,
    )
  }

  async function keep(
    call: ToolCallPart,
    result: () => Promise<ToolResultPart>,
    repeatable: boolean = false,
  ): Promise<void> {
    const started = { callId: call.callId, entryId: replyEntry.id, name: call.name, argsSha256: argsHashOf(call) }
    await store.startTool(owner, conversationId, { ...started, repeatable }, run.write())
    run.emit({ type: 'tool-start', call })
    const { part: given, cut } = limitResult(await result(), resultSize)
    const note = repeats?.(call, given)
    const part = note ? withNote(given, note.toModel) : given
    const outcome = run.signal.aborted && part.failed ? 'unknown' : part.failed ? 'failed' : 'done'
    const message: ToolMessage = { role: 'tool', parts: [part] }
    const end = { outcome, result: { message } } as const
    const { entry } = await store.finishTool(owner, conversationId, call.callId, end, run.write())
    run.emit({ type: 'tool-end', call, result: part })
    if (note) run.emit({ type: 'guard', action: 'warned', ...note.reason })
    if (cut > 0) {
      const why = `${cut} bytes of the result of ${call.name} were not kept: it has more than ${resultSize}.`
      run.emit({ type: 'guard', action: 'warned', guard: 'result-size', why })
    }
    written(entry)
  }

  /** Writes that were made side by side may be acknowledged in another order: each is told after those before it. */
  function written(entry: Entry): void {
    step.entries.push(entry)
    if (step.entries.length > 1) step.entries.sort((a, b) => a.depth - b.depth)
    while (step.entries[told]?.depth === history.length + told) tellNext()
  }

  function tellNext(): void {
    const entry = step.entries[told++]
    if (entry) run.emit({ type: 'message', entryId: entry.id, message: entry.message })
  }
}

/** An entry of the log is not to grow without limit. */
const partsPerMessage = 1000

/** A question whether to ask that fails is answered with yes. */
async function asks(question: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await question()
  } catch {
    return true
  }
}
