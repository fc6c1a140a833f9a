// What the next request will carry: earlier decisions, read from the log, and new ones, recorded before anything is
// sent. After that the request is a function of the log and its overlays (P4).

import { hash } from 'node:crypto'
import type { ToolSpec } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Entry, Exchange, Overlay } from '../../core/log.ts'
import type { TextPart } from '../../core/message.ts'
import { placesOf } from '../../context/along-path.ts'
import { noDecisions, type Decisions } from '../../context/decisions.ts'
import { limitOf } from '../../context/fit.ts'
import { readForecast, type Forecast } from '../../context/forecast.ts'
import { readCacheHistory, type CacheHistory } from '../../context/cache-history.ts'
import {
  proposeByMoney,
  proposeCutForSize,
  proposeFoldForSize,
  withProposal,
  type Proposal,
  type PlanFacts,
} from '../../context/proposals.ts'
import { settingsOf, type PolicySettings } from '../../settings/policy.ts'
import {
  assemble,
  assembleLater,
  baseView,
  estimateHead,
  sentView,
  sizeOf,
  systemOf,
  withMention,
  type Assembled,
  type RequestDraft,
} from '../../context/assemble.ts'
import { cachePriceOf, cacheTtlFor, type CachePrice } from '../../context/price-ratio.ts'
import { proposalData, readDecisions } from '../../context/overlay-codec.ts'
import { sharedTokens } from '../../context/shared-prefix.ts'
import type { View } from '../../context/view.ts'
import { compactHistory } from '../compaction/compact.ts'
import { billingOf, draftOf, type RunDraft } from './draft.ts'
import { recallFields } from './field-memory.ts'
import { addOverlay, overlaysOf } from '../log/known-overlays.ts'
import { offersRecall, withRecall } from '../tools/offer-recall.ts'
import { outlineEnd, readWhole } from '../log/path-cache.ts'
import { countAhead, foldAhead, planAhead } from './plan-ahead.ts'
import type { RunContext } from '../run-context.ts'
import { keepsState, usableState, type UsableState } from './state.ts'

export interface PlannedRequest {
  prepared: Assembled
  forecast: Forecast
  past: CacheHistory
  /** The provider's state, if it was used. */
  state?: UsableState
  /** Whether the provider should store the reply to continue from it. */
  keep: boolean
}

export interface PlanOptions {
  /** The limit in estimated tokens, if the model has refused the usual one. */
  limit?: number
  /** Send everything, whatever the provider has stored. */
  whole?: boolean
  /** It is sent as the client wrote it. */
  isVerbatim?: boolean
  /** Only explain: nothing is recorded, and no summary is requested. */
  look?: boolean
}

