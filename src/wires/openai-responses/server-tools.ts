// Tools that OpenAI and xAI run themselves, as declared in a request. Forms checked 2026-11 (openai 7.53; xAI:
// docs.x.ai).

import type { JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { at, textsIn } from '../shared/request-options.ts'
import type { DeclaredServerTool } from '../wire.ts'

export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'openai' && provider !== 'xai') return undefined
  switch (tool.kind) {
    case 'web-search':
      return { tool: { type: 'web_search', ...(tool.domains && { filters: { allowed_domains: [...tool.domains] } }) } }
    case 'code-execution':
      // xAI runs code without a container.
      return { tool: { type: 'code_interpreter', ...(provider === 'openai' && { container: { type: 'auto' } }) } }
    case 'file-search':
      return { tool: { type: 'file_search', vector_store_ids: [...tool.stores] } }
    case 'mcp': {
      const { name, url, authorization, only } = tool
      const more = { ...(authorization !== undefined && { authorization }), ...(only && { allowed_tools: [...only] }) }
      return { tool: { type: 'mcp', server_label: name, server_url: url, require_approval: 'never', ...more } }
    }
  }
}

export function readServerTool(tool: JsonObject): ServerTool | undefined {
  switch (tool.type) {
    case 'web_search':
    case 'web_search_preview': {
      const domains = textsIn(at(tool, 'filters', 'allowed_domains'))
      return { kind: 'web-search', ...(domains && { domains }) }
    }
    case 'code_interpreter':
      return { kind: 'code-execution' }
    case 'file_search':
      return { kind: 'file-search', stores: textsIn(tool.vector_store_ids) ?? [] }
    default:
      return undefined
  }
}
