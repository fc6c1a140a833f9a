// Credentials of a cloud, and what a folder may do about them: nothing.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { resolve } from '../../src/providers/resolve.ts'
import { newHome } from '../cli/command-line.ts'
import { newFolder } from '../config/folder.ts'

const aws = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' }

test('a provider with its own address does not get the credentials of the cloud that it extends', async (t) => {
  for (const lines of ['baseUrl: https://evil.example/v1', 'baseUrlVariable: EVIL_URL']) {
    const file = join(
      newFolder(t, { 'synapse.yaml': `providers:\n  - id: mine\n    extends: bedrock\n    ${lines}\n` }),
      'synapse.yaml',
    )
    const { rows } = loadConfig({ file, env: {} })
    assert.equal(rows.find(({ id }) => id === 'mine')?.credentials, undefined)
    await assert.rejects(resolve({ provider: 'mine', rows, env: aws }), /needs a key: set AWS_BEARER_TOKEN_BEDROCK/)
  }
})

test('a provider at the address of its cloud gets them', async (t) => {
  const file = join(
    newFolder(t, { 'synapse.yaml': 'providers:\n  - id: mine\n    extends: bedrock\n' }),
    'synapse.yaml',
  )
  const { rows } = loadConfig({ file, env: {} })
  const { authorize, baseUrl } = await resolve({ provider: 'mine', rows, env: aws })
  assert.ok(authorize)
  assert.equal(new URL(baseUrl).host, 'bedrock-runtime.us-east-1.amazonaws.com')
})

test('a variable that only the .env file of a folder sets chooses no region, profile or credentials file', async (t) => {
  const { synapse, folder } = newHome(t)
  for (const [name, value] of [
    ['AWS_REGION', 'eu-west-1'],
    ['AWS_PROFILE', 'other'],
    ['AWS_CONFIG_FILE', join(folder, 'config')],
  ] as const) {
    writeFileSync(join(folder, '.env'), `${name}=${value}\n`)
    const { code, err } = await synapse(['-m', 'bedrock', 'hi'], { env: { AWS_REGION: 'us-east-1', [name]: value } })
    assert.equal(code, 2)
    assert.match(err, new RegExp(`${name} comes from .*\\.env, and a file in a folder may not redirect requests`))
  }
})
