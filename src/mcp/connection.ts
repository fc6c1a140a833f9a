// One MCP server, robust against its failures. It may not start, hang, die, change its tools or send far too much: then
// calls to it fail with one sentence, and nothing else is delayed. Its last known tools are still offered while it is
// unavailable, so that the prompt does not change with every hiccup.
//
// A lost connection is reopened by its next user: at once after the first loss, then with exponential backoff. A call
// is never sent twice: whether the first one had an effect is unknown.

import { isDeepStrictEqual } from 'node:util'
import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import type { McpServer } from '../config/load.ts'
import type { Note } from '../core/context.ts'
import { isObject, type Json } from '../core/json.ts'
import { type MediaPart, textOf, type TextPart } from '../core/message.ts'
import type { Tool, ToolRun } from '../core/tool.ts'
import {
  type ChangedTool,
  changedTools,
  changesIn,
  type Definition,
  definitionsOf,
  knownAfter,
  type KnownDefinition,
} from './definition.ts'
import { defaultMaxBytes, type Link, openLink } from './link.ts'

export interface Connection {
  readonly name: string
  /** Connects if it is disconnected and due for a retry. Never throws, and takes no longer than the connect timeout. */
  refresh(): Promise<void>
  tools(): Tool[]
  /** The allowed definitions, by the name of the tool. */
  digests(): Record<string, KnownDefinition>
  /** Tools that are left out because their definition has changed since it was allowed. */
  changed(): ChangedTool[]
  /** Offers such a tool in its new form. */
  allow(tool: string): void
  /** Why it is unavailable; absent: it is connected, or was not used yet. */
  readonly problem: string | undefined
  readonly state: ConnectionState
  /** Closes the connection and opens it again at once. Never throws. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** `idle`: it was not used yet. */
export type ConnectionState = 'idle' | 'connecting' | 'connected' | 'away'

interface ConnectionOptions {
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  note: (note: Note) => void
  /** Digests of earlier definitions. */
  known?: Readonly<Record<string, KnownDefinition>>
}

const defaultConnectMs = 30_000
const defaultCallMs = 120_000
const firstWaitMs = 1000
const longestWaitMs = 60_000
const graceMs = 1500
const pingMs = 2000

/** What is known about the server. */
interface State {
  readonly name: string
  readonly server: McpServer
  readonly options: ConnectionOptions
  readonly connectMs: number
  readonly callMs: number
  current: Opened | undefined
  connecting: Promise<Client> | undefined
  definitions: Definition[]
  changed: Map<string, ChangedTool>
  known: ConnectionOptions['known']
  failures: number
  retryAt: number
  problem: string | undefined
  closed: boolean
  /** A server of the old protocol version is not tried with the new one each time: on stdio that costs a process. */
  isOld: boolean
}

interface Opened {
  client: Client
  link: Link
}

export function connectionTo(name: string, server: McpServer, options: ConnectionOptions): Connection {
  const state: State = {
    name,
    server,
    options,
    connectMs: server.connectTimeoutMs ?? defaultConnectMs,
    callMs: server.callTimeoutMs ?? defaultCallMs,
    current: undefined,
    connecting: undefined,
    definitions: [],
    changed: new Map(),
    known: options.known,
    failures: 0,
    retryAt: 0,
    problem: undefined,
    closed: false,
    isOld: false,
  }
  return {
    name,
    async refresh() {
      // The error is in `problem`.
      await connectedClient(state).catch(() => {})
    },
    tools: () =>
      state.definitions
        .filter(({ spec }) => !state.changed.has(spec.name))
        .map((definition) => toolOf(state, definition)),
    digests: () => ({ ...state.known }),
    changed: () => [...state.changed.values()],
    allow(tool) {
      state.changed.delete(tool)
      state.known = knownAfter(state.known, state.definitions, state.changed)
    },
    get problem() {
      return state.problem
    },
    get state() {
      if (state.current) return 'connected'
      return state.connecting ? 'connecting' : state.problem === undefined ? 'idle' : 'away'
    },
    async restart() {
      await state.connecting?.catch(() => {})
      await drop(state)
      state.retryAt = 0
      state.problem = undefined
      await connectedClient(state).catch(() => {})
    },
    async close() {
      state.closed = true
      await state.connecting?.catch(() => {})
      await drop(state)
    },
  }
}

function connectedClient(state: State): Promise<Client> {
  const { name, current, closed, problem } = state
  if (closed) return Promise.reject(new Error(`the connection to ${name} was closed`))
  if (current) return Promise.resolve(current.client)
  const wait = state.retryAt - state.options.now()
  if (!state.connecting && wait > 0) {
    return Promise.reject(
      new Error(`${name} is not reachable (${problem}); the next try is in ${Math.ceil(wait / 1000)} s`),
    )
  }
  state.connecting ??= connect(state).finally(() => (state.connecting = undefined))
  return state.connecting
}

async function connect(state: State): Promise<Client> {
  const { name, server, options, connectMs } = state
  let link: Link | undefined
  const stop = new AbortController()
  try {
    link = await openLink(server, options.env)
    const opened = { client: await clientOf(state), link }
    watch(state, opened)
    const tools = await within(handshake(state, opened, stop.signal), connectMs)
    if (state.closed) throw new Error('it was closed')
    state.current = opened
    adopt(state, tools)
    state.failures = 0
    state.retryAt = 0
    state.problem = undefined
    return opened.client
  } catch (error) {
    stop.abort()
    state.isOld = false
    link?.kill()
    void link?.transport.close().catch(() => {})
    state.problem = `${reasonOf(error)}${lastWordsOf(link)}`
    state.retryAt = options.now() + Math.min(firstWaitMs * 2 ** state.failures++, longestWaitMs)
    throw new Error(`${name} cannot be reached: ${state.problem}`, { cause: error })
  }
}

type OfferedTools = Parameters<typeof definitionsOf>[1]

async function clientOf(state: State): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const onChanged = (error: Error | null, tools: OfferedTools | null) => void (error ?? adopt(state, tools ?? []))
  return new Client(
    { name: 'synapse', version: '1' },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.ceil(state.connectMs / 3) } },
      listChanged: { tools: { debounceMs: 50, onChanged } },
    },
  )
}

