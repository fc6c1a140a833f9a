// Runs the calls of one reply, several at the same time. Each start is in the log before the tool runs, and each result
// as soon as it exists: after a crash the log shows which tools had run (P5). Calls beyond the limit of a reply are
// answered as not run.

import { errorMessage } from '../../core/error.ts'
import type { Entry } from '../../core/log.ts'
import { callsOf, type ToolCallPart, type ToolMessage, type ToolResultPart } from '../../core/message.ts'
import { carriesMedia } from '../../store/media.ts'
import { ownLongResult } from '../../store/new-entry.ts'
import { answerTo, argsHashOf, type Approval } from './approval.ts'
import { callableTools } from './offer-recall.ts'
import { repeatNotes, withNote } from './repeats.ts'
import { afterTool, beforeTool } from '../hooks.ts'
import { notRun, runTool } from './run-tool.ts'
import type { LoopContext } from '../run-context.ts'
import { limitResult } from './tool-value.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { freeFormText } from '../../core/tool-kinds.ts'
import type { InputProblem, ReadCall, Tool } from '../../core/tool.ts'
import { inputSchemaOf, unwrapInput } from '../../wires/tool-schema/root.ts'
import { checkInput } from './check-input.ts'

export interface ToolStep {
  /** The results, in the order of the log. */
  entries: Entry[]
  /** Calls that need approval first. */
  waiting: Approval[]
}

interface Step extends ToolStep {
  readonly run: LoopContext
  readonly history: readonly Entry[]
  readonly replyEntry: Entry
  readonly tools: readonly Tool[]
  readonly repeats: ReturnType<typeof repeatNotes> | undefined
  /** There is only one call to answer. */
  readonly single: boolean
  /** How many of the entries have been reported. */
  reported: number
  /** A call could not be recorded: no other is started. */
  stopped: boolean
  /** The last result is written but not durable yet. */
  isPending: boolean
}

export async function runCalls(
  run: LoopContext,
  history: readonly Entry[],
  replyEntry: Entry,
  calls: readonly ToolCallPart[],
): Promise<ToolStep> {
  const { callsPerReply, concurrentTools } = run.limits
  const withinLimit = new Set(callsOf(replyEntry.message).slice(0, callsPerReply))
  const runnable = calls.filter((call) => withinLimit.has(call))
  const surplus = calls.filter((call) => !withinLimit.has(call))
  const step: Step = {
    run,
    history,
    replyEntry,
    tools: callableTools(run, history),
    repeats: run.repeats && repeatNotes(history, runnable, run.repeats),
    single: calls.length === 1,
    entries: [],
    waiting: [],
    reported: 0,
    stopped: false,
    isPending: false,
  }
  // All started tools are awaited, even if one could not be recorded: their results must still be stored.
  const queue = runnable.values()
  const workers = Math.min(concurrentTools, runnable.length)
  const ends = await Promise.allSettled(Array.from({ length: workers }, () => work(step, queue)))
  // Last, so that the results are in the order of their calls and need not be sorted for each request.
  if (surplus.length > 0 && !step.stopped) await answerSurplus(step, surplus)
  if (!step.isPending) while (step.reported < step.entries.length) reportNext(step)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return { entries: step.entries, waiting: step.waiting }
}

async function work(step: Step, queue: Iterable<ToolCallPart>): Promise<void> {
  for (const call of queue) {
    // A call that is not started stays open in the log, for a run that continues from there.
    if (step.stopped || step.run.signal.aborted) return
    try {
      await answerCall(step, call)
    } catch (error) {
      step.stopped = true
      throw error
    }
  }
}

async function answerSurplus(step: Step, surplus: readonly ToolCallPart[]): Promise<void> {
  const { run, replyEntry } = step
  const { callsPerReply } = run.limits
  const { length } = callsOf(replyEntry.message)
  const why = `The reply has ${length} calls; at most ${callsPerReply} of one reply are run.`
  await run.pending?.settled()
  run.emit({ type: 'guard', action: 'warned', guard: 'calls-per-reply', why })
  // In several commits, to bound the memory they take: those that a crash leaves open are answered next time.
  for (let i = 0; i < surplus.length; i += partsPerMessage) {
    const parts = surplus
      .slice(i, i + partsPerMessage)
      .map((call) => notRun(call, `Not run: too many calls, at most ${callsPerReply} of one reply are run.`))
    const message: ToolMessage = { role: 'tool', parts }
    addEntry(step, await run.store.append(run.owner, run.conversationId, { message }, run.write()))
  }
}

async function answerCall(step: Step, call: ToolCallPart): Promise<void> {
  const { run, tools, replyEntry } = step
  const { conversationId, owner, context, signal } = run
  const hooked = await beforeTool(run, call)
  if ('deny' in hooked) return runAndRecord(step, call, async () => notRun(call, hooked.deny))
  const ready = await readCall(tools, hooked.call)
  if ('problem' in ready) return runAndRecord(step, call, async () => notRun(call, ready.problem))
  const tool = tools.find((candidate) => candidate.name === call.name)
  if (await needsApproval(ready.asks)) {
    await run.pending?.settled()
    const answer = await answerTo(run, replyEntry, call, tool?.askTimeoutMs)
    if (answer.state === 'waiting') return void step.waiting.push(answer.approval)
    if (answer.state === 'denied') return runAndRecord(step, call, async () => notRun(call, answer.why))
  }
  const progress = (value: Json) => run.emit({ type: 'tool-progress', call, value })
  const about = { conversationId, owner, context, signal, timeoutMs: tool?.timeoutMs, progress }
  return runAndRecord(step, call, () => runTool(call, ready, about), tool?.repeatable === true)
}

