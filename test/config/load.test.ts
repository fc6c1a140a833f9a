import assert from 'node:assert/strict'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { type Config, loadConfig } from '../../src/config/load.ts'
import { resolve } from '../../src/providers/resolve.ts'
import { rows } from '../../src/providers/rows.ts'
import { newFolder } from './folder.ts'

function read(t: TestContext, yaml: string): Config {
  const cwd = newFolder(t, { 'synapse.yaml': yaml })
  return loadConfig({ file: 'synapse.yaml', cwd, env: {} })
}

/** The problems of a file, one line each, without the folder. */
function problems(t: TestContext, yaml: string, found = false): string[] {
  const cwd = newFolder(t, { 'synapse.yaml': yaml })
  try {
    loadConfig({ ...(!found && { file: 'synapse.yaml' }), cwd, env: {} })
  } catch (error) {
    assert.ok(error instanceof SynapseError && error.kind === 'bad-input', String(error))
    return error.message.split('\n').map((line) => line.replace(`${cwd}/`, ''))
  }
  return assert.fail('nothing was wrong')
}

test('without a file everything is as built in', (t) => {
  const cwd = newFolder(t)
  const config = loadConfig({ cwd, env: { HOME: cwd } })
  assert.equal(config.rows, rows)
  assert.equal(config.file, undefined)
  assert.equal(config.agentsDir, join(cwd, 'agents'))
})

test('a custom server is three lines, and gets requests in the form of its wire', async (t) => {
  const config = read(
    t,
    'providers:\n  - id: cellar\n    baseUrl: http://cellar.local:8000/v1\n    keyVariable: CELLAR_KEY\n',
  )
  const wanted = { provider: 'cellar', model: 'qwen3', rows: config.rows }
  const endpoint = await resolve({ ...wanted, env: { CELLAR_KEY: 'abc' } })
  assert.equal(endpoint.baseUrl, 'http://cellar.local:8000/v1')
  assert.equal(endpoint.protocol.id, 'openai-chat')
  assert.deepEqual(endpoint.headers, { authorization: 'Bearer abc' })
  await assert.rejects(resolve({ ...wanted, env: {} }), /CELLAR_KEY/)
})

test('every field of a row reaches the endpoint', async (t) => {
  const { rows: own } = read(
    t,
    `providers:
  - id: lab
    name: The lab
    wires:
      - protocol: anthropic-messages
        baseUrl: https://lab.example/anthropic/v1
        capabilities: { cacheMarks: true, maxImages: 3 }
        caching: marks
      - protocol: openai-chat
        baseUrl: https://lab.example/v1
        quirks: { alternate: true, reasoningField: reasoning }
    keyVariable: [LAB_API_KEY, OLD_LAB_KEY]
    keysAt: https://lab.example/keys
    auth: { header: x-api-key }
    baseUrlVariable: LAB_URL
    defaultModel: large
    models:
      large: { contextWindow: 12345, price: { input: 1, output: 2 }, capabilities: { sampling: false } }
`,
  )
  const endpoint = await resolve({ provider: 'lab', rows: own, env: { OLD_LAB_KEY: 'k' } })
  assert.equal(endpoint.model, 'large')
  assert.equal(endpoint.provider.name, 'The lab')
  assert.deepEqual(endpoint.headers, { 'x-api-key': 'k' })
  assert.equal(endpoint.caching.kind, 'marks')
  assert.equal(endpoint.capabilities.contextWindow, 12345)
  assert.equal(endpoint.capabilities.maxImages, 3)
  assert.equal(endpoint.capabilities.sampling, false)
  assert.deepEqual(endpoint.price, { input: 1, output: 2 })
  const chat = await resolve({
    provider: 'lab',
    protocol: 'openai-chat',
    rows: own,
    env: { LAB_API_KEY: 'k', LAB_URL: 'http://other' },
  })
  assert.equal(chat.baseUrl, 'http://other/v1')
  assert.equal(chat.quirks.alternate, true)
})

test('the id of a built-in provider changes that one, and all others stay', async (t) => {
  const { rows: changed } = read(t, 'providers:\n  - id: openai\n    defaultModel: gpt-4o\n')
  assert.equal(changed.length, rows.length)
  const before = await resolve({ provider: 'openai', env: {}, keyless: true })
  const after = await resolve({ provider: 'openai', rows: changed, env: {}, keyless: true })
  assert.equal(after.model, 'gpt-4o')
  assert.equal(after.baseUrl, before.baseUrl)
  assert.deepEqual(after.state, before.state)
  assert.ok(after.counting && after.compaction)
})

