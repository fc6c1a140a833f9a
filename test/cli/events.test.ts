// What a user, and a script, sees of a run with problems: retries, fallbacks, guards, interruptions, and calls that
// must be allowed.

import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { serveEmulator } from '../../src/testing.ts'
import { newHome } from './command-line.ts'
import { keys, noTerminal, openTerminal } from './pseudo-terminal.ts'

/** Two providers that the test plays, and an agent that asks the second when the first fails. */
async function local(t: TestContext) {
  const server = await serveEmulator()
  t.after(() => server.close())
  const home = newHome(t)
  const row = (id: string) => `  - { id: ${id}, baseUrl: "${server.url}/openai-compatible/v1" }\n`
  writeFileSync(join(home.folder, 'synapse.yaml'), `model: first/m\nproviders:\n${row('first')}${row('second')}`)
  mkdirSync(join(home.folder, 'agents'))
  writeFileSync(
    join(home.folder, 'agents', 'clerk.yaml'),
    'name: clerk\nsystem: Be a clerk.\nfallback: [second/m]\ntools: [{ module: ./stamp.js, ask: true }]\n',
  )
  writeFileSync(join(home.folder, 'agents', 'hasty.yaml'), 'name: hasty\nmaxSteps: 1\ntools: [./stamp.js]\n')
  writeFileSync(
    join(home.folder, 'agents', 'stamp.js'),
    `export const stamp = {
  name: 'stamp',
  input: { type: 'object', properties: { page: { type: 'number' } } },
  run: ({ page }) => 'stamped ' + page,
}\n`,
  )
  await home.trust()
  return { ...home, server }
}

const useStamp = 'use the tool stamp with {"page":7}'
const down = { status: 503, headers: { 'x-should-retry': 'false' } }

test('a retry shows its delay, and a fallback the next model and the reason', async (t) => {
  const { synapse, server } = await local(t)
  server.order({ status: 429, headers: { 'retry-after-ms': '20' } })
  const again = await synapse(['How many messages?'])
  assert.equal(again.code, 0, again.err)
  assert.match(again.err, /first[^\n]*429[^\n]*Trying again in 0\.0 s \(attempt 2\)\./)
  server.order(down)
  const other = await synapse(['agent', 'run', 'clerk', 'How many messages?'])
  assert.equal(other.code, 0, other.err)
  assert.match(other.err, /first[^\n]*503[^\n]*Continuing with second\/m instead of first\/m\./)
})

test('a guard that stops a run says which and why, as text and as an event', async (t) => {
  const { synapse } = await local(t)
  const plain = await synapse(['agent', 'run', 'hasty', useStamp])
  assert.equal(plain.code, 0)
  assert.match(
    plain.err,
    /Stopped \(step limit\): The run reached its limit of 1 steps\.\nType "continue" to continue\./,
  )
  const json = await synapse(['agent', 'run', 'hasty', '--json', useStamp])
  const guard = events(json.out).find(({ type }) => type === 'guard')
  assert.deepEqual(
    [guard?.action, guard?.guard, events(json.out).at(-1)?.outcome],
    ['stopped', 'max-steps', 'max-steps'],
  )
})

test('an interrupted answer is saved, reported, and continued', async (t) => {
  const { synapse, server } = await local(t)
  server.order({ cutAt: 4 })
  const broken = await synapse(['Count to 50'])
  assert.equal(broken.code, 1)
  assert.match(broken.out, /1 2 3/)
  assert.match(broken.err, /The answer was interrupted; the partial reply is saved\./)
  const resumed = await synapse(['--resume'])
  assert.equal(resumed.code, 0, resumed.err)
  assert.match(
    resumed.err,
    /The last answer was interrupted; the partial answer is saved\. "synapse --resume" continues/,
  )
  assert.match(resumed.out, /48 49 50/)
  assert.equal((await synapse(['--resume', 'and words'])).code, 2)
})

test('with --json a call that needs approval waits, and the exit code shows it', async (t) => {
  const { synapse } = await local(t)
  const asked = await synapse(['agent', 'run', 'clerk', '--json', useStamp])
  assert.equal(asked.code, 3, asked.err)
  assert.equal(events(asked.out).find(({ type }) => type === 'approval-needed')?.call?.name, 'stamp')
  assert.equal(events(asked.out).at(-1)?.outcome, 'waiting')
  const still = await synapse(['--resume', '--json'])
  assert.deepEqual([still.code, still.out], [3, ''])
  const allowed = await synapse(['--resume', '--json', '--yes'])
  assert.equal(allowed.code, 0, allowed.err)
  assert.match(allowed.out, /stamped 7/)
})

