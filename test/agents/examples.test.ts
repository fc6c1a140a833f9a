import assert from 'node:assert/strict'
import { cpSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { loadAgent } from '../../src/index.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import type { Conversation } from '../../src/run/conversation.ts'
import { createEmulator } from '../../src/testing.ts'
import { newHome, type Home } from '../cli/command-line.ts'
import { newFolder } from '../config/folder.ts'

const root = join(import.meta.dirname, '..', '..')
const examples = join(root, 'examples', 'agents')

/** Steps of a conversation with the todo agent, and what each must come to. */
async function keepTheList(chat: Conversation): Promise<unknown[]> {
  await chat.send('use the tool todo_add with {"title":"Buy milk","due":"2026-12-01"}').text()
  await chat.send('use the tool todo_add with {"title":"Call Ada"}').text()
  await chat.send('use the tool todo_reschedule with {"id":1,"due":"2026-12-24"}').text()
  await chat.send('use the tool todo_complete with {"id":2}').text()
  assert.match(await chat.send('use the tool todo_complete with {"id":9}').text(), /failed.*there is no item 9/)
  await chat.send('use the tool todo_list with {"all":true}').text()
  const results = (await chat.history()).flatMap(({ message }) => (message.role === 'tool' ? message.parts : []))
  return results.map((result) => result.value)
}

test('the todo agent keeps a list on one provider, and with one line changed on another', async (t) => {
  const file = readFileSync(join(examples, 'todo', 'agent.yaml'), 'utf8')
  const folder = newFolder(t)
  const kept: unknown[] = []
  for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5']) {
    const home = join(folder, model.split('/', 1)[0] ?? '', 'todo')
    cpSync(join(examples, 'todo'), home, { recursive: true })
    const switched = file.replace(/^model: .*$/m, `model: ${model}`)
    const changed = switched.split('\n').filter((line, index) => line !== file.split('\n')[index])
    assert.ok(changed.length <= 1)
    writeFileSync(join(home, 'agent.yaml'), switched)
    process.env['TODO_FILE'] = join(home, 'list.json')
    t.after(() => delete process.env['TODO_FILE'])
    const agent = await loadAgent(join(home, 'agent.yaml'))
    const emulator = createEmulator()
    const synapse = await openSynapse({ offline: emulator, env: {} })
    const chat = await synapse.start(await agent.settings())
    kept.push(await keepTheList(chat))
    assert.equal(emulator.requests.at(-1)?.provider, model.split('/', 1)[0])
    assert.deepEqual(JSON.parse(readFileSync(join(home, 'list.json'), 'utf8')), [
      { id: 1, title: 'Buy milk', due: '2026-12-24', done: false },
      { id: 2, title: 'Call Ada', done: true },
    ])
    await synapse.close()
  }
  assert.deepEqual(kept[0], kept[1])
})

function exampleHome(t: TestContext): Home {
  const home = newHome(t)
  cpSync(examples, join(home.folder, 'examples', 'agents'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(home.folder, 'node_modules'))
  return home
}

test('the examples are listed, checked and run from the command line', async (t) => {
  const { synapse, folder } = exampleHome(t)
  const config = ['--config', 'examples/agents/synapse.yaml']
  assert.match((await synapse(['agent', 'list', ...config])).out, /^coding-helper +anthropic.*\ntodo +openai/)
  const checked = await synapse(['agent', 'check', ...config])
  assert.equal(checked.code, 0, checked.err)
  assert.equal(checked.out.match(/is valid/g)?.length, 2)
  const loaded = await synapse(['agent', 'check', '--load', ...config])
  assert.equal(loaded.code, 0, loaded.err)
  const env = { TODO_FILE: join(folder, 'list.json') }
  const add = await synapse(['agent', 'run', 'todo', ...config, 'use the tool todo_add with {"title":"Buy milk"}'], {
    env,
  })
  assert.equal(add.code, 0, add.err)
  assert.match(add.out, /todo_add answered: \{"id":1,"title":"Buy milk","done":false\}/)
  const again = await synapse(
    ['agent', 'run', 'todo', '-c', ...config, '-m', 'mistral', '--offline', 'What did I say first?'],
    { env },
  )
  assert.match(again.out, /Buy milk/)
})

test('the coding helper reads a project through its MCP server, and edits it only when it is allowed to', async (t) => {
  const { synapse, folder } = exampleHome(t)
  const project = realpathSync(newFolder(t, { 'main.js': 'let answer = 41\n' }))
  const run = (args: string[], say: string) =>
    synapse(['agent', 'run', 'examples/agents/coding-helper/agent.yaml', ...args, say], { env: { PROJECT: project } })
  const path = join(project, 'main.js')
  assert.match((await run([], 'Hello')).err, /synapse\.yaml is not trusted yet/)
  const trusted = await synapse(['trust', 'examples/agents', '--allow', 'PROJECT'])
  assert.equal(trusted.code, 0, trusted.err)
  const read = await run([], `use the tool files__read_text_file with ${JSON.stringify({ path })}`)
  assert.equal(read.code, 0, read.err)
  assert.match(read.out, /let answer = 41/)
  const edit = { path, edits: [{ oldText: '41', newText: '42' }] }
  const asked = `use the tool files__edit_file with ${JSON.stringify(edit)}`
  const denied = await run([], asked)
  assert.match(denied.out, /not allow/)
  assert.equal(readFileSync(path, 'utf8'), 'let answer = 41\n')
  const allowed = await run(['--yes'], asked)
  assert.equal(allowed.code, 0, allowed.err)
  assert.equal(readFileSync(path, 'utf8'), 'let answer = 42\n')
  const seen = JSON.parse(readFileSync(join(folder, 'synapse', 'mcp-tools.json'), 'utf8')) as Record<string, object>
  assert.equal(Object.keys(seen).length, 1)
})