/** Records the start of a call, runs it, and records its result. */
async function runAndRecord(
  step: Step,
  call: ToolCallPart,
  result: () => Promise<ToolResultPart>,
  repeatable: boolean = false,
): Promise<void> {
  const { run, history, replyEntry } = step
  const { store, owner, conversationId, pending } = run
  const started = { callId: call.callId, entryId: replyEntry.id, name: call.name, argsSha256: argsHashOf(call) }
  const starting = store.startTool(owner, conversationId, { ...started, repeatable }, run.write())
  // Earlier writes are reported first; if one has failed, the error says why.
  starting.catch(() => {})
  await pending?.settled()
  await starting
  run.emit({ type: 'tool-start', call })
  const { part: limited, cut } = await limitResult(await afterTool(run, call, await result()), run.limits.resultSize)
  const note = step.repeats?.(call, limited)
  const part = note ? withNote(limited, note.toModel) : limited
  const outcome = run.signal.aborted && part.failed ? 'unknown' : part.failed ? 'failed' : 'done'
  const message = await ownLongResult({ role: 'tool', parts: [part] })
  const report = (): void => {
    run.emit({ type: 'tool-end', call, result: part })
    if (note) run.emit({ type: 'guard', action: 'warned', ...note.reason })
    if (cut > 0) warnOfCut(run, call, cut)
  }
  // Several results are in the order of their arrival, which the store decides.
  if (pending && step.single && history.at(-1) === replyEntry && !carriesMedia(message)) {
    const { entry, fresh } = pending.entryAfter(history, conversationId, message)
    const end = { outcome, result: fresh } as const
    pending.add(store.finishTool(owner, conversationId, call.callId, end, run.write()), () => {
      report()
      reportNext(step)
    })
    step.entries.push(entry)
    step.isPending = true
    return
  }
  const end = { outcome, result: { message } } as const
  const { entry } = await store.finishTool(owner, conversationId, call.callId, end, run.write())
  report()
  addEntry(step, entry)
}

function warnOfCut(run: LoopContext, call: ToolCallPart, cut: number): void {
  const why = `${cut} bytes of the result of ${call.name} were not kept: it has more than ${run.limits.resultSize}.`
  run.emit({ type: 'guard', action: 'warned', guard: 'result-size', why })
}

/** Concurrent writes may be acknowledged in another order: each event is emitted after the earlier ones. */
function addEntry(step: Step, entry: Entry): void {
  const { entries, history } = step
  entries.push(entry)
  if (entries.length > 1) entries.sort((a, b) => a.depth - b.depth)
  while (entries[step.reported]?.depth === history.length + step.reported) reportNext(step)
}

function reportNext(step: Step): void {
  const entry = step.entries[step.reported++]
  if (entry) step.run.emit({ type: 'message', entryId: entry.id, message: entry.message })
}

/** An entry of the log must not grow without limit. */
const partsPerMessage = 1000

/** If the check for approval fails, approval is required. */
async function needsApproval(asks: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await asks()
  } catch {
    return true
  }
}

/** Checks a call before it is run: whether the tool exists, and whether its arguments are valid. */
export async function readCall(tools: readonly Tool[], call: ToolCallPart): Promise<ReadCall | InputProblem> {
  const { name, malformed } = call
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) {
    const names = tools.map((candidate) => candidate.name).join(', ') || 'none'
    return { problem: `There is no tool named ${name}. Known tools: ${names}.` }
  }
  if (malformed !== undefined) {
    return { problem: `The arguments are not a JSON object, so ${name} was not run: ${malformed}` }
  }
  try {
    const schema = inputSchemaOf(tool)
    const required = requiredFields(schema)
    if (required.length > 0 && isEmpty(call.input)) {
      const fields = required.map((field) => JSON.stringify(field)).join(', ')
      return { problem: `${name} was not run: no arguments came, and it needs ${fields}. Call it again with them.` }
    }
    const input = unwrapInput(schema, call.input)
    if (tool.read) return await tool.read(input)
    const problem = await checkInput(name, schema, input)
    if (problem !== undefined) return { problem }
    const { ask } = tool
    const value = tool.kind === 'free-form' ? (freeFormText(input) ?? input) : input
    return {
      run: (run) => tool.run(value, run),
      asks: () => (typeof ask === 'function' ? ask(value) : ask === true),
    }
  } catch (error) {
    return { problem: `${name} was not run: ${errorMessage(error)}` }
  }
}

/** Checked without a validator: a call that lost its arguments is never run, whatever else is in the schema. */
function requiredFields({ required }: JsonObject): string[] {
  return Array.isArray(required) ? required.filter((field) => typeof field === 'string') : []
}

function isEmpty(input: Json): boolean {
  return isObject(input) && Object.keys(input).length === 0
}
