// The settings of a run that answers a client's request: its tools, which the client runs, and those that the server
// answers in between.

import type { RunSettings } from '../../run/settings.ts'
import { settingsOf as policySettings } from '../../settings/policy.ts'
import { nextHash } from './canonical.ts'
import { mostAnswered } from './hidden-calls.ts'
import type { PassThrough } from './pass-through.ts'
import type { DoorRunOptions } from './run.ts'
import type { Progress } from './run-progress.ts'
import type { ServedTools } from './served-tools.ts'

/** A run reads one setting at a time; they change only with the number of answered calls. */
export function currentSettings(
  options: DoorRunOptions,
  passes: PassThrough | undefined,
  served: ServedTools,
  progress: Pick<Progress, 'answered'>,
): () => RunSettings {
  let last: { answered: number; settings: RunSettings } | undefined
  return () => {
    const { answered } = progress
    if (last?.answered !== answered) last = { answered, settings: settingsOf(options, passes, { served, answered }) }
    return last.settings
  }
}

function settingsOf(
  given: DoorRunOptions,
  passes: PassThrough | undefined,
  { served, answered }: { served: ServedTools; answered: number },
): RunSettings {
  const { request, model } = given
  const { serverTools } = served
  const mayAsk = answered < mostAnswered
  const { system, tools, options } = request
  const protocol = passes?.verbatim.protocol ?? model.protocol
  const policy = policySettings(model.policy ?? 'full')
  return {
    model: model.model,
    ...(protocol !== undefined && { protocol }),
    ...(system && { system }),
    tools: [...tools.map((tool) => ({ ...tool, run: notHere })), ...(mayAsk ? served.tools : [])],
    options: { cacheKey: cacheKeyOf(given), ...options, ...(serverTools.length > 0 && { serverTools }) },
    ...(model.fallback && { fallback: model.fallback }),
    policy: passes || !mayAsk ? { ...policy, recall: false } : policy,
    // The client sees its own loops.
    guards: { repeats: false },
  }
}

/** The same for all requests of a session, and for the same request again, wherever it is stored. */
function cacheKeyOf({ principal, request, start }: DoorRunOptions): string {
  const about = request.session ?? start?.conversationId
  return nextHash(`${principal.owner} ${about ?? ''}`, about === undefined ? request.messages.slice(0, 1) : [])
}

function notHere(): never {
  throw new TypeError('a tool of the client was run by the server')
}
