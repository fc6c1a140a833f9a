// The transport to an MCP server: a child process, or HTTP. The program is started directly, never through a shell, and
// gets only PATH, HOME and the like in addition to what its entry names: none of our keys.

import { resolve } from 'node:path'
import type { Stream } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/client'
import type { McpServer } from '../config/load.ts'
import { expand, expandAll } from './expand.ts'
import { SynapseError } from '../core/error.ts'

export interface Link {
  transport: Transport
  /** The end of the server's error output. */
  lastWords: () => string
  /** Call it when it has started. */
  started: () => void
  /** At once, for an unresponsive child. */
  kill: () => void
}

export const defaultMaxBytes = 4_000_000
const maxErrorText = 2000

export async function openLink(server: McpServer, env: Readonly<Record<string, string | undefined>>): Promise<Link> {
  const maxBytes = server.maxOutputBytes ?? defaultMaxBytes
  if ('url' in server) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const transport = new StreamableHTTPClientTransport(new URL(expand(server.url, env)), {
      requestInit: { headers: expandAll(server.headers, env) },
      fetch: limitedFetch(maxBytes),
      // Reconnecting is decided in one place, connection.ts.
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
        // It had already ended.
      }
    },
  }
}

/** Reads all of a stream, so that its writer never blocks, and keeps the end of it. */
function tail(stream: Stream | null): () => string {
  let text = ''
  stream?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-maxErrorText)
  })
  return () => text.trim().split('\n').at(-1)?.trim() ?? ''
}

// A fetch that aborts a body in which one message is too long. In `text/event-stream` a message is a line, and the
// stream as a whole may continue forever.

const newline = 10

function limitedFetch(maxBytes: number, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const reply = await inner(input, init)
    if (!reply.body) return reply
    const lines = reply.headers.get('content-type')?.startsWith('text/event-stream') === true
    const body = reply.body.pipeThrough(limitBytes(maxBytes, lines))
    return new Response(body, { status: reply.status, statusText: reply.statusText, headers: reply.headers })
  }
}

function limitBytes(maxBytes: number, lines: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      const last = lines ? chunk.lastIndexOf(newline) : -1
      size = last >= 0 ? chunk.length - last - 1 : size + chunk.length
      if (size > maxBytes || (last >= 0 && chunk.length > maxBytes)) {
        controller.error(new SynapseError({ kind: 'too-large', message: `a message of more than ${maxBytes} bytes` }))
      } else {
        controller.enqueue(chunk)
      }
    },
  })
}