export async function planRequest(
  run: RunContext,
  given: readonly Entry[],
  planOptions: PlanOptions = {},
): Promise<PlannedRequest> {
  const { overlays, exchanges } = await readSources(run, given, planOptions)
  const settings = settingsOf(run.policy)
  const recorded = readDecisions(given, overlays)
  // Its summary may have been undone since it was read.
  const isSummarised = recorded.compactions.some(
    ({ text, through }) => text !== undefined && through >= outlineEnd(given),
  )
  const history = isSummarised ? given : await readWhole(run, given)
  // Nothing is decided about a request that is sent as it is.
  const decides = planOptions.isVerbatim !== true
  const learned = planOptions.look || !decides ? [] : await recallFields(run, history, recorded.refused ?? [])
  const refused = [...(recorded.refused ?? []), ...learned]
  const plain = draftOf(run, history, refused.length > 0 ? { ...recorded, refused } : recorded)
  const before = plain.decisions
  // After an overflow every token counts, including those of its definition.
  const hasRoom = planOptions.limit === undefined
  const offered = hasRoom && offersRecall(run, plain, baseView(plain), before)
  let draft = offered ? withRecall(plain) : plain
  let facts = gather(run, draft, settings, history, exchanges, overlays)
  const limit = Math.min(facts.limit, planOptions.limit ?? Infinity)
  const decisions = decides ? await decide(run, draft, { ...facts, limit }, history, planOptions.look === true) : before
  if (hasRoom && !offered && offersRecall(run, plain, baseView({ ...plain, decisions }), decisions)) {
    draft = withRecall(plain)
    facts = gather(run, draft, settings, history, exchanges, overlays)
  }

  const keep = keepsState(run, settings, history, overlays)
  const state = keep && !planOptions.whole ? await usableState(run, history, exchanges) : undefined
  const options = {
    ...draft.target.options,
    ...(facts.ttl === '1h' && { cacheTtl: facts.ttl }),
    ...(keep && { store: true }),
  }
  const prepared = (planOptions.isVerbatim ? assembleLater : assemble)({
    ...draft,
    decisions,
    target: { ...draft.target, options },
    ...(state && { state: (context) => state.refFor(context) }),
  })
  const expected = expectedCached(draft, before, prepared, facts, history)
  if (!planOptions.look) rememberSent(draft, history, prepared.seen)
  return {
    prepared,
    forecast: {
      estimate: prepared.estimate.input,
      cached: expected,
      head: facts.head,
      ttl: facts.ttl,
      ...(await wholeHistory(run, plain, facts, prepared, history)),
    },
    past: facts.past,
    ...(state && prepared.context.state && { state }),
    keep,
  }
}

/** What earlier requests have left in the log. */
async function readSources(
  run: RunContext,
  history: readonly Entry[],
  planOptions: PlanOptions,
): Promise<{ overlays: readonly Overlay[]; exchanges: readonly Exchange[] }> {
  const reading = overlaysOf(run)
  const [overlays, exchanges] = await Promise.all([
    reading,
    planAhead(run, history, reading).then(() => recentExchanges(run, history, planOptions)),
  ])
  return { overlays, exchanges }
}

/** How many exchanges are searched, at first and at most: the last one is nearly always of the same model. */
const searched = [1, 5, 50]

async function recentExchanges(
  run: RunContext,
  history: readonly Entry[],
  { isVerbatim = false }: PlanOptions,
): Promise<Exchange[]> {
  const { store, owner, conversationId, endpoint, learned } = run
  const isOfModel = ({ provider, model, usage, replyEntryId, basedOn }: Exchange): boolean =>
    provider === endpoint.provider.id &&
    model === endpoint.model &&
    usage !== undefined &&
    replyEntryId !== undefined &&
    placesOf(history).has(basedOn)
  if (learned?.exchange && isOfModel(learned.exchange) && !endpoint.state) return [learned.exchange]
  // A provider's state may belong to an earlier one.
  for (const limit of endpoint.state ? searched.slice(1) : searched) {
    // A request that is sent as it is may be in the log already. Nothing is read from one without usage or a reply.
    const { items, next } = await store.exchanges(owner, conversationId, { limit: isVerbatim ? limit + 1 : limit })
    if (next === undefined || limit === searched.at(-1) || items.some(isOfModel)) return items
  }
  return []
}

interface Facts {
  settings: PolicySettings
  past: CacheHistory
  cache: CachePrice
  ttl: '5m' | '1h'
  /** Tokens by estimate. */
  limit: number
  headTokens: number
  head: string
}

function gather(
  run: RunContext,
  draft: RequestDraft,
  settings: PolicySettings,
  history: readonly Entry[],
  exchanges: readonly Exchange[],
  overlays: readonly Overlay[],
): Facts {
  const { provider, model, options, capabilities } = draft.target
  const system = systemOf(draft, settings)
  const tools = draft.tools ?? []
  const headTokens = estimateHead(system, tools)
  const head = digestOf(system, tools)
  const billing = billingOf(run.endpoint)
  const cacheFor = (ttl: '5m' | '1h' | undefined) => cachePriceOf(billing, options.cacheTtl ?? ttl)
  const past = readCacheHistory({ entries: history, exchanges, overlays, provider, model, head, cacheFor })
  const size = past.last?.usage?.input ?? headTokens
  const ttl = options.cacheTtl ?? cacheTtlFor(billing, past.gaps, size, size / Math.max(1, past.requests))
  const cache = cacheFor(ttl)
  const limit = limitOf(capabilities, options, settings) / past.ratio
  return { settings, past, cache, ttl, limit, headTokens, head }
}

