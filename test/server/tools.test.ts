// Agents, tools and MCP servers of the configuration on the server, and what a person allows beyond one call. The MCP
// server is the official one for files, unchanged.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { readFileSync, realpathSync, symlinkSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import { openToolbox } from '../../src/agents/toolbox.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { newFolder } from '../config/folder.ts'
import { packaged } from '../mcp/using.ts'
import { newConversation, runIn, say, serving, str, type Serving } from './serving.ts'

/** A folder with a configuration, an agent, and files that an MCP server gives access to. */
async function project(t: TestContext) {
  const folder = newFolder(t, {
    'notes.txt': 'one\ntwo\nthree\n',
    'agents/helper.yaml': 'name: helper\ndescription: Greets.\nsystem: You greet.\ntools: [./tools.mjs]\n',
    'agents/tools.mjs': `export const greet = { name: 'greet', input: { type: 'object' }, ask: true, run: () => 'Good day' }\n`,
  })
  const { command, args } = packaged('server-filesystem', folder) as { command: string; args: string[] }
  const { writeFileSync } = await import('node:fs')
  const file = join(folder, 'synapse.yaml')
  writeFileSync(file, `model: openai/gpt-5.6\nmcpServers: { files: ${JSON.stringify({ command, args })} }\n`)
  const config = loadConfig({ file })
  const server = await serving(t, {
    toolbox: () => openToolbox({ config, folder, commands: true, fetches: true }),
    folder,
  })
  return { ...server, folder }
}

const compare = (a: string, b: string) => a.localeCompare(b)
const items = (body: JsonObject) => body['items'] as JsonObject[]

async function waiting({ api }: Serving, id: string): Promise<JsonObject[]> {
  return items((await api('GET', `/api/conversations/${id}/approvals`)).body)
}

async function answer(server: Serving, id: string, verdict: JsonObject): Promise<JsonObject> {
  const [first] = await waiting(server, id)
  assert.ok(first, 'a call waits')
  const callId = str((first['call'] as JsonObject)['callId'])
  const started = await server.api('POST', `/api/conversations/${id}/approvals/${callId}`, {
    argsHash: str(first['argsHash']),
    ...verdict,
  })
  assert.equal(started.status, 202, started.text)
  await server.api('GET', `/api/runs/${runIn(started)}/events`)
  return first
}

async function lastText({ api }: Serving, id: string): Promise<string> {
  return JSON.stringify(items((await api('GET', `/api/conversations/${id}/entries`)).body).at(-1) ?? null)
}

test('available tools are listed, and none is offered unless it is chosen', async (t) => {
  const server = await project(t)
  const { api, emulator } = server
  assert.deepEqual(items((await api('GET', '/api/agents')).body), [
    { name: 'helper', description: 'Greets.', model: 'openai/gpt-5.6' },
  ])
  assert.deepEqual(
    items((await api('GET', '/api/mcp')).body).map(({ name, state }) => [name, state]),
    [['files', 'idle']],
  )
  // A list does not wait for a server that takes long to start.
  let tools: JsonObject[] = []
  for (let i = 0; i < 20 && !tools.some(({ source }) => source === 'mcp'); i++) {
    tools = items((await api('GET', '/api/tools')).body)
  }
  const names = new Set(tools.map(({ name }) => str(name)))
  for (const name of ['read_file', 'list_files', 'search_files', 'fetch_url', 'run_command', 'files__read_text_file']) {
    assert.ok(names.has(name), name)
  }
  assert.ok(tools.every(({ asks, usual }) => asks === true && usual === false))
  assert.equal(items((await api('GET', '/api/mcp')).body)[0]?.['state'], 'connected')
  assert.equal((await api('POST', '/api/mcp/files/restart')).status, 200)
  assert.equal((await api('POST', '/api/mcp/nothing/restart')).status, 404)

  await say(server, await newConversation(api), 'What time is it?')
  assert.equal((emulator.requests.at(-1)?.body as JsonObject | undefined)?.['tools'], undefined)
  assert.equal((await api('POST', '/api/conversations', { settings: { tools: ['hammer'] } })).status, 400)
  assert.equal((await api('POST', '/api/conversations', { settings: { agent: 'nobody' } })).status, 400)
  assert.equal((await api('POST', '/api/conversations', { settings: { agent: '../agents/helper' } })).status, 400)
})

