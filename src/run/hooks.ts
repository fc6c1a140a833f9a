// Hooks of the application around requests, tools and replies. What they change, deny or note is an event of the run,
// and a note of the request.

import type { HookEvent } from '../core/event.ts'
import type { Note } from '../core/context.ts'
import { SynapseError } from '../core/error.ts'
import type { Json } from '../core/json.ts'
import type { Reply, ToolCallPart, ToolResultPart } from '../core/message.ts'
import type { Hooks, HookPlace } from '../settings/run.ts'
import type { Options } from '../settings/options.ts'
import type { LoopContext, RunContext } from './run-context.ts'

const hookPlace = ({ conversationId, owner, context }: LoopContext): HookPlace => ({ conversationId, owner, context })

/** What a hook has changed in a request: settings for this one, and notes. Throws if it was denied. */
export async function beforeRequest(
  run: LoopContext,
  about: Pick<Parameters<NonNullable<Hooks['beforeRequest']>>[0], 'step' | 'kind' | 'model' | 'messages'>,
): Promise<Partial<Pick<RunContext, 'system' | 'options' | 'hookNotes'>>> {
  const result = await run.hooks?.beforeRequest?.({ ...hookPlace(run), ...about })
  if (!result) return {}
  if (result.deny !== undefined) {
    emitHook(run, { hook: 'beforeRequest', action: 'denied', why: result.deny })
    throw new SynapseError({ kind: 'refused', message: result.deny })
  }
  const changed = [...(result.system === undefined ? [] : ['system']), ...(result.options ? ['options'] : [])]
  const why = result.note ?? 'a hook of the application'
  if (changed.length > 0 || result.note !== undefined) {
    emitHook(run, { hook: 'beforeRequest', action: changed.length > 0 ? 'changed' : 'noted', why })
  }
  const hookNotes: Note[] = changed.map((what) => ({ kind: 'changed', what, why, rule: 'hook' }))
  if (hookNotes.length === 0 && result.note !== undefined) {
    hookNotes.push({ kind: 'changed', what: 'nothing', why: result.note, rule: 'hook' })
  }
  const options: Options | undefined = result.options && { ...run.options, ...result.options }
  return {
    hookNotes,
    ...(result.system !== undefined && { system: [{ type: 'text' as const, text: result.system }] }),
    ...(options && { options }),
  }
}

/** Why the run should end after this reply; undefined: it should not. */
export async function afterReply(run: LoopContext, reply: Reply): Promise<string | undefined> {
  if (run.hooks?.afterReply) await run.pending?.settled()
  const result = await run.hooks?.afterReply?.({ ...hookPlace(run), reply })
  if (result?.deny !== undefined) emitHook(run, { hook: 'afterReply', action: 'denied', why: result.deny })
  else if (result?.note !== undefined) emitHook(run, { hook: 'afterReply', action: 'noted', why: result.note })
  return result?.deny
}

/** The call to run, or why it is not run. The log keeps what the model asked for. */
export async function beforeTool(
  run: LoopContext,
  call: ToolCallPart,
): Promise<{ call: ToolCallPart } | { deny: string }> {
  if (run.hooks?.beforeTool) await run.pending?.settled()
  const result = await run.hooks?.beforeTool?.({ ...hookPlace(run), call })
  if (result?.deny !== undefined) {
    emitHook(run, { hook: 'beforeTool', action: 'denied', why: result.deny, callId: call.callId })
    return { deny: `${call.name} was not run: ${result.deny}` }
  }
  const changed = result?.input !== undefined
  if (changed || result?.note !== undefined) {
    const why = result?.note ?? 'a hook of the application'
    emitHook(run, { hook: 'beforeTool', action: changed ? 'changed' : 'noted', why, callId: call.callId })
  }
  return { call: changed ? { ...call, input: result.input as Json } : call }
}

/** The result to store and send. */
export async function afterTool(run: LoopContext, call: ToolCallPart, result: ToolResultPart): Promise<ToolResultPart> {
  const hooked = await run.hooks?.afterTool?.({ ...hookPlace(run), call, result })
  const output = hooked?.deny ?? hooked?.output
  if (output === undefined) {
    if (hooked?.note !== undefined)
      emitHook(run, { hook: 'afterTool', action: 'noted', why: hooked.note, callId: call.callId })
    return result
  }
  const why = hooked?.deny ?? hooked?.note ?? 'a hook of the application'
  emitHook(run, {
    hook: 'afterTool',
    action: hooked?.deny === undefined ? 'changed' : 'denied',
    why,
    callId: call.callId,
  })
  const { value: _, ...others } = result
  return {
    ...others,
    output: typeof output === 'string' ? [{ type: 'text', text: output }] : [...output],
    ...(hooked?.deny !== undefined && { failed: true }),
  }
}

function emitHook(run: LoopContext, event: Omit<HookEvent, 'type'>): void {
  run.emit({ type: 'hook', ...event })
}
