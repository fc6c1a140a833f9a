import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test from 'node:test'
import { tempFolder } from '../store/temp.ts'
import { apiAt, newConversation, say, str } from './serving.ts'

const main = join(import.meta.dirname, '..', '..', 'bin', 'synapse.js')

function synapse(file: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'] ?? '', SYNAPSE_DB: file }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

test('keys are created, listed and revoked at the command line, and the server accepts them', async (t) => {
  const file = join(tempFolder(t), 'chats.db')
  const refused = synapse(file, 'serve', '--host', '0.0.0.0', '--port', '0')
  assert.equal(refused.status, 2)
  assert.match(refused.stderr, /^synapse: Listening on 0\.0\.0\.0 [^\n]*\n$/)

  const made = synapse(file, 'keys', 'create', '--owner', 'alice', '--budget', '5', '--model', 'openai/*')
  assert.match(made.stdout, /^syn_[A-Za-z0-9_-]{43}\n$/)
  const key = made.stdout.trim()
  const listed = synapse(file, 'keys', 'list', '--json')
  const about = JSON.parse(listed.stdout) as { id: string; owner: string; budget: number }
  assert.deepEqual([about.owner, about.budget], ['alice', 5])
  assert.equal(listed.stdout.includes(key), false)

  const env = { PATH: process.env['PATH'] ?? '', SYNAPSE_DB: file }
  const child = spawn(process.execPath, [main, 'serve', '--require-keys', '--port', '0', '--no-open'], { env })
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

  assert.equal(synapse(file, 'keys', 'revoke', about.id.slice(0, 20)).status, 0)
  assert.equal((await api('GET', '/api/status')).status, 401)
  assert.equal(synapse(file, 'keys', 'revoke', 'nobody').status, 2)
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  assert.deepEqual(await gone, [0, null])
  assert.equal(errors.includes(key), false)
})

for (const args of [
  ['keys'],
  ['keys', 'make'],
  ['keys', 'create', '--budget', 'much'],
  ['keys', 'create', '--owner', 'a b'],
  ['serve', '--port', 'x'],
  ['serve', '--wrong'],
  ['serve', '--model', 'nobody/x'],
]) {
  test(`"synapse ${args.join(' ')}" is one clear sentence and exit code 2`, (t) => {
    const { status, stderr } = synapse(join(tempFolder(t), 'chats.db'), ...args)
    assert.equal(status, 2, stderr)
    assert.match(stderr, /^synapse: [^\n]+\n$/)
  })
}
