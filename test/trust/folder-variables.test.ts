// Variables that only the .env file of a folder sets: they choose no key, no model and no folder of the user's.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { serveEmulator } from '../../src/testing.ts'
import { newHome } from '../cli/command-line.ts'

test('a key of a .env file is used after the file was trusted, and its value is not copied', async (t) => {
  const server = await serveEmulator()
  t.after(() => server.close())
  const { synapse, trust, folder } = newHome(t)
  const set = { OPENAI_API_KEY: 'sk-of-the-folder', OPENAI_BASE_URL: `${server.url}/openai/v1` }
  const ask = () => synapse(['-m', 'openai/gpt-5.6', 'hi'], { env: set })
  assert.equal((await ask()).code, 0, 'a key of the environment alone is the user’s own')
  const before = server.requests.length

  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=sk-of-the-folder\n')
  const refused = await ask()
  assert.equal(refused.code, 2)
  assert.match(refused.err, /OPENAI_API_KEY comes from .*\.env, and the owner of that key could see .*"synapse trust /)
  assert.equal(server.requests.length, before)

  const trusting = await synapse(['trust'], { env: set })
  assert.equal(trusting.code, 0, trusting.err)
  assert.match(trusting.err, /takes OPENAI_API_KEY from .*\.env/)
  assert.equal((await ask()).code, 0)
  const kept = readFileSync(join(folder, '.local', 'state', 'synapse', 'trust.json'), 'utf8')
  assert.doesNotMatch(kept, /sk-of-the-folder/)

  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=sk-of-the-folder\n# changed\n')
  assert.equal((await ask()).code, 2)
  await assert.rejects(trust(), 'without the variable there is nothing to trust')
})

test('a .env file chooses neither the model nor where sessions are; a flag does', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, '.env'), 'SYNAPSE_MODEL=openai/gpt-5.6\nCODEX_HOME=codex\n')
  const env = { SYNAPSE_MODEL: 'openai/gpt-5.6', CODEX_HOME: 'codex' }
  const asked = await synapse(['--offline', 'hi'], { env })
  assert.equal(asked.code, 2)
  assert.match(asked.err, /SYNAPSE_MODEL comes from .*may not choose the model; .* or use -m\./)
  assert.equal((await synapse(['--offline', '-m', 'openai/gpt-5.6', 'hi'], { env })).code, 0)
  const listed = await synapse(['sessions'], { env })
  assert.equal(listed.code, 2)
  assert.match(listed.err, /CODEX_HOME comes from .*may not choose where sessions are/)
  assert.equal((await synapse(['sessions'], { env: { CODEX_HOME: 'elsewhere' } })).code, 0)
})
