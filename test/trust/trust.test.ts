// What it takes until a folder counts, and what it never may do.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { serveEmulator } from '../../src/testing.ts'
import { newHome, type Home } from '../cli/command-line.ts'
import { keys, noTerminal, openTerminal } from '../cli/pseudo-terminal.ts'

const tools = (text: string) =>
  `export const say = { name: 'say', input: { type: 'object' }, run: () => ${JSON.stringify(text)} }\n`
const useSay = 'use the tool say with {}'

/** A folder with a provider that the test plays, and an agent with a tool. */
async function project(t: TestContext, ...lines: string[]) {
  const server = await serveEmulator()
  t.after(() => server.close())
  const home = newHome(t)
  const write = (name: string, text: string) => {
    mkdirSync(join(home.folder, name, '..'), { recursive: true })
    writeFileSync(join(home.folder, name), text)
  }
  const address = `${server.url}/openai-compatible/v1`
  const row = [
    'model: box/m',
    'providers:',
    '  - id: box',
    `    baseUrl: ${address}`,
    ...lines.map((line) => `    ${line}`),
  ]
  write('synapse.yaml', `${row.join('\n')}\n`)
  write('agents/helper.yaml', 'name: helper\ntools: [./tools.mjs]\n')
  write('agents/tools.mjs', tools('first'))
  return { ...home, home, server, write, address }
}

test('a folder is used after it was trusted, with its content at that time, until it is no longer trusted', async (t) => {
  const { synapse, trust, server, write, folder } = await project(t)
  const before = await synapse(['hi'])
  assert.equal(before.code, 2)
  assert.match(before.err, /^synapse: synapse\.yaml is not trusted yet; [^\n]*synapse trust[^\n]*--no-config[^\n]*\n$/)
  assert.equal(before.out, '')
  assert.equal((await synapse(['--no-config', '--offline', 'hi'])).code, 0)
  assert.equal(server.requests.length, 0)
  await trust()
  assert.equal((await synapse(['hi'])).code, 0)
  assert.match((await synapse(['agent', 'run', 'helper', useSay])).out, /first/)

  write('agents/tools.mjs', tools('second'))
  assert.equal((await synapse(['hi'])).code, 0, 'the configuration is the same')
  const changed = await synapse(['agent', 'run', 'helper', useSay])
  assert.equal(changed.code, 2)
  assert.match(changed.err, /agents\/tools\.mjs has changed since it was trusted/)
  assert.match((await synapse(['trust', '--list'])).out, /3 files, 1 of them changed since/)
  const again = await synapse(['trust'])
  assert.match(again.err, /- export const say .*"first"/)
  assert.match(again.err, /\+ export const say .*"second"/)
  assert.match((await synapse(['agent', 'run', 'helper', useSay], { process: true })).out, /second/)
  assert.equal((await synapse(['trust'])).out, `${folder} is already trusted.\n`)

  assert.equal((await synapse(['trust', '--remove'])).code, 0)
  assert.equal((await synapse(['hi'])).code, 2)
  assert.match((await synapse(['trust', '--list'])).err, /No folder is trusted/)
})

test('the trust list is stored outside the folder, for the user alone', async (t) => {
  const { synapse, folder } = await project(t)
  const state = join(newHome(t).folder, 'state')
  const env = { XDG_STATE_HOME: state }
  assert.equal((await synapse(['trust'], { env })).code, 0)
  const path = join(state, 'synapse', 'trust.json')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal((await synapse(['hi'], { env })).code, 0)
  assert.equal((await synapse(['hi'])).code, 2, 'another user has trusted nothing')
  writeFileSync(path, readFileSync(path, 'utf8').replace(folder, '/another'))
  assert.equal((await synapse(['hi'], { env })).code, 2)
  writeFileSync(path, '{ damaged')
  assert.equal((await synapse(['hi'], { env })).code, 2)
})

test('a variable with another name is allowed by its name, for one destination', async (t) => {
  const { synapse, write, server, address } = await project(t, 'keyVariable: GITHUB_TOKEN')
  const env = { GITHUB_TOKEN: 'token' }
  const refused = await synapse(['trust', '--yes'], { env })
  assert.equal(refused.code, 2)
  assert.match(refused.err, /reads GITHUB_TOKEN for provider box, and gives it to http:/)
  assert.match(refused.err, /--allow GITHUB_TOKEN/)
  assert.equal((await synapse(['hi'], { env })).code, 2)
  assert.equal((await synapse(['trust', '--allow', 'GITHUB_TOKEN'], { env })).code, 0)
  assert.equal((await synapse(['hi'], { env })).code, 0)
  assert.equal(server.requests.length, 1)
  const moved = `model: box/m\nproviders: [{ id: box, baseUrl: "${address}/other", keyVariable: GITHUB_TOKEN }]\n`
  write('synapse.yaml', moved)
  assert.equal((await synapse(['trust'], { env })).code, 2, 'another destination is another question')
})