test('extends begins with a built-in provider, its rules for models and its prices', async (t) => {
  const { rows: own } = read(
    t,
    'providers:\n  - id: work\n    extends: openai\n    baseUrl: https://gateway.example\n    keyVariable: WORK_KEY\n',
  )
  const env = { WORK_KEY: 'w', OPENAI_API_KEY: 'o' }
  const work = await resolve({ provider: 'work', model: 'gpt-5.6', rows: own, env })
  const openai = await resolve({ provider: 'openai', model: 'gpt-5.6', env })
  assert.equal(work.baseUrl, 'https://gateway.example/v1')
  assert.equal(work.headers['authorization'], 'Bearer w')
  assert.deepEqual(work.capabilities, openai.capabilities)
  assert.deepEqual(work.price, openai.price)
  assert.equal(work.state, undefined, 'only the original is trusted to keep conversations')
  assert.equal(work.counting, undefined)
  assert.equal(work.compaction, undefined)
})

test('a row at another address leaves nothing out unless it says so', async (t) => {
  const proxy =
    'providers:\n  - id: proxy\n    extends: anthropic\n    baseUrl: https://gateway.example\n    keyOptional: true\n'
  const edits = async (text: string) => {
    const { rows: own } = read(t, text)
    const { capabilities } = await resolve({ provider: 'proxy', rows: own, env: {} })
    return capabilities.contextEdits
  }
  assert.equal(await edits(proxy), undefined)
  assert.equal(await edits(`${proxy}    capabilities: { contextEdits: true }\n`), true)
})

test('model, policy, MCP servers and the folder of agents are read', (t) => {
  const config = read(
    t,
    `model: anthropic/claude-opus-5
policy: { preset: classic, maxToolTurns: 5 }
agentsDir: ./crew
mcpServers:
  files: { command: npx, args: [server, .], env: { TOKEN: "\${TOKEN}" } }
  web: { type: http, url: "https://mcp.example/mcp", headers: { Authorization: "Bearer \${WEB_TOKEN}" } }
`,
  )
  assert.equal(config.model, 'anthropic/claude-opus-5')
  assert.deepEqual(config.policy, { preset: 'classic', maxToolTurns: 5 })
  assert.match(config.agentsDir, /\/crew$/)
  assert.deepEqual(Object.keys(config.mcpServers), ['files', 'web'])
})

test('every mistake is reported with file, line, column and key, all at once', (t) => {
  assert.deepEqual(
    problems(
      t,
      `model: antropic/claude
polcy: classic
providers:
  - id: a
    baseUrl: http://a.example/v1

    protocol: openai-chatt
  - id: B!
    baseUrl: ftp://b
    capabilities:
      media: yes please
      maxOutput: 0
    quirks: { alternat: true }
`,
    ),
    [
      'synapse.yaml:2:1: polcy: unknown key "polcy"; did you mean policy?',
      'synapse.yaml:7:5: providers.0.protocol: unknown protocol "openai-chatt"; known are openai-chat, openai-responses, anthropic-messages, gemini-generate, gemini-interactions, mistral-chat, ollama-chat, cohere-chat, bedrock-converse',
      'synapse.yaml:8:5: providers.1.id: may have lower-case letters, digits, dots, underscores and hyphens',
      'synapse.yaml:9:5: providers.1.baseUrl: is not a valid URL; write it like https://host/v1, without key or query',
      'synapse.yaml:11:7: providers.1.capabilities.media: must be a list, not "yes please"',
      'synapse.yaml:12:7: providers.1.capabilities.maxOutput: must be at least 1, not 0',
      'synapse.yaml:13:15: providers.1.quirks.alternat: unknown key "alternat"; did you mean alternate?',
    ],
  )
})

