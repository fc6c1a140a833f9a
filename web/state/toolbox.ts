// Agents, tools and MCP servers that a conversation can use, and lasting permissions. Loaded when the settings are
// opened: MCP servers start then.

import { batch, signal } from '@preact/signals'
import { api } from '../api/routes.ts'
import type { AgentView, GrantView, McpServerView, ToolView } from '../api/types.ts'
import { attempt } from './session.ts'

export const agents = signal<AgentView[]>([])
export const tools = signal<ToolView[]>([])
export const mcpServers = signal<McpServerView[]>([])
export const grants = signal<GrantView[]>([])

export async function loadToolbox(): Promise<boolean> {
  return attempt(async () => {
    const [who, what, given] = await Promise.all([api.agents(), api.tools(), api.grants()])
    // After the tools: that request has started the servers.
    const servers = await api.mcpServers()
    batch(() => {
      agents.value = who
      tools.value = what
      grants.value = given
      mcpServers.value = servers
    })
  })
}

export async function restartServer(name: string): Promise<void> {
  await attempt(() => api.restartMcp(name))
  await loadToolbox()
}

/** Offers a tool of an MCP server that is new, or has a changed definition. */
export async function allowChanged(server: string, tool: string): Promise<void> {
  await attempt(() => api.allowMcpTool(server, tool))
  await loadToolbox()
}

export async function revoke(grant: GrantView): Promise<void> {
  await attempt(() => api.revokeGrant(grant.id))
  await loadToolbox()
}