test('when not interactive, a call is denied and the model gets the reason', async (t) => {
  const { synapse } = await local(t)
  const denied = await synapse(['agent', 'run', 'clerk', useStamp])
  assert.equal(denied.code, 0, denied.err)
  assert.match(denied.out, /did not allow stamp.*the terminal is not interactive/)
})

test('a conversation with an agent is inspected and continued as the agent left it', async (t) => {
  const { synapse, folder } = await local(t)
  await synapse(['agent', 'run', 'clerk', '--yes', useStamp])
  const body = (await synapse(['inspect', 'last', '--body'])).out
  assert.match(body, /"content": "Be a clerk\."/)
  assert.deepEqual(toolNames(body), ['stamp'])
  const other = await synapse([
    'inspect',
    'last',
    '--for',
    'anthropic',
    '--body',
    '--agent',
    join(folder, 'agents/clerk.yaml'),
  ])
  assert.match(other.out, /"name": "stamp"/)
  assert.match((await synapse(['-c', '--yes', useStamp])).out, /stamped 7/)
  rmSync(join(folder, 'agents/clerk.yaml'))
  const gone = await synapse(['inspect', 'last', '--body'])
  assert.equal(gone.code, 0, gone.err)
  assert.match(gone.err, /the agent clerk, whose tools and settings are left out: .*clerk\.yaml no longer exists/)
})

test('a terminal asks about a call, and accepts yes and no', { skip: noTerminal }, async (t) => {
  const home = await local(t)
  const once = openTerminal(t, home, ['agent', 'run', 'clerk', useStamp])
  await once.see(/Allow this call\? stamp \{"page":7\}\nAllow\? \[y\]es, for this \[c\]onversation/)
  once.type(`y${keys.enter}`)
  await once.see(/stamped 7/)
  assert.equal(await once.ended, 0)

  const chat = openTerminal(t, home, ['chat', '--agent', 'clerk'])
  await chat.see(/you> $/)
  home.server.order(down)
  chat.type(`${useStamp}${keys.enter}`)
  await chat.see(/Continuing with second\/m/)
  await chat.see(/Allow this call\? stamp \{"page":7\}/)
  await chat.see(/or no with a reason: $/)
  chat.type(`no${keys.enter}`)
  await chat.see(/did not allow stamp/)
  await chat.see(/you> $/)
  chat.type(`/tools${keys.enter}`)
  await chat.see(/on +stamp/)
  chat.type(keys.end)
  assert.equal(await chat.ended, 0)
})

test(
  'a question left with Ctrl-D or Ctrl-C stays pending, and the exit code tells the two apart',
  { skip: noTerminal },
  async (t) => {
    const home = await local(t)
    const asks = ['agent', 'run', 'clerk', useStamp]
    for (const [key, code] of [
      [keys.end, 3],
      [keys.interrupt, 130],
    ] as const) {
      const screen = openTerminal(t, home, asks)
      await screen.see(/or no with a reason: /)
      screen.type(key)
      assert.equal(await screen.ended, code, screen.text)
      assert.match((await home.synapse(['--resume', '--yes'])).out, /stamped 7/)
    }
    const [id = ''] = (await home.synapse(['log'])).out.split(' ')
    for (const [key, code] of [
      [keys.end, 1],
      [keys.interrupt, 130],
    ] as const) {
      const screen = openTerminal(t, home, ['delete', id])
      await screen.see(/permanently\? \[y\/N\] /)
      screen.type(key)
      assert.equal(await screen.ended, code, screen.text)
    }
    assert.match((await home.synapse(['log'])).out, new RegExp(`^${id}`))
  },
)

test('--yes allows every call in a chat too', async (t) => {
  const { synapse } = await local(t)
  const { out } = await synapse(['chat', '--agent', 'clerk', '--yes'], { input: `${useStamp}\n` })
  assert.match(out, /stamped 7/)
})

