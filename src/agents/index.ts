// Agents for the package root: the reading of YAML is loaded only by those who have an agent.

import { resolve } from 'node:path'
import type { Agent, AgentOptions } from './load.ts'

export type { Agent, AgentOptions } from './load.ts'

/**
 * Loads an agent from its YAML file, with its tools.
 *
 * @example
 * const agent = await loadAgent('agents/todo.yaml')
 * const chat = await synapse.start(await agent.settings())
 */
export async function loadAgent(
  file: string,
  options: Omit<AgentOptions, 'config'> & {
    /** The configuration; without it, the synapse.yaml that counts in the folder of the agent. */
    config?: string
  } = {},
): Promise<Agent> {
  const { openAgent } = await import('./load.ts')
  const { config, ...rest } = options
  if (config === undefined) return openAgent(resolve(file), rest)
  const { loadConfig } = await import('../config/load.ts')
  return openAgent(resolve(file), { ...rest, config: loadConfig({ file: config }) })
}
