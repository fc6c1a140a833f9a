import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { prepare } from '../../src/runtime/prepare.ts'
import { endpointFinder, openSynapse } from '../../src/runtime/open.ts'
import { compatible } from '../../src/providers/rows.ts'
import { serveEmulator } from '../../src/testing.ts'
import { newHome } from '../cli/command-line.ts'
import { bin } from '../installed.ts'
import { newFolder } from './folder.ts'

test('a configured server answers by default, with its key from the environment', async (t) => {
  const emulator = await serveEmulator()
  t.after(() => emulator.close())
  const { synapse, folder, trust } = newHome(t)
  writeFileSync(
    join(folder, 'synapse.yaml'),
    `model: cellar/qwen3\npolicy: classic\nproviders:\n  - id: cellar\n    baseUrl: ${emulator.url}/vllm/v1\n    keyVariable: CELLAR_KEY\n`,
  )
  await trust()
  const { code, out, err } = await synapse(['What time is it?'], { env: { CELLAR_KEY: 'k' } })
  assert.equal(code, 0, err)
  // Only the emulator of --offline is offered tools that were not asked for.
  assert.match(out, /This request offers me no tool/)
  assert.doesNotMatch(err, /Offline/)
  assert.equal(emulator.requests.at(-1)?.provider, 'vllm')
  const listed = await synapse(['providers'], { env: { CELLAR_KEY: 'k' } })
  assert.match(listed.out, /cellar +openai-chat +found: CELLAR_KEY/)
  const missing = await synapse(['-m', 'cellar/qwen3', 'hi'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /CELLAR_KEY/)
})

test('without a named model, a configured provider is used with a model that it describes, or one must be named', async (t) => {
  const emulator = await serveEmulator()
  t.after(() => emulator.close())
  const { synapse, folder, trust } = newHome(t)
  const cellar = `providers:\n  - id: cellar\n    baseUrl: ${emulator.url}/vllm/v1\n    keyVariable: CELLAR_KEY\n`
  const env = { CELLAR_KEY: 'k' }
  writeFileSync(join(folder, 'synapse.yaml'), cellar)
  await trust()
  const unnamed = await synapse(['Hello'], { env })
  assert.deepEqual([unnamed.code, emulator.requests.length], [2, 0])
  assert.match(unnamed.err, /Name a model for cellar, such as cellar\/MODEL/)
  assert.equal((await synapse(['Hello'])).code, 0)
  assert.doesNotMatch((await synapse(['log', 'last'])).out, /cellar|undefined/)
  writeFileSync(join(folder, 'synapse.yaml'), `${cellar}    models: { qwen3: { contextWindow: 9000 } }\n`)
  await trust()
  assert.equal((await synapse(['Hello'], { env })).code, 0)
  assert.match((await synapse(['log', 'last'])).out, /cellar\/qwen3/)
})

test('offline, a configured provider is played by the emulator as what it is like', async (t) => {
  const { synapse, folder, trust } = newHome(t)
  writeFileSync(
    join(folder, 'synapse.yaml'),
    'providers:\n  - { id: work, extends: anthropic, baseUrl: "https://gateway.example/v1", keyVariable: WORK_KEY }\n  - { id: cellar, baseUrl: "http://cellar.example/v1" }\n',
  )
  await trust()
  for (const model of ['work', 'cellar/qwen3']) {
    const { code, out, err } = await synapse(['--offline', '-m', model, 'What time is it?'])
    assert.equal(code, 0, err)
    assert.match(out, /clock answered/, model)
  }
})

test('every command that names a model knows the providers of synapse.yaml, and their models', async (t) => {
  const { synapse, folder, trust } = newHome(t)
  writeFileSync(
    join(folder, 'synapse.yaml'),
    `providers:
  - id: work
    extends: mistral
    baseUrl: https://gateway.example/v1
    keyVariable: WORK_KEY
    models: { house-blend: { contextWindow: 4000, price: { input: 7, output: 9 } } }
`,
  )
  writeFileSync(join(folder, 'chat.json'), JSON.stringify({ messages: [{ role: 'assistant', content: 'Hello' }] }))
  await trust()
  const models = await synapse(['models', 'work'])
  assert.match(models.out, /work\/house-blend +4k +\$7\.00 +\$9\.00/)
  assert.match(models.out, /work\/mistral-medium-latest/)
  assert.match((await synapse(['completion', 'words', '-m', ''])).out, /^work\/house-blend$/m)
  const chat = await synapse(['chat', '--offline', '-m', 'work'], { input: '/models house\n/model work/house-blend\n' })
  assert.match(chat.out, /work\/house-blend +4k/)
  assert.match(chat.out, /Continuing with work\/house-blend/)
  const converted = await synapse(['convert', 'chat.json', '--to', 'work/house-blend', '--json'])
  assert.equal(converted.code, 0, converted.err)
  assert.match(converted.out, /"url": "https:\/\/gateway\.example\/v1\/chat\/completions"/)
  // What Mistral refuses, a gateway to Mistral refuses too.
  const checked = await synapse(['check', 'chat.json', '--for', 'work'])
  assert.equal(checked.code, 1, checked.err)
  assert.match(checked.out, /Mistral \(work\) would refuse it:\n {2}400 Conversation must start with a user message/)
  await synapse(['--offline', '-m', 'anthropic', 'hello'])
  assert.match(
    (await synapse(['inspect', 'last', '--for', 'work'])).out,
    /work\/mistral-medium-latest over mistral-chat/,
  )
})

test('the server starts without a default model, and answers requests that name theirs', async (t) => {
  const emulator = await serveEmulator()
  t.after(() => emulator.close())
  const { env, folder, synapse, trust } = newHome(t)
  const cellar = `providers:\n  - id: cellar\n    baseUrl: ${emulator.url}/vllm/v1\n    keyVariable: CELLAR_KEY\n`
  writeFileSync(join(folder, 'synapse.yaml'), cellar)
  await trust()
  const args = [bin, 'serve', '--port', '0', '--no-open']
  const child = spawn(process.execPath, args, { env: { ...env, CELLAR_KEY: 'k' }, cwd: folder })
  t.after(() => child.kill('SIGKILL'))
  const [[line], [notice]] = (await Promise.all([once(child.stdout, 'data'), once(child.stderr, 'data')])) as [
    Buffer[],
    Buffer[],
  ]
  assert.match(String(notice), /Each request has to name its model, such as cellar\/MODEL; --model sets a default\./)
  const ask = async (model: string) => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
    const headers = { 'content-type': 'application/json' }
    const url = `${String(line).trim()}/v1/chat/completions`
    const { status } = await fetch(url, { method: 'POST', headers, body })
    return status
  }
  assert.equal(await ask('cellar/qwen3'), 200)
  assert.equal(await ask('qwen3'), 404)
  const named = await synapse(['serve', '--model', 'cellar', '--port', '0', '--no-open'], { env: { CELLAR_KEY: 'k' } })
  assert.deepEqual([named.code, named.out], [2, ''])
  assert.match(named.err, /^synapse: Name a model for cellar, such as cellar\/MODEL;/)
})

