// Agents for the package root: the YAML parser is loaded only if there is an agent.

import { resolve } from 'node:path'
import type { Agent, OpenAgentOptions } from './load.ts'

export type { Agent } from './load.ts'

/** How `loadAgent` loads an agent. */
export interface AgentOptions extends Pick<OpenAgentOptions, 'env' | 'known' | 'onChanged' | 'onNote'> {
  /** The configuration file; by default the synapse.yaml of the agent's folder. */
  config?: string
}

/**
 * Loads an agent from its YAML file, with its tools.
 *
 * @example
 * const agent = await loadAgent('agents/todo.yaml')
 * const chat = await synapse.start(await agent.settings())
 */
export async function loadAgent(file: string, options: AgentOptions = {}): Promise<Agent> {
  const { openAgent } = await import('./load.ts')
  const { config, ...rest } = options
  if (config === undefined) return openAgent(resolve(file), rest)
  const { loadConfig } = await import('../config/load.ts')
  return openAgent(resolve(file), { ...rest, config: loadConfig({ file: config }) })
}
