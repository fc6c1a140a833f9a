// One MCP server, whatever becomes of it. It may not start, hang, die, change its tools or send far too much: then calls
// to it fail with a sentence, and nothing else is held up. Its last known tools stay on offer while it is away, so that
// the prompt does not change with every hiccup.
//
// A lost connection is opened again by whoever needs it next: at once after the first loss, then not before a wait that
// doubles. A call is never sent twice: whether the first one had an effect is not known.

import type { Client } from '@modelcontextprotocol/client'
import type { McpServer } from '../config/load.ts'
import type { Note } from '../core/context.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Tool, ToolRun } from '../core/tool.ts'
import { changedTools, changesIn, definitionsOf, knownAfter, type Definition } from './definition.ts'
import type { ChangedTool, KnownDefinition } from './known-definition.ts'
import { defaultMaxBytes, openLink, type Link } from './link.ts'
import { valueOf } from './result.ts'

export interface Connection {
  readonly name: string
  /** Connects if it is not connected and the time has come. Never throws, and takes no longer than the connect timeout. */
  refresh(): Promise<void>
  tools(): Tool[]
  /** The definitions that count as allowed, by the name of the tool. */
  digests(): Record<string, KnownDefinition>
  /** Tools that are left out because their definition has changed since it was allowed. */
  changed(): ChangedTool[]
  /** Offers such a tool as it is now. */
  allow(tool: string): void
  /** Why it is away; absent: it is there, or was not asked for yet. */
  readonly problem: string | undefined
  close(): Promise<void>
}

export interface ConnectionOptions {
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  note: (note: Note) => void
  /** Digests of definitions that were seen before. */
  known?: Readonly<Record<string, KnownDefinition>>
}

const defaultConnectMs = 30_000
const defaultCallMs = 120_000
const firstWaitMs = 1000
const longestWaitMs = 60_000
const graceMs = 1500
const pingMs = 2000

