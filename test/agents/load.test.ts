import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import type { Note } from '../../src/core/context.ts'
import { loadAgent } from '../../src/index.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { newFolder } from '../config/folder.ts'
import { faulty } from '../mcp/using.ts'

const tools = `
export const clock = { name: 'clock', description: 'Tells the time.', input: { type: 'object' }, run: () => '12:00' }
export const more = [{ name: 'echo', input: { type: 'object' }, run: (input) => input }]
export const limit = 3
`

function folderWith(t: TestContext, agent: string, more: Record<string, string> = {}): string {
  return newFolder(t, { 'agents/helper.yaml': agent, 'agents/tools.mjs': tools, 'synapse.yaml': '', ...more })
}

/** The problems of an agent, one line each, without the folder. */
async function problems(t: TestContext, agent: string, more: Record<string, string> = {}): Promise<string[]> {
  const folder = folderWith(t, agent, more)
  try {
    const opened = await loadAgent(join(folder, 'agents/helper.yaml'))
    await opened.close()
  } catch (error) {
    assert.ok(error instanceof SynapseError && error.kind === 'bad-input', String(error))
    return error.message.split('\n').map((line) => line.replaceAll(`${folder}/`, ''))
  }
  return assert.fail('nothing was wrong')
}

test('every setting of an agent becomes a setting of a run', async (t) => {
  const folder = folderWith(
    t,
    `name: helper
description: Helps.
model: openai/gpt-5.6
protocol: openai-chat
system: Be brief.
tools: [./tools.mjs]
policy: { preset: classic, maxToolTurns: 5 }
options: { effort: low, maxOutput: 500 }
maxSteps: 7
guards: { repeats: 2, timeoutMs: 60000 }
budget: { run: { usd: 0.5 }, conversation: { tokens: 100000 } }
route: { answer: openai/gpt-5.6-mini }
fallback: [anthropic/claude-opus-5, { model: mistral, on: [overloaded, rate-limit] }]
`,
  )
  const agent = await loadAgent(join(folder, 'agents/helper.yaml'))
  t.after(() => agent.close())
  assert.equal(agent.name, 'helper')
  assert.equal(agent.description, 'Helps.')
  const { tools: offered, ...settings } = await agent.settings()
  assert.deepEqual(
    offered?.map((tool) => tool.name),
    ['clock', 'echo'],
  )
  assert.deepEqual(settings, {
    model: 'openai/gpt-5.6',
    protocol: 'openai-chat',
    system: 'Be brief.',
    policy: { preset: 'classic', maxToolTurns: 5 },
    options: { effort: 'low', maxOutput: 500 },
    maxSteps: 7,
    guards: { repeats: 2, timeoutMs: 60_000 },
    budget: { run: { usd: 0.5 }, conversation: { tokens: 100_000 } },
    route: { answer: 'openai/gpt-5.6-mini' },
    fallback: ['anthropic/claude-opus-5', { model: 'mistral', on: ['overloaded', 'rate-limit'] }],
  })
})

test('the provider is one line, alone or before the model, and comes from synapse.yaml otherwise', async (t) => {
  const modelOf = async (lines: string, config = '') => {
    const folder = folderWith(t, `name: helper\n${lines}`, { 'synapse.yaml': config })
    return (await (await loadAgent(join(folder, 'agents/helper.yaml'))).settings()).model
  }
  assert.equal(await modelOf('model: anthropic/claude-opus-5\n'), 'anthropic/claude-opus-5')
  assert.equal(await modelOf('provider: anthropic\n'), 'anthropic')
  assert.equal(
    await modelOf('provider: openrouter\nmodel: anthropic/claude-opus-5\n'),
    'openrouter/anthropic/claude-opus-5',
  )
  assert.equal(await modelOf('', 'model: mistral/mistral-medium-latest\n'), 'mistral/mistral-medium-latest')
  const own = 'providers:\n  - { id: cellar, baseUrl: "http://cellar:1/v1" }\n'
  assert.equal(await modelOf('model: cellar/qwen3\n', own), 'cellar/qwen3')
})

test('the policy of synapse.yaml applies unless the agent has one', async (t) => {
  const folder = folderWith(t, 'name: helper\nmodel: openai\n', { 'synapse.yaml': 'policy: small\n' })
  assert.equal((await (await loadAgent(join(folder, 'agents/helper.yaml'))).settings()).policy, 'small')
})

