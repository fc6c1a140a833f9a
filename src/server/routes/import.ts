// Conversations from elsewhere, in any transcript format. Only data is imported: an unanswered tool call is not run
// here.

import { badInput } from '../../core/error.ts'
import { catalogue } from '../../providers/catalogue.ts'
import { factsOf } from '../../providers/price.ts'
import type { Archive } from '../../store/archive.ts'
import { asImported } from '../../transfer/as-imported.ts'
import { json } from '../answer.ts'
import { audit } from '../audit.ts'
import type { ServerContext } from '../context.ts'
import { route, type Route } from '../route.ts'
import { importRequest } from '../schema.ts'
import { importedView, type ImportedView } from '../views.ts'
import { viewOf } from './conversations.ts'

/** A complete export of another service needs several requests, or the command line. */
const mostConversations = 1000

export const importRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/import',
    access: 'write',
    summary: 'Imports a transcript as conversations',
    body: importRequest,
    answer: {
      status: 201,
      description: 'The conversations, with notes about what could not be imported.',
      schema: importedView,
    },
    async handle({ server, owner, principal, body: { content, format, labels = [] } }) {
      const { readForeign } = await import('../../transfer/foreign.ts')
      const read = readForeign(content, format, new Date().toISOString())
      if (read.length === 0) throw badInput('The input contains no conversation.')
      if (read.length > mostConversations) {
        throw badInput(
          `There are ${read.length} conversations in the input; at most ${mostConversations} can be imported at once.`,
        )
      }
      const items: ImportedView['items'] = []
      for (const { archive, notes } of read.map(asImported)) {
        const { id } = await server.store.importConversation(owner, withOwnModel(server, labelled(archive, labels)))
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

/** Apps whose models are served under another name. */
const makers: Readonly<Record<string, string>> = { chatgpt: 'openai', 'claude.ai': 'anthropic' }

/** It continues with the model that answered last, if it is available here. */
export function withOwnModel({ rows, env, keyring, offline }: ServerContext, archive: Archive): Archive {
  const { conversation, entries } = archive
  const last = entries.findLast(({ message }) => message.role === 'assistant')?.message
  if (conversation.settings['model'] !== undefined || last?.role !== 'assistant') return archive
  const { provider: from, model } = last.origin
  const provider = makers[from] ?? from
  const row = rows.find(({ id }) => id === provider)
  const hasKey =
    row && (offline || keyring?.stored().includes(row.id) || row.keyVariables.some((name) => env[name]?.trim()))
  if (!hasKey || factsOf(catalogue, provider, model).price === undefined) return archive
  const settings = { ...conversation.settings, model: `${provider}/${model}` }
  return { ...archive, conversation: { ...conversation, settings } }
}
