// From a history to the request that carries it: policies decide what is sent, the protocol decides how it is written.
// Pure, and the only way to a body: what `inspect` shows is what would be sent.
//
// Without recorded decisions a request counts as the first one to this model: no cache holds anything, so whatever may
// go goes.

import type { Context, Note, StateRef, ToolSpec } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { Message, TextPart } from '../core/message.ts'
import { asFunction } from '../core/tool-kinds.ts'
import { answerInWords } from '../wires/shared/answer.ts'
import { cleanJson } from '../wires/shared/clean-json.ts'
import type { Capabilities, Encoded, Wire, Target } from '../wires/wire.ts'
import { inputSchemaOf } from '../wires/tool-schema/root.ts'
import { estimateJson, estimateTokens, sizesOf } from './count.ts'
import { applyCuts, applyRewrites, noDecisions, type Decisions, type FoldDecision } from './decisions.ts'
import { fitMedia } from './fit-media.ts'
import { fit, limitOf } from './fit.ts'
import { tokensBeyond } from './images.ts'
import { mentionRecall } from './mention-recall.ts'
import { cacheMarks, lastBreak } from './cache-marks.ts'
import { proposeByMoney, usualFloor, withProposal, type PlanFacts } from './proposals.ts'
import { withQuestionLast } from './question-last.ts'
import { settingsOf, type Policy, type PolicySettings } from '../settings/policy.ts'
import { withSearchResultsAsText } from './search-results.ts'
import { stepwise } from './steps.ts'
import { beforeFold, isFold } from './tool-turns.ts'
import { wholeView, type View } from './view.ts'
import { window } from './window.ts'

export interface RequestDraft {
  history: readonly Message[]
  system?: string | readonly TextPart[]
  tools?: readonly ToolSpec[]
  policy?: Policy
  protocol: Wire
  target: Target
  /** See `Context`. */
  compactAt?: number
  fromLog?: boolean
  /** `recall` is among the tools, so what is left out can be read again. */
  recall?: boolean
  /** What was decided so far. Given, nothing is decided here. */
  decisions?: Decisions
  /** What the provider holds of it, if it holds exactly the beginning of what would be sent. */
  state?: (context: Context) => StateRef | undefined
}

export interface Assembled extends Encoded {
  context: Context
  /** What the model sees of it: less than is sent, where the provider leaves something out itself. */
  seen: Pick<View, 'messages' | 'places'>
  estimate: Estimate
}

export interface Estimate {
  /** Tokens of the whole prompt, by estimate. */
  input: number
}

export function assemble(draft: RequestDraft): Assembled {
  const { context, notes, seen } = contextOf(draft)
  const encoded = encodeWithExtraTools(draft, context)
  const input = sizeOf(seen, estimateHead(context.system, context.tools), draft.target)
  return { ...encoded, notes: [...notes, ...encoded.notes], context, seen, estimate: { input } }
}

/**
 * Tools in `options.extra`, such as a provider's own search, are sent beside the tools of the caller. The wire says how
 * those are written, so it is asked twice.
 */
function encodeWithExtraTools({ protocol, target }: RequestDraft, context: Context): Encoded {
  const { tools: added, ...extra } = target.options.extra ?? {}
  if (!Array.isArray(added) || context.tools.length === 0) return protocol.encode(context, target)
  const { tools: own } = protocol.encode(context, withExtra(target, extra)).body
  if (!Array.isArray(own) || own.length === 0) return protocol.encode(context, target)
  const encoded = protocol.encode(context, withExtra(target, { ...extra, tools: [...own, ...added] }))
  const note: Note = {
    kind: 'added',
    what: `${added.length} tools of the provider`,
    why: 'they are sent beside the tools of the caller',
    at: 'options.extra.tools',
  }
  return { ...encoded, notes: [...encoded.notes, note] }
}

function withExtra(target: Target, extra: JsonObject): Target {
  return { ...target, options: { ...target.options, extra } }
}

