// The tools of MCP servers in a conversation. The command of a server is started directly, without your variables.

import { createRequire } from 'node:module'
import { connectMcp, openSynapse } from 'synapse'

const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const mcp = await connectMcp({ files: { command: process.execPath, args: [server, process.cwd()] } })
const tools = mcp.tools('files')
console.log(
  tools.some(({ name }) => name === 'files__list_directory'),
  mcp.problems(),
)

const synapse = await openSynapse({ offline: true })
const chat = await synapse.start({ model: 'anthropic/claude-opus-5', tools })
console.log(await chat.send('use the tool files__list_directory with {"path":"."}').text())
await synapse.close()
await mcp.close()
