// A request as the settings of a run describe it, before any decision about it.

import type { Entry } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import { alongPath } from '../../context/along-path.ts'
import type { Decisions } from '../../context/decisions.ts'
import { settingsOf } from '../../settings/policy.ts'
import { contextOf, type RequestDraft } from '../../context/assemble.ts'
import { readDecisions } from '../../context/overlay-codec.ts'
import type { Billing } from '../../context/price-ratio.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import type { RunContext } from '../run-context.ts'
import { mediaOn } from './load-media.ts'
import { inlineTextFiles } from './text-files.ts'

export interface RunDraft extends RequestDraft {
  decisions: Decisions
}

export function draftOf(run: DraftSource, history: readonly Entry[], decisions: Decisions): RunDraft {
  const { endpoint } = run
  const { at } = settingsOf(run.policy).compaction ?? {}
  return {
    history: messagesFor(history, endpoint.capabilities.media),
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

const messagesOn = alongPath<Entry, Message[]>(
  () => [],
  (messages, { message }) => void messages.push(message),
)

/**
 * A new list each time, because values computed for one are cached with it. Media may now be in the entries or stored
 * separately, and files may be needed as text: these messages are read again.
 */
function messagesFor(history: readonly Entry[], media: readonly string[]): Message[] {
  const messages = messagesOn(history).slice()
  for (const place of mediaOn(history)) messages[place] = inlineTextFiles((history[place] as Entry).message, media)
  return messages
}

export type DraftSource = Pick<RunContext, 'endpoint' | 'system' | 'tools' | 'policy' | 'options'>

export function billingOf({ caching, price, provider }: Endpoint): Billing {
  return { caching, ...(price ? { price } : { isLocal: provider.keyOptional === true }) }
}

/** The messages of a request, after all decisions about them. */
export async function sentMessages(run: RunContext, history: readonly Entry[]): Promise<Message[]> {
  const overlays = await run.store.overlays(run.owner, run.conversationId)
  return contextOf(draftOf(run, history, readDecisions(history, overlays))).context.messages
}
