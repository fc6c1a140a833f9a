// `synapse run`: programs of others on any model.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { setUpClient } from '../../src/cli/client-environment.ts'
import { bin } from '../installed.ts'
import { newHome } from './command-line.ts'

const server = {
  url: 'http://127.0.0.1:4000',
  key: 'syn_key',
  model: 'google/gemini-3-flash-preview',
  keyVariables: ['MISTRAL_API_KEY', 'HF_TOKEN'],
}

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
  assert.doesNotMatch(err, /--db/)
  assert.match((await synapse(['keys', 'list'])).err, /No keys yet/, 'its own is deleted')
})

test('an error in the command line is one sentence', async (t) => {
  const { synapse, folder } = newHome(t)
  const nothing = await synapse(['run', '--offline'])
  assert.deepEqual([nothing.code, nothing.err.split('\n').length], [2, 2])
  assert.match(nothing.err, /Name the program after "--"/)
  const missing = await synapse(['run', '--offline', '--', 'no-such-program'])
  assert.deepEqual([missing.code, missing.err.trim().split('\n').at(-1)], [127, notFound])
  const notes = join(folder, 'notes.txt')
  writeFileSync(notes, 'not a program')
  const forbidden = await synapse(['run', '--offline', '--', notes])
  assert.deepEqual([forbidden.code, forbidden.err.split('\n').length], [126, 2])
  assert.match(forbidden.err, /notes\.txt cannot be started: permission denied; check that it is executable/)
})

const notFound =
  'synapse: no-such-program cannot be started: it was not found; check its name, and that it is installed and in PATH.'

/** Prints its environment as JSON, and ends by a signal. */
const ending = `
console.log(JSON.stringify(process.env))
process.kill(process.pid, 'SIGTERM')
`

test('the program gets no key of a provider and no proxy for this server, and its signal is in the exit code', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'program.mjs'), ending)
  const env = {
    HTTPS_PROXY: 'http://proxy.example:3128',
    no_proxy: 'example.org',
    ANTHROPIC_AUTH_TOKEN: 'real',
    ANTHROPIC_API_BASE: 'http://elsewhere.example',
    GOOGLE_API_KEY: 'real',
    GOOGLE_GENAI_USE_VERTEXAI: 'true',
    OPENROUTER_API_KEY: 'real',
    HF_TOKEN: 'for other programs too',
  }
  const { code, out, err } = await synapse(['run', '--offline', '--', process.execPath, 'program.mjs'], {
    env,
    process: true,
  })
  assert.equal(code, 128 + 15, err)
  const its = JSON.parse(out) as Record<string, string>
  const withheld = ['ANTHROPIC_AUTH_TOKEN', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'OPENROUTER_API_KEY']
  for (const name of withheld) assert.equal(its[name], undefined, name)
  assert.match(its['ANTHROPIC_API_BASE'] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/anthropic$/)
  assert.deepEqual([its['NO_PROXY'], its['no_proxy']], ['example.org,127.0.0.1', 'example.org,127.0.0.1'])
  assert.equal(its['HF_TOKEN'], env.HF_TOKEN)
  assert.equal(its['HTTPS_PROXY'], env.HTTPS_PROXY)
  assert.match(err, /No request has reached a model\./)
})

/** Sends a request with this system prompt and question. */
const asking = `
const { env, argv } = process
const messages = [{ role: 'system', content: argv[2] }, { role: 'user', content: argv[3] }]
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + env.OPENAI_API_KEY }
const body = JSON.stringify({ model: 'gpt-4.1', messages })
await fetch(env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body })
`

test('the command that opens the conversation names its file, and no other conversation that lists leave out', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'program.mjs'), asking)
  const node = `"${process.execPath}" program.mjs`
  const both = `${node} "You are a title generator." Hi && ${node} "" "What is 17 + 25?"`
  const run = await synapse(['run', '--offline', '--db', "my 'chats'.db", '--', 'sh', '-c', both])
  assert.match(run.err, /2 requests/)
  const [command = ''] = /^synapse log .*$/m.exec(run.err) ?? []
  const [, id = '', file] = /^synapse log (\S+) --db (.*)$/.exec(command) ?? []
  assert.equal(file, String.raw`'my '\''chats'\''.db'`, run.err)
  assert.match((await synapse(['log', id, '--db', "my 'chats'.db"])).out, /17 \+ 25 = 42/)
})

/** Leaves in the middle of a stream. */
const leaving = `${asking.replace('{ model', '{ stream: true, model').replace('await fetch', 'const answer = await fetch')}
for await (const _ of answer.body) process.exit(3)
`

