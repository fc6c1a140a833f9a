// A tool as an MCP server defines it, and a digest of that definition: a tool whose definition changes after it was
// allowed must be allowed again.

import { createHash } from 'node:crypto'
import type { Note, ToolSpec } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'

/** The used fields of a server's tool. The package's own type would have to be installed with the types of Synapse. */
interface Offered {
  name: string
  description?: string | undefined
  inputSchema: unknown
  annotations?: { readOnlyHint?: boolean | undefined } | undefined
}

export interface Definition {
  /** The server's name for it. */
  theirs: string
  spec: ToolSpec
  sha256: string
  /** The input of the digest, to show to a person. */
  text: string
  /** It declares that it changes nothing. */
  readOnly: boolean
}

const maxTools = 500
const maxDefinitionBytes = 64 * 1024

export function definitionsOf(
  server: string,
  offered: readonly Offered[],
): { definitions: Definition[]; notes: Note[] } {
  const notes: Note[] = []
  const leaveOut = (name: string, why: string) =>
    notes.push({ kind: 'dropped', what: `tool ${name}`, why, rule: 'mcp' })
  const definitions = new Map<string, Definition>()
  // By name, because some servers list in another order each time, and the order is part of every cached prompt.
  for (const tool of offered.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = `${server}__${tool.name}`
    const text = JSON.stringify([tool.name, tool.description ?? '', sorted(tool.inputSchema as Json)])
    if (definitions.has(name)) leaveOut(name, `${server} lists it twice`)
    else if (Buffer.byteLength(text) > maxDefinitionBytes)
      leaveOut(name, `its definition has more than ${maxDefinitionBytes} bytes`)
    else if (definitions.size >= maxTools) leaveOut(name, `${server} offers more than ${maxTools} tools`)
    else {
      definitions.set(name, {
        theirs: tool.name,
        spec: {
          name,
          ...(tool.description !== undefined && { description: tool.description }),
          input: schemaOf(tool.inputSchema as Json),
        },
        sha256: createHash('sha256').update(text).digest('hex'),
        text: JSON.stringify(JSON.parse(text), null, 2),
        readOnly: tool.annotations?.readOnlyHint === true,
      })
    }
  }
  return { definitions: [...definitions.values()], notes }
}

/** What differs from the known definitions; a new server differs in nothing. */
export function changesIn(
  server: string,
  known: Readonly<Record<string, KnownDefinition>> | undefined,
  definitions: readonly Definition[],
): Note[] {
  if (!known) return []
  const now = new Map(definitions.map(({ spec, sha256 }) => [spec.name, sha256]))
  const note = (kind: Note['kind'], name: string, why: string): Note => ({
    kind,
    what: `tool ${name}`,
    why,
    rule: 'mcp',
  })
  return [
    ...[...now].flatMap(([name, sha256]) => {
      const before = Object.hasOwn(known, name) ? known[name] : undefined
      if (before === undefined) return [note('added', name, `${server} offers it now; it must be allowed first`)]
      return digestOf(before) === sha256
        ? []
        : [note('changed', name, `${server} has changed its definition; it must be allowed again`)]
    }),
    ...Object.entries(known).flatMap(([name, one]) =>
      now.has(name) || hasEnded(one) ? [] : [note('dropped', name, `${server} no longer offers it`)],
    ),
  ]
}

/**
 * The tools that are not allowed in their current form, by name: their definition has changed, or they are new on a
 * known server.
 */
export function changedTools(
  server: string,
  known: Readonly<Record<string, KnownDefinition>> | undefined,
  definitions: readonly Definition[],
): Map<string, ChangedTool> {
  const changed = definitions.flatMap(({ spec: { name }, sha256, text }): [string, ChangedTool][] => {
    if (!known) return []
    const before = Object.hasOwn(known, name) ? known[name] : undefined
    if (before !== undefined && digestOf(before) === sha256) return []
    const was = typeof before === 'object' && before.text !== undefined ? { before: before.text } : {}
    return [[name, { server, name, now: text, ...was, ...(before === undefined && { added: true }) }]]
  })
  return new Map(changed)
}

/**
 * The allowed definitions once these are offered. A changed tool keeps its known definition until it is allowed again.
 */
export function knownAfter(
  known: Readonly<Record<string, KnownDefinition>> = {},
  definitions: readonly Definition[],
  changed: ReadonlyMap<string, ChangedTool>,
): Record<string, KnownDefinition> {
  const gone = Object.entries(known).map(([name, definition]): [string, KnownDefinition] => [
    name,
    { ...(typeof definition === 'string' ? { sha256: definition } : definition), gone: true },
  ])
  const now = definitions.flatMap(({ spec: { name }, sha256, text }): [string, KnownDefinition][] => {
    if (!changed.has(name)) return [[name, { sha256, text }]]
    const before = Object.hasOwn(known, name) ? known[name] : undefined
    return before === undefined ? [] : [[name, before]]
  })
  return Object.fromEntries([...gone, ...now])
}

function hasEnded(definition: KnownDefinition): boolean {
  return typeof definition === 'object' && definition.gone === true
}

function digestOf(definition: KnownDefinition): string {
  return typeof definition === 'string' ? definition : definition.sha256
}

function schemaOf(schema: Json): JsonObject {
  if (!isObject(schema)) return { type: 'object', properties: {} }
  // The name of the dialect is useless to a model, and some wires refuse it.
  const { $schema: _, ...rest } = schema
  return { ...rest, type: 'object' }
}

function sorted(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value ?? null
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  )
}

// Stored tool definitions of MCP servers. Separate from the rest, because the types of the package may not need a
// dependency.

/** A definition that was allowed before: its digest, with its text if it was stored. */
export type KnownDefinition =
  | string
  | {
      sha256: string
      text?: string
      /** The server did not offer it the last time; if it comes back, it must be the same. */
      gone?: true
    }

/** A tool whose definition differs from the allowed one, or that is new on its server. */
export interface ChangedTool {
  server: string
  /** As the model sees it. */
  name: string
  /** The allowed definition, if its text was stored. */
  before?: string
  now: string
  /** The server was known, and did not have it before. */
  added?: true
}