test('the server knows the providers of synapse.yaml, their models, its default model and its policy', async (t) => {
  const { env, folder, synapse, trust } = newHome(t)
  writeFileSync(
    join(folder, 'synapse.yaml'),
    'model: cellar/qwen3\npolicy: { maxMessages: 2, step: 1 }\nproviders:\n  - { id: cellar, baseUrl: "http://cellar.example/v1", models: { qwen3: { contextWindow: 9000 } } }\n',
  )
  await trust()
  for (const more of [['first'], ['-c', 'second'], ['-c', 'third']]) await synapse(['--offline', ...more])
  const args = [bin, 'serve', '--port', '0', '--offline', '--no-open']
  const child = spawn(process.execPath, args, { env, cwd: folder })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [Buffer | number]
  assert.ok(typeof line === 'object', 'the server has not started')
  const get = async (path: string) => (await fetch(`${line.toString().trim()}${path}`)).json()
  assert.equal(((await get('/api/status')) as { defaultModel: string }).defaultModel, 'cellar/qwen3')
  assert.deepEqual(await get('/api/models?provider=cellar'), {
    items: [{ model: 'cellar/qwen3', provider: 'cellar', contextWindow: 9000 }],
  })
  const { items } = (await get('/api/conversations')) as { items: { id: string }[] }
  const prepared = await fetch(`${line.toString().trim()}/api/conversations/${items[0]?.id}/prepare`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ targets: [{ model: 'cellar/qwen3' }], text: 'fourth' }),
  })
  assert.match(await prepared.text(), /"content":"first"},{"role":"user","content":"fourth"}/)
})