test('every mistake is reported with file, line, column and key, all at once', async (t) => {
  const said = await problems(
    t,
    `name: helper
model: antropic/claude-opus-5
route: { answer: nobody/x }
fallback:
  - openai
  - { model: nowhere/y }
tools:
  - ./tools.mjs
  - ./gone.mjs
  - mcp: files
`,
  )
  assert.deepEqual(
    said.map((line) => line.replace(/; known are .*/, '')),
    [
      'agents/helper.yaml:2:1: model: there is no provider "antropic"',
      'agents/helper.yaml:3:10: route.answer: there is no provider "nobody"',
      'agents/helper.yaml:6:7: fallback.1.model: there is no provider "nowhere"',
      'agents/helper.yaml:9:5: tools.1: there is no file agents/gone.mjs',
      'agents/helper.yaml:10:5: tools.2.mcp: there is no MCP server "files"; mcpServers in synapse.yaml names none',
    ],
  )
})

const base = 'name: helper\nmodel: openai\n'
const mistakes: [string, string, Record<string, string>, RegExp][] = [
  [
    'an unknown key',
    `${base}tool: []\n`,
    {},
    /^agents\/helper\.yaml:3:1: tool: unknown key "tool"; did you mean tools\?$/,
  ],
  ['a missing name', 'model: openai\n', {}, /helper\.yaml:1:1: name: is missing$/],
  [
    'another name than the file has',
    'name: other\nmodel: openai\n',
    {},
    /name: must be the name of the file, helper, not other$/,
  ],
  ['no model at all', 'name: helper\n', {}, /model: is missing, and synapse\.yaml names none either$/],
  [
    'a provider without a default model',
    'name: helper\nmodel: ollama\n',
    {},
    /model: ollama has no default model; write ollama\/MODEL$/,
  ],
  [
    'a wire that the provider does not support',
    `${base}protocol: ollama-chat\n`,
    {},
    /protocol: openai does not support "ollama-chat"; it supports openai-responses and openai-chat$/,
  ],
  ['a module by a bare name', `${base}tools: [left-pad]\n`, {}, /tools\.0: .*(is not the path of a module|must be)/],
  [
    'a module that does not load',
    `${base}tools: [./bad.mjs]\n`,
    { 'agents/bad.mjs': 'throw new Error("no database")' },
    /:3:9: tools\.0: cannot be loaded: no database$/,
  ],
  [
    'a module with a mistake in it',
    `${base}tools: [./bad.mjs]\n`,
    { 'agents/bad.mjs': 'export const = 3' },
    /tools\.0: cannot be loaded: /,
  ],
  [
    'a module in a package of CommonJS',
    `${base}tools: [./bad.ts]\n`,
    { 'package.json': '{ "type": "commonjs" }', 'agents/bad.ts': 'export const a = 1' },
    /tools\.0: cannot be loaded: .*name it .mjs or .mts, or set "type": "module" in package\.json$/,
  ],
  [
    'a module without tools',
    `${base}tools: [./bad.mjs]\n`,
    { 'agents/bad.mjs': 'export const a = 1' },
    /tools\.0: exports no tools/,
  ],
  [
    'a tool that the module does not have',
    `${base}tools: [{ module: ./tools.mjs, only: [calendar] }]\n`,
    {},
    /tools\.0\.only: there is no tool "calendar"; the module has clock, echo$/,
  ],
  [
    'two tools of one name',
    `${base}tools: [./tools.mjs, ./same.mjs]\n`,
    { 'agents/same.mjs': tools },
    /tools\.1: there are two tools named clock$/,
  ],
  ['an address in an agent', `${base}baseUrl: http://x\n`, {}, /baseUrl: unknown key/],
  ['a command in an agent', `${base}mcpServers: { x: { command: sh } }\n`, {}, /mcpServers: unknown key/],
  [
    'a budget in words',
    `${base}budget: { run: { usd: lots } }\n`,
    {},
    /budget\.run\.usd: must be a number, not "lots"$/,
  ],
  [
    'an unknown kind of failure',
    `${base}fallback: [{ model: google, on: [sleepy] }]\n`,
    {},
    /fallback\.0\.on\.0: unknown value "sleepy"; known are auth,/,
  ],
]

for (const [what, agent, more, words] of mistakes) {
  test(`${what} is one clear sentence`, async (t) => {
    const said = await problems(t, agent, more)
    assert.equal(said.length, 1, said.join('\n'))
    assert.match(said[0] ?? '', words)
  })
}

