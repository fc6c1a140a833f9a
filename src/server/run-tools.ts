// The settings of a run for the library: with the tools in place of their names, which ask for approval unless there is
// a lasting permission, and with the agents that the conversation can be handed to.

import type { SourcedTool, Toolbox } from '../agents/toolbox.ts'
import type { RunSettings } from '../run/conversation.ts'
import { withGrants } from '../run/tools/grants.ts'
import type { Store } from '../store/store.ts'
import type { Settings } from './schema.ts'

export interface RunTools {
  settings: RunSettings
  offered: SourcedTool[]
  /** The chosen tools, including unavailable ones; undefined: nothing was chosen. */
  names?: string[]
}

/** `handOver` returns the settings with another agent; without it nothing is run, and there are no hand-offs. */
export async function runTools(
  toolbox: Toolbox,
  place: { store: Store; owner: string; conversationId: string },
  settings: Settings & { model: string },
  handOver?: (agent: string) => Promise<RunSettings>,
): Promise<RunTools> {
  const { tools: chosen, agent, folder, ...rest } = settings
  const { offered, absent } = await toolbox.choose({ model: settings.model, agent, tools: chosen, folder })
  const tools = offered.map(({ tool, source }) => withGrants(tool, { ...place, source }))
  const others = agent === undefined ? [] : toolbox.handoffs(agent)
  const handoffs = others.map(({ name, description }) => ({
    name,
    ...(description !== undefined && { description }),
    settings: async () => (await handOver?.(name)) ?? { ...rest, tools },
  }))
  return {
    settings: { ...rest, tools, ...(handoffs.length > 0 && { handoffs }) },
    offered,
    ...(chosen && { names: [...offered.map(({ tool }) => tool.name), ...absent] }),
  }
}
