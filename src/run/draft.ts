// A request as the settings of a run ask for it, before anything is decided about it.

import type { Entry } from '../core/log.ts'
import type { Decisions } from '../context/decisions.ts'
import { settingsOf } from '../settings/policy.ts'
import type { RequestDraft } from '../context/assemble.ts'
import type { Billing } from '../context/price-ratio.ts'
import type { Endpoint } from '../providers/resolve.ts'
import type { RunContext } from './run-context.ts'
import { inlineTextFiles } from './text-files.ts'

export interface RunDraft extends RequestDraft {
  decisions: Decisions
}

export function draftOf(run: DraftSource, history: readonly Entry[], decisions: Decisions): RunDraft {
  const { endpoint } = run
  const { at } = settingsOf(run.policy).compaction ?? {}
  return {
    history: history.map((entry) => inlineTextFiles(entry.message, endpoint.capabilities.media)),
    system: run.system,
    tools: run.tools,
    policy: run.policy,
    protocol: endpoint.protocol,
    target: {
      provider: endpoint.provider.id,
      model: endpoint.model,
      options: { stream: true, ...run.options },
      quirks: endpoint.quirks,
      capabilities: endpoint.capabilities,
    },
    decisions,
    fromLog: true,
    ...(endpoint.compaction === 'native' && at !== undefined && { compactAt: at }),
  }
}

export type DraftSource = Pick<RunContext, 'endpoint' | 'system' | 'tools' | 'policy' | 'options'>

export function billingOf({ caching, price, provider }: Endpoint): Billing {
  return { caching, ...(price ? { price } : { atHome: provider.keyOptional === true }) }
}
