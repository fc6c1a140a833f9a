// MCP servers for a test: started on demand, stopped after it.

import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { McpServer } from '../../src/config/load.ts'
import type { Note } from '../../src/core/context.ts'
import type { Json } from '../../src/core/json.ts'
import { openMcpServers, type McpOptions, type McpServers } from '../../src/mcp/servers.ts'

export const root = join(import.meta.dirname, '..', '..')

/** A busy machine takes its time to start a program. */
const connectTimeoutMs = 120_000

/** The entry of one of the test servers. */
export function packaged(name: string, ...args: string[]): McpServer {
  const script = join(root, 'node_modules', '@modelcontextprotocol', name, 'dist', 'index.js')
  return { command: process.execPath, args: [script, ...args], home: root, connectTimeoutMs }
}

type Limits = Pick<McpServer, 'connectTimeoutMs' | 'callTimeoutMs' | 'maxOutputBytes'>

export function faulty(mode: string, more: Limits & { journal?: string } = {}): McpServer {
  const { journal, ...rest } = more
  const script = join(import.meta.dirname, 'faulty-server.ts')
  const args = [script, mode, ...(journal ? [journal] : [])]
  return { command: process.execPath, args, home: root, connectTimeoutMs, ...rest }
}

export interface Using extends McpServers {
  notes: Note[]
  /** As the loop would call it. */
  call(tool: string, input?: Json, signal?: AbortSignal): Promise<unknown>
}

export function using(t: TestContext, servers: Record<string, McpServer>, options: McpOptions = {}): Using {
  const notes: Note[] = []
  const mcp = openMcpServers(servers, { env: {}, onNote: (note) => notes.push(note), ...options })
  t.after(() => mcp.close())
  return {
    ...mcp,
    notes,
    async call(tool, input = {}, signal = new AbortController().signal) {
      const [server = ''] = tool.split('__')
      const found = mcp.tools(server).find((one) => one.name === tool)
      if (!found) throw new TypeError(`no tool ${tool}`)
      return found.run(input, { callId: 'c1', conversationId: 'k', owner: 'local', emit: () => {}, signal })
    },
  }
}
