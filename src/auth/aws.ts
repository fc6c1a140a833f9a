// Credentials of AWS in the order of its own tools: variables, then the profile of the shared files, then the
// container, then the machine. The last is used only if it is enabled: elsewhere it would cause a delay.

import { badInput } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { askJson, askText } from './ask.ts'
import type { Authorizer, Env, AuthOptions, TokenFetch } from './authorizer.ts'
import { awsProfile, profileName, type Profile } from './aws-profile.ts'
import { signature, type AwsKeys } from './sigv4.ts'
import { cached, forget } from './token-cache.ts'

export function awsAuthorizer(service: string, { env, region, now = Date.now }: AuthOptions): Authorizer {
  if (region === undefined) throw badInput('Requests to AWS are signed for a region: set AWS_REGION.')
  /** How far the clock of AWS is ahead of ours. */
  let skew = 0
  let name = ''
  return {
    async headers(request, fetch) {
      const source = sourceOf(env)
      name = source.name
      const keys = await cached(name, now(), () => source.keys(fetch))
      return signature(request, keys, { region, service }, now() + skew)
    },
    refresh({ status, headers }) {
      if (status !== 400 && status !== 401 && status !== 403) return false
      const serverTime = Date.parse(headers.get('date') ?? '')
      const newSkew = serverTime - now()
      if (Math.abs(newSkew - skew) > toleratedMs) {
        skew = newSkew
        return true
      }
      // Temporary keys may have been replaced early.
      if (!/^aws (container|machine)/.test(name) || !/ExpiredToken/.test(headers.get('x-amzn-errortype') ?? ''))
        return false
      forget(name)
      return true
    },
  }
}

/** AWS refuses signatures that are more than five minutes old or ahead. */
const toleratedMs = 4 * 60_000

interface Source {
  name: string
  keys(fetch: TokenFetch): Promise<AwsKeys>
}

function sourceOf(env: Env): Source {
  const inVariables = keysIn(env, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN')
  if (inVariables && !env['AWS_PROFILE']?.trim()) return fixedKeys(inVariables)
  const profile = awsProfile(env)
  if (profile) return profileSource(profile, env)
  if (env['AWS_PROFILE']?.trim()) {
    throw badInput(`There is no profile "${profileName(env)}" in the AWS files: check AWS_PROFILE.`)
  }
  const container = containerSource(env)
  if (container) return container
  if (env['AWS_EC2_METADATA_DISABLED']?.trim().toLowerCase() === 'false') return instanceMetadata
  throw badInput(
    'There are no credentials of AWS: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE.',
  )
}

function fixedKeys(keys: AwsKeys): Source {
  return { name: `aws ${keys.accessKeyId} ${keys.sessionToken ?? ''}`, keys: () => Promise.resolve(keys) }
}

function keysIn(from: Env, id: string, secret: string, token: string): AwsKeys | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = [id, secret, token].map((name) => from[name]?.trim())
  if (!accessKeyId || !secretAccessKey) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

function profileSource(profile: Profile, env: Env): Source {
  const keys = keysIn(profile, 'aws_access_key_id', 'aws_secret_access_key', 'aws_session_token')
  if (keys && profile['role_arn'] === undefined) return fixedKeys(keys)
  const source = profile['role_arn'] === undefined ? profile['credential_source']?.toLowerCase() : undefined
  if (source === 'ec2instancemetadata') return instanceMetadata
  const container = source === 'ecscontainer' ? containerSource(env) : undefined
  if (container) return container
  const name = profileName(env)
  throw badInput(
    `The AWS profile "${name}" has no keys: run "aws configure export-credentials --profile ${name} --format env", and set the variables that it prints.`,
  )
}

const containerHost = 'http://169.254.170.2'

function containerSource(env: Env): Source | undefined {
  const path = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']?.trim()
  const url = path ? containerHost + path : env['AWS_CONTAINER_CREDENTIALS_FULL_URI']?.trim()
  if (!url) return undefined
  const { protocol, hostname } = URL.parse(url) ?? {}
  if (
    protocol !== 'https:' &&
    !/^(localhost|127(\.\d+){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/.test(hostname ?? '')
  ) {
    throw badInput(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI must name this machine, its container service or an https address.',
    )
  }
  return {
    name: `aws container ${url}`,
    async keys(fetch) {
      const authorization = env['AWS_CONTAINER_AUTHORIZATION_TOKEN']?.trim() || (await tokenFile(env))
      return keysFrom(
        await askJson(
          'The container’s credential service',
          { url, headers: { ...(authorization && { authorization }) } },
          fetch,
        ),
      )
    },
  }
}

async function tokenFile(env: Env): Promise<string | undefined> {
  const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']?.trim()
  if (!file) return undefined
  const { readFile } = await import('node:fs/promises')
  return (await readFile(file, 'utf8')).trim()
}

const machineHost = 'http://169.254.169.254/latest'

/** The instance metadata service, version 2. */
const instanceMetadata: Source = {
  name: 'aws machine',
  async keys(fetch) {
    const who = 'The instance metadata service'
    const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '300' }
    const token = await askText(who, { method: 'PUT', url: `${machineHost}/api/token`, headers: lifetime }, fetch)
    const headers = { 'x-aws-ec2-metadata-token': token.trim() }
    const roles = `${machineHost}/meta-data/iam/security-credentials/`
    const [role = ''] = (await askText(who, { url: roles, headers }, fetch)).trim().split('\n')
    return keysFrom(await askJson(who, { url: roles + encodeURIComponent(role), headers }, fetch))
  },
}

function keysFrom(answer: JsonObject): AwsKeys {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = answer
  if (typeof AccessKeyId !== 'string' || typeof SecretAccessKey !== 'string') {
    throw badInput('The metadata service returned no AWS keys: check the role of this machine or container.')
  }
  const expiresAt = typeof Expiration === 'string' ? Date.parse(Expiration) : Number.NaN
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    ...(typeof Token === 'string' && { sessionToken: Token }),
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  }
}