test('a request that the program left is interrupted, not failed, and has a cost by estimate', async (t) => {
  const { synapse, folder } = newHome(t)
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4.1' }
  const choice = { index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }
  const upstream = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`)
  }).listen(0, '127.0.0.1')
  t.after(() => upstream.close().closeAllConnections())
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  writeFileSync(join(folder, 'program.mjs'), leaving)
  const env = { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }
  const run = await synapse(['run', '--', process.execPath, 'program.mjs', 'Be brief.', 'Hi'], { env })
  assert.equal(run.code, 3, run.err)
  assert.match(run.err, /^The request was interrupted, about \$0\.0\d+\.\nsynapse log /m)
})

test('SIGTERM and SIGHUP reach the program', { skip: process.platform === 'win32' }, async (t) => {
  const { folder, env } = newHome(t)
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ] as const) {
    const args = [bin, 'run', '--offline', '--', 'sh', '-c', 'echo ready; exec sleep 60']
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    await once(child.stdout, 'data')
    child.kill(signal)
    assert.deepEqual(await once(child, 'exit'), [128 + number, null])
  }
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
  const opencode = setUpClient(['opencode'], server)
  assert.match(opencode.env['OPENCODE_CONFIG_CONTENT'] ?? '', /"small_model":"anthropic\//)
  const qwen = setUpClient(['qwen', '-p', 'Hi'], server)
  assert.deepEqual(qwen.args, ['--auth-type', 'openai', '--model', server.model, '-p', 'Hi'])
  assert.deepEqual(setUpClient(['qwen', '-m', 'mine'], server).args, ['--auth-type', 'openai', '-m', 'mine'])
})

test('pi gets the server as one more provider, and keeps its own folder', async () => {
  const { args, env, clean } = setUpClient(['pi', '-c'], server)
  assert.ok(!('PI_CODING_AGENT_DIR' in env))
  const [flag, file = '', ...rest] = args
  assert.deepEqual([flag, ...rest], ['--extension', '--provider', 'synapse', '--model', server.model, '-c'])
  assert.doesNotMatch(readFileSync(file, 'utf8'), /syn_key/)
  const loaded = (await import(file)) as { default: (pi: object) => void }
  const registered: unknown[] = []
  loaded.default({ registerProvider: (name: string, settings: object) => registered.push(name, settings) })
  const [name, { api, models }] = registered as [string, { api: string; models: { id: string }[] }]
  assert.deepEqual([name, api, models.map(({ id }) => id)], ['synapse', 'openai-completions', [server.model]])
  clean()
  assert.ok(!existsSync(file))
})

test('settings of Claude Code that choose another address or key do not apply to the run', (t) => {
  const { folder } = newHome(t)
  const before = process.env['CLAUDE_CONFIG_DIR']
  process.env['CLAUDE_CONFIG_DIR'] = folder
  t.after(() => {
    if (before === undefined) delete process.env['CLAUDE_CONFIG_DIR']
    else process.env['CLAUDE_CONFIG_DIR'] = before
  })
  const settings = (env: object) => writeFileSync(join(folder, 'settings.json'), JSON.stringify({ env }))
  settings({ DISABLE_TELEMETRY: '1' })
  assert.deepEqual(setUpClient(['claude', '-p'], server).args, ['-p'])
  const other = { ANTHROPIC_BASE_URL: 'http://other.example', ANTHROPIC_API_KEY: 'real', CLAUDE_CODE_USE_BEDROCK: '1' }
  settings({ ...other, NO_PROXY: 'example.org', DISABLE_TELEMETRY: '1' })
  const { args, clean } = setUpClient(['claude', '-p'], server)
  const [flag, file = '', ...rest] = args
  assert.deepEqual([flag, rest], ['--settings', ['-p']])
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    env: {
      ANTHROPIC_BASE_URL: `${server.url}/anthropic`,
      ANTHROPIC_API_KEY: '',
      CLAUDE_CODE_USE_BEDROCK: '',
      NO_PROXY: 'example.org,127.0.0.1',
    },
  })
  clean()
  assert.ok(!existsSync(file))
})

test('Gemini CLI uses the key although its user signed in otherwise, and what it adds to its home is kept', (t) => {
  const { folder } = newHome(t)
  const own = join(folder, '.gemini')
  mkdirSync(join(own, 'commands'), { recursive: true })
  writeFileSync(join(own, 'trustedFolders.json'), '{}')
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
  // It writes its files beside them, and moves them there.
  writeFileSync(join(its, 'new'), '{"/app":"TRUST_FOLDER"}')
  renameSync(join(its, 'new'), join(its, 'trustedFolders.json'))
  clean()
  assert.ok(existsSync(join(own, 'projects.json')) && !existsSync(its))
  assert.equal(readFileSync(join(own, 'trustedFolders.json'), 'utf8'), '{"/app":"TRUST_FOLDER"}')
  assert.match(readFileSync(join(own, 'settings.json'), 'utf8'), /oauth-personal/)
  writeFileSync(join(own, 'settings.json'), JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }))
  assert.equal(setUpClient(['gemini'], server).env['GEMINI_CLI_HOME'], undefined)
})