for (const [what, config, says] of [
  [
    'an address',
    'providers: [{ id: openai, baseUrl: "http://127.0.0.1:9/v1" }]',
    /may not send OPENAI_API_KEY to 127\.0\.0\.1:9/,
  ],
  [
    'a variable',
    'providers: [{ id: openai, baseUrlVariable: MY_URL }]',
    /may not send OPENAI_API_KEY to whatever host MY_URL names/,
  ],
  ['npm', 'providers: [{ id: box, baseUrl: "http://b/v1", baseUrlVariable: npm_config_url }]', /is set by npm/],
  [
    'an MCP header',
    'mcpServers: { a: { url: "http://a/", headers: { A: "${ANTHROPIC_API_KEY}" } } }',
    /may not send ANTHROPIC_API_KEY to a;/,
  ],
] as const) {
  test(`a folder cannot even be trusted to move a built-in key by ${what}`, async (t) => {
    const { synapse, folder } = newHome(t)
    writeFileSync(join(folder, 'synapse.yaml'), `${config}\n`)
    const { code, err } = await synapse(['trust', '--yes', '--allow', 'OPENAI_API_KEY', '--allow', 'MY_URL'])
    assert.equal(code, 2)
    assert.match(err, says)
  })
}

test('the address of a built-in provider comes from the environment of the user, not from a file in it', async (t) => {
  const { synapse, folder, server } = await project(t)
  const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/openai/v1` }
  const ask = () => synapse(['--no-config', '-m', 'openai/gpt-5.6', 'hi'], { env })
  assert.equal((await ask()).code, 0)
  assert.equal(server.requests.at(-1)?.provider, 'openai')
  writeFileSync(join(folder, '.env'), `OPENAI_BASE_URL='${env.OPENAI_BASE_URL}'\n`)
  const refused = await ask()
  assert.equal(refused.code, 2)
  assert.match(refused.err, /OPENAI_BASE_URL comes from .*\.env/)
  assert.equal(server.requests.length, 1)
})

test('a file that is named is used, and says the first time what it does, not on stdout', async (t) => {
  const { synapse, folder } = await project(t, 'keyVariable: BOX_API_KEY')
  const env = { BOX_API_KEY: 'k' }
  const ask = () => synapse(['--config', join(folder, 'synapse.yaml'), '--json', 'hi'], { env })
  const first = await ask()
  assert.equal(first.code, 0, first.err)
  assert.match(first.err, /First use of synapse\.yaml.*\n.*\n {2}asks http:.*\n {2}reads BOX_API_KEY for provider box/)
  for (const line of first.out.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line), 'object')
  const second = await ask()
  assert.equal(second.err, '')
  const named = await synapse(['agent', 'run', './agents/helper.yaml', '--config', 'synapse.yaml', useSay], { env })
  assert.match(named.err, /First use of agents\/helper\.yaml.*\n.*\n {2}imports .*tools\.mjs into this process/)
  assert.match(named.out, /first/)
})

/** The same home in another folder, with an agent of the same name. */
function elsewhere(home: Home, t: TestContext, files: Record<string, string>): Home {
  const other = newHome(t)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(other.folder, name, '..'), { recursive: true })
    writeFileSync(join(other.folder, name), text)
  }
  const env = { HOME: home.folder, XDG_DATA_HOME: home.folder }
  return {
    ...other,
    synapse: (args, options = {}) => other.synapse(args, { ...options, env: { ...env, ...options.env } }),
  }
}

test('a conversation stays with the file of its agent, whatever is in the current folder', async (t) => {
  const { synapse, trust, home, folder, write } = await project(t)
  await trust()
  await synapse(['agent', 'run', 'helper', 'Hello'])
  const mark = join(folder, 'MARK')
  const other = elsewhere(home, t, {
    'agents/helper.yaml': 'name: helper\nmodel: openai\ntools: [./tools.mjs]\n',
    'agents/tools.mjs': `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, '')\n${tools('evil')}`,
  })
  const continued = await other.synapse(['-c', useSay])
  assert.equal(continued.code, 0, continued.err)
  assert.match(continued.out, /first/)
  assert.equal((await other.synapse(['inspect', 'last'])).code, 0)
  assert.equal(existsSync(mark), false)

  write('agents/tools.mjs', tools('second'))
  const changed = await other.synapse(['-c', '-m', 'openai', '--offline', useSay])
  assert.equal(changed.code, 0, changed.err)
  assert.match(changed.err, /helper\.yaml, or a file that it uses, has changed since this conversation used it/)
  assert.match(changed.err, /the agent helper, whose tools and settings are left out/)
  assert.doesNotMatch(changed.out, /second/)
  await trust()
  assert.match((await other.synapse(['-c', useSay], { process: true })).out, /second/)

  rmSync(join(folder, 'agents', 'helper.yaml'))
  assert.match((await other.synapse(['-c', '--offline', 'Hello'])).err, /helper\.yaml no longer exists/)
  assert.equal(existsSync(mark), false)
})

test('inspect loads no code, and shows the tools that the last request offered', async (t) => {
  const { synapse, trust, folder, write } = await project(t)
  await trust()
  await synapse(['agent', 'run', 'helper', useSay])
  const mark = join(folder, 'MARK')
  write(
    'agents/tools.mjs',
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, '')\n${tools('x')}`,
  )
  for (const more of [[], ['--agent', 'helper'], ['--agent', './agents/helper.yaml'], ['--for', 'anthropic']]) {
    const { code, out, err } = await synapse(['inspect', 'last', '--body', ...more])
    assert.equal(code, 0, err)
    assert.match(out, /"say"/)
  }
  for (const args of [
    ['agent', 'list'],
    ['agent', 'check'],
    ['config', 'check'],
    ['log'],
    ['usage'],
    ['export', '--all'],
  ])
    assert.equal((await synapse(args)).code, 0)
  assert.equal((await synapse(['agent', 'check', '--load'])).code, 2)
  assert.equal(existsSync(mark), false)
})

