// Conversations from elsewhere, in any transcript format. Only data is imported: an unanswered tool call is not run
// here.

import { json } from '../answer.ts'
import type { ServerContext } from '../context.ts'
import type { Imported, ImportTask } from '../import-task.ts'
import { route, type Call, type Route } from '../route.ts'
import { importRequest } from '../schema.ts'
import { importedView, type ImportedView } from '../views.ts'
import { viewOf } from './conversations.ts'

export const importRoutes: readonly Route[] = [
  route({
    operationId: 'importTranscript',
    method: 'post',
    path: '/api/import',
    access: 'write',
    summary: 'Imports a transcript as conversations',
    body: importRequest,
    takesBytes: true,
    answer: {
      status: 201,
      description: 'The conversations, with notes about what could not be imported.',
      schema: importedView,
    },
    handle: (call) => answerImport(call, { bytes: call.bytes }, call.bytes.length >= muchToImport),
  }),
]

/** Bytes that are imported in about the time of a network round trip. */
const muchToImport = 100_000

export async function answerImport(
  { server, owner, principal }: Call<unknown, unknown>,
  from: Pick<ImportTask, 'bytes' | 'session'>,
  isLong: boolean,
): Promise<Response> {
  const known = { rows: server.rows, withKey: providersWithKey(server) }
  const by = { owner, ...(principal.keyId !== undefined && { keyId: principal.keyId }) }
  const { bytes } = await server.longTasks.run(server.store, { do: 'import', principal: by, known, ...from }, isLong)
  const result = JSON.parse(new TextDecoder().decode(bytes)) as Imported
  const items: ImportedView['items'] = []
  for (const { id, notes } of result.items) {
    items.push({ conversation: await viewOf(server, owner, id), notes })
  }
  return json({ items }, 201)
}

function providersWithKey({ rows, env, keyring, offline }: ServerContext): string[] {
  const stored = keyring?.stored() ?? []
  const isUsable = ({ id, keyVariables }: (typeof rows)[number]): boolean =>
    offline || stored.includes(id) || keyVariables.some((name) => env[name]?.trim())
  return rows.filter(isUsable).map(({ id }) => id)
}
