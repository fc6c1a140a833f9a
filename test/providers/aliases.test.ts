// Models as people call them: aliases of the configuration, favourites, those used last, and servers on this machine.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { openSynapse } from '../../src/index.ts'
import { loadConfig } from '../../src/config/load.ts'
import { newHome } from '../cli/command-line.ts'
import { newFolder } from '../config/folder.ts'
import { newConversation, say, serving } from '../server/serving.ts'

test('an alias works on the command line, in the library and on the server', async (t) => {
  const home = newHome(t)
  const file = join(home.folder, 'own.yaml')
  writeFileSync(file, 'model: quick\naliases: { quick: groq/llama-4-scout, smart: claude-opus-5 }\n')
  const asked = await home.synapse(['--config', file, '--offline', '-m', 'smart', 'Who are you?'])
  assert.equal(asked.code, 0, asked.err)
  const usual = await home.synapse(['--config', file, '--offline', 'Who are you?'])
  assert.equal(usual.code, 0, usual.err)
  const { out } = await home.synapse(['log', '--json'])
  assert.match(out, /"model":"anthropic\/claude-opus-5"/)
  assert.match(out, /"model":"groq\/llama-4-scout"/)

  const synapse = await openSynapse({ offline: true, config: file, aliases: { tiny: 'openai/gpt-5.6' } })
  for (const model of ['smart', 'tiny']) {
    const chat = await synapse.start({ model })
    assert.ok(await chat.send('Hello').text())
  }
  await assert.rejects(synapse.start({ model: 'huge-one' }), /huge-one/)

  const { api, emulator } = await serving(t, { aliases: { fast: 'openai/gpt-5.6' } })
  assert.deepEqual((await api('GET', '/api/models/preferred')).body['aliases'], { fast: 'openai/gpt-5.6' })
  assert.ok(emulator)
})

test('an alias that hides a provider, or names no model, is refused with its place', (t) => {
  const folder = newFolder(t, { 'synapse.yaml': 'aliases:\n  openai: groq/x\n  odd: opnai/x\n' })
  assert.throws(
    () => loadConfig({ file: join(folder, 'synapse.yaml') }),
    /:2:3: aliases\.openai: is the name of a provider\n.*:3:3: aliases\.odd: there is no provider "opnai"/,
  )
})

test('favourites and recent models are stored per owner', async (t) => {
  const { api } = await serving(t, { offline: false })
  await say({ api }, await newConversation(api, { settings: { model: 'openai/gpt-5.6' } }), 'Hello')
  const marked = await api('POST', '/api/models/favourites', {
    model: 'google/gemini-3-flash-preview',
    favourite: true,
  })
  assert.deepEqual(marked.body, { favourites: ['google/gemini-3-flash-preview'] })
  const { body } = await api('GET', '/api/models/preferred')
  assert.deepEqual([body['favourites'], body['recent']], [['google/gemini-3-flash-preview'], ['openai/gpt-5.6']])
  const gone = await api('POST', '/api/models/favourites', { model: 'google/gemini-3-flash-preview', favourite: false })
  assert.deepEqual(gone.body, { favourites: [] })
})

/** An Ollama, as far as the list of its models goes. */
async function ollama(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    const models = [{ model: 'nomic-embed-text:latest' }, { model: 'llama3.2:3b' }]
    response.end(JSON.stringify(request.url === '/api/tags' ? { models } : {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('a server for models on this machine is found and offered, but not where a folder says it is', async (t) => {
  const OLLAMA_HOST = await ollama(t)
  const home = newHome(t)
  const { err } = await home
    .synapse(['chat'], { env: { OLLAMA_HOST }, input: '/quit\n' })
    .then(async () => home.synapse(['Hello'], { env: { OLLAMA_HOST } }))
  assert.match(err, /Ollama runs on this machine; use it with -m ollama\/llama3\.2:3b\./)
  const { api } = await serving(t, { env: { OLLAMA_HOST } })
  assert.deepEqual((await api('GET', '/api/models/preferred')).body['local'], [
    { provider: 'ollama', name: 'Ollama', models: ['ollama/llama3.2:3b'] },
  ])
  writeFileSync(join(home.folder, '.env'), `OLLAMA_HOST=${OLLAMA_HOST}\n`)
  assert.doesNotMatch((await home.synapse(['Hello'], { env: { OLLAMA_HOST } })).err, /runs on this machine/)
})