test('the user is warned before a history is sent to a host that another folder chose', async (t) => {
  const { synapse, trust, server, home } = await project(t)
  await trust()
  await synapse(['hi'])
  assert.doesNotMatch((await synapse(['-c', 'again'])).err, /held elsewhere/)
  const config = `model: den/m\nproviders: [{ id: den, baseUrl: "${server.url}/openai-compatible/v1" }]\n`
  const other = elsewhere(home, t, { 'synapse.yaml': config })
  assert.equal((await other.synapse(['trust'])).code, 0)
  const told = await other.synapse(['-c', '-m', 'den/m', 'and here'])
  assert.equal(told.code, 0, told.err)
  assert.match(told.err, /was started elsewhere \(in .*\); its history is sent to http:.*, as set in .*synapse\.yaml/)
  const away = elsewhere(home, t, {})
  await synapse(['agent', 'run', 'helper', 'Hello'])
  assert.doesNotMatch((await away.synapse(['-c', 'again'])).err, /held elsewhere/, 'its own folder chose the host')
})

test(
  'on a terminal the folder is shown and asked about, and each foreign variable too',
  { skip: noTerminal },
  async (t) => {
    const { home, server, synapse } = await project(t, 'keyVariable: GITHUB_TOKEN')
    const withToken: Home = { ...home, env: { ...home.env, GITHUB_TOKEN: 'token' } }
    const no = openTerminal(t, withToken, ['hi'])
    await no.see(/asks http:.*\(provider box\)/)
    await no.see(/Trust .*\? \[y\/N\] /)
    no.type(`n${keys.enter}`)
    assert.equal(await no.ended, 2)
    const half = openTerminal(t, withToken, ['hi'])
    await half.see(/Trust .*\? \[y\/N\] /)
    half.type(`y${keys.enter}`)
    await half.see(/GITHUB_TOKEN is not named after provider box\. Let http:.* read it\? \[y\/N\] /)
    half.type(`n${keys.enter}`)
    assert.equal(await half.ended, 2)
    assert.equal(server.requests.length, 0)
    const yes = openTerminal(t, withToken, ['hi'])
    await yes.see(/Trust .*\? \[y\/N\] /)
    yes.type(`y${keys.enter}`)
    await yes.see(/Let http:.* read it\? \[y\/N\] /)
    yes.type(`y${keys.enter}`)
    assert.equal(await yes.ended, 0, yes.text)
    assert.equal(server.requests.length, 1)
    assert.equal((await synapse(['hi'], { env: { GITHUB_TOKEN: 'token' } })).code, 0)
  },
)

test('the stock commands in a folder without such files ask and say nothing', async (t) => {
  const { synapse, folder } = newHome(t)
  for (const args of [
    ['--offline', 'hi'],
    ['--offline', '-c', 'again'],
    ['models'],
    ['providers'],
    ['inspect', 'last'],
  ]) {
    const { code, err } = await synapse(args)
    assert.equal(code, 0, err)
    assert.equal(err, '')
  }
  assert.equal(existsSync(join(folder, '.local', 'state')), false)
})
