// Storing the API key of a provider from the page, on this machine only. A stored key is never returned.

import { badInput } from '../../core/error.ts'
import { canStoreKey } from '../../providers/stored-key.ts'
import { json } from '../answer.ts'
import { lastingContext, type ServerContext } from '../context.ts'
import { keyringOf, type Keyring } from '../keyring.ts'
import { providerOf } from '../provider-view.ts'
import { missing, route, type Route } from '../route.ts'
import { newProviderKey } from '../schema.ts'
import { providerView } from '../server-views.ts'

const answer = { status: 200, description: 'The provider after the change.', schema: providerView }

export const providerKeyRoutes: readonly Route[] = [
  route({
    operationId: 'setProviderKey',
    method: 'post',
    path: '/api/providers/{provider}/key',
    access: 'write',
    summary: 'Stores the API key of a provider on this machine (only on loopback, if the server needs no key)',
    body: newProviderKey,
    answer,
    async handle({ server, param, body }) {
      const keyring = keyringOf(server)
      const row = rowOf(server, param('provider'))
      if (!canStoreKey(row)) throw badInput(`A key of ${row.name} is not stored; set ${row.keyVariables.join(' or ')}.`)
      keyring.store(row.id, body.key)
      return json(providerOf(await renewRows(server, keyring), row))
    },
  }),
  route({
    operationId: 'deleteProviderKey',
    method: 'delete',
    path: '/api/providers/{provider}/key',
    access: 'write',
    summary: 'Deletes the stored API key of a provider',
    answer,
    async handle({ server, param }) {
      const keyring = keyringOf(server)
      const row = rowOf(server, param('provider'))
      if (!keyring.remove(row.id)) throw missing('stored key of', row.id)
      return json(providerOf(await renewRows(server, keyring), row))
    },
  }),
]

function rowOf(server: ServerContext, id: string) {
  const row = server.rows.find((candidate) => candidate.id === id)
  if (!row) throw missing('provider', id)
  return row
}

/** The server's new state. */
async function renewRows(server: ServerContext, keyring: Keyring): Promise<ServerContext> {
  const lasting = lastingContext(server)
  const { whyOffline, ...reach } = await keyring.reach()
  delete lasting.whyOffline
  return Object.assign(lasting, reach, whyOffline !== undefined && { whyOffline })
}
