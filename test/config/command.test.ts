import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { openSynapse } from '../../src/open.ts'
import { serveEmulator } from '../../src/testing.ts'
import { newHome } from '../cli/command-line.ts'
import { newFolder } from './folder.ts'

test('a configured server answers by default, with its key from the environment', async (t) => {
  const emulator = await serveEmulator()
  t.after(() => emulator.close())
  const { synapse, folder } = newHome(t)
  writeFileSync(
    join(folder, 'synapse.yaml'),
    `model: cellar/qwen3\npolicy: classic\nproviders:\n  - id: cellar\n    baseUrl: ${emulator.url}/vllm/v1\n    keyVariable: CELLAR_KEY\n`,
  )
  const { code, out, err } = await synapse(['What time is it?'], { env: { CELLAR_KEY: 'k' } })
  assert.equal(code, 0, err)
  assert.match(out, /clock answered/)
  assert.doesNotMatch(err, /Offline/)
  assert.equal(emulator.requests.at(-1)?.provider, 'vllm')
  const listed = await synapse(['providers'], { env: { CELLAR_KEY: 'k' } })
  assert.match(listed.out, /cellar +openai-chat +found: CELLAR_KEY/)
  const missing = await synapse(['-m', 'cellar/qwen3', 'hi'])
  assert.equal(missing.code, 2)
  assert.match(missing.err, /CELLAR_KEY/)
})

test('offline, a configured provider is played by the emulator as what it is like', async (t) => {
  const { synapse, folder } = newHome(t)
  writeFileSync(
    join(folder, 'synapse.yaml'),
    'providers:\n  - { id: work, extends: anthropic, baseUrl: "https://gateway.example/v1", keyVariable: WORK_KEY }\n  - { id: cellar, baseUrl: "http://cellar.example/v1" }\n',
  )
  for (const model of ['work', 'cellar/qwen3']) {
    const { code, out, err } = await synapse(['--offline', '-m', model, 'What time is it?'])
    assert.equal(code, 0, err)
    assert.match(out, /clock answered/, model)
  }
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

test('config check tells what counts here, and that there is nothing', async (t) => {
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
  assert.match(out, /mine\.yaml is right\./)
  assert.match(out, /cellar: openai-chat at http:\/\/cellar:1\/v1, key missing: set CELLAR_KEY/)
  assert.match(out, /hub: https:\/\/hub\.example\/mcp \(not set: HUB_TOKEN\)/)
  const { model } = JSON.parse((await synapse(['config', 'check', 'mine.yaml', '--json'])).out) as { model: string }
  assert.equal(model, 'cellar/qwen3')
  assert.equal((await synapse(['config'])).code, 2)
})

test('agent commands name what is not there, and one wrong agent does not hide the others', async (t) => {
  const { synapse, folder } = newHome(t)
  assert.match((await synapse(['agent', 'list'])).err, /no agents in agents/)
  assert.match((await synapse(['agent', 'run', 'todo', 'hi'])).err, /There is no agent "todo"; agents has none\./)
  assert.equal((await synapse(['agent'])).code, 2)
  mkdirSync(join(folder, 'agents'))
  writeFileSync(join(folder, 'agents', 'good.yaml'), 'name: good\nmodel: openai\n')
  writeFileSync(join(folder, 'agents', 'bad.yaml'), 'name: bad\nmodel: nobody\n')
  const listed = await synapse(['agent', 'list'])
  assert.match(listed.out, /^bad +is not right: synapse agent check bad\ngood +openai$/m)
  const checked = await synapse(['agent', 'check'])
  assert.equal(checked.code, 2)
  assert.match(checked.out, /good\.yaml is right/)
  assert.match(checked.err, /^agents\/bad\.yaml:2:1: model: there is no provider "nobody"/)
  const run = await synapse(['agent', 'run', 'good', 'My name is Ada. What is my name?'])
  assert.equal(run.code, 0, run.err)
  assert.equal((await synapse(['agent', 'run', 'good'])).code, 2)
})

test('openSynapse takes the providers of a configuration', async (t) => {
  const folder = newFolder(t, { 'c.yaml': 'providers:\n  - { id: cellar, baseUrl: "http://cellar.example/v1" }\n' })
  const synapse = await openSynapse({ config: join(folder, 'c.yaml'), offline: true, env: {} })
  t.after(() => synapse.close())
  const chat = await synapse.start({ model: 'cellar/qwen3' })
  assert.match(await chat.send('What is 17 + 25?').text(), /42/)
})
