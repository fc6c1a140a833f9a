// Keys that are stored on this machine: who can read them, and where they may go.

import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { readStoredKeys, removeStoredKey, storeKey, storedKeysFile } from '../../src/config/stored-keys.ts'
import { resolve } from '../../src/providers/resolve.ts'
import { rows } from '../../src/providers/rows.ts'
import { newHome } from '../cli/command-line.ts'
import { keys, noTerminal, openTerminal } from '../cli/pseudo-terminal.ts'
import { newConversation, say, serving, str } from '../server/serving.ts'

const key = 'sk-test-0123456789abcdef'

test('a key is stored in a file that only its user can read, and is shown by its last characters only', async (t) => {
  const home = newHome(t)
  const stored = await home.synapse(['auth', 'openai'], { input: `${key}\n` })
  assert.equal(stored.code, 0, stored.err)
  const file = storedKeysFile(home.env)
  assert.ok(file.startsWith(home.folder))
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(readStoredKeys(home.env), { openai: key })
  const listed = await home.synapse(['auth', '--list'], { env: { OPENAI_API_KEY: 'sk-other-000000' } })
  assert.equal(listed.out, 'openai          …cdef  (OPENAI_API_KEY is used instead)\n')
  assert.match((await home.synapse(['providers'])).out, /^openai +\S+ +stored /m)
  assert.doesNotMatch(stored.out + stored.err + listed.out + listed.err, /0123456789/)
  assert.equal((await home.synapse(['auth', '--remove', 'openai'])).code, 0)
  assert.deepEqual(readStoredKeys(home.env), {})
  const again = await home.synapse(['auth', '--remove', 'openai'])
  assert.equal(again.code, 2)
  assert.match(again.err, /No key is stored for "openai"/)
})

test('a key is not shown while it is typed', { skip: noTerminal }, async (t) => {
  const home = newHome(t)
  const screen = openTerminal(t, home, ['auth', 'anthropic'])
  await screen.see(/API key of Anthropic \(not shown\): /)
  screen.type(`${key}${keys.enter}`)
  await screen.see(/Stored the key of /)
  assert.equal(await screen.ended, 0)
  assert.doesNotMatch(screen.raw, /0123456789/)
  assert.deepEqual(readStoredKeys(home.env), { anthropic: key })
})

test('an invalid key, or one without a fixed host, is not stored', async (t) => {
  const home = newHome(t)
  for (const [provider, input, says] of [
    ['openai', 'two words', /This is not an API key/],
    ['ollama', key, /Ollama needs no key/],
    ['azure-openai', key, /is configurable/],
    ['nobody', key, /nobody/],
  ] as const) {
    const ran = await home.synapse(['auth', provider], { input })
    assert.equal(ran.code, 2, provider)
    assert.match(ran.err, says)
  }
  assert.equal(existsSync(storedKeysFile(home.env)), false)
})

