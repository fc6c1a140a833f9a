// When `recall` is offered to a model. Its definition costs tokens in every request, and adding it later breaks the
// cached prefix before the first message. So a run with tools and a long system prompt has it from the start, and any
// other run as soon as something is folded, cut or summarised.

import type { Entry } from '../../core/log.ts'
import type { Message, ToolResultPart } from '../../core/message.ts'
import type { Tool } from '../../core/tool.ts'
import { estimateHead, sentView, type RequestDraft } from '../../context/assemble.ts'
import type { Decisions } from '../../context/decisions.ts'
import { recallName } from '../../context/mention-recall.ts'
import { hasOne } from '../../context/prefix-memo.ts'
import type { View } from '../../context/view.ts'
import { settingsOf, type PolicySettings } from '../../settings/policy.ts'
import { readWhole } from '../log/path-cache.ts'
import { recallSpec, recallTool } from './recall.ts'
import type { LoopContext, RunContext } from '../run-context.ts'

/** From this many tokens of system and tools on, it is cheaper to offer it from the start. */
const longHead = 1500

type Offering = Pick<RunContext, 'tools' | 'policy' | 'endpoint' | 'system'>

function isWanted({ tools, policy }: Pick<RunContext, 'tools' | 'policy'>): boolean {
  return settingsOf(policy).recall !== false && !tools.some((tool) => tool.name === recallName)
}

/** Whether a call is one of `recall` that the run itself answers. */
export function isOwnRecall(run: Pick<RunContext, 'tools' | 'policy'>, { name }: { name: string }): boolean {
  return name === recallName && isWanted(run)
}

/** The tools that a run can call: its own, and `recall` for its path. */
export function callableTools(run: LoopContext, history: readonly Entry[]): readonly Tool[] {
  if (!isWanted(run)) return run.tools
  return [...run.tools, recallTool(run.store, run.owner, run.conversationId, () => readWhole(run, history))]
}

/** Whether it is offered before any decision for this request. */
function offersRecallFromStart(run: Offering): boolean {
  if (!isWanted(run) || !run.endpoint.capabilities.tools || run.tools.length === 0) return false
  return leavesOut(settingsOf(run.policy)) && estimateHead(run.system, run.tools) >= longHead
}

function leavesOut({ maxToolTurns, maxMessages, maxTokens }: PolicySettings): boolean {
  return [maxToolTurns, maxMessages, maxTokens].some((limit) => typeof limit === 'number')
}

/** Whether a part of the history is missing from the request. */
export function offersRecall(run: Offering, draft: RequestDraft, view: View, decisions: Decisions): boolean {
  if (!isWanted(run) || !run.endpoint.capabilities.tools) return false
  if (offersRecallFromStart(run) || decisions.compactions.some((one) => one.text !== undefined)) return true
  if (someShownInPart(draft.history)) return true
  const settings = settingsOf(run.policy)
  const { notes } = sentView(view, settings, decisions, draft.target)
  // If the provider drops results itself, nothing else breaks the cache: a new tool would be what breaks it.
  const byProvider = settings.fold === 'provider' && draft.target.capabilities.contextEdits
  return notes.some((note) => (note.rule === 'tool-turns' && !byProvider) || note.rule === 'window')
}

export function withRecall<D extends RequestDraft>(draft: D): D {
  return draft.recall ? draft : { ...draft, tools: [...(draft.tools ?? []), recallSpec], recall: true }
}

const someShownInPart = hasOne(isShownInPart)

/** A result that the model has seen only in part. */
function isShownInPart({ role, parts }: Message): boolean {
  if (role !== 'tool') return false
  return (parts as readonly ToolResultPart[]).some(({ value, output }) => {
    if (typeof value !== 'string') return false
    const [first] = output
    return first?.type === 'text' && first.text.length < value.length
  })
}
