// Compaction: a summary that replaces the beginning of the history. It is an overlay: the log does not change, other
// branches are not affected, and it can be undone. The provider's own compaction is tried first, then a summary by the
// model, and then one without a model, which cannot fail.

import { asFailure } from '../../core/error.ts'
import type { Entry, Exchange, Overlay } from '../../core/log.ts'
import type { Reply } from '../../core/message.ts'
import { estimateMessage } from '../../context/count.ts'
import { compactionFor, type CompactionDecision, type Decisions } from '../../context/decisions.ts'
import { asideRule } from '../../context/cache-history.ts'
import { settingsOf, type CompactionSettings } from '../../settings/policy.ts'
import { assemble, baseView, estimateHead, systemOf, type Assembled } from '../../context/assemble.ts'
import { limitOf } from '../../context/fit.ts'
import { compactionData, readDecisions } from '../../context/overlay-codec.ts'
import {
  historyAsText,
  plainSummary,
  stretchEnd,
  summaryPrompt,
  defaultBudget,
  withForgotten,
} from '../../context/summary.ts'
import { costOf } from '../../providers/price.ts'
import { ask } from '../request/ask.ts'
import { askNatively } from './compact-native.ts'
import { draftOf } from '../request/draft.ts'
import { addOverlay } from '../log/known-overlays.ts'
import type { RunContext } from '../run-context.ts'

export interface Compacted {
  overlay: Overlay
  decision: CompactionDecision
  by: 'provider' | 'model' | 'fold'
  /** The requests that were made for it. */
  spent: Pick<Exchange, 'usage' | 'cost'>[]
}

export interface CompactionOptions {
  why: string
  /** The most tokens of a request, by estimate. */
  limit: number
  /** Tokens of system and tools. */
  head: number
}

/** Returns undefined if there is too little to summarise. */
export async function compactHistory(
  run: RunContext,
  history: readonly Entry[],
  decisions: Decisions,
  { why, limit, head }: CompactionOptions,
): Promise<Compacted | undefined> {
  const settings = settingsOf(run.policy).compaction ?? {}
  const draft = draftOf(run, history, decisions)
  const view = baseView(draft)
  const end = stretchEnd(view, settings, limit - head)
  if (end === undefined || run.signal.aborted) return undefined
  const through = Math.max(...view.places.slice(0, end))
  const stretch: Stretch = { history: history.slice(0, through + 1), decisions, limit, settings }
  const size = view.messages.slice(0, end).reduce((tokens, message) => tokens + estimateMessage(message), head)

  const spent: Compacted['spent'] = []
  const failures: string[] = []
  const made = (await attempt(byProvider)) ?? (await attempt(byModel)) ?? withoutModel()
  const entryId = history.at(-1)?.id ?? ''
  const decision: CompactionDecision = { through, ...made.summary }
  const data = compactionData(decision, history[through]?.id ?? '', {
    by: made.by,
    why,
    messages: end,
    size,
    ...(failures.length > 0 && { failures }),
  })
  const overlay = await addOverlay(run, { entryId, kind: 'compaction', data })
  return { overlay, decision, by: made.by, spent }

  async function attempt(summarise: () => Promise<Summarised | undefined>): Promise<Summarised | undefined> {
    try {
      return await summarise()
    } catch (error) {
      failures.push(asFailure(error).message)
      return undefined
    }
  }

  async function byProvider(): Promise<Summarised | undefined> {
    if (run.endpoint.compaction !== 'native' || settings.native === false || size > limit) return undefined
    const summary = await askNatively(run, stretch.history, decisions, { ask: askAside, spent })
    return summary && { by: 'provider', summary }
  }

  async function byModel(): Promise<Summarised | undefined> {
    const reply = await askAside(await summaryRequest(run, stretch))
    const text = reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    if (text.trim() === '') return undefined
    return { by: 'model', summary: { text: await withForgotten(text.trim(), view, end ?? 0, budgetOf(settings)) } }
  }

  function withoutModel(): Summarised {
    const text = plainSummary(view, end ?? 0, previousText(run, decisions), budgetOf(settings))
    return { by: 'fold', summary: { text } }
  }

  /** Sends a request that is in the log with its cost but not part of the conversation; the reply has no parts if it failed. */
  async function askAside(prepared: Assembled): Promise<Reply> {
    const basedOn = history.at(-1)?.id ?? ''
    const about = { kind: 'added', what: 'a separate request, for a summary', why, rule: asideRule } as const
    const notes = [about, ...prepared.notes]
    const { opened, reply, failure, usage } = await ask(run, { plan: () => prepared, basedOn, notes })
    const cost = usage && costOf(usage, run.endpoint.price)
    const failed = failure !== undefined || reply.stop.reason === 'cancelled'
    const { exchange } = await run.store.finishExchange(
      run.owner,
      opened.id,
      {
        outcome: reply.stop.reason === 'cancelled' ? 'cancelled' : failed ? 'failed' : 'done',
        ...(usage && { usage }),
        ...(cost !== undefined && { cost }),
        ...(failure && { failure }),
      },
      run.write(),
    )
    spent.push(exchange)
    run.meter?.add(exchange)
    if (failure) failures.push(failure.message)
    return failed ? { ...reply, parts: [] } : reply
  }
}

