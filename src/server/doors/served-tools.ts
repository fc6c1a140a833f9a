// Tools that the client's own provider would run, at a provider without such a tool: a configured tool is offered
// instead, and the server answers its calls. Configuring it means allowing it.

import type { Note } from '../../core/context.ts'
import { asFailure, badInput } from '../../core/error.ts'
import type { Tool } from '../../core/tool.ts'
import type { ServerTool } from '../../settings/options.ts'
import type { ServerContext } from '../context.ts'
import { servedName } from './hidden-calls.ts'
import type { DoorModel } from './models.ts'
import type { DoorRequest } from './read-request.ts'

export interface ServedTools {
  /** For the provider: its own tools, and what is left out with a note. */
  serverTools: ServerTool[]
  tools: Tool[]
  notes: Note[]
}

/** `home`: the provider of the client's API, which alone knows its file names. */
export async function servedTools(
  { endpoint, toolbox, serverTools = {} }: ServerContext,
  owner: string,
  { request, model, home }: { request: DoorRequest; model: DoorModel; home: string },
): Promise<ServedTools> {
  const out: ServedTools = { serverTools: [], tools: [], notes: [] }
  if (request.serverTools.length === 0) return out
  const { endpoint: found } = await endpoint(model.model, model.protocol)
  const { provider, protocol } = found
  for (const tool of request.serverTools) {
    const isForeign = tool.kind === 'file-search' && provider.id !== home
    const isThere = !isForeign && protocol.declareServerTool?.(tool, provider.id) !== undefined
    const name = isThere || tool.kind === 'mcp' ? undefined : serverTools[tool.kind]
    const served = name === undefined ? undefined : await offered(name, tool.kind)
    if (served) out.tools.push(served)
    else if (!isForeign) out.serverTools.push(tool)
    else out.notes.push({ kind: 'dropped', what: `server tool ${tool.kind}`, why: `only ${home} knows its files` })
  }
  return out

  async function offered(name: string, kind: string): Promise<Tool | undefined> {
    const own = servedName(kind)
    if (request.tools.some((tool) => tool.name === own)) return undefined
    try {
      const [found] = (await toolbox(owner).choose({ tools: [name] })).offered
      if (!found?.source.startsWith('mcp:')) throw badInput('no MCP server has it now')
      const { ask: _ask, ...tool } = found.tool
      out.notes.push({
        kind: 'changed',
        what: `server tool ${kind} to the tool ${name}`,
        why: `${provider.id} has none`,
      })
      return { ...tool, name: own }
    } catch (error) {
      out.notes.push({ kind: 'dropped', what: `the tool ${name}`, why: asFailure(error).message })
      return undefined
    }
  }
}