/** Everything but the encoding. */
export function contextOf(draft: RequestDraft): Pick<Assembled, 'context' | 'notes' | 'seen'> {
  const settings = settingsOf(draft.policy ?? 'full')
  const base = baseView(draft)
  const system = systemOf(draft, settings)
  const { tools, notes } = sendable(draft.tools ?? [], draft.target.capabilities)
  const inWords = answerInWords(draft.target, tools.length > 0)
  if (inWords) notes.push(inWords.note)
  const head = estimateHead(system, tools)
  const whole = draft.decisions
    ? sentView(base, settings, draft.decisions, draft.target)
    : firstView(base, settings, draft.target, head)
  const view = withQuestionLast(withMention(whole, draft), draft.target)
  const { capabilities } = draft.target
  const edited = capabilities.contextEdits ? unfolded(view, capabilities) : { ...view, cleared: 0 }
  const context: Context = {
    system,
    messages: edited.messages,
    tools,
    ...(edited.cleared > 0 && { cleared: edited.cleared }),
    ...(draft.compactAt !== undefined && { compactAt: draft.compactAt }),
    ...(draft.fromLog && { fromLog: true }),
    cacheAfter: capabilities.cacheMarks ? cacheMarks(view, settings, lastBreak(base, settings, draft.decisions)) : [],
    places: view.places,
  }
  const state = draft.state?.(context)
  return { context: { ...context, ...(state && { state }) }, notes: [...notes, ...edited.notes], seen: view }
}

/** With the sentence about `recall`, where it is offered. What the provider leaves out itself is sent as it was. */
export function withMention(view: View, { recall, target }: Pick<RequestDraft, 'recall' | 'target'>): View {
  if (!recall) return view
  const { contextEdits } = target.capabilities
  return mentionRecall(view, (message) => isFold(message) && !(contextEdits && beforeFold(message)))
}

/** Providers refuse two tools of one name, and text that is not Unicode. The first tool is the one that a run calls. */
function sendable(given: readonly ToolSpec[], { toolKinds }: Capabilities): { tools: ToolSpec[]; notes: Note[] } {
  const byName = new Map<string, ToolSpec>()
  const notes: Note[] = []
  const tools = toolKinds ? given : given.map(plainFunction)
  for (const [i, tool] of tools.entries()) {
    if (byName.has(tool.name)) {
      const what = `a second tool ${JSON.stringify(tool.name)}`
      notes.push({ kind: 'dropped', what, why: 'the first is the one that is run' })
    } else byName.set(tool.name, cleanTool(tool, `tools[${i}]`, notes))
  }
  return { tools: [...byName.values()], notes }
}

const functions = new WeakMap<ToolSpec, ToolSpec>()

/** The same object each time: what is known about a tool is kept beside it. */
function plainFunction(tool: ToolSpec): ToolSpec {
  if (tool.kind === undefined) return tool
  const known = functions.get(tool) ?? asFunction(tool)
  functions.set(tool, known)
  return known
}

function cleanTool(tool: ToolSpec, at: string, notes: Note[]): ToolSpec {
  if (cleanTools.has(tool)) return tool
  const { description } = tool
  const input = inputSchemaOf(tool)
  const words = { ...(description !== undefined && { description }), input }
  const clean = cleanJson(words, at, notes)
  if (clean !== words || input !== tool.input) return { ...tool, ...clean }
  cleanTools.add(tool)
  return tool
}

const cleanTools = new WeakSet<ToolSpec>()

/** Everything as it was before folds that the provider makes itself, and how far they reach. */
function unfolded(view: View, capabilities: Capabilities): { messages: Message[]; notes: Note[]; cleared: number } {
  const cleared = view.messages.findLastIndex((message) => beforeFold(message) !== undefined) + 1
  if (cleared === 0) return { ...view, cleared }
  const messages = view.messages.map((message) => beforeFold(message) ?? message)
  return { ...fitMedia({ ...view, messages }, capabilities), cleared }
}

