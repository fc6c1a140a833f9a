// Tools that Google runs itself, as declared in a request of generateContent. Forms checked 2026-11 (@google/genai
// 2.32).

import type { JsonObject } from '../../core/json.ts'
import type { ServerTool } from '../../settings/options.ts'
import { at, textsIn } from '../shared/request-options.ts'
import type { DeclaredServerTool } from '../wire.ts'

export function declareServerTool(tool: ServerTool, provider: string): DeclaredServerTool | undefined {
  if (provider !== 'google') return undefined
  switch (tool.kind) {
    case 'web-search':
      return tool.domains ? undefined : { tool: { googleSearch: {} } }
    case 'code-execution':
      return { tool: { codeExecution: {} } }
    case 'file-search':
      return { tool: { fileSearch: { fileSearchStoreNames: [...tool.stores] } } }
    case 'mcp':
      return undefined
  }
}

export function readServerTool(tool: JsonObject): ServerTool | undefined {
  if (tool.googleSearch !== undefined) return { kind: 'web-search' }
  if (tool.codeExecution !== undefined) return { kind: 'code-execution' }
  const stores = textsIn(at(tool, 'fileSearch', 'fileSearchStoreNames'))
  return stores && { kind: 'file-search', stores }
}