function watch(state: State, opened: Opened): void {
  const { client, link } = opened
  // The SDK has these hooks as fields; it is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onclose = () => {
    if (state.current !== opened) return
    state.current = undefined
    state.problem ??= `it ended${lastWordsOf(link)}`
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onerror = (error) => {
    if (!/exceeded maximum size/.test(error.message)) return
    state.problem = `it sent a message of more than ${state.server.maxOutputBytes ?? defaultMaxBytes} bytes`
    link.kill()
  }
}

/** Gives the tools that the server offers. */
async function handshake(state: State, { client, link }: Opened, signal: AbortSignal): Promise<OfferedTools> {
  const limits = { timeout: state.connectMs, signal }
  await client.connect(link.transport, { ...limits, ...(state.isOld && { prior: { kind: 'legacy' } }) })
  link.started()
  state.isOld = client.getProtocolEra() === 'legacy'
  return client.getServerCapabilities()?.tools ? (await client.listTools({}, limits)).tools : []
}

function adopt(state: State, offered: OfferedTools): void {
  const { name, known, options } = state
  const read = definitionsOf(name, offered)
  for (const note of [...read.notes, ...changesIn(name, known, read.definitions)]) options.note(note)
  state.definitions = read.definitions
  state.changed = changedTools(name, known, read.definitions)
  state.known = knownAfter(known, read.definitions, state.changed)
}

/** Closes the connection; a child that does not exit by itself is killed. */
async function drop(state: State): Promise<void> {
  const ending = state.current
  state.current = undefined
  if (!ending) return
  const timer = setTimeout(ending.link.kill, graceMs)
  await ending.client.close().catch(() => {})
  clearTimeout(timer)
}