test('an agent may name a provider of the store', async (t) => {
  const { synapse, folder, server, trust } = await local(t)
  await synapse(['providers', 'configure', 'kept', '--base-url', `${server.url}/openai-compatible/v1`])
  writeFileSync(join(folder, 'agents', 'keeper.yaml'), 'name: keeper\nmodel: kept/m\n')
  assert.match((await synapse(['agent', 'check', 'keeper'])).out, /is valid: kept\/m/)
  assert.match((await synapse(['agent', 'list'])).out, /keeper +kept\/m/)
  await trust()
  const { code, err } = await synapse(['agent', 'run', 'keeper', 'Hello'])
  assert.equal(code, 0, err)
  assert.equal((await synapse(['inspect', 'last'])).code, 0)
})

test('an agent with MCP servers ends even if nothing can be stored about them', async (t) => {
  const { synapse, folder, trust } = newHome(t)
  const script = join(import.meta.dirname, '..', 'mcp', 'faulty-server.ts')
  const entry = JSON.stringify({ command: process.execPath, args: [script, ''] })
  writeFileSync(join(folder, 'synapse.yaml'), `model: openai\nmcpServers: { good: ${entry} }\n`)
  mkdirSync(join(folder, 'agents'))
  writeFileSync(join(folder, 'agents', 'user.yaml'), 'name: user\ntools: [{ mcp: good }]\n')
  writeFileSync(join(folder, 'file'), '')
  await trust()
  const nowhere = { XDG_DATA_HOME: join(folder, 'file') }
  const { code, out, err } = await synapse(['agent', 'run', 'user', 'Hello', '--db', 'chats.db'], {
    env: nowhere,
    process: true,
  })
  assert.equal(code, 0, err)
  assert.match(out, /emulator/)
  assert.match(err, /The tool definitions of MCP servers could not be saved, so later changes will go unnoticed: /)
})

test('a tool that hangs, or a module that keeps something open, does not delay the exit', async (t) => {
  const home = await local(t)
  const { synapse, folder, trust } = home
  writeFileSync(
    join(folder, 'agents', 'stamp.js'),
    `setInterval(() => {}, 1000)
export const stamp = { name: 'stamp', input: { type: 'object' }, timeoutMs: 20, run: () => new Promise(() => {}) }\n`,
  )
  await trust()
  assert.equal((await synapse(['agent', 'check', 'hasty', '--load'], { process: true })).code, 0)
  const { code, err } = await synapse(['agent', 'run', 'hasty', useStamp], { process: true })
  assert.equal(code, 0)
  assert.match(err, /stamp failed/)
})

test('an unhandled rejection of a tool is a warning, and ends nothing', async (t) => {
  const { folder, synapse, trust } = await local(t)
  writeFileSync(
    join(folder, 'agents', 'stamp.js'),
    `export const stamp = {
  name: 'stamp',
  input: { type: 'object' },
  async run() {
    void Promise.reject(new Error('floating \u001B[2J'))
    setTimeout(() => { throw new Error('late') }, 1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    return 'stamped all the same'
  },
}\n`,
  )
  await trust()
  const { code, out, err } = await synapse(['agent', 'run', 'hasty', useStamp], { process: true })
  assert.equal(code, 0, err)
  assert.match(err, /Warning: an error in the background was not handled[^\n]*floating ␛/)
  assert.match(err, /Warning: an error in the background was not handled[^\n]*late/)
  assert.match(out + err, /stamped all the same/)
})

test('an answer schema that is nested too deeply is one sentence', async (t) => {
  const { synapse } = await local(t)
  const deep = '{"a":'.repeat(20_000) + '{}' + '}'.repeat(20_000)
  const { code, err } = await synapse(['-o', `answerSchema=${deep}`, 'Hello'])
  assert.notEqual(code, 0)
  assert.match(err, /nested too deeply/)
  assert.doesNotMatch(err, /Maximum call stack/)
})

interface PrintedEvent {
  type: string
  action?: string
  guard?: string
  outcome?: string
  call?: { name: string }
}

function events(out: string): PrintedEvent[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as PrintedEvent)
}

function toolNames(body: string): string[] {
  const { tools = [] } = JSON.parse(body) as { tools?: { function: { name: string } }[] }
  return tools.map((tool) => tool.function.name)
}