async function decide(
  run: RunContext,
  draft: RunDraft,
  { settings, past, cache, limit, headTokens }: Facts,
  history: readonly Entry[],
  look: boolean,
): Promise<Decisions> {
  let { decisions } = draft
  const { provider, model } = draft.target
  const fixed = {
    settings,
    head: headTokens,
    provider,
    model,
    requests: past.requests,
    cache: { ...cache, minimum: cache.minimum / past.ratio },
    cold: past.cold !== undefined,
    limit,
  }
  let view = baseView(draft)
  const situation = (): PlanFacts => ({ ...fixed, view, decisions })
  const fits = async (): Promise<boolean> => {
    await foldAhead(view, decisions, settings.fold)
    if (!Number.isFinite(limit)) return true
    return sizeOf(sentView(view, settings, decisions, draft.target), headTokens, draft.target) <= limit
  }

  await foldAhead(view, decisions, settings.fold)
  for (const proposal of proposeByMoney(situation())) await record(proposal)
  if (isDue(settings, history, decisions)) await summarise('a summary is made from time to time')
  if (!(await fits())) await record(proposeFoldForSize(situation()))
  if (settings.atLimit !== 'cut' && !(await fits())) await summarise('the history exceeds the limit of the model')
  if (!(await fits())) await record(proposeCutForSize(situation()))
  return decisions

  async function record(proposal: Proposal | undefined): Promise<void> {
    if (!proposal) return
    const about: JsonObject = { provider, model, ...(past.cold !== undefined && { belief: past.cold }) }
    const data = proposalData(proposal, history, about)
    const entryId = history.at(-1)?.id ?? ''
    const { kind } = proposal
    if (!look) {
      const adding = addOverlay(run, { entryId, kind, data })
      if (run.pending) run.pending.add(adding)
      else await adding
    }
    decisions = withProposal(decisions, proposal)
  }

  async function summarise(why: string): Promise<void> {
    if (look) return
    const made = await compactHistory(run, history, decisions, { why, limit, head: headTokens })
    if (!made) return
    decisions = { ...decisions, compactions: [...decisions.compactions, made.decision] }
    view = baseView({ ...draft, decisions })
  }
}

/** Whether the configured number of user messages has come since the last summary. */
function isDue({ compaction }: PolicySettings, history: readonly Entry[], { compactions }: Decisions): boolean {
  if (!compaction?.every || history.at(-1)?.message.role !== 'user') return false
  const from = (compactions.at(-1)?.through ?? -1) + 1
  const asked = history.slice(from).filter((entry) => entry.message.role === 'user').length
  return asked > compaction.every
}

/** The size of the prompt if nothing were left out, and how much of it the provider's cache would have. */
async function wholeHistory(
  run: RunContext,
  draft: RequestDraft,
  facts: Facts,
  prepared: Assembled,
  history: readonly Entry[],
): Promise<Pick<Forecast, 'whole' | 'wholeCached'>> {
  const { past, cache } = facts
  const before = past.last && readForecast(past.last)
  const whole = wholeSince(draft, facts, before, history) ?? (await wholeSize(run, draft, facts, history))
  // If nothing is left out there is nothing to compare.
  if (whole <= prepared.estimate.input) return { whole: prepared.estimate.input, wholeCached: 0 }
  const isCold = past.cold === 'first request' || past.cold === 'the cache has expired' || cache.read >= cache.write
  const cached = Math.min(whole, before?.whole ?? 0)
  return { whole, wholeCached: isCold || cached * past.ratio < cache.minimum ? 0 : cached }
}

