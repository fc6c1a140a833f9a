// MCP servers in the format of other hosts, so that an entry can be copied from their documentation.

import * as z from 'zod'
import type { McpServerEntry } from './mcp-entry.ts'

const timeouts = {
  connectTimeoutMs: z.int().min(1).describe('How long a start may take; by default 30 000.').exactOptional(),
  callTimeoutMs: z.int().min(1).describe('How long one call may take; by default 120 000.').exactOptional(),
  maxOutputBytes: z
    .int()
    .min(1024)
    .describe('The most bytes of one message from it; by default 4 000 000.')
    .exactOptional(),
}

const stdio = z.strictObject({
  type: z.literal('stdio').exactOptional(),
  command: z.string().min(1).describe('The program; it is started directly, no shell reads it.'),
  args: z.array(z.string()).exactOptional(),
  env: z
    .record(z.string(), z.string())
    .describe('Variables for it, in addition to PATH, HOME and the like; ${NAME} is filled in from the environment.')
    .exactOptional(),
  cwd: z.string().describe('Where it runs; by default the folder of this file.').exactOptional(),
  ...timeouts,
})

const http = z.strictObject({
  type: z.enum(['http', 'streamable-http']).exactOptional(),
  url: z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'is not an http or https URL'),
  headers: z
    .record(z.string(), z.string())
    .describe('${NAME} is filled in from the environment, such as Bearer ${GITHUB_TOKEN}.')
    .exactOptional(),
  ...timeouts,
})

export const mcpServersSchema: z.ZodType<Record<string, McpServerEntry>> = z
  .record(
    z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9-]|_(?!_))*$/, 'may have letters, digits, hyphens and single underscores'),
    z.union([stdio, http]),
  )
  .describe('MCP servers by name; their tools are offered as name__tool.')
