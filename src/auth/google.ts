// Access tokens of Google Cloud: from a service account's key, from the file of `gcloud auth application-default
// login`, or, only if enabled, from the machine.

import { sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { badInput } from '../core/error.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../core/json.ts'
import { askJson } from './ask.ts'
import type { Authorizer, Env, AuthOptions, TokenFetch } from './authorizer.ts'
import { bearerToken, forget, type Token, tokenFrom } from './token-cache.ts'

/** Never the address in a file: the author of the file would receive what is sent there. */
const tokenAddress = 'https://oauth2.googleapis.com/token'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const who = 'The token service of Google'

export function googleAuthorizer({ env, now = Date.now }: AuthOptions): Authorizer {
  let loading: Promise<Identity> | undefined
  let name = ''
  return {
    async headers(_request, fetch) {
      const identity = await (loading ??= identityIn(env))
      name = identity.name
      const bearer = await bearerToken(name, now(), () => identity.token(fetch, now()))
      return { ...bearer, ...(identity.quotaProject && { 'x-goog-user-project': identity.quotaProject }) }
    },
    refresh({ status }) {
      if (status !== 401 || name === '') return false
      forget(name)
      return true
    },
  }
}

interface Identity {
  name: string
  quotaProject?: string
  token(fetch: TokenFetch, now: number): Promise<Token>
}

async function identityIn(env: Env): Promise<Identity> {
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']?.trim()
  const file = named || defaultFile(env)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text !== undefined) return identityOf(parseJson(text), named ? 'GOOGLE_APPLICATION_CREDENTIALS' : file)
  if (named) throw badInput('GOOGLE_APPLICATION_CREDENTIALS names a file that cannot be read.')
  if (env['METADATA_SERVER_DETECTION']?.trim() === 'assume-present') return metadataServer
  throw badInput(
    'There are no credentials of Google Cloud: run "gcloud auth application-default login", or set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account.',
  )
}

function defaultFile(env: Env): string {
  const folder =
    env['CLOUDSDK_CONFIG']?.trim() || join(env['HOME'] || env['USERPROFILE'] || homedir(), '.config', 'gcloud')
  return join(folder, 'application_default_credentials.json')
}

function identityOf(file: Json | undefined, where: string): Identity {
  if (!isObject(file)) throw badInput(`${where} is not a JSON file of credentials.`)
  const quotaProject = textIn(file, 'quota_project_id')
  const about = quotaProject === undefined ? {} : { quotaProject }
  if (file.type === 'service_account') return { ...serviceAccount(file, where), ...about }
  if (file.type === 'authorized_user') return { ...authorizedUser(file, where), ...about }
  throw badInput(
    `${where} has credentials of type ${JSON.stringify(file.type ?? null)}: only service_account and authorized_user are known; give an access token in CLOUDSDK_AUTH_ACCESS_TOKEN instead.`,
  )
}

function serviceAccount(file: JsonObject, where: string): Identity {
  const email = requiredField(file, 'client_email', where)
  const key = requiredField(file, 'private_key', where)
  const kid = textIn(file, 'private_key_id')
  return {
    name: `google ${email} ${kid ?? ''}`,
    async token(fetch, now) {
      const assertion = jwt({ email, key, ...(kid !== undefined && { kid }) }, now, where)
      const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
      return tokenFrom(who, await askJson(who, { method: 'POST', url: tokenAddress, form }, fetch), now)
    },
  }
}

function jwt({ email, key, kid }: { email: string; key: string; kid?: string }, now: number, where: string): string {
  const iat = Math.floor(now / 1000)
  const claims = { iss: email, scope, aud: tokenAddress, iat, exp: iat + 3600 }
  const head = { alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) }
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  try {
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
  } catch {
    throw badInput(`The private key in ${where} cannot be read; create a new key for the service account.`)
  }
}

function authorizedUser(file: JsonObject, where: string): Identity {
  const form = {
    grant_type: 'refresh_token',
    client_id: requiredField(file, 'client_id', where),
    client_secret: requiredField(file, 'client_secret', where),
    refresh_token: requiredField(file, 'refresh_token', where),
  }
  return {
    name: `google ${form.client_id} ${form.refresh_token}`,
    token: async (fetch, now) =>
      tokenFrom(who, await askJson(who, { method: 'POST', url: tokenAddress, form }, fetch), now),
  }
}

const metadataServer: Identity = {
  name: 'google machine',
  async token(fetch, now) {
    const url = 'http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token'
    const server = 'The metadata server of Google'
    return tokenFrom(server, await askJson(server, { url, headers: { 'metadata-flavor': 'Google' } }, fetch), now)
  },
}

function requiredField(file: JsonObject, field: string, where: string): string {
  const value = textIn(file, field)
  if (value === undefined) throw badInput(`${where} has no ${field}.`)
  return value
}

function textIn(file: JsonObject, field: string): string | undefined {
  const value = file[field]
  return typeof value === 'string' && value !== '' ? value : undefined
}
