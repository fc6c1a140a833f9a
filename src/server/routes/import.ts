// Conversations from elsewhere, in any transcript format. They are words, not deeds: a tool call that was never answered
// there is not carried out here.

import { badInput } from '../../core/error.ts'
import type { ToolCallPart } from '../../core/message.ts'
import { notRun } from '../../run/run-tool.ts'
import type { Archive, ArchivedEntry } from '../../store/archive.ts'
import { uuidv7 } from '../../store/ids.ts'
import { json } from '../answer.ts'
import { audit } from '../audit.ts'
import { route, type Route } from '../route.ts'
import { importRequest } from '../schema.ts'
import { importedView, type ImportedView } from '../views.ts'
import { viewOf } from './conversations.ts'

/** An export of everything that somebody ever said elsewhere goes in several requests, or in by the terminal. */
const mostConversations = 1000

export const importRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/import',
    access: 'write',
    summary: 'Makes conversations of a transcript from elsewhere',
    body: importRequest,
    answer: { status: 201, description: 'The conversations, with what could not be taken.', schema: importedView },
    async handle({ server, owner, principal, body: { content, format, labels = [] } }) {
      const { readForeign } = await import('../../transfer/foreign.ts')
      const read = readForeign(content, format, new Date().toISOString())
      if (read.length === 0) throw badInput('There is no conversation in this.')
      if (read.length > mostConversations) {
        throw badInput(`There are ${read.length} conversations in this; ${mostConversations} are taken at once.`)
      }
      const items: ImportedView['items'] = []
      for (const { archive, notes } of read) {
        const { id } = await server.store.importConversation(owner, closed(labelled(archive, labels)))
        await audit(server.store, principal, 'imported', id)
        items.push({ conversation: await viewOf(server, owner, id), notes })
      }
      return json({ items }, 201)
    },
  }),
]

function labelled(archive: Archive, labels: string[]): Archive {
  return { ...archive, conversation: { ...archive.conversation, labels } }
}

/** Calls that nothing comes after are answered: they were not run. */
function closed(archive: Archive): Archive {
  const { conversation, entries } = archive
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const parents = new Set(entries.map((entry) => entry.parentId))
  let { head } = conversation
  const answers = entries.flatMap((leaf): ArchivedEntry[] => {
    const open = parents.has(leaf.id) ? [] : openCalls(leaf, byId)
    if (open.length === 0) return []
    const parts = open.map((call) => notRun(call, `It was asked for elsewhere, so ${call.name} was not run here.`))
    const answer: ArchivedEntry = { id: uuidv7(), parentId: leaf.id, at: leaf.at, message: { role: 'tool', parts } }
    if (head === leaf.id) head = answer.id
    return [answer]
  })
  return { ...archive, conversation: { ...conversation, head }, entries: [...entries, ...answers] }
}

function openCalls(leaf: ArchivedEntry, byId: ReadonlyMap<string, ArchivedEntry>): ToolCallPart[] {
  const answered = new Set<string>()
  for (let at: ArchivedEntry | undefined = leaf; at; at = byId.get(at.parentId ?? '')) {
    const { message } = at
    if (message.role === 'user' || message.role === 'system') return []
    if (message.role === 'assistant') {
      return message.parts.filter((part) => part.type === 'tool-call').filter((call) => !answered.has(call.callId))
    }
    for (const part of message.parts) answered.add(part.callId)
  }
  return []
}
