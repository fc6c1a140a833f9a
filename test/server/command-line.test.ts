import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { newHome } from '../cli/command-line.ts'
import { bin } from '../installed.ts'
import { apiAt, newConversation, say, str } from './serving.ts'

test('keys are created, listed and revoked at the command line, and the server accepts them', async (t) => {
  const { synapse, env, folder } = newHome(t)
  env['SYNAPSE_DB'] = join(folder, 'chats.db')
  const refused = await synapse(['serve', '--host', '0.0.0.0', '--port', '0'])
  assert.equal(refused.code, 2)
  assert.match(refused.err, /^synapse: Listening on 0\.0\.0\.0 [^\n]*\n$/)

  const made = await synapse(['keys', 'create', '--owner', 'alice', '--budget', '5', '--model', 'openai/*'])
  assert.match(made.out, /^syn_[A-Za-z0-9_-]{43}\n$/)
  const key = made.out.trim()
  const listed = await synapse(['keys', 'list', '--json'])
  const about = JSON.parse(listed.out) as { id: string; owner: string; budget: number }
  assert.deepEqual([about.owner, about.budget], ['alice', 5])
  assert.equal(listed.out.includes(key), false)

  const child = spawn(process.execPath, [bin, 'serve', '--require-keys', '--port', '0', '--no-open'], { env })
  t.after(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const url = line.toString().trim()
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal((await apiAt(url)('GET', '/api/status')).status, 401)
  const api = apiAt(url, { 'x-api-key': key })
  const status = await api('GET', '/api/status')
  assert.deepEqual([status.body['owner'], status.body['offline']], ['alice', true])
  assert.match(str(status.body['whyOffline']), /emulator/)
  await say({ api }, await newConversation(api, { settings: { model: 'openai/gpt-5.6' } }), 'What time is it?')

  assert.equal((await synapse(['keys', 'revoke', about.id.slice(0, 20)])).code, 0)
  assert.equal((await api('GET', '/api/status')).status, 401)
  assert.equal((await synapse(['keys', 'revoke', 'nobody'])).code, 2)
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await gone, [0, null])
  assert.equal(errors.includes(key), false)
})

test('a server whose usual port is in use says that it has another one', async (t) => {
  const other = createServer().listen(4747, '127.0.0.1')
  t.after(() => other.close())
  // Another program may have it.
  await once(other, 'listening').catch(() => {})
  const { env } = newHome(t)
  const child = spawn(process.execPath, [bin, 'serve', '--offline', '--no-open'], { env })
  t.after(() => child.kill('SIGKILL'))
  const [line, said] = await Promise.all([once(child.stdout, 'data'), once(child.stderr, 'data')])
  assert.doesNotMatch(String(line), /:4747\n/)
  assert.match(String(said), /^Port 4747 is already in use, .*--port/)
})

for (const [provider, variable] of [
  ['ollama', 'OLLAMA_HOST'],
  ['llama.cpp', 'LLAMA_BASE_URL'],
] as const) {
  test(`without a key, the emulator does not answer for a model of ${provider}`, async (t) => {
    const asked: string[] = []
    const local = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(400).end('{"error":{"message":"No such model."}}')
    }).listen(0, '127.0.0.1')
    t.after(() => local.close())
    await once(local, 'listening')
    const { env } = newHome(t)
    env[variable] = `http://127.0.0.1:${(local.address() as AddressInfo).port}`
    const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--no-open'], { env })
    t.after(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const ask = (model: string) =>
      apiAt(line.toString().trim())('POST', '/v1/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'Hello' }],
      })
    assert.equal((await ask(`${provider}/any`)).status, 400)
    assert.ok(asked.some((path) => path.includes('/chat')))
    if (provider === 'ollama') {
      asked.length = 0
      const messages = [{ role: 'user', content: 'Hello' }]
      await apiAt(line.toString().trim())('POST', '/ollama/api/chat', { model: 'llama3.2', messages })
      assert.ok(asked.includes('/api/chat'))
    }
    assert.equal((await ask('openai/gpt-5.6')).status, 200)
  })
}

for (const args of [
  ['keys'],
  ['keys', 'make'],
  ['keys', 'create', '--budget', 'much'],
  ['keys', 'create', '--model', 'fast'],
  ['keys', 'create', '--owner', 'a b'],
  ['serve', '--port', 'x'],
  ['serve', '--wrong'],
  ['serve', '--model', 'nobody/x'],
]) {
  test(`"synapse ${args.join(' ')}" is one clear sentence and exit code 2`, async (t) => {
    const { code, err } = await newHome(t).synapse(args)
    assert.equal(code, 2, err)
    assert.match(err, /^synapse: [^\n]+\n$/)
  })
}