export function connectionTo(name: string, server: McpServer, options: ConnectionOptions): Connection {
  const connectMs = server.connectTimeoutMs ?? defaultConnectMs
  const callMs = server.callTimeoutMs ?? defaultCallMs
  let current: { client: Client; link: Link } | undefined
  let connecting: Promise<Client> | undefined
  let definitions: Definition[] = []
  let changed = new Map<string, ChangedTool>()
  let known = options.known
  let failures = 0
  let retryAt = 0
  let problem: string | undefined
  let closed = false
  /** A server of the old generation is not asked for the new one each time: on stdio that costs a process. */
  let isOld = false

  return {
    name,
    async refresh() {
      // What went wrong is in `problem`.
      await client().catch(() => {})
    },
    tools: () => definitions.filter(({ spec }) => !changed.has(spec.name)).map(toolOf),
    digests: () => ({ ...known }),
    changed: () => [...changed.values()],
    allow(tool) {
      changed.delete(tool)
      known = knownAfter(known, definitions, changed)
    },
    get problem() {
      return problem
    },
    async close() {
      closed = true
      await connecting?.catch(() => {})
      await drop()
    },
  }

  function client(): Promise<Client> {
    if (closed) return Promise.reject(new Error(`the connection to ${name} was closed`))
    if (current) return Promise.resolve(current.client)
    const wait = retryAt - options.now()
    if (!connecting && wait > 0) {
      return Promise.reject(
        new Error(`${name} is not reachable (${problem}); the next try is in ${Math.ceil(wait / 1000)} s`),
      )
    }
    connecting ??= connect().finally(() => (connecting = undefined))
    return connecting
  }

  async function connect(): Promise<Client> {
    let link: Link | undefined
    const stop = new AbortController()
    try {
      link = await openLink(server, options.env)
      const { Client } = await import('@modelcontextprotocol/client')
      const made = new Client(
        { name: 'synapse', version: '1' },
        {
          versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.ceil(connectMs / 3) } },
          listChanged: { tools: { debounceMs: 50, onChanged: (error, tools) => void (error ?? adopt(tools ?? [])) } },
        },
      )
      const opened = { client: made, link }
      // The SDK has these hooks as fields; it is no event target.
      // oxlint-disable-next-line unicorn/prefer-add-event-listener
      made.onclose = () => lost(opened, `it ended${quoted(opened.link)}`)
      // oxlint-disable-next-line unicorn/prefer-add-event-listener
      made.onerror = (error) => {
        if (!/exceeded maximum size/.test(error.message)) return
        problem = `it sent a message of more than ${server.maxOutputBytes ?? defaultMaxBytes} bytes`
        opened.link.kill()
      }
      const handshake = async () => {
        await made.connect(opened.link.transport, {
          timeout: connectMs,
          signal: stop.signal,
          ...(isOld && { prior: { kind: 'legacy' } }),
        })
        opened.link.started()
        isOld = made.getProtocolEra() === 'legacy'
        return made.getServerCapabilities()?.tools
          ? (await made.listTools({}, { timeout: connectMs, signal: stop.signal })).tools
          : []
      }
      const tools = await within(handshake(), connectMs)
      if (closed) throw new Error('it was closed')
      current = opened
      adopt(tools)
      failures = 0
      retryAt = 0
      problem = undefined
      return made
    } catch (error) {
      stop.abort()
      isOld = false
      link?.kill()
      void link?.transport.close().catch(() => {})
      problem = `${reasonOf(error)}${quoted(link)}`
      retryAt = options.now() + Math.min(firstWaitMs * 2 ** failures++, longestWaitMs)
      throw new Error(`${name} cannot be reached: ${problem}`, { cause: error })
    }
  }

  function adopt(offered: Parameters<typeof definitionsOf>[1]): void {
    const read = definitionsOf(name, offered)
    for (const note of [...read.notes, ...changesIn(name, known, read.definitions)]) options.note(note)
    definitions = read.definitions
    changed = changedTools(name, known, definitions)
    known = knownAfter(known, definitions, changed)
  }

  function lost(which: { client: Client }, why: string): void {
    if (current !== which) return
    current = undefined
    problem ??= why
  }

  /** Ends the connection; a child that does not go by itself is ended. */
  async function drop(): Promise<void> {
    const ending = current
    current = undefined
    if (!ending) return
    const timer = setTimeout(ending.link.kill, graceMs)
    await ending.client.close().catch(() => {})
    clearTimeout(timer)
  }

  function toolOf(definition: Definition): Tool {
    return {
      ...definition.spec,
      repeatable: definition.readOnly,
      // Beyond the limit of the call itself, which says better what has happened.
      timeoutMs: callMs + connectMs + 1000,
      run: (input, run) => call(definition, input, run),
    }
  }

  async function call({ theirs, spec, sha256 }: Definition, input: Json, run: ToolRun): Promise<unknown> {
    const connected = await client()
    const now = definitions.find((one) => one.spec.name === spec.name)
    if (changed.has(spec.name) || (now && now.sha256 !== sha256))
      throw new Error(`${name} has changed the definition of ${theirs} since it was allowed, so it was not run`)
    const args = isObject(input) ? { ...input } : {}
    const limits = { timeout: callMs, maxTotalTimeout: callMs, signal: run.signal }
    return valueOf(await connected.callTool({ name: theirs, arguments: args }, limits).catch(failed))

    async function failed(error: unknown): Promise<never> {
      run.signal.throwIfAborted()
      // The server has answered: it is well, only this call was not.
      if (error instanceof Error && error.name === 'ProtocolError') throw error
      const timedOut = codeOf(error) === 'REQUEST_TIMEOUT'
      const well = timedOut && (await answers(connected))
      if (!well) await drop()
      const why = timedOut ? `no answer within ${callMs} ms` : (problem ?? reasonOf(error))
      problem = well ? problem : why
      throw new Error(`${name} did not answer: ${why}; whether the call had any effect is not known`, { cause: error })
    }
  }

  /** Whether a server that was too slow is alive at all. */
  async function answers(connected: Client): Promise<boolean> {
    try {
      await connected.ping({ timeout: Math.min(pingMs, callMs) })
      return true
    } catch {
      return false
    }
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not start within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function quoted(link: Link | undefined): string {
  const said = link?.lastWords()
  return said ? `; it said: ${said.slice(0, 300)}` : ''
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** In words for a person; a failed fetch has its reason one level deeper. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (codeOf(error) === 'ENOENT') return 'there is no such program'
  const { cause } = error
  return cause instanceof Error && error.message === 'fetch failed' ? cause.message : error.message
}
