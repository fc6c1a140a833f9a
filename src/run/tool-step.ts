// All calls of one reply, at the same time where the model asked for several. Each start is in the log before the tool
// runs, and each result when it is there: after a crash no one has to guess which tools had run (P5).

import type { Entry } from '../core/log.ts'
import type { ToolCallPart, ToolMessage, ToolResultPart } from '../core/message.ts'
import { answerTo, argsHashOf, type Approval } from './approval.ts'
import { callableTools } from './offer-recall.ts'
import { readCall } from './read-call.ts'
import { repeatNote, withNote } from './repeats.ts'
import { notRun, runTool } from './run-tool.ts'
import type { LoopContext } from './run-context.ts'

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
  const step: ToolStep = { entries: [], waiting: [] }
  let told = 0
  // All are waited for, also behind one that could not be recorded: what the others did is still to be kept.
  const ends = await Promise.allSettled(calls.map(one))
  while (told < step.entries.length) tellNext()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return step

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
    const given = await result()
    const note = run.repeats && repeatNote(history, calls, call, given, run.repeats)
    const part = note ? withNote(given, note.toModel) : given
    const outcome = run.signal.aborted && part.failed ? 'unknown' : part.failed ? 'failed' : 'done'
    const message: ToolMessage = { role: 'tool', parts: [part] }
    const end = { outcome, result: { message } } as const
    const { entry } = await store.finishTool(owner, conversationId, call.callId, end, run.write())
    run.emit({ type: 'tool-end', call, result: part })
    if (note) run.emit({ type: 'guard', action: 'warned', ...note.reason })
    written(entry)
  }

  /** Writes that were made side by side may be acknowledged in another order: each is told after those before it. */
  function written(entry: Entry): void {
    step.entries.push(entry)
    step.entries.sort((a, b) => a.depth - b.depth)
    while (step.entries[told]?.depth === history.length + told) tellNext()
  }

  function tellNext(): void {
    const entry = step.entries[told++]
    if (entry) run.emit({ type: 'message', entryId: entry.id, message: entry.message })
  }
}

/** A question whether to ask that fails is answered with yes. */
async function asks(question: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await question()
  } catch {
    return true
  }
}