/** If the context window is unknown, this one is assumed. */
const assumedWindow = 128_000
/** An explicit request gets a summary, however short the conversation is. */
const keepCount = 4

/** A summary on demand: the same one that a policy makes when the history grows too long. */
export async function compactNow(
  run: RunContext,
  history: readonly Entry[],
  why = 'it was requested',
): Promise<Compacted | undefined> {
  const { store, owner, conversationId, endpoint } = run
  const policy = settingsOf(run.policy)
  const settings = { ...policy, compaction: { keep: keepCount, ...policy.compaction } }
  const decisions = readDecisions(history, await store.overlays(owner, conversationId))
  const draft = draftOf(run, history, decisions)
  const head = estimateHead(systemOf(draft, settings), run.tools)
  const limit = limitOf(endpoint.capabilities, run.options, { assumedWindow, ...settings })
  return compactHistory({ ...run, policy: settings }, history, decisions, { why, limit, head })
}

interface Summarised {
  by: Compacted['by']
  summary: Omit<CompactionDecision, 'through'>
}

interface Stretch {
  history: readonly Entry[]
  decisions: Decisions
  limit: number
  settings: CompactionSettings
}

/** The history is written as text, so that no rule of the wire about calls, thinking or media applies. */
async function summaryRequest(run: RunContext, { history, decisions, limit, settings }: Stretch): Promise<Assembled> {
  const { target, protocol } = draftOf(run, history, decisions)
  const prompt = settings.prompt ?? summaryPrompt
  const previous = previousText(run, decisions)
  const view = baseView(draftOf(run, history, decisions))
  const messages = previous === undefined ? view.messages : view.messages.slice(1)
  const available = Math.min(limit, 200_000) - budgetOf(settings) - Math.ceil(prompt.length / 3)
  const text = await historyAsText(messages, previous, Math.max(500, available))
  const words = `Write at most ${Math.round(budgetOf(settings) * 0.7)} words.`
  return assemble({
    history: [{ role: 'user', parts: [{ type: 'text', text }] }],
    system: `${prompt}\n${words}`,
    policy: 'full',
    protocol,
    // With space for thinking.
    target: { ...target, options: { stream: true, maxOutput: Math.max(4096, budgetOf(settings) * 2) } },
    decisions: { folds: [], compactions: [], plain: [] },
  })
}

function budgetOf({ budget }: CompactionSettings): number {
  return Math.max(100, budget ?? defaultBudget)
}

/** The current summary, if it has text: it is updated. */
function previousText({ endpoint }: RunContext, { compactions }: Decisions): string | undefined {
  const reader = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  return compactionFor(compactions, reader)?.text
}
