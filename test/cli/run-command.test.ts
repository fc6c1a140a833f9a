// `synapse run`: programs of others on any model.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { setUpClient } from '../../src/cli/client-environment.ts'
import { newHome } from './command-line.ts'

const server = { url: 'http://127.0.0.1:4000', key: 'syn_key', model: 'google/gemini-3-flash-preview' }

/** A program that sends a request to each door, and reports the answer and its key. */
const program = `
const { env } = process
const ask = async (url, headers, body) => {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
  console.log(answer.status, JSON.stringify(await answer.json()))
}
const messages = [{ role: 'user', content: 'What is 17 + 25?' }]
await ask(env.OPENAI_BASE_URL + '/chat/completions', { authorization: 'Bearer ' + env.OPENAI_API_KEY }, { model: 'gpt-4.1', messages })
await ask(env.ANTHROPIC_BASE_URL + '/v1/messages', { 'x-api-key': env.ANTHROPIC_API_KEY }, { model: 'claude-x', max_tokens: 100, messages })
await ask(env.OPENAI_BASE_URL + '/chat/completions', {}, { model: 'gpt-4.1', messages })
process.exitCode = 7
`

test('a program uses any model, and at its end the cost and the conversation are shown', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'program.mjs'), program)
  const model = 'mistral/mistral-large-latest'
  const command = ['run', '--offline', '-m', model, '--', process.execPath, 'program.mjs']
  const { code, out, err } = await synapse(command, { process: true })
  assert.equal(code, 7, err)
  const [chat, message, stranger] = out.trim().split('\n')
  assert.match(chat ?? '', /^200 .*17 \+ 25 = 42/)
  assert.match(message ?? '', /^200 .*17 \+ 25 = 42/)
  assert.match(stranger ?? '', /^401 /)
  assert.match(err, /mistral\/mistral-large-latest · 2 requests · .* tokens in/)
  const [, id] = /synapse log (\S+)/.exec(err) ?? []
  assert.ok(id)
  assert.match((await synapse(['log', id])).out, /17 \+ 25 = 42/)
  assert.match((await synapse(['keys', 'list'])).out, /revoked/)
})

test('an error in the command line is one sentence', async (t) => {
  const { synapse, folder } = newHome(t)
  const nothing = await synapse(['run', '--offline'])
  assert.deepEqual([nothing.code, nothing.err.split('\n').length], [2, 2])
  assert.match(nothing.err, /Name the program after "--"/)
  const missing = await synapse(['run', '--offline', '--', 'no-such-program'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /no-such-program cannot be started: it was not found\./)
  const notes = join(folder, 'notes.txt')
  writeFileSync(notes, 'not a program')
  const forbidden = await synapse(['run', '--offline', '--', notes])
  assert.deepEqual([forbidden.code, forbidden.err.split('\n').length], [2, 2])
  assert.match(forbidden.err, /notes\.txt cannot be started: permission denied; check that it is executable/)
})

test('each known client gets what it reads', () => {
  const claude = setUpClient(['/usr/bin/claude', '-p', 'Hi'], server)
  assert.deepEqual(claude.args, ['-p', 'Hi'])
  assert.equal(claude.env['ANTHROPIC_AUTH_TOKEN'], server.key)
  assert.equal(claude.env['ANTHROPIC_API_KEY'], undefined)
  assert.equal(claude.env['ANTHROPIC_BASE_URL'], `${server.url}/anthropic`)
  const codex = setUpClient(['codex', 'exec', 'Hi'], server)
  assert.deepEqual(codex.args.slice(-2), ['exec', 'Hi'])
  assert.ok(codex.args.includes('model_provider="synapse"'))
  assert.ok(!JSON.stringify(codex.args).includes(server.key), 'command lines can be seen by others')
  const pi = setUpClient(['pi'], server)
  const folder = pi.env['PI_CODING_AGENT_DIR'] ?? ''
  assert.ok(existsSync(join(folder, 'models.json')))
  pi.clean()
  assert.ok(!existsSync(folder))
})

test('Gemini CLI uses the key although its user signed in otherwise, and what it adds to its home is kept', (t) => {
  const { folder } = newHome(t)
  const own = join(folder, '.gemini')
  mkdirSync(join(own, 'commands'), { recursive: true })
  writeFileSync(
    join(own, 'settings.json'),
    JSON.stringify({ ui: 1, security: { auth: { selectedType: 'oauth-personal' } } }),
  )
  const before = process.env['GEMINI_CLI_HOME']
  process.env['GEMINI_CLI_HOME'] = folder
  t.after(() => {
    if (before === undefined) delete process.env['GEMINI_CLI_HOME']
    else process.env['GEMINI_CLI_HOME'] = before
  })
  const { env, clean } = setUpClient(['gemini'], server)
  const its = join(env['GEMINI_CLI_HOME'] ?? '', '.gemini')
  assert.deepEqual(JSON.parse(readFileSync(join(its, 'settings.json'), 'utf8')), {
    ui: 1,
    security: { auth: { selectedType: 'gemini-api-key' } },
  })
  assert.ok(existsSync(join(its, 'commands')))
  writeFileSync(join(its, 'projects.json'), '{}')
  clean()
  assert.ok(existsSync(join(own, 'projects.json')) && !existsSync(its))
  assert.match(readFileSync(join(own, 'settings.json'), 'utf8'), /oauth-personal/)
  writeFileSync(join(own, 'settings.json'), JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }))
  assert.equal(setUpClient(['gemini'], server).env['GEMINI_CLI_HOME'], undefined)
})
