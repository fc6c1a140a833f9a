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

const placeOf = ({ conversationId, owner, context }: LoopContext): HookPlace => ({ conversationId, owner, context })

/** What a hook has changed in a request: settings for this one, and notes. Throws if it was denied. */
export async function beforeRequest(
  run: LoopContext,
  about: Pick<Parameters<NonNullable<Hooks['beforeRequest']>>[0], 'step' | 'kind' | 'model' | 'messages'>,
): Promise<Partial<Pick<RunContext, 'system' | 'options' | 'hookNotes'>>> {
  const said = await run.hooks?.beforeRequest?.({ ...placeOf(run), ...about })
  if (!said) return {}
  if (said.deny !== undefined) {
    tell(run, { hook: 'beforeRequest', action: 'denied', why: said.deny })
    throw new SynapseError({ kind: 'refused', message: said.deny })
  }
  const changed = [...(said.system === undefined ? [] : ['system']), ...(said.options ? ['options'] : [])]
  const why = said.note ?? 'a hook of the application'
  if (changed.length > 0 || said.note !== undefined) {
    tell(run, { hook: 'beforeRequest', action: changed.length > 0 ? 'changed' : 'noted', why })
  }
  const hookNotes: Note[] = changed.map((what) => ({ kind: 'changed', what, why, rule: 'hook' }))
  if (hookNotes.length === 0 && said.note !== undefined) {
    hookNotes.push({ kind: 'changed', what: 'nothing', why: said.note, rule: 'hook' })
  }
  const options: Options | undefined = said.options && { ...run.options, ...said.options }
  return {
    hookNotes,
    ...(said.system !== undefined && { system: [{ type: 'text' as const, text: said.system }] }),
    ...(options && { options }),
  }
}

/** Why the run should end after this reply; undefined: it should not. */
export async function afterReply(run: LoopContext, reply: Reply): Promise<string | undefined> {
  if (run.hooks?.afterReply) await run.pending?.settled()
  const said = await run.hooks?.afterReply?.({ ...placeOf(run), reply })
  if (said?.deny !== undefined) tell(run, { hook: 'afterReply', action: 'denied', why: said.deny })
  else if (said?.note !== undefined) tell(run, { hook: 'afterReply', action: 'noted', why: said.note })
  return said?.deny
}

/** The call to run, or why it is not run. The log keeps what the model asked for. */
export async function beforeTool(
  run: LoopContext,
  call: ToolCallPart,
): Promise<{ call: ToolCallPart } | { deny: string }> {
  if (run.hooks?.beforeTool) await run.pending?.settled()
  const said = await run.hooks?.beforeTool?.({ ...placeOf(run), call })
  if (said?.deny !== undefined) {
    tell(run, { hook: 'beforeTool', action: 'denied', why: said.deny, callId: call.callId })
    return { deny: `${call.name} was not run: ${said.deny}` }
  }
  const changed = said?.input !== undefined
  if (changed || said?.note !== undefined) {
    const why = said?.note ?? 'a hook of the application'
    tell(run, { hook: 'beforeTool', action: changed ? 'changed' : 'noted', why, callId: call.callId })
  }
  return { call: changed ? { ...call, input: said.input as Json } : call }
}

/** The result to store and send. */
export async function afterTool(run: LoopContext, call: ToolCallPart, result: ToolResultPart): Promise<ToolResultPart> {
  const said = await run.hooks?.afterTool?.({ ...placeOf(run), call, result })
  const output = said?.deny ?? said?.output
  if (output === undefined) {
    if (said?.note !== undefined) tell(run, { hook: 'afterTool', action: 'noted', why: said.note, callId: call.callId })
    return result
  }
  const why = said?.deny ?? said?.note ?? 'a hook of the application'
  tell(run, { hook: 'afterTool', action: said?.deny === undefined ? 'changed' : 'denied', why, callId: call.callId })
  const { value: _, ...rest } = result
  return {
    ...rest,
    output: typeof output === 'string' ? [{ type: 'text', text: output }] : [...output],
    ...(said?.deny !== undefined && { failed: true }),
  }
}

function tell(run: LoopContext, event: Omit<HookEvent, 'type'>): void {
  run.emit({ type: 'hook', ...event })
}
