// Conversations from elsewhere, in any transcript format. They are words, not deeds: a tool call that was never answered
// there is not carried out here.

import { badInput } from '../../core/error.ts'
import type { Archive } from '../../store/archive.ts'
import { asImported } from '../../transfer/as-imported.ts'
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
      for (const { archive, notes } of read.map(asImported)) {
        const { id } = await server.store.importConversation(owner, labelled(archive, labels))
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
