// An agent as a file: its model, its tools, and the settings of its runs, which are the same as everywhere (settings/).

import * as z from 'zod'
import { zodFields } from '../config/zod-problems.ts'
import type { RunSettings } from '../settings/run.ts'
import { sharedFields, type RouteTable } from '../settings/schema.ts'

export interface AgentEntry extends Omit<RunSettings, 'model' | 'tools' | 'route' | 'signal' | 'handoffs'> {
  $schema?: string
  name: string
  description?: string
  provider?: string
  model?: string
  tools?: ToolEntry[]
  route?: RouteTable
  handoffs?: string[]
}

/** A module's path, or a source of tools and a selection. */
export type ToolEntry = string | (({ module: string } | { mcp: string }) & { only?: string[]; ask?: boolean })

const only = z.array(z.string().min(1)).min(1).describe('Only these of its tools.').exactOptional()
const ask = z.boolean().describe('Each call needs approval.').exactOptional()
const modulePath = z
  .string()
  .regex(/^\.\.?\//, 'is not the path of a module; write it relative to this file, such as ./tools.ts')

const tool = z.union([
  modulePath,
  z.strictObject({ module: modulePath, only, ask }),
  z.strictObject({ mcp: z.string().min(1).describe('The name of a server in synapse.yaml.'), only, ask }),
])

const agentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'may have lower-case letters, digits, hyphens and underscores')

export const agentSchema: z.ZodType<AgentEntry> = z
  .strictObject({
    $schema: z.string().exactOptional(),
    name: agentId.describe('Its name, as in synapse agent run NAME.'),
    description: z.string().exactOptional(),
    provider: z.string().min(1).describe('The provider, if `model` is a bare name of a model.').exactOptional(),
    model: z.string().min(1).describe('provider/model; by default the model of synapse.yaml.').exactOptional(),
    tools: z.array(tool).describe('Modules that export tools, and MCP servers of synapse.yaml.').exactOptional(),
    handoffs: z.array(agentId).describe('Agents that it can hand the conversation to, by name.').exactOptional(),
    ...zodFields(sharedFields),
  })
  .meta({ title: 'Synapse agent' })