async function wholeSize(
  run: RunContext,
  draft: RequestDraft,
  { headTokens }: Facts,
  history: readonly Entry[],
): Promise<number> {
  const whole = await readWhole(run, history)
  const { messages } = baseView(
    whole === history ? { ...draft, decisions: noDecisions } : draftOf(run, whole, noDecisions),
  )
  await countAhead(messages)
  return sizeOf({ messages }, headTokens, draft.target)
}

/**
 * Continues from the last request to this model, so that a long history that is mostly left out is not counted again.
 */
function wholeSince(
  { history: messages, target }: RequestDraft,
  { past, head }: Facts,
  before: Forecast | undefined,
  history: readonly Entry[],
): number | undefined {
  if (!past.last || before?.head !== head || before.whole <= before.estimate) return undefined
  const place = placesOf(history).get(past.last.basedOn) ?? -1
  return place < 0 ? undefined : sizeOf({ messages: messages.slice(place + 1) }, before.whole, target)
}

/**
 * Tokens that the provider should have cached: what this request shares with the previous one, if that is still warm.
 */
function expectedCached(
  draft: RequestDraft,
  before: Decisions,
  prepared: Assembled,
  { settings, past, cache, headTokens, head }: Facts,
  history: readonly Entry[],
): number {
  if (past.cold === 'first request' || past.cold === 'the cache has expired' || !past.last) return 0
  // System and tools come before everything else.
  if ((readForecast(past.last)?.head ?? head) !== head) return 0
  const view = sentBefore(draft, history, past.last) ?? sentAgain(past.last)
  const tokens = Math.round(sharedTokens(view, prepared.seen, headTokens) * past.ratio)
  return tokens < cache.minimum || cache.read >= cache.write ? 0 : tokens

  function sentAgain({ basedOn }: Exchange): View {
    const length = (placesOf(history).get(basedOn) ?? -1) + 1
    const earlier = { ...draft, history: draft.history.slice(0, length), decisions: before }
    return withMention(sentView(baseView(earlier), settings, before, draft.target), draft)
  }
}

interface Sent {
  provider: string
  model: string
  basedOn: string | undefined
  seen: Assembled['seen']
}

/** The last request of a path, by its first entry: the next one need not be compared with one that is made again. */
const lastSent = new WeakMap<Entry, Sent>()

function rememberSent(
  { target: { provider, model } }: RequestDraft,
  history: readonly Entry[],
  seen: Sent['seen'],
): void {
  const [first] = history
  if (first) lastSent.set(first, { provider, model, basedOn: history.at(-1)?.id, seen })
}

function sentBefore({ target }: RequestDraft, history: readonly Entry[], last: Exchange): Sent['seen'] | undefined {
  const sent = history[0] && lastSent.get(history[0])
  const isSame = sent?.provider === target.provider && sent.model === target.model && sent.basedOn === last.basedOn
  return isSame ? sent.seen : undefined
}

/** The last one: neither system nor tools change from one step of a run to the next. */
let lastHead: { system: readonly TextPart[]; tools: readonly ToolSpec[]; digest: string } | undefined

function digestOf(system: readonly TextPart[], tools: readonly ToolSpec[]): string {
  const isSame =
    lastHead?.system.length === system.length &&
    lastHead.tools.length === tools.length &&
    lastHead.tools.every((tool, i) => tool === tools[i]) &&
    lastHead.system.every(({ text }, i) => text === system[i]?.text)
  if (!lastHead || !isSame) lastHead = { system, tools, digest: newDigest(system, tools) }
  return lastHead.digest
}

function newDigest(system: readonly TextPart[], tools: readonly ToolSpec[]): string {
  const specs = tools.map(({ name, description, input }) => ({ name, description, input }))
  return hash('sha256', JSON.stringify([system.map((part) => part.text), specs])).slice(0, 12)
}
