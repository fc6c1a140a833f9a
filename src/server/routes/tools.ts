// What conversations can use: agents, tools and MCP servers of the server's configuration; and lasting permissions.

import type { McpServerInfo, Toolbox } from '../../agents/toolbox.ts'
import { listGrants, revokeGrant } from '../../run/tools/grants.ts'
import { json, Refusal } from '../answer.ts'
import { missing, route, type Route } from '../route.ts'
import { agentView, grantView, mcpServerView, promptView, toolView } from '../server-views.ts'
import { pageSchema } from '../views.ts'

/** A list does not wait for a server that does not start. */
const patienceMs = 3000

export const toolRoutes: readonly Route[] = [
  route({
    operationId: 'listAgents',
    method: 'get',
    path: '/api/agents',
    access: 'read',
    summary: 'Agents that a conversation can use (`settings.agent`)',
    answer: { status: 200, description: 'All agents.', schema: pageSchema(agentView) },
    async handle({ server, owner }) {
      const agents = server.toolbox(owner).agents()
      return json({
        items: agents.map(({ name, description, model, problem }) => ({ name, description, model, problem })),
      })
    },
  }),
  route({
    operationId: 'listPrompts',
    method: 'get',
    path: '/api/prompts',
    access: 'read',
    summary:
      'Named prompts, with the variables to fill in: `{{name}}`, and `{{input}}` for the text that the user types',
    answer: { status: 200, description: 'All prompts.', schema: pageSchema(promptView) },
    handle: async ({ server, owner }) => json({ items: server.toolbox(owner).prompts() }),
  }),
  route({
    operationId: 'listTools',
    method: 'get',
    path: '/api/tools',
    access: 'read',
    summary: 'Tools that a conversation can use (`settings.tools`); starts the MCP servers of the configuration',
    answer: { status: 200, description: 'All tools that are available now.', schema: pageSchema(toolView) },
    async handle({ server, owner }) {
      const toolbox = server.toolbox(owner)
      await waitBriefly(toolbox.refresh())
      const items = toolbox.tools().map(({ tool, source, usual }) => ({
        name: tool.name,
        ...(tool.description !== undefined && { description: tool.description }),
        source: source.startsWith('mcp:') ? 'mcp' : 'built-in',
        ...(source.startsWith('mcp:') && { server: source.slice(4) }),
        usual,
        asks: tool.ask !== undefined && tool.ask !== false,
      }))
      return json({ items })
    },
  }),
  route({
    operationId: 'listMcpServers',
    method: 'get',
    path: '/api/mcp',
    access: 'read',
    summary: 'MCP servers, their state, and their tools that wait for approval',
    answer: { status: 200, description: 'All servers.', schema: pageSchema(mcpServerView) },
    handle: async ({ server, owner }) => json({ items: server.toolbox(owner).servers().map(viewOf) }),
  }),
  route({
    operationId: 'restartMcpServer',
    method: 'post',
    path: '/api/mcp/{server}/restart',
    access: 'write',
    summary: 'Closes the connection to an MCP server and opens it again',
    answer: { status: 200, description: 'The server after the change.', schema: mcpServerView },
    async handle({ server, owner, param }) {
      const toolbox = server.toolbox(owner)
      const name = param('server')
      if (!serverView(toolbox, name)) throw missing('MCP server', name)
      await waitBriefly(toolbox.restart(name))
      return json(serverView(toolbox, name))
    },
  }),
  route({
    operationId: 'allowMcpTool',
    method: 'post',
    path: '/api/mcp/{server}/tools/{tool}/allow',
    access: 'write',
    summary: 'Offers a tool of an MCP server that is new, or whose definition has changed (only on this machine)',
    answer: { status: 200, description: 'The server after the change.', schema: mcpServerView },
    async handle({ server, owner, param }) {
      if (server.keysRequired) {
        const message =
          'Changed tools can only be allowed on the machine of this server: continue the conversation there.'
        throw new Refusal(403, { kind: 'permission', message })
      }
      const toolbox = server.toolbox(owner)
      const name = param('server')
      if (!toolbox.allow(name, param('tool'))) throw missing('waiting tool', param('tool'))
      return json(serverView(toolbox, name))
    },
  }),
  route({
    operationId: 'listGrants',
    method: 'get',
    path: '/api/grants',
    access: 'read',
    summary: 'Tools that were allowed for a conversation, or always, newest first',
    answer: { status: 200, description: 'All permissions.', schema: pageSchema(grantView) },
    handle: async ({ server, owner }) => json({ items: (await listGrants(server.store, owner)).map(withoutPath) }),
  }),
  route({
    operationId: 'revokeGrant',
    method: 'delete',
    path: '/api/grants/{id}',
    access: 'write',
    summary: 'Revokes a permission: the tool asks again',
    answer: { status: 204, description: 'Revoked.' },
    async handle({ server, owner, param }) {
      if (!(await revokeGrant(server.store, owner, param('id')))) throw missing('permission', param('id'))
      return new Response(null, { status: 204 })
    },
  }),
]

function serverView(toolbox: Toolbox, name: string) {
  return toolbox
    .servers()
    .filter((tool) => tool.name === name)
    .map(viewOf)[0]
}

function viewOf({ waiting, ...about }: McpServerInfo) {
  return { ...about, waiting: waiting.map(({ name, before, now, added }) => ({ name, before, now, added })) }
}

/** Paths on the server are not shown to clients. */
function withoutPath<T extends { source: string }>(grant: T): T {
  return grant.source.startsWith('agent:') ? { ...grant, source: 'agent' } : grant
}

async function waitBriefly(work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, patienceMs)
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
