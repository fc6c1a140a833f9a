// Tool names on the wire. MCP servers and users choose any names; most wires accept letters, digits, _ and -.

import { createHash } from 'node:crypto'
import type { Context, Note } from '../../core/context.ts'
import type { Message } from '../../core/message.ts'
import { continuedState } from './continued.ts'

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
  for (const name of namesIn(context)) names.add(name)
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

class Names {
  /** With the index of the message that has each first, in order. */
  readonly first = new Map<string, number>()
  last: string | undefined

  backTo(index: number): void {
    this.last = undefined
    for (const [name, at] of this.first) if (at >= index) this.first.delete(name)
  }
}

const namesOf = continuedState(() => new Names())

/** The names in calls and results, in order. */
function namesIn({ messages, fromLog }: Context): Iterable<string> {
  if (fromLog) return namesOf(messages, '', addNames).first.keys()
  const names = new Names()
  for (const [index, message] of messages.entries()) addNames(names, message, index)
  return names.first.keys()
}

function addNames(names: Names, { role, parts }: Message, index: number): void {
  if (role === 'user' || role === 'system') return
  for (const part of parts) {
    // Most have the name of the one before.
    if ((part.type !== 'tool-call' && part.type !== 'tool-result') || part.name === names.last) continue
    names.last = part.name
    if (!names.first.has(part.name)) names.first.set(part.name, index)
  }
}