test('a call waits for a person; it is allowed once, for a conversation, or always, until that is revoked', async (t) => {
  const server = await project(t)
  const { api } = server
  const settings = { tools: ['read_file'] }
  const id = await newConversation(api, { settings })
  const use = 'use the tool read_file with {"path":"notes.txt"}'
  await say(server, id, use)
  const call = await answer(server, id, { allowed: true })
  assert.equal(call['source'], 'built-in')
  assert.match(await lastText(server, id), /three/)
  await say(server, id, use)
  assert.equal((await waiting(server, id)).length, 1, 'once was once')
  await answer(server, id, { allowed: true, scope: 'conversation' })
  await say(server, id, use)
  assert.match(await lastText(server, id), /three/)

  const other = await newConversation(api, { settings })
  await say(server, other, use)
  assert.equal((await waiting(server, other)).length, 1, 'another conversation asks')
  await answer(server, other, { allowed: true, scope: 'always' })
  const third = await newConversation(api, { settings })
  await say(server, third, use)
  assert.match(await lastText(server, third), /three/)

  const grants = items((await api('GET', '/api/grants')).body)
  assert.deepEqual(
    grants.map(({ tool, conversationId }) => `${str(tool)} ${str(conversationId ?? 'always')}`).toSorted(compare),
    [`read_file ${id}`, 'read_file always'].toSorted(compare),
  )
  for (const { id: grant } of grants) assert.equal((await api('DELETE', `/api/grants/${str(grant)}`)).status, 204)
  await say(server, third, use)
  assert.equal((await waiting(server, third)).length, 1, 'it asks again')
  await answer(server, third, { allowed: false, reason: 'read something else' })
  assert.match(await lastText(server, third), /read something else/)
})

test('an edit and a write of an MCP server show what they would change', async (t) => {
  const server = await project(t)
  const { api, folder } = server
  const path = join(folder, 'notes.txt')
  const id = await newConversation(api, { settings: { tools: ['files'] } })
  await say(
    server,
    id,
    `use the tool files__write_file with ${JSON.stringify({ path, content: 'one\nzwei\nthree\n' })}`,
  )
  const write = await answer(server, id, { allowed: true })
  assert.equal(write['source'], 'mcp:files')
  const changed = (view: JsonObject) =>
    ((view['diff'] as JsonObject)['lines'] as JsonObject[]).map(({ sign, text }) => `${str(sign)}${str(text)}`)
  assert.deepEqual(changed(write), [' one', '-two', '+zwei', ' three', ' '])
  assert.equal(readFileSync(path, 'utf8'), 'one\nzwei\nthree\n')
  const edit = JSON.stringify({ path, edits: [{ oldText: 'zwei', newText: 'deux' }] })
  await say(server, id, `use the tool files__edit_file with ${edit}`)
  assert.deepEqual(changed(await answer(server, id, { allowed: true, scope: 'always' })), ['-zwei', '+deux'])
  assert.equal(readFileSync(path, 'utf8'), 'one\ndeux\nthree\n')
})

test('a conversation with an agent has its settings and its tools, and stays with its file', async (t) => {
  const server = await project(t)
  const { api, store, emulator, folder } = server
  const id = await newConversation(api, { settings: { agent: 'helper' } })
  await say(server, id, 'use the tool greet with {}')
  const body = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.match(body, /You greet\./)
  assert.match(body, /gpt-5\.6/)
  assert.equal((await answer(server, id, { allowed: true, scope: 'always' }))['source'], 'agent')
  assert.match(await lastText(server, id), /Good day/)
  const kept = (await store.conversation('local', id))?.settings['origin'] as JsonObject
  assert.equal((kept['agent'] as JsonObject)['file'], join(folder, 'agents', 'helper.yaml'))

  const elsewhere = {
    agent: 'helper',
    origin: { agent: { file: '/elsewhere/agents/helper.yaml', sha256: 'x', named: false } },
  }
  const { id: foreign } = await store.createConversation('local', { settings: elsewhere })
  await say(server, foreign, 'Hello')
  assert.doesNotMatch(JSON.stringify(emulator.requests.at(-1)?.body), /You greet\./)
})

test('a conversation chooses the folder of its file tools, inside those of the server only', async (t) => {
  const folder = realpathSync(newFolder(t, { 'notes.txt': 'outer', 'sub/notes.txt': 'inner' }))
  const other = realpathSync(newFolder(t, { 'notes.txt': 'other' }))
  const outside = realpathSync(newFolder(t, { 'notes.txt': 'outside' }))
  symlinkSync(outside, join(folder, 'link'))
  const folders = [folder, other]
  const toolbox = () => openToolbox({ folder, folders: [other], commands: true })
  const server = await serving(t, { toolbox, folder, folders })
  assert.deepEqual((await server.api('GET', '/api/status')).body['folders'], folders)
  const reads = async (settings: JsonObject, path = 'notes.txt') => {
    const id = await newConversation(server.api, { settings: { tools: ['read_file'], ...settings } })
    await say(server, id, `use the tool read_file with {"path":"${path}"}`)
    await answer(server, id, { allowed: true })
    return lastText(server, id)
  }
  assert.match(await reads({}), /outer/)
  assert.match(await reads({ folder: 'sub' }), /inner/)
  assert.match(await reads({ folder: other }), /other/)
  assert.doesNotMatch(await reads({ folder: 'sub' }, '../notes.txt'), /outer/)
  for (const wrong of [outside, 'link', '..', 'nowhere', '/']) {
    const { status, text } = await server.api('POST', '/api/conversations', { settings: { folder: wrong } })
    assert.equal(status, 400, wrong)
    assert.match(text, /folder: /)
  }
})