test('an error in synapse.yaml is reported as one of synapse.yaml', async (t) => {
  const [said] = await problems(t, base, { 'synapse.yaml': 'model: [x]\n' })
  assert.match(said ?? '', /^synapse\.yaml:1:1: model: must be text, not a list$/)
})

test('ask makes every tool of a source ask, and only leaves out the rest', async (t) => {
  const folder = folderWith(t, `${base}tools: [{ module: ./tools.mjs, only: [echo], ask: true }]\n`)
  const agent = await loadAgent(join(folder, 'agents/helper.yaml'))
  const { tools: offered } = await agent.settings()
  assert.deepEqual(
    offered?.map(({ name, ask }) => [name, ask]),
    [['echo', true]],
  )
})

test('an MCP tool that is named twice is offered once, and asks if one of the entries asks', async (t) => {
  const good = faulty('')
  const well = { command: 'command' in good ? good.command : '', args: 'args' in good ? (good.args ?? []) : [] }
  const folder = folderWith(
    t,
    `${base}tools: [{ mcp: well }, { mcp: well, only: [echo], ask: true }, { mcp: well }]\n`,
    {
      'synapse.yaml': JSON.stringify({ mcpServers: { well } }),
    },
  )
  const agent = await loadAgent(join(folder, 'agents/helper.yaml'))
  t.after(() => agent.close())
  const { tools = [] } = await agent.settings()
  assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length)
  assert.deepEqual(
    tools.filter(({ ask }) => ask === true).map(({ name }) => name),
    ['well__echo'],
  )
})

test('an agent with an unavailable MCP server works without it, with a note', async (t) => {
  const good = faulty('')
  const servers = {
    well: { command: 'command' in good ? good.command : '', args: 'args' in good ? (good.args ?? []) : [] },
    away: { command: 'no-such-program-anywhere' },
  }
  const folder = folderWith(t, `${base}tools: [./tools.mjs, { mcp: well, only: [echo, nothing] }, { mcp: away }]\n`, {
    'synapse.yaml': JSON.stringify({ mcpServers: servers }),
  })
  const notes: Note[] = []
  const agent = await loadAgent(join(folder, 'agents/helper.yaml'), { onNote: (note) => notes.push(note) })
  t.after(() => agent.close())
  const settings = await agent.settings()
  assert.deepEqual(
    settings.tools?.map((tool) => tool.name),
    ['clock', 'echo', 'well__echo'],
  )
  assert.deepEqual(
    notes.map(({ kind, what }) => `${kind} ${what}`),
    ['dropped tool well__nothing', 'dropped MCP server away'],
  )
  const synapse = await openSynapse({ offline: true, env: {} })
  t.after(() => synapse.close())
  const chat = await synapse.start(settings)
  assert.match(await chat.send('use the tool well__echo with {}').text(), /well__echo answered: echo/)
})

test('agents hand a conversation to each other by name, even in a cycle', async (t) => {
  const folder = folderWith(t, 'name: helper\nmodel: openai\nsystem: You are Helper.\nhandoffs: [bob]\n', {
    'agents/bob/agent.yaml':
      'name: bob\ndescription: Knows boats.\nmodel: mistral\nsystem: You are Bob.\ntools: [../tools.mjs]\nhandoffs: [helper]\n',
  })
  const agent = await loadAgent(join(folder, 'agents/helper.yaml'))
  t.after(() => agent.close())
  const synapse = await openSynapse({ offline: true })
  const chat = await synapse.start(await agent.settings())
  await chat.send('use the tool hand_off_to_bob with {}').ended
  assert.match(await chat.send('What are your instructions?').text(), /You are Bob/)
  const same = await synapse.open(chat.id)
  assert.match(await same.send('What are your instructions?').text(), /You are Bob/)
  await chat.send('use the tool hand_off_to_helper with {}').ended
  assert.match(await chat.send('What are your instructions?').text(), /You are Helper/)
  const [bob] = (await agent.settings()).handoffs ?? []
  assert.deepEqual([bob?.name, bob?.description], ['bob', 'Knows boats.'])
})

test('a hand-off to an agent that is not there, or to itself, is named with its place', async (t) => {
  const found = await problems(t, 'name: helper\nmodel: openai\nhandoffs: [nobody, helper]\n')
  assert.match(found.join('\n'), /handoffs\.0.*there is no agent "nobody" in agents/)
  assert.match(found.join('\n'), /handoffs\.1.*is this agent itself/)
})
