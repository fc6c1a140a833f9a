// Tools that Google runs itself, as declared in a request of the Interactions API. Forms checked 2026-11 (@google/genai
// 2.32).

import type { JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { textsIn } from '../shared/request-options.ts'
import type { DeclaredServerTool } from '../wire.ts'

export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'google') return undefined
  switch (tool.kind) {
    case 'web-search':
      return tool.domains ? undefined : { tool: { type: 'google_search' } }
    case 'code-execution':
      return { tool: { type: 'code_execution' } }
    case 'file-search':
      return { tool: { type: 'file_search', file_search_store_names: [...tool.stores] } }
    case 'mcp': {
      const headers = tool.authorization !== undefined && { headers: { authorization: `Bearer ${tool.authorization}` } }
      const allowed = tool.only && { allowed_tools: [{ mode: 'auto', tools: [...tool.only] }] }
      return { tool: { type: 'mcp_server', name: tool.name, url: tool.url, ...headers, ...allowed } }
    }
  }
}

export function readServerTool(tool: JsonObject): ServerTool | undefined {
  switch (tool.type) {
    case 'google_search':
      return { kind: 'web-search' }
    case 'code_execution':
      return { kind: 'code-execution' }
    case 'file_search':
      return { kind: 'file-search', stores: textsIn(tool.file_search_store_names) ?? [] }
    default:
      return undefined
  }
}