test('a wrong configuration stops every command that would use it, with one line for each mistake', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(join(folder, 'synapse.yaml'), 'modle: openai\npolicy: cheap\n')
  for (const args of [['hi'], ['config', 'check'], ['agent', 'list'], ['providers']]) {
    const { code, out, err } = await synapse(args)
    assert.equal(code, 2)
    assert.equal(out, '')
    const lines = err.trimEnd().split('\n')
    assert.equal(lines.length, 2, err)
    assert.match(lines[0] ?? '', /synapse\.yaml:1:1: modle: unknown key "modle"/)
    assert.match(lines[1] ?? '', /^synapse\.yaml:2:1: policy: must be one of economy/)
  }
})

test('config check shows the effective configuration, or that there is none', async (t) => {
  const { synapse, folder } = newHome(t)
  assert.match((await synapse(['config', 'check'])).out, /no synapse\.yaml here/)
  writeFileSync(
    join(folder, 'mine.yaml'),
    `model: cellar/qwen3
providers: [{ id: cellar, baseUrl: "http://cellar:1/v1", keyVariable: CELLAR_KEY }]
mcpServers: { hub: { url: "https://hub.example/mcp", headers: { Authorization: "Bearer \${HUB_TOKEN}" } } }
`,
  )
  const { code, out } = await synapse(['config', 'check', 'mine.yaml'])
  assert.equal(code, 0)
  assert.match(out, /mine\.yaml is valid\./)
  assert.match(out, /cellar: openai-chat at http:\/\/cellar:1\/v1, key missing: set CELLAR_KEY/)
  assert.match(out, /hub: https:\/\/hub\.example\/mcp \(not set: HUB_TOKEN\)/)
  const { model } = JSON.parse((await synapse(['config', 'check', 'mine.yaml', '--json'])).out) as { model: string }
  assert.equal(model, 'cellar/qwen3')
  assert.equal((await synapse(['config'])).code, 2)
})

test('agent commands name what is not there, and one wrong agent does not hide the others', async (t) => {
  const { synapse, folder, trust } = newHome(t)
  assert.match((await synapse(['agent', 'list'])).err, /No agents in agents/)
  assert.match(
    (await synapse(['agent', 'run', 'todo', 'hi'])).err,
    /There is no agent "todo"; put one into agents\/todo\.yaml\./,
  )
  assert.equal((await synapse(['agent'])).code, 2)
  mkdirSync(join(folder, 'agents'))
  writeFileSync(join(folder, 'agents', 'good.yaml'), 'name: good\nmodel: openai\n')
  writeFileSync(join(folder, 'agents', 'bad.yaml'), 'name: bad\nmodel: nobody\n')
  const listed = await synapse(['agent', 'list'])
  assert.match(listed.out, /^bad +is not valid: synapse agent check bad\ngood +openai$/m)
  const checked = await synapse(['agent', 'check'])
  assert.equal(checked.code, 2)
  assert.match(checked.out, /good\.yaml is valid/)
  assert.match(checked.err, /^agents\/bad\.yaml:2:1: model: there is no provider "nobody"/)
  await trust()
  const run = await synapse(['agent', 'run', 'good', 'My name is Ada. What is my name?'])
  assert.equal(run.code, 0, run.err)
  assert.equal((await synapse(['agent', 'run', 'good'])).code, 2)
})

test('openSynapse uses the providers of a configuration', async (t) => {
  const folder = newFolder(t, { 'c.yaml': 'providers:\n  - { id: cellar, baseUrl: "http://cellar.example/v1" }\n' })
  const synapse = await openSynapse({ config: join(folder, 'c.yaml'), offline: true, env: {} })
  t.after(() => synapse.close())
  const chat = await synapse.start({ model: 'cellar/qwen3' })
  assert.match(await chat.send('What is 17 + 25?').text(), /42/)
})

test('rows are added to those of the configuration and the built-in ones, and override both', async (t) => {
  const folder = newFolder(t, {
    'c.yaml': 'providers:\n  - { id: cellar, baseUrl: "http://cellar.example/v1", defaultModel: file }\n',
  })
  const own = (id: string) => ({ ...compatible(`http://${id}.example/v1`, id), defaultModel: 'mine' })
  const rows = [own('attic'), own('openai')]
  const find = await endpointFinder({ config: join(folder, 'c.yaml'), rows, env: { OPENAI_API_KEY: 'k' } })
  const modelOf = async (name: string) => (await find(name, undefined)).endpoint.model
  assert.equal(await modelOf('attic'), 'mine')
  assert.equal(await modelOf('cellar'), 'file')
  assert.equal(await modelOf('openai'), 'mine', 'the row of the caller, not the built-in one')
  assert.equal(await modelOf('ollama/any'), 'any')
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] }]
  assert.equal(prepare({ messages, provider: 'attic', rows }).url, 'http://attic.example/v1/chat/completions')
})
