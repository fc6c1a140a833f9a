// Providers that are kept in the store: the same rows as in synapse.yaml, under the same rules.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { dropProvider, keepProvider, storedProviderIds, rowsFor } from '../../src/config/stored-providers.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { rows as builtIn } from '../../src/providers/rows.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { serveEmulator } from '../../src/testing.ts'
import { newHome } from '../cli/command-line.ts'

test('a stored provider answers, is listed, and is gone when it is removed', async (t) => {
  const emulator = await serveEmulator()
  t.after(() => emulator.close())
  const { synapse } = newHome(t)
  const env = { CELLAR_KEY: 'k' }
  const address = `${emulator.url}/vllm/v1`
  const kept = await synapse(
    ['providers', 'configure', 'cellar', '--base-url', address, '--key-variable', 'CELLAR_KEY'],
    { env },
  )
  assert.equal(kept.code, 0, kept.err)
  assert.equal(kept.out, `cellar: openai-chat at ${address}; key found: CELLAR_KEY\n`)
  const { code, out, err } = await synapse(['-m', 'cellar/qwen3', 'What time is it?'], { env })
  assert.equal(code, 0, err)
  // Only the emulator of --offline is offered tools that were not asked for.
  assert.match(out, /This request offers me no tool/)
  assert.equal(emulator.requests.at(-1)?.provider, 'vllm')
  assert.match((await synapse(['providers'])).out, /^cellar +openai-chat +missing: CELLAR_KEY/m)

  const moved = await synapse(['providers', 'configure', 'cellar', '--base-url', 'http://attic.example/v1'])
  assert.equal(moved.out, 'cellar: openai-chat at http://attic.example/v1; key not needed\n')
  assert.equal((await synapse(['providers', 'remove', 'cellar'])).code, 0)
  assert.doesNotMatch((await synapse(['providers'])).out, /^cellar/m)
  const again = await synapse(['providers', 'remove', 'cellar'])
  assert.deepEqual([again.code, again.err], [2, 'synapse: No provider "cellar" is stored; stored providers: none.\n'])
})

test('all problems are reported at once, and nothing is stored', async (t) => {
  const { synapse, folder } = newHome(t)
  const row = join(folder, 'row.yaml')
  writeFileSync(row, 'quirkz: {}\ncaching: sometimes\n')
  const wrong = await synapse(
    ['providers', 'configure', 'cellar', '--base-url', 'ftp://x', '--protocol', 'openai-chatt', '--row', row],
    {},
  )
  assert.equal(wrong.code, 2)
  for (const key of ['cellar.quirkz', 'cellar.caching', 'cellar.baseUrl', 'cellar.protocol']) {
    assert.match(wrong.err, new RegExp(`The provider: ${key}: `), wrong.err)
  }
  assert.match((await synapse(['providers', 'configure', 'nowhere'])).err, /The provider: nowhere\.baseUrl: is missing/)
  assert.match((await synapse(['providers', 'remove', 'cellar'])).err, /stored providers: none/)
  for (const words of [['configure'], ['remove'], ['polish', 'x'], ['remove', 'a', 'b']]) {
    assert.equal((await synapse(['providers', ...words])).code, 2)
  }
})

test('a key is refused, not repeated, and not stored', async (t) => {
  const { synapse, folder } = newHome(t)
  const row = join(folder, 'row.yaml')
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz'
  writeFileSync(row, `baseUrl: http://cellar.example/v1\napiKey: ${secret}\n`)
  const refused = await synapse(['providers', 'configure', 'cellar', '--row', row])
  assert.equal(refused.code, 2)
  assert.match(refused.err, /CELLAR_API_KEY/)
  assert.ok(!refused.err.includes(secret))
  const named = ['providers', 'configure', 'cellar', '--base-url', 'http://cellar.example/v1', '--key-variable', secret]
  const asName = await synapse(named)
  assert.equal(asName.code, 2, asName.out)
  assert.ok(!asName.err.includes(secret), asName.err)
  for (const end of ['', '-wal']) {
    const file = join(folder, 'synapse', `synapse.db${end}`)
    assert.ok(!read(file).includes(secret))
  }
})

test('a file takes precedence over the store, and the store over what is built in', async () => {
  const store = openMemoryStore()
  assert.equal(await rowsFor(store, undefined), builtIn)
  await keepProvider(store, { id: 'openai', defaultModel: 'kept-model' })
  await keepProvider(store, { id: 'work', extends: 'anthropic', baseUrl: 'https://gateway.example/v1' })
  const rows = await rowsFor(store, undefined)
  assert.equal(rows.find(({ id }) => id === 'openai')?.defaultModel, 'kept-model')
  assert.equal(rows.find(({ id }) => id === 'work')?.wires[0].protocol, 'anthropic-messages')
  assert.equal(rows.length, builtIn.length + 1)
  const [first] = builtIn
  const ofFile = { ...(first ?? assert.fail()), id: 'openai', defaultModel: 'of-file' }
  const both = await rowsFor(store, { rows: [ofFile, ...builtIn.slice(1)], ownIds: ['openai'] })
  assert.equal(both.find(({ id }) => id === 'openai')?.defaultModel, 'of-file')
  assert.ok(both.some(({ id }) => id === 'work'))
  assert.deepEqual((await storedProviderIds(store)).toSorted(), ['openai', 'work'])
  assert.equal(await dropProvider(store, 'work'), true)
  assert.equal(await dropProvider(store, 'work'), false)
})

test('the library asks a provider of the store that it opens', async (t) => {
  const { folder } = newHome(t)
  const path = join(folder, 'chats.db')
  const store = await openSqliteStore(path)
  await keepProvider(store, { id: 'cellar', baseUrl: 'http://cellar.example/v1' })
  await store.close()
  const synapse = await openSynapse({ store: path, offline: true, env: {} })
  const chat = await synapse.start({ model: 'cellar/qwen3' })
  assert.equal((await chat.send('Hello').ended).outcome, 'done')
  await synapse.close()
})

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
