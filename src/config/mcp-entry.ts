// One MCP server as configured. Separate from its schema, because the types of the package may not need a dependency.

export type McpServerEntry = StdioEntry | HttpEntry

interface StdioEntry extends Limits {
  type?: 'stdio'
  command: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
}

interface HttpEntry extends Limits {
  type?: 'http' | 'streamable-http'
  url: string
  headers?: Record<string, string>
}

interface Limits {
  connectTimeoutMs?: number
  callTimeoutMs?: number
  maxOutputBytes?: number
}
