// A summary on demand: the same one that a policy makes when the history grows too long.

import type { Entry } from '../../core/log.ts'
import { limitOf } from '../../context/fit.ts'
import { settingsOf } from '../../settings/policy.ts'
import { estimateHead, systemOf } from '../../context/assemble.ts'
import { readDecisions } from '../../context/overlay-codec.ts'
import { compactHistory, type Compacted } from './compact.ts'
import { draftOf } from '../request/draft.ts'
import type { RunContext } from '../run-context.ts'

/** If the context window is unknown, this one is assumed. */
const usualWindow = 128_000
/** An explicit request gets a summary, however short the conversation is. */
const usualKeep = 4

export async function compactNow(
  run: RunContext,
  history: readonly Entry[],
  why = 'it was requested',
): Promise<Compacted | undefined> {
  const { store, owner, conversationId, endpoint } = run
  const given = settingsOf(run.policy)
  const settings = { ...given, compaction: { keep: usualKeep, ...given.compaction } }
  const decisions = readDecisions(history, await store.overlays(owner, conversationId))
  const draft = draftOf(run, history, decisions)
  const head = estimateHead(systemOf(draft, settings), run.tools)
  const limit = limitOf(endpoint.capabilities, run.options, { assumedWindow: usualWindow, ...settings })
  return compactHistory({ ...run, policy: settings }, history, decisions, { why, limit, head })
}
