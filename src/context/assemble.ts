// From a history to the request that carries it: policies decide what is sent, the wire decides how it is encoded.
// Pure, and the only way to a body: `inspect` shows exactly what would be sent.
//
// Without recorded decisions a request counts as the first one to this model: nothing is cached, so everything that may
// be folded is folded.

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
import { withServerTools } from './server-tools.ts'
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
  /** `recall` is among the tools, so what is left out can be retrieved. */
  recall?: boolean
  /** Earlier decisions. If given, nothing is decided here. */
  decisions?: Decisions
  /** The provider's state, if it has exactly the beginning of the request. */
  state?: (context: Context) => StateRef | undefined
}

export interface Assembled extends Encoded {
  context: Context
  /** What the model sees: less than is sent, if the provider drops something itself. */
  seen: Pick<View, 'messages' | 'places'>
  estimate: Estimate
}

export interface Estimate {
  /** Tokens of the whole prompt, by estimate. */
  input: number
}

export function assemble(given: RequestDraft): Assembled {
  const server = withServerTools(given.tools ?? [], given.target, given.protocol)
  const draft = { ...given, tools: server.tools, target: server.target }
  const { context, notes, seen } = contextOf(draft)
  const encoded = encodeWithExtraTools(draft, context)
  const input = sizeOf(seen, estimateHead(context.system, context.tools), draft.target)
  return { ...encoded, notes: [...server.notes, ...notes, ...encoded.notes], context, seen, estimate: { input } }
}

/**
 * The same for a request that is sent as a client wrote it: encoded only if that is needed, at the end for its origins,
 * because the client waits. A reply that is bound to its prefix needs it at once.
 */
export function assembleLater(given: RequestDraft): Assembled {
  if (given.target.capabilities.boundReasoning) return assemble(given)
  const { tools, target } = withServerTools(given.tools ?? [], given.target, given.protocol)
  const draft = { ...given, tools, target }
  const { context, seen } = contextOf(draft)
  const input = sizeOf(seen, estimateHead(context.system, context.tools), target)
  let encoded: Encoded | undefined
  const made = (): Encoded => (encoded ??= encodeWithExtraTools(draft, context))
  return {
    context,
    seen,
    estimate: { input },
    // Nothing that an encoder would note has happened to it.
    notes: [],
    toolNames: {},
    get path() {
      return made().path
    },
    get body() {
      return made().body
    },
    get origins() {
      return made().origins
    },
  }
}

/**
 * Tools in `options.extra`, such as a provider's own search, are sent with the tools of the caller. The wire decides
 * their form, so the request is encoded twice.
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
    why: 'they are sent with the tools of the caller',
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

/** With the sentence about `recall`, if it is offered. What the provider drops itself is sent unchanged. */
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

/** The same object each time: what is known about a tool is cached by it. */
function plainFunction(tool: ToolSpec): ToolSpec {
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

/** The view before folds that the provider makes itself, and how far they reach. */
function unfolded(view: View, capabilities: Capabilities): { messages: Message[]; notes: Note[]; cleared: number } {
  const cleared = view.messages.findLastIndex((message) => beforeFold(message) !== undefined) + 1
  if (cleared === 0) return { ...view, cleared }
  const messages = view.messages.map((message) => beforeFold(message) ?? message)
  return { ...fitMedia({ ...view, messages }, capabilities), cleared }
}

/** The paired history, with summaries applied and without the leading system messages. */
export function baseView(draft: RequestDraft): View {
  const { history, protocol, target, fromLog, decisions = noDecisions } = draft
  const reader = { provider: target.provider, protocol: protocol.id, model: target.model }
  // Cached only for lists from a log, which no caller can change.
  const paired = fromLog ? pairedOnce(history) : pairedView(history)
  const key = [decisions, reader.provider, reader.protocol, reader.model]
  return onceFor(bases, paired, key, () =>
    applyRewrites(withSearchResultsAsText(paired, protocol.id), decisions, reader),
  )
}

interface Made {
  key: readonly unknown[]
  view: View
}

/** The last result for a view: a plan needs the same one several times. */
function onceFor(made: WeakMap<View, Made>, of: View, key: readonly unknown[], make: () => View): View {
  const known = made.get(of)
  if (known?.key.every((one, i) => one === key[i])) return known.view
  const view = make()
  made.set(of, { key, view })
  return view
}

const bases = new WeakMap<View, Made>()
const sents = new WeakMap<View, Made>()

const pairedViews = new WeakMap<readonly Message[], View>()

function pairedOnce(history: readonly Message[]): View {
  const view = pairedViews.get(history) ?? pairedView(history)
  pairedViews.set(history, view)
  return view
}

function pairedView(history: readonly Message[]): View {
  const first = openingOf(history).length
  return wholeView(first === 0 ? history : history.slice(first), first)
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

/** Leading system messages are the system prompt, which each wire encodes in its own way. */
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

/** As recorded: the only decisions are those that follow from the messages alone. */
export function sentView(base: View, settings: PolicySettings, decisions: Decisions, target: Target): View {
  const { capabilities } = target
  const limit = limitOf(capabilities, target.options, settings)
  return onceFor(sents, base, [settings, decisions, limit, capabilities], () =>
    fit(stepwise(applyCuts(base, decisions), settings), limit, capabilities),
  )
}

/** As for a model without earlier requests. */
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
  return window(folded, { most: room, downTo, sizes }, `over the model's limit of ${limit} tokens`)
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