/** The history in pairs, with summaries in their place and without the messages that open it as the system prompt. */
export function baseView(draft: RequestDraft): View {
  const { history, protocol, target, decisions = noDecisions } = draft
  const first = openingOf(history).length
  const reader = { provider: target.provider, protocol: protocol.id, model: target.model }
  const view = wholeView(first === 0 ? history : history.slice(first), first)
  return applyRewrites(withSearchResultsAsText(view, protocol.id), decisions, reader)
}

function openingOf(history: readonly Message[]): readonly Message[] {
  const first = history.findIndex((message) => message.role !== 'system')
  return history.slice(0, first < 0 ? history.length : first)
}

export function estimateHead(system: readonly TextPart[], tools: readonly ToolSpec[]): number {
  let tokens = 0
  for (const part of system) tokens += estimateTokens(part.text)
  for (const tool of tools) tokens += estimateTool(tool)
  return tokens
}

/** System messages that open a history are the system prompt; every wire has its own place for that. */
export function systemOf(
  { system: given, history, target, tools = [] }: RequestDraft,
  { pinned }: PolicySettings,
): TextPart[] {
  const system: TextPart[] = typeof given === 'string' ? [{ type: 'text', text: given }] : [...(given ?? [])]
  for (const message of openingOf(history)) if (message.role === 'system') system.push(...message.parts)
  const inWords = answerInWords(target, tools.length > 0)
  if (inWords) system.push({ type: 'text', text: inWords.text })
  return pinned === undefined ? system : [{ type: 'text', text: pinned }, ...system]
}

/** As recorded: nothing is decided but what follows from the messages alone. */
export function sentView(base: View, settings: PolicySettings, decisions: Decisions, target: Target): View {
  const limit = limitOf(target.capabilities, target.options, settings)
  const cut = stepwise(applyCuts(base, decisions), settings)
  return fit(cut, limit, target.capabilities)
}

/** As for a model that was never asked before. */
function firstView(base: View, settings: PolicySettings, target: Target, head: number): View {
  const limit = limitOf(target.capabilities, target.options, settings)
  const situation: PlanFacts = {
    view: base,
    decisions: noDecisions,
    settings,
    head,
    provider: target.provider,
    model: target.model,
    requests: 0,
    cache: { read: 1, write: 1, minimum: 0, lifetimeMs: 0 },
    cold: true,
    limit,
  }
  const decisions = withoutTime(proposeByMoney(situation).reduce(withProposal, noDecisions))
  const view = sentView(base, settings, decisions, target)
  if (sizeOf(view, head, target) <= limit) return view
  const folding: PolicySettings = { ...settings, rhythm: 'steps', maxToolTurns: settings.maxToolTurns ?? usualFloor }
  const folded = sentView(base, folding, decisions, target)
  if (sizeOf(folded, head, target) <= limit) return folded
  const sizes = sizesOf(folded.messages)
  const room = Math.max(0, limit - head)
  const downTo = Math.max(0, limit * (settings.floor ?? 0.5) - head)
  return window(folded, { most: room, downTo, sizes }, `over the ${limit} tokens that the model can be given`)
}

/** Nothing is recorded, so the text of a fold must not depend on when it was made. */
function withoutTime(decisions: Decisions): Decisions {
  const timeless = (fold: FoldDecision): FoldDecision => {
    const { at: _, ...rest } = fold
    return rest
  }
  return { ...decisions, folds: decisions.folds.map(timeless) }
}

export function sizeOf({ messages }: Pick<View, 'messages'>, head: number, { capabilities }: Target): number {
  let tokens = head + tokensBeyond(messages, capabilities.imageTokens)
  for (const size of sizesOf(messages)) tokens += size
  return tokens
}

const counted = new WeakMap<ToolSpec, number>()

function estimateTool(tool: ToolSpec): number {
  let tokens = counted.get(tool)
  if (tokens === undefined) {
    const { name, description, input } = tool
    tokens = estimateJson({ name, description, input })
    counted.set(tool, tokens)
  }
  return tokens
}
