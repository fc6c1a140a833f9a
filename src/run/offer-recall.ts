// When a model is offered `recall`. Its definition is paid for with every request, and adding it later breaks the cached
// prefix before the first message: what stands there is written again. So a run with tools and a long system prompt has
// it from the start, and any other one as soon as something is folded, cut or summarised.

import type { Entry } from '../core/log.ts'
import type { Message, ToolResultPart } from '../core/message.ts'
import type { Tool } from '../core/tool.ts'
import { estimateHead, sentView, type RequestDraft } from '../context/assemble.ts'
import type { Decisions } from '../context/decisions.ts'
import { recallName } from '../context/mention-recall.ts'
import type { View } from '../context/view.ts'
import { settingsOf, type PolicySettings } from '../settings/policy.ts'
import { recallSpec, recallTool } from './recall.ts'
import type { LoopContext, RunContext } from './run-context.ts'

/** Tokens of system and tools from which on it is cheaper to offer it from the start. */
const longHead = 1500

type Offering = Pick<RunContext, 'tools' | 'policy' | 'endpoint' | 'system'>

function isWanted({ tools, policy }: Pick<RunContext, 'tools' | 'policy'>): boolean {
  return settingsOf(policy).recall !== false && !tools.some((tool) => tool.name === recallName)
}

/** The tools that a run can call: its own, and `recall` over the path that it continues. */
export function callableTools(run: LoopContext, history: readonly Entry[]): readonly Tool[] {
  if (!isWanted(run)) return run.tools
  return [...run.tools, recallTool(run.store, run.owner, run.conversationId, async () => history)]
}

/** Whether it is offered before anything is decided for this request. */
function offersRecallFromStart(run: Offering): boolean {
  if (!isWanted(run) || !run.endpoint.capabilities.tools || run.tools.length === 0) return false
  return leavesOut(settingsOf(run.policy)) && estimateHead(run.system, run.tools) >= longHead
}

function leavesOut({ maxToolTurns, maxMessages, maxTokens }: PolicySettings): boolean {
  return [maxToolTurns, maxMessages, maxTokens].some((limit) => typeof limit === 'number')
}

/** Whether something of the history is not in the request. */
export function offersRecall(run: Offering, draft: RequestDraft, view: View, decisions: Decisions): boolean {
  if (!isWanted(run) || !run.endpoint.capabilities.tools) return false
  if (offersRecallFromStart(run) || decisions.compactions.some((one) => one.text !== undefined)) return true
  if (draft.history.some(isShownInPart)) return true
  const settings = settingsOf(run.policy)
  const { notes } = sentView(view, settings, decisions, draft.target)
  // Where the provider leaves results out itself, nothing else is broken by that: a new tool would be what breaks it.
  const byProvider = settings.fold === 'provider' && draft.target.capabilities.contextEdits
  return notes.some((note) => (note.rule === 'tool-turns' && !byProvider) || note.rule === 'window')
}

export function withRecall<D extends RequestDraft>(draft: D): D {
  return draft.recall ? draft : { ...draft, tools: [...(draft.tools ?? []), recallSpec], recall: true }
}

/** A result of which the model was shown less than there is. */
function isShownInPart({ role, parts }: Message): boolean {
  if (role !== 'tool') return false
  return (parts as readonly ToolResultPart[]).some(({ value, output }) => {
    if (typeof value !== 'string') return false
    const [first] = output
    return first?.type === 'text' && first.text.length < value.length
  })
}
