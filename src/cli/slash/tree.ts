// The log of a conversation as a tree. A stretch without forks is one column; at a fork, the branches are drawn below
// each other. Numbers are the order of writing, so they never change.

import type { Branch, Entry, EntryOutline } from '../../core/log.ts'
import { callsOf, textOf, type Message } from '../../core/message.ts'
import { clip, neutralLine } from '../terminal.ts'
import type { SlashContext } from './context.ts'

export async function treeLines({ session, style, width }: SlashContext): Promise<string[]> {
  const { store, owner } = session.local
  const id = session.conversation.id
  const [{ head }, outline, branches] = await Promise.all([
    session.conversation.info(),
    store.outline(owner, id),
    store.branches(owner, id),
  ])
  const numbers = new Map(outline.map((entry, index) => [entry.id, index + 1]))
  const children = Map.groupBy(outline, (entry) => entry.parentId)
  const words = await messagesOf(branches, (entryId) => store.history(owner, entryId))
  const digits = String(outline.length).length
  const lines: string[] = []
  draw(children.get(null) ?? [], '')
  return lines

  function draw(roots: readonly EntryOutline[], indent: string): void {
    for (const root of roots) {
      const run: EntryOutline[] = []
      let next: readonly EntryOutline[] = [root]
      while (next.length === 1 && next[0]) {
        run.push(next[0])
        next = children.get(next[0].id) ?? []
      }
      const prefix = roots.length > 1 ? `${indent}├ ` : indent
      const inside = roots.length > 1 ? `${indent}│ ` : indent
      for (const [index, entry] of shorten(run).entries()) {
        const lead = index === 0 ? prefix : inside
        if (typeof entry === 'number') lines.push(style.dim(`${lead}${' '.repeat(digits)}   … ${entry} more`))
        else lines.push(lineOf(entry, lead))
      }
      draw(next, inside)
    }
  }

  function lineOf(entry: EntryOutline, lead: string): string {
    const names = branches.filter((branch) => branch.entryId === entry.id && branch.name !== undefined)
    const marks = [...(entry.id === head ? ['here'] : []), ...names.map((branch) => neutralLine(branch.name ?? ''))]
    const mark = marks.length > 0 ? `  ← ${marks.join(', ')}` : ''
    const number = String(numbers.get(entry.id)).padStart(digits)
    const message = words.get(entry.id)
    const text = `${lead}${number}  ${message ? inWords(message) : entry.role}`
    const line = clip(text, width() - mark.length)
    return entry.id === head ? style.bold(line + mark) : line + style.green(mark)
  }
}

/** Long stretches lose their middle, which does not affect the shape of the tree. */
function shorten(run: readonly EntryOutline[]): (EntryOutline | number)[] {
  if (run.length <= 12) return [...run]
  return [...run.slice(0, 4), run.length - 10, ...run.slice(-6)]
}

async function messagesOf(
  branches: readonly Branch[],
  history: (entryId: string) => Promise<Entry[]>,
): Promise<Map<string, Message>> {
  const words = new Map<string, Message>()
  for (const { entryId } of branches) {
    if (words.has(entryId)) continue
    for (const entry of await history(entryId)) words.set(entry.id, entry.message)
  }
  return words
}

function inWords(message: Message): string {
  const author = message.role === 'assistant' ? message.origin.model : message.role
  const calls = callsOf(message).map((call) => `→ ${call.name}`)
  const results =
    message.role === 'tool' ? message.parts.map((part) => `← ${part.name} ${textOf(part.output).slice(0, 200)}`) : []
  return neutralLine(
    `${author}: ${[textOf(message.parts).slice(0, 300), ...calls, ...results].filter(Boolean).join(' ')}`,
  )
}
