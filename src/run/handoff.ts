// Hand-offs: the model gives the conversation to another agent by calling a tool, and that agent's settings apply from
// the next request on, in the same run and in the same log.

import type { Tool } from '../core/tool.ts'
import type { Handoff, RunSettings } from '../settings/run.ts'

const handoffPrefix = 'hand_off_to_'

type Take = (next: RunSettings) => Promise<void>

/** The tools of each run, the same objects at each of its steps. */
const known = new WeakMap<Take, Map<Handoff, Tool>>()

/**
 * The settings with a tool for each agent that the conversation can be handed to. `take` receives the next settings.
 */
export function withHandoffs(settings: RunSettings, take: Take): RunSettings {
  const { handoffs = [], tools = [] } = settings
  if (handoffs.length === 0) return settings
  const made = known.get(take) ?? new Map<Handoff, Tool>()
  known.set(take, made)
  for (const handoff of handoffs) if (!made.has(handoff)) made.set(handoff, toolFor(handoff, take))
  return { ...settings, tools: [...tools, ...handoffs.flatMap((handoff) => made.get(handoff) ?? [])] }
}

function toolFor({ name, description, settings }: Handoff, take: Take): Tool {
  return {
    name: `${handoffPrefix}${name}`,
    description: `Hands the conversation to ${name}, who answers from then on.${description ? ` ${description}` : ''}`,
    input: { type: 'object', properties: { why: { type: 'string' } } },
    repeatable: true,
    async run() {
      await take(typeof settings === 'function' ? await settings() : settings)
      return `${name} continues.`
    },
  }
}
