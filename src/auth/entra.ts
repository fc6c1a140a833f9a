// Access tokens of Microsoft Entra ID for an application: by its secret, or by the token of a workload.

import { readFile } from 'node:fs/promises'
import { badInput } from '../core/error.ts'
import { askJson } from './ask.ts'
import type { Authorizer, Env, AuthOptions } from './authorizer.ts'
import { bearerToken, forget, tokenFrom } from './token-cache.ts'

const who = 'Microsoft Entra ID'

export function entraAuthorizer(
  scopes: readonly [string, ...string[]],
  { env, now = Date.now }: AuthOptions,
): Authorizer {
  let tried = 0
  let name = ''
  return {
    async headers(_request, fetch) {
      const tenant = requiredVariable(env, 'AZURE_TENANT_ID')
      const client = requiredVariable(env, 'AZURE_CLIENT_ID')
      if (!/^[\w.-]+$/.test(tenant)) throw badInput('AZURE_TENANT_ID is not the id or the domain of a tenant.')
      const scope = scopes[tried % scopes.length] ?? scopes[0]
      name = `entra ${tenant} ${client} ${scope}`
      return bearerToken(name, now(), async () => {
        const form = { grant_type: 'client_credentials', client_id: client, scope, ...(await clientProof(env)) }
        const url = `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`
        return tokenFrom(who, await askJson(who, { method: 'POST', url, form }, fetch), now())
      })
    },
    /** Which scope a resource wants is not documented: after a refusal the other one is tried. */
    refresh({ status }) {
      if (status !== 401 || name === '') return false
      forget(name)
      tried++
      return true
    },
  }
}

async function clientProof(env: Env): Promise<Record<string, string>> {
  const secret = env['AZURE_CLIENT_SECRET']?.trim()
  if (secret) return { client_secret: secret }
  const file = env['AZURE_FEDERATED_TOKEN_FILE']?.trim()
  if (!file) throw missingVariable('AZURE_CLIENT_SECRET')
  const assertion = await readFile(file, 'utf8').catch(() => undefined)
  if (assertion === undefined) throw badInput('AZURE_FEDERATED_TOKEN_FILE names a file that cannot be read.')
  return {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion.trim(),
  }
}

function requiredVariable(env: Env, name: string): string {
  const value = env[name]?.trim()
  if (!value) throw missingVariable(name)
  return value
}

function missingVariable(name: string): Error {
  return badInput(`There is no key, and for an application of Microsoft Entra ID ${name} is missing: set it.`)
}
