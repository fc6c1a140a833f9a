// Tools that Anthropic runs itself, as declared in a request. Forms checked 2026-11 (@anthropic-ai/sdk 1.8).

import type { JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { textsIn } from '../shared/request-options.ts'
import type { DeclaredServerTool } from '../wire.ts'

export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'anthropic') return undefined
  switch (tool.kind) {
    case 'web-search': {
      const domains = tool.domains && { allowed_domains: [...tool.domains] }
      return { tool: { type: 'web_search_20250305', name: 'web_search', ...domains } }
    }
    case 'code-execution':
      return { tool: { type: 'code_execution_20250825', name: 'code_execution' } }
    case 'mcp': {
      const { name, url, authorization, only } = tool
      const server = {
        type: 'url',
        name,
        url,
        ...(authorization !== undefined && { authorization_token: authorization }),
      }
      const allowed = only && {
        default_config: { enabled: false },
        configs: Object.fromEntries(only.map((one) => [one, { enabled: true }])),
      }
      return { tool: { type: 'mcp_toolset', mcp_server_name: name, ...allowed }, fields: { mcp_servers: [server] } }
    }
    case 'file-search':
      return undefined
  }
}

export function readServerTool({ type, allowed_domains: allowed }: JsonObject): ServerTool | undefined {
  const name = typeof type === 'string' ? type.replace(/_\d{8}$/, '') : ''
  if (name === 'code_execution') return { kind: 'code-execution' }
  const domains = textsIn(allowed)
  return name === 'web_search' ? { kind: 'web-search', ...(domains && { domains }) } : undefined
}
