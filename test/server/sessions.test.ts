// Sessions of coding agents over HTTP: for the user of this machine only.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import type { LocalSessions } from '../../src/server/context.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { tempFolder } from '../store/temp.ts'
import { serving } from './serving.ts'

function withSession(t: TestContext): LocalSessions {
  const home = tempFolder(t)
  const folder = join(home, '.pi', 'agent', 'sessions', '--work--')
  mkdirSync(folder, { recursive: true })
  const lines = [
    { type: 'session', version: 3, id: 'pi-1', timestamp: '2026-11-01T10:00:00.000Z', cwd: '/work' },
    {
      type: 'message',
      id: 'a',
      parentId: null,
      timestamp: '2026-11-01T10:00:01.000Z',
      message: { role: 'user', content: [{ type: 'text', text: 'Rename the flag' }], timestamp: 1 },
    },
  ]
  writeFileSync(join(folder, '1_pi-1.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return { environment: { home, env: {} }, carry: ['synapse', 'carry'] }
}

test('sessions are listed and imported if the server is for the user of this machine', async (t) => {
  const { api } = await serving(t, { sessions: withSession(t) })
  assert.equal((await api('GET', '/api/status')).body['localSessions'], true)
  const { body } = await api('GET', '/api/sessions')
  const [one] = body['items'] as JsonObject[]
  assert.deepEqual([one?.['agent'], one?.['id'], one?.['title']], ['pi', 'pi-1', 'Rename the flag'])
  assert.equal(one?.['path'], undefined, 'where the file is stays here')
  const made = await api('POST', '/api/sessions/import', { agent: 'pi', id: 'pi-1' })
  assert.equal(made.status, 201)
  assert.match(made.text, /"entries":1/)
  assert.equal((await api('POST', '/api/sessions/import', { agent: 'pi', id: '../../etc' })).status, 404)
})

test('sessions are hidden if keys are required, or if the server was not given them', async (t) => {
  const store = openMemoryStore()
  const { key } = await createKey(store, { owner: 'local' })
  const kept = await serving(t, { sessions: withSession(t), store, requireKeys: true })
  const mine = { authorization: `Bearer ${key}` }
  assert.deepEqual((await kept.api('GET', '/api/sessions', undefined, mine)).body['items'], [])
  const imported = await kept.api('POST', '/api/sessions/import', { agent: 'pi', id: 'pi-1' }, mine)
  assert.equal(imported.status, 403)
  const without = await serving(t)
  assert.deepEqual((await without.api('GET', '/api/sessions')).body['items'], [])
})