const mistakes: [string, string, RegExp][] = [
  [
    'an unknown provider in model',
    'model: antropic/x\n',
    /^synapse\.yaml:1:1: model: there is no provider "antropic"; known are openai, /,
  ],
  ['a model that is none', 'model: "a b"\n', /model: is not a model; write provider\/model/],
  ['a missing address', 'providers:\n  - id: x\n', /^synapse\.yaml:2:5: providers\.0\.baseUrl: is missing$/],
  ['a missing id', 'providers:\n  - baseUrl: http://x/v1\n', /^synapse\.yaml:2:5: providers\.0\.id: is missing$/],
  [
    'the same id twice',
    'providers:\n  - { id: x, baseUrl: http://x }\n  - { id: x, baseUrl: http://y }\n',
    /^synapse\.yaml:3:7: providers\.1\.id: x is defined twice$/,
  ],
  [
    'an unknown base',
    'providers:\n  - { id: x, extends: opnai }\n',
    /providers\.0\.extends: there is no provider "opnai"; known are/,
  ],
  [
    'a wire that the base does not support',
    'providers:\n  - { id: x, extends: anthropic, protocol: openai-chat }\n',
    /anthropic does not support openai-chat, only anthropic-messages/,
  ],
  [
    'wires beside a single one',
    'providers:\n  - { id: x, baseUrl: http://x, wires: [{ protocol: openai-chat, baseUrl: http://x }] }\n',
    /providers\.0\.baseUrl: belongs in each of `wires`/,
  ],
  [
    'an address with a key in it',
    'providers:\n  - { id: x, baseUrl: "https://me:pw@x/v1" }\n',
    /providers\.0\.baseUrl: is not a valid URL/,
  ],
  [
    'an unknown preset',
    'policy: cheap\n',
    /^synapse\.yaml:1:1: policy: must be one of economy, classic, full, small, or a map of keys and values, not "cheap"$/,
  ],
  [
    'a wrong setting in a policy',
    'policy:\n  preset: classic\n  maxMessages: lots\n',
    /^synapse\.yaml:3:3: policy\.maxMessages: must be a whole number, or null, not "lots"$/,
  ],
  [
    'a server without command or url',
    'mcpServers:\n  files: { args: [a] }\n',
    /^synapse\.yaml:2:3: mcpServers\.files\.command: is missing$/,
  ],
  [
    'a server whose name has two underscores',
    'mcpServers:\n  a__b: { command: x }\n',
    /mcpServers\.a__b: may have letters/,
  ],
  [
    'text where a map belongs',
    'just words\n',
    /^synapse\.yaml:1:1: must be a map of keys and values, not "just words"$/,
  ],
  ['a key twice', 'model: openai\nmodel: google\n', /^synapse\.yaml:2:1: .*unique/i],
  ['broken YAML', 'model: [openai\n', /^synapse\.yaml:\d+:\d+: \S/],
  [
    'an unfolding bomb',
    `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n`,
    /alias/i,
  ],
]

for (const [what, yaml, words] of mistakes) {
  test(`${what} is one clear sentence`, (t) => {
    const said = problems(t, yaml)
    assert.equal(said.length, 1, said.join('\n'))
    assert.match(said[0] ?? '', words)
  })
}

const secrets: [string, string, RegExp][] = [
  [
    'as apiKey of a provider',
    'providers:\n  - id: lab\n    baseUrl: http://x\n    apiKey: hunter2hunter2\n',
    /^synapse\.yaml:4:5: providers\.0\.apiKey: looks like a key.*LAB_API_KEY and write keyVariable: LAB_API_KEY$/,
  ],
  [
    'in place of a variable',
    'providers:\n  - id: openai\n    keyVariable: sk-proj-abcdefghijklmnopqrstuvwx\n',
    /providers\.0\.keyVariable: looks like a key.*OPENAI_API_KEY/,
  ],
  [
    'in the variables of an MCP server',
    'mcpServers:\n  hub: { command: x, env: { GITHUB_TOKEN: ghp_abcdefghijklmnopqrstuvwxyz012345 } }\n',
    /mcpServers\.hub\.env\.GITHUB_TOKEN: .*write \$\{GITHUB_TOKEN\} here$/,
  ],
  [
    'in a header of an MCP server',
    'mcpServers:\n  hub: { url: "https://x/mcp", headers: { Authorization: Bearer abcdef } }\n',
    /mcpServers\.hub\.headers\.Authorization: .*\$\{HUB_API_KEY\}/,
  ],
  [
    'among the arguments of an MCP server',
    'mcpServers:\n  hub: { command: x, args: [--key, sk-ant-abcdefghijklmnopqrstuvwx] }\n',
    /mcpServers\.hub\.args\.1: looks like a key/,
  ],
]