function toolOf(state: State, definition: Definition): Tool {
  return {
    ...definition.spec,
    repeatable: definition.readOnly,
    // Longer than the timeout of the call itself, whose error is more precise.
    timeoutMs: state.callMs + state.connectMs + 1000,
    run: (input, run) => call(state, definition, input, run),
  }
}

async function call(state: State, { theirs, spec, sha256 }: Definition, input: Json, run: ToolRun): Promise<unknown> {
  const client = await connectedClient(state)
  const now = state.definitions.find((definition) => definition.spec.name === spec.name)
  if (state.changed.has(spec.name) || (now && now.sha256 !== sha256))
    throw new Error(`${state.name} has changed the definition of ${theirs} since it was allowed, so it was not run`)
  const args = isObject(input) ? { ...input } : {}
  const limits = { timeout: state.callMs, maxTotalTimeout: state.callMs, signal: run.signal }
  try {
    return valueOf(await client.callTool({ name: theirs, arguments: args }, limits))
  } catch (error) {
    run.signal.throwIfAborted()
    throw await callFailure(state, client, error)
  }
}

async function callFailure(state: State, client: Client, error: unknown): Promise<Error> {
  const { name, callMs } = state
  // The server has answered: it is healthy, only this call failed.
  if (error instanceof Error && error.name === 'ProtocolError') return error
  const timedOut = codeOf(error) === 'REQUEST_TIMEOUT'
  const isAlive = timedOut && (await answers(state, client))
  if (!isAlive) await drop(state)
  const why = timedOut ? `no answer within ${callMs} ms` : (state.problem ?? reasonOf(error))
  if (!isAlive) state.problem = why
  return new Error(`${name} did not answer: ${why}; whether the call had any effect is not known`, { cause: error })
}

/** Whether a slow server is alive at all. */
async function answers({ callMs }: State, client: Client): Promise<boolean> {
  try {
    await client.ping({ timeout: Math.min(pingMs, callMs) })
    return true
  } catch {
    return false
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not start within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}

function lastWordsOf(link: Link | undefined): string {
  const output = link?.lastWords()
  return output ? `; it said: ${output.slice(0, 300)}` : ''
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** As text for the user; the reason of a failed fetch is one level deeper. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (codeOf(error) === 'ENOENT') return 'there is no such program'
  // The system also reports this for a missing program if a folder of PATH cannot be entered.
  if (codeOf(error) === 'EACCES')
    return 'permission denied; check that it is executable and that PATH has no forbidden folder'
  const { cause } = error
  return cause instanceof Error && error.message === 'fetch failed' ? cause.message : error.message
}

// The result of an MCP call as a tool result: text and media for the model, and the structured content, if any, as the
// stored value. An error from the server is thrown, and becomes a failed result.

type Output = (TextPart | MediaPart)[]

function valueOf(result: CallToolResult): Json | Output | { type: 'tool-result'; output: Output; value: Json } {
  const parts = result.content.map(partOf)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  if (result.isError) throw new Error(text.trim() || 'the server reported a failure without a reason')
  const structured = result.structuredContent as Json | undefined
  const isPlain = parts.every((part) => part.type === 'text')
  if (structured !== undefined && isPlain && (text.trim() === '' || repeats(text, structured))) return structured
  if (structured !== undefined && parts.length > 0) return { type: 'tool-result', output: parts, value: structured }
  return isPlain && parts.length <= 1 ? textOf(parts) : parts
}

type Block = CallToolResult['content'][number]

function partOf(block: Block): TextPart | MediaPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: 'media', mediaType: block.mimeType, data: { kind: 'base64', base64: block.data } }
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` }
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return { type: 'text', text: resource.text }
      const mediaType = resource.mimeType ?? 'application/octet-stream'
      return { type: 'media', mediaType, name: resource.uri, data: { kind: 'base64', base64: resource.blob } }
    }
    default:
      return { type: 'text', text: JSON.stringify(block) }
  }
}

function repeats(text: string, structured: Json): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}
