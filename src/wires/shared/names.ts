// Tool names on the wire. MCP servers and users choose any names; most wires accept letters, digits, _ and -.

import { createHash } from 'node:crypto'
import type { Context, Note } from '../../core/context.ts'

export interface NameMap {
  toWire(name: string): string
  /** Changed names only, the wire's → ours. */
  changed: Record<string, string>
}

/** Maps every tool name of the context, declared or only called, to one that `fits` accepts. */
export function mapNames(context: Context, fits: RegExp, maxLength: number, notes: Note[]): NameMap {
  const wire = new Map<string, string>()
  const taken = new Set<string>()
  const changed: Record<string, string> = {}
  const names = new Set(context.tools.map((tool) => tool.name))
  let last: string | undefined
  for (const message of context.messages) {
    if (message.role === 'user' || message.role === 'system') continue
    for (const part of message.parts) {
      if ((part.type !== 'tool-call' && part.type !== 'tool-result') || part.name === last) continue
      last = part.name
      names.add(last)
    }
  }
  const fitting = (name: string) => name.length <= maxLength && fits.test(name)
  for (const name of names) if (fitting(name)) taken.add(name)

  for (const name of names) {
    if (fitting(name)) continue
    const usual = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').replace(/^([^a-zA-Z_])/, '_$1') || '_'
    const clean = fits.test(usual) ? usual : usual.replaceAll('-', '_')
    let mapped = clean.slice(0, maxLength)
    if (mapped.length < clean.length || taken.has(mapped)) {
      mapped = `${clean.slice(0, maxLength - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
    }
    taken.add(mapped)
    wire.set(name, mapped)
    changed[mapped] = name
    notes.push({
      kind: 'changed',
      what: `tool name ${JSON.stringify(name)} to ${JSON.stringify(mapped)}`,
      why: 'the wire does not allow every character in a tool name; names in the reply are mapped back',
    })
  }
  return { toWire: (name) => wire.get(name) ?? name, changed }
}
