// Credentials of AWS, Google Cloud and Microsoft Entra ID.

import assert from 'node:assert/strict'
import { createVerify, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { authorizer, type Credentials, type Env, type TokenFetch } from '../../src/auth/authorizer.ts'
import { signature } from '../../src/auth/sigv4.ts'

const home = mkdtempSync(join(tmpdir(), 'synapse-auth-'))
after(() => rmSync(home, { recursive: true, force: true }))

const now = Date.UTC(2026, 10, 16, 9, 5, 7)
const url = 'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-micro-v1%3A0/converse'
const request = { method: 'POST', url, headers: { 'content-type': 'application/json' }, body: '{"messages":[]}' }
const aws: Credentials = { kind: 'aws', service: 'bedrock' }
const keys = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' }

const noNetwork: TokenFetch = () => Promise.reject(new Error('nothing may be asked here'))

/** A token service that gives numbered tokens, and what it was asked. */
function service(
  answer: (count: number) => object = (count) => ({ access_token: `token-${count}`, expires_in: 3600 }),
) {
  const asked: { url: string; method: string; body: string; headers: Record<string, string> }[] = []
  const fetch: TokenFetch = (address, { method, headers, body = '' }) => {
    asked.push({ url: address, method, headers, body })
    const text = JSON.stringify(answer(asked.length))
    return Promise.resolve({ status: 200, headers: new Map(), text: () => Promise.resolve(text) })
  }
  return { asked, fetch }
}

function folder(files: Record<string, string>): string {
  const made = mkdtempSync(join(home, 'home-'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(made, path, '..'), { recursive: true })
    writeFileSync(join(made, path), text)
  }
  return made
}

function signer(env: Env, clock = () => now) {
  return authorizer(aws, { env: { HOME: folder({}), ...env }, region: 'us-east-1', now: clock })
}

describe('AWS', () => {
  test('a request is signed as the official signer does', () => {
    const made = signature(
      request,
      { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
      { region: 'us-east-1', service: 'bedrock' },
      now,
    )
    assert.equal(made['x-amz-date'], '20261116T090507Z')
    // From @smithy/signature-v4 5.7.5; test/clients/sigv4.clients.test.ts compares many more.
    assert.equal(
      made['authorization'],
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261116/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=f93d317c19b67b624ceb17972bd9f41ec77c444d5cd15f7e3c81b1721fef20c2',
    )
  })

  test('variables count before files, and a named profile before variables', async () => {
    const HOME = folder({
      '.aws/credentials':
        '[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = s\n\n[work]\naws_access_key_id=AKIDWORK\naws_secret_access_key=s\naws_session_token=t # a comment\n',
    })
    const idIn = async (env: Env) =>
      /Credential=(\w+)/.exec((await signer({ HOME, ...env }).headers(request, noNetwork))['authorization'] ?? '')?.[1]
    assert.equal(await idIn({}), 'AKIDDEFAULT')
    assert.equal(await idIn(keys), 'AKIDEXAMPLE')
    assert.equal(await idIn({ ...keys, AWS_PROFILE: 'work' }), 'AKIDWORK')
    const headers = await signer({ HOME, AWS_PROFILE: 'work' }).headers(request, noNetwork)
    assert.equal(headers['x-amz-security-token'], 't')
  })

  test('nothing is requested over the network unless a container, a profile or a variable enables it', async () => {
    await assert.rejects(
      signer({}).headers(request, noNetwork),
      /AWS_BEARER_TOKEN_BEDROCK.*AWS_ACCESS_KEY_ID.*AWS_PROFILE/,
    )
    const { asked, fetch } = service(() => ({
      AccessKeyId: 'ASIA',
      SecretAccessKey: 's',
      Token: 't',
      Expiration: new Date(now + 3600_000).toISOString(),
    }))
    await signer({ AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/one' }).headers(request, fetch)
    assert.deepEqual(
      asked.map((one) => one.url),
      ['http://169.254.170.2/v2/one'],
    )
    await signer({ AWS_EC2_METADATA_DISABLED: 'false' }).headers(request, fetch)
    assert.equal(asked[1]?.method, 'PUT')
    assert.equal(asked.length, 4)
  })

  test('the container credentials service is on this machine or uses https', async () => {
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://evil.example/keys' }
    await assert.rejects(signer(env).headers(request, service().fetch), /AWS_CONTAINER_CREDENTIALS_FULL_URI must name/)
  })

  test('a missing profile, or one without keys, is one sentence', async () => {
    const HOME = folder({ '.aws/config': '[profile sso]\nsso_session = work\nregion = eu-west-1\n' })
    await assert.rejects(
      signer({ HOME, AWS_PROFILE: 'gone' }).headers(request, noNetwork),
      /no profile "gone".*AWS_PROFILE/,
    )
    await assert.rejects(
      signer({ HOME, AWS_PROFILE: 'sso' }).headers(request, noNetwork),
      /export-credentials --profile sso/,
    )
  })

  test('a clock that is wrong is corrected from the answer, once', async () => {
    const one = signer(keys)
    await one.headers(request, noNetwork)
    const refused = { status: 403, headers: new Map([['date', new Date(now + 3600_000).toUTCString()]]) }
    assert.equal(one.refresh(refused), true)
    assert.equal((await one.headers(request, noNetwork))['x-amz-date'], '20261116T100507Z')
    assert.equal(one.refresh(refused), false)
    assert.equal(one.refresh({ status: 500, headers: refused.headers }), false)
  })
})

describe('Google', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = {
    type: 'service_account',
    client_email: 'robot@example.iam.gserviceaccount.com',
    private_key_id: 'k1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: 'https://evil.example/token',
  }

  test('a service account signs for a token, which is used until shortly before its end', async () => {
    const GOOGLE_APPLICATION_CREDENTIALS = join(folder({ 'key.json': JSON.stringify(account) }), 'key.json')
    let time = now
    const google = authorizer({ kind: 'google' }, { env: { GOOGLE_APPLICATION_CREDENTIALS }, now: () => time })
    const { asked, fetch } = service()
    assert.deepEqual(await google.headers(request, fetch), { authorization: 'Bearer token-1' })
    time += 50 * 60_000
    assert.deepEqual(await google.headers(request, fetch), { authorization: 'Bearer token-1' })
    time += 6 * 60_000
    assert.deepEqual(await google.headers(request, fetch), { authorization: 'Bearer token-2' })
    assert.equal(google.refresh({ status: 401, headers: new Map() }), true)
    assert.deepEqual(await google.headers(request, fetch), { authorization: 'Bearer token-3' })

    // Not where the file says.
    assert.deepEqual(new Set(asked.map((one) => one.url)), new Set(['https://oauth2.googleapis.com/token']))
    const form = new URLSearchParams(asked[0]?.body)
    const [head = '', claims = '', proof = ''] = form.get('assertion')?.split('.') ?? []
    assert.ok(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, proof, 'base64url'))
    assert.deepEqual(JSON.parse(Buffer.from(claims, 'base64url').toString()), {
      iss: account.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: now / 1000,
      exp: now / 1000 + 3600,
    })
  })

  test('the credentials that gcloud has written are used, with the billed project', async () => {
    const file = {
      type: 'authorized_user',
      client_id: 'c',
      client_secret: 's',
      refresh_token: 'r',
      quota_project_id: 'p',
    }
    const HOME = folder({ '.config/gcloud/application_default_credentials.json': JSON.stringify(file) })
    const google = authorizer({ kind: 'google' }, { env: { HOME }, now: () => now })
    const { asked, fetch } = service()
    const headers = await Promise.all([google.headers(request, fetch), google.headers(request, fetch)])
    assert.deepEqual(headers[0], { authorization: 'Bearer token-1', 'x-goog-user-project': 'p' })
    assert.equal(asked.length, 1)
    assert.equal(new URLSearchParams(asked[0]?.body).get('grant_type'), 'refresh_token')
  })

  test('without credentials nothing is requested, and an unknown kind is named', async () => {
    const env = { HOME: folder({}) }
    await assert.rejects(
      authorizer({ kind: 'google' }, { env }).headers(request, noNetwork),
      /GOOGLE_APPLICATION_CREDENTIALS/,
    )
    const path = join(folder({ 'a.json': '{"type":"external_account"}' }), 'a.json')
    const other = authorizer({ kind: 'google' }, { env: { GOOGLE_APPLICATION_CREDENTIALS: path } })
    await assert.rejects(other.headers(request, noNetwork), /"external_account".*CLOUDSDK_AUTH_ACCESS_TOKEN/)
  })
})

describe('Microsoft Entra ID', () => {
  const entra: Credentials = { kind: 'entra', scopes: ['https://one/.default', 'https://two/.default'] }
  const env = { AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'client', AZURE_CLIENT_SECRET: 'secret' }

  test('an application secret gets a token, and after a refusal the other scope is tried', async () => {
    const one = authorizer(entra, { env, now: () => now })
    const { asked, fetch } = service()
    await one.headers(request, fetch)
    assert.equal(one.refresh({ status: 401, headers: new Map() }), true)
    await one.headers(request, fetch)
    assert.equal(asked[0]?.url, 'https://login.microsoftonline.com/tenant/oauth2/v2.0/token')
    assert.deepEqual(
      asked.map(({ body }) => new URLSearchParams(body).get('scope')),
      ['https://one/.default', 'https://two/.default'],
    )
  })

  test('missing settings are named', async () => {
    for (const name of Object.keys(env)) {
      const less = authorizer(entra, { env: { ...env, [name]: '' } })
      await assert.rejects(less.headers(request, noNetwork), new RegExp(`${name} is missing`))
    }
  })

  test('a failure names the service, and no secret', async () => {
    const refused: TokenFetch = () =>
      Promise.resolve({
        status: 401,
        headers: new Map(),
        text: () => Promise.resolve('{"error":"invalid_client","error_description":"secret"}'),
      })
    const other = { ...env, AZURE_CLIENT_ID: 'other' }
    await assert.rejects(authorizer(entra, { env: other }).headers(request, refused), (error: Error) => {
      assert.match(error.message, /^Microsoft Entra ID answered 401 \(invalid_client\)/)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  })
})