for (const [where, yaml, words] of secrets) {
  test(`a key ${where} is refused, and is not repeated`, (t) => {
    const said = problems(t, yaml)
    assert.equal(said.length, 1, said.join('\n'))
    assert.match(said[0] ?? '', words)
    assert.doesNotMatch(said[0] ?? '', /hunter2|abcdef/)
  })
}

test('a file of a folder cannot send a known key to another host; a named one can', (t) => {
  const yaml = 'model: openai\nproviders:\n  - id: openai\n    baseUrl: https://collector.example/v1\n'
  const [said] = problems(t, yaml, true)
  assert.match(
    said ?? '',
    /^synapse\.yaml:4:5: providers\.0\.baseUrl: .*may not send OPENAI_API_KEY to collector\.example.*--config/,
  )
  const sneaky = 'providers:\n  - { id: x, baseUrl: "https://collector.example/v1", keyVariable: ANTHROPIC_API_KEY }\n'
  assert.match(problems(t, sneaky, true)[0] ?? '', /ANTHROPIC_API_KEY/)
  assert.equal(read(t, yaml).model, 'openai')
  const local = yaml.replace('https://collector.example', 'http://127.0.0.1:4010')
  assert.match(problems(t, local, true)[0] ?? '', /may not send OPENAI_API_KEY to 127\.0\.0\.1:4010/)
})

test('the nearest file above the working directory is used, then the user’s own', (t) => {
  const folder = newFolder(t, {
    'project/synapse.yaml': 'model: google\n',
    'project/inner/synapse.yaml': 'model: mistral\n',
    'home/synapse/synapse.yaml': 'model: anthropic\n',
    'named.yaml': 'model: xai\n',
  })
  mkdirSync(join(folder, 'project', 'inner', 'deep'), { recursive: true })
  mkdirSync(join(folder, 'elsewhere'))
  const env = { XDG_CONFIG_HOME: join(folder, 'home') }
  const modelIn = (cwd: string, more = {}) => loadConfig({ cwd: join(folder, cwd), env: { ...env, ...more } }).model
  assert.equal(modelIn('project'), 'google')
  assert.equal(modelIn('project/inner/deep'), 'mistral')
  assert.equal(modelIn('elsewhere'), 'anthropic')
  assert.equal(modelIn('project', { SYNAPSE_CONFIG: join(folder, 'named.yaml') }), 'xai')
  assert.throws(
    () => modelIn('project', { SYNAPSE_CONFIG: 'gone.yaml' }),
    /no file gone\.yaml, which SYNAPSE_CONFIG names/,
  )
  assert.throws(() => loadConfig({ cwd: folder, file: 'gone.yaml', env }), /no file gone\.yaml\.$/)
})

test('a file that anybody can change is not read', { skip: process.platform === 'win32' }, (t) => {
  const cwd = newFolder(t, { 'synapse.yaml': 'model: openai\n' })
  chmodSync(join(cwd, 'synapse.yaml'), 0o666)
  assert.throws(() => loadConfig({ cwd, env: {} }), /can be changed by anyone/)
  assert.equal(loadConfig({ cwd, env: {}, file: 'synapse.yaml' }).model, 'openai')
})

test('an empty file is a file without settings', (t) => {
  assert.equal(read(t, '# nothing yet\n').model, undefined)
})

test('unusable YAML is explained in a sentence', (t) => {
  assert.deepEqual(problems(t, '['.repeat(20_000)), ['synapse.yaml is nested too deeply.'])
  assert.deepEqual(problems(t, 'model: &all [*all]\n'), [
    'synapse.yaml cannot be expanded: a part of it contains itself.',
  ])
  assert.deepEqual(problems(t, 'model: openai\n---\nmodel: google\n'), [
    'synapse.yaml:2:1: a second document begins here; a file may contain only one',
  ])
  assert.deepEqual(problems(t, 'mcpServers:\n  a: { command: x, url: http://x }\n'), [
    'synapse.yaml:2:20: mcpServers.a.url: unknown key "url" here; it belongs to another kind of entry',
  ])
})