test('a file that others can read is refused with the way to repair it', (t) => {
  const { env } = newHome(t)
  storeKey('openai', key, env)
  chmodSync(storedKeysFile(env), 0o644)
  assert.throws(() => readStoredKeys(env), /can be read by others: "chmod 600 /)
})

test('a folder cannot choose where keys are stored', async (t) => {
  const home = newHome(t)
  const elsewhere = join(home.folder, 'elsewhere')
  mkdirSync(join(elsewhere, 'synapse'), { recursive: true })
  writeFileSync(join(home.folder, '.env'), `XDG_CONFIG_HOME=${elsewhere}\n`)
  const ran = await home.synapse(['auth', 'openai'], { input: key, env: { XDG_CONFIG_HOME: elsewhere } })
  assert.equal(ran.code, 2)
  assert.match(ran.err, /XDG_CONFIG_HOME comes from .*\.env/)
  assert.equal(existsSync(join(elsewhere, 'synapse', 'keys.json')), false)
})

test('a stored key is sent to the host of the built-in provider, and to no other', async () => {
  const storedKeys = { openai: key }
  const home = await resolve({ provider: 'openai', storedKeys, env: {} })
  assert.equal(home.headers['authorization'], `Bearer ${key}`)
  const inEnvironment = await resolve({ provider: 'openai', storedKeys, env: { OPENAI_API_KEY: 'sk-mine-11111' } })
  assert.equal(inEnvironment.headers['authorization'], 'Bearer sk-mine-11111')
  const refused = /The stored key of .* goes to its own host only, not to/
  await assert.rejects(
    resolve({ provider: 'openai', storedKeys, env: { OPENAI_BASE_URL: 'http://127.0.0.1:9' } }),
    refused,
  )
  await assert.rejects(resolve({ provider: 'openai', storedKeys, env: {}, baseUrl: 'https://example.com/v1' }), refused)
  await assert.rejects(
    resolve({ provider: 'openai', storedKeys, env: {}, baseUrl: 'http://api.openai.com/v1' }),
    refused,
  )
  const moved = rows.map((row) =>
    row.id === 'openai'
      ? { ...row, wires: row.wires.map((wire) => ({ ...wire, baseUrl: 'https://evil.example/v1' })) as never }
      : row,
  )
  await assert.rejects(resolve({ provider: 'openai', storedKeys, env: {}, rows: moved }), refused)
  await assert.rejects(resolve({ provider: 'anthropic', storedKeys, env: {} }), /"synapse auth anthropic" stores one/)
})

test('on loopback the page stores a key, which is never returned, and the emulator is turned off', async (t) => {
  const { env } = newHome(t)
  const keyring = {
    stored: () => Object.keys(readStoredKeys(env)),
    store: (provider: string, given: string) => storeKey(provider, given, env),
    remove: (provider: string) => removeStoredKey(provider, env),
    reach: async () => ({ offline: keyring.stored().length === 0, defaultModel: 'anthropic/claude-opus-5' }),
  }
  const { api } = await serving(t, { keyring, offline: true, whyOffline: 'no key' })
  const stored = await api('POST', '/api/providers/anthropic/key', { key })
  assert.equal(stored.status, 200, stored.text)
  assert.deepEqual([stored.body['key'], stored.body['keyFrom']], ['found', 'stored'])
  assert.doesNotMatch(stored.text, /0123456789/)
  assert.match(readFileSync(storedKeysFile(env), 'utf8'), /0123456789/)
  const { body: status } = await api('GET', '/api/status')
  assert.deepEqual([status['offline'], status['whyOffline']], [false, undefined])
  await say({ api }, await newConversation(api), 'Hello')
  assert.equal((await api('POST', '/api/providers/ollama/key', { key })).status, 400)
  assert.equal((await api('POST', '/api/providers/nobody/key', { key })).status, 404)
  assert.equal((await api('DELETE', '/api/providers/anthropic/key')).body['key'], 'not-needed')
  assert.equal((await api('DELETE', '/api/providers/anthropic/key')).status, 404)
  assert.equal((await api('GET', '/api/status')).body['offline'], true)
})

test('where server keys are needed, a provider key cannot be stored', async (t) => {
  const keyring = {
    stored: () => [],
    store: () => assert.fail('it was stored'),
    remove: () => assert.fail('it was removed'),
    reach: async () => ({ offline: true, defaultModel: 'x' }),
  }
  const { openMemoryStore } = await import('../../src/store/memory.ts')
  const { createKey } = await import('../../src/server/keys.ts')
  const store = openMemoryStore()
  const { key: own } = await createKey(store, {})
  const { api } = await serving(t, { keyring, store, requireKeys: true })
  const headers = { authorization: `Bearer ${own}` }
  const refused = await api('POST', '/api/providers/anthropic/key', { key }, headers)
  assert.equal(refused.status, 403)
  assert.match(str((refused.body['error'] as { message: string }).message), /synapse auth PROVIDER/)
  const listed = await api('GET', '/api/providers', undefined, headers)
  assert.doesNotMatch(listed.text, /"canStoreKey":true/)
})
