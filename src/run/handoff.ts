// Hand-offs: the model gives the conversation to another agent by calling a tool, and that agent's settings apply from
// the next request on, in the same run and in the same log.

import type { Tool } from '../core/tool.ts'
import type { Handoff, RunSettings } from '../settings/run.ts'

const handoffPrefix = 'hand_off_to_'

type OnHandoff = (next: RunSettings) => Promise<void>

/** The tools of each run, the same objects at each of its steps. */
const handoffTools = new WeakMap<OnHandoff, Map<Handoff, Tool>>()

/**
 * The settings with a tool for each agent that the conversation can be handed to. `onHandoff` receives the next settings.
 */
export function withHandoffs(settings: RunSettings, onHandoff: OnHandoff): RunSettings {
  const { handoffs = [], tools = [] } = settings
  if (handoffs.length === 0) return settings
  const made = handoffTools.get(onHandoff) ?? new Map<Handoff, Tool>()
  handoffTools.set(onHandoff, made)
  for (const handoff of handoffs) if (!made.has(handoff)) made.set(handoff, toolFor(handoff, onHandoff))
  return { ...settings, tools: [...tools, ...handoffs.flatMap((handoff) => made.get(handoff) ?? [])] }
}

function toolFor({ name, description, settings }: Handoff, onHandoff: OnHandoff): Tool {
  return {
    name: `${handoffPrefix}${name}`,
    description: `Hands the conversation to ${name}, who answers from then on.${description ? ` ${description}` : ''}`,
    input: { type: 'object', properties: { why: { type: 'string' } } },
    repeatable: true,
    async run() {
      await onHandoff(typeof settings === 'function' ? await settings() : settings)
      return `${name} continues.`
    },
  }
}
