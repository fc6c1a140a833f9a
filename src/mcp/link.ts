// The way to an MCP server: a child process of ours, or HTTP. The program is started directly, never through a shell, and
// gets only PATH, HOME and the like beside what its entry names: no key of ours.

import { resolve } from 'node:path'
import type { Stream } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/client'
import type { McpServer } from '../config/load.ts'
import { expand, expandAll } from './expand.ts'
import { limitedFetch } from './limited-fetch.ts'

export interface Link {
  transport: Transport
  /** The last words that the server wrote to its error output. */
  lastWords: () => string
  /** To be called when it has started. */
  started: () => void
  /** At once, for a child that does not listen any more. */
  kill: () => void
}

export const defaultMaxBytes = 4_000_000
const kept = 2000

export async function openLink(server: McpServer, env: Readonly<Record<string, string | undefined>>): Promise<Link> {
  const maxBytes = server.maxOutputBytes ?? defaultMaxBytes
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const transport = new StreamableHTTPClientTransport(new URL(expand(server.url, env)), {
      requestInit: { headers: expandAll(server.headers, env) },
      fetch: limitedFetch(maxBytes),
      // Whether to come back is decided in one place, connection.ts.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
      },
    })
    return { transport, lastWords: () => '', started: () => {}, kill: () => {} }
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  const transport = new StdioClientTransport({
    command: server.command,
    args: (server.args ?? []).map((text) => expand(text, env)),
    env: expandAll(server.env, env),
    cwd: resolve(server.home, server.cwd ?? '.'),
    stderr: 'pipe',
    maxBufferSize: maxBytes,
  })
  let pid: number | null = null
  return {
    transport,
    lastWords: tail(transport.stderr),
    started() {
      // The transport forgets it as soon as closing begins.
      pid = transport.pid
    },
    kill() {
      const child = transport.pid ?? pid
      try {
        if (child !== null) process.kill(child, 'SIGKILL')
      } catch {
        // It was gone already.
      }
    },
  }
}

/** Reads all of a stream, so that its writer never waits, and keeps the end of it. */
function tail(stream: Stream | null): () => string {
  let text = ''
  stream?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-kept)
  })
  return () => text.trim().split('\n').at(-1)?.trim() ?? ''
}
