// The package as a user has it: packed, installed in a folder far from here, with nothing beside it but what it asks for.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { after } from 'node:test'
import { promisify } from 'node:util'
import { installPacked } from '../../scripts/install-packed.ts'
import { newHome } from '../cli/command-line.ts'
import { packaged } from '../mcp/using.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'synapse-installed-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const installed = installPacked(folder)
const program = join(installed, 'bin', 'synapse.js')

test('the command says its version, and answers offline', async (t) => {
  const { synapse } = newHome(t, program)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  assert.deepEqual(await synapse(['--version']), { code: 0, out: `${version}\n`, err: '' })
  const { code, out, err } = await synapse(['--offline', 'What time is it?'])
  assert.equal(code, 0, err)
  assert.match(out, /clock answered/)
})

test('the command reads its configuration, and an agent has the tools of an MCP server', async (t) => {
  const { synapse, folder: home, trust } = newHome(t, program)
  const { home: _, ...all } = packaged('server-everything')
  writeFileSync(join(home, 'synapse.yaml'), JSON.stringify({ mcpServers: { all } }))
  mkdirSync(join(home, 'agents'))
  writeFileSync(join(home, 'agents', 'adder.yaml'), 'name: adder\nmodel: anthropic\ntools: [{ mcp: all }]\n')
  await trust()
  const { code, out, err } = await synapse(['agent', 'run', 'adder', '--offline', '--json', 'Echo "tock", please.'])
  assert.equal(code, 0, err)
  assert.match(out, /all__echo/)
})

test('the server gives the page', async (t) => {
  const { env } = newHome(t)
  const server = spawn(process.execPath, [program, 'serve', '--offline', '--port', '0', '--no-open'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => server.kill())
  const [url] = (await once(createInterface(server.stdout), 'line')) as [string]
  assert.match(await (await fetch(url)).text(), /<script type="module"/)
})

test('the library, its testing part and its AI SDK part are one: an error of one is an error of the other', async () => {
  const code = `
    import { openSynapse, prepare, SynapseError } from 'synapse'
    import { createEmulator } from 'synapse/testing'
    import { aiSdkProvider } from 'synapse/ai-sdk'
    const clock = { name: 'clock', input: { type: 'object', properties: {} }, run: () => 'noon' }
    const synapse = await openSynapse({ store: 'chats.db', offline: createEmulator() })
    const chat = await synapse.start({ model: 'anthropic/claude-opus-5', tools: [clock] })
    console.log(await chat.send('What time is it?').text())
    await synapse.close()
    const { url } = prepare({ messages: [], provider: 'openai', model: 'gpt-5.6' })
    console.log(new URL(url).pathname)
    const provider = aiSdkProvider('mine', { specificationVersion: 'v1' })
    await provider.endpoint('x').catch((error) => console.log(error instanceof SynapseError, error.kind))`
  writeFileSync(join(folder, 'main.mjs'), code)
  const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: folder })
  assert.match(stdout, /clock answered: noon\n\/v1\/responses\ntrue bad-input\n/)
})

test('its types are whole, without any package but those that it names', async () => {
  for (const name of ['@types/node', '@ai-sdk/provider']) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const code = `
    import { openSynapse, type Conversation, type RunEnd } from 'synapse'
    import { createEmulator, type Emulator } from 'synapse/testing'
    import { synapseModel } from 'synapse/ai-sdk'
    const emulator: Emulator = createEmulator()
    const synapse = await openSynapse({ offline: emulator })
    const chat: Conversation = await synapse.start({ model: 'openai' })
    export const end: RunEnd = await chat.send('Hello').ended
    // @ts-expect-error: the types are known, so that this is known to be wrong
    export const wrong: number = synapseModel`
  writeFileSync(join(folder, 'main.ts'), code)
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2024', types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', '.'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  )
  // The types of others are checked too, and are not all in order.
  assert.doesNotMatch(stdout, /^(main|node_modules.synapse)/m)
})

test('the licences of what is bundled are there', () => {
  for (const part of ['js', 'web']) {
    assert.match(readFileSync(join(installed, 'dist', part, 'THIRD-PARTY.txt'), 'utf8'), /Permission is hereby granted/)
  }
  assert.ok(!existsSync(join(installed, 'src')))
})
