// The package as a user has it: packed, installed in a folder far from here, with only its own dependencies.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { after, describe } from 'node:test'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { newHome, type Home } from '../cli/command-line.ts'
import { install } from '../installed.ts'
import { packaged } from '../mcp/using.ts'
import { compiled, exampleNames, examples, linesOf, link, missing, needsMore, output, packages } from './examples.ts'
import { program as portable } from './portable.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'synapse-installed-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const installed = install(folder)
const program = join(installed, 'bin', 'synapse.js')

test('the command says its version, and answers offline', async (t) => {
  const { synapse } = newHome(t, program)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  assert.deepEqual(await synapse(['--version']), { code: 0, out: `${version}\n`, err: '' })
  const { code, out, err } = await synapse(['--offline', 'What time is it?'])
  assert.equal(code, 0, err)
  assert.match(out, /clock answered/)
})

test('a question loads few files', async (t) => {
  const { synapse, folder: home } = newHome(t, program)
  const coverage = join(home, 'coverage')
  const { code, err } = await synapse(['--offline', 'What time is it?'], { env: { NODE_V8_COVERAGE: coverage } })
  assert.equal(code, 0, err)
  const [name = ''] = readdirSync(coverage)
  const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: { url: string }[] }
  const loaded = result.filter(({ url }) => url.includes('/dist/'))
  assert.ok(loaded.length <= 6, loaded.map(({ url }) => url).join('\n'))
})

describe('compiled code is stored where only the user can write', () => {
  const cache = (home: string) =>
    join(home, { darwin: 'Library/Caches', win32: 'AppData/Local' }[process.platform as string] ?? '.cache', 'synapse')
  // The other tests share a folder for compiled code, which this turns off.
  const works = async ({ synapse }: Home, more: Record<string, string> = {}) => {
    const { code, err } = await synapse(['--help'], { env: { NODE_COMPILE_CACHE: '', ...more } })
    assert.equal(code, 0, err)
  }

  test('in a folder of the user', async (t) => {
    const home = newHome(t, program)
    await works(home)
    assert.equal(statSync(cache(home.folder)).mode & 0o777, 0o700)
    assert.equal(readdirSync(cache(home.folder)).length, 1)
  })

  const refused: [string, (folder: string) => void][] = [
    ['a folder that others may write to', (folder) => (mkdirSync(folder), chmodSync(folder, 0o777))],
    ['a link', (folder) => symlinkSync(mkdtempSync(join(folder, '..', 'other-')), folder)],
    ['a file', (folder) => writeFileSync(folder, '')],
    ['a folder of another user', (folder) => (mkdirSync(folder), chownSync(folder, 1234, 1234))],
  ]
  for (const [name, make] of refused) {
    const skip = name.endsWith('user') && process.getuid?.() !== 0 && 'only root can make one'
    test(`not in ${name}`, { skip }, async (t) => {
      const home = newHome(t, program)
      const folder = cache(home.folder)
      mkdirSync(join(folder, '..'), { recursive: true })
      make(folder)
      await works(home)
      assert.deepEqual(statSync(folder).isDirectory() ? readdirSync(folder) : [], [])
    })
  }

  test('not where a variable says, which the .env file of a folder could set', async (t) => {
    const home = newHome(t, program)
    const folder = join(home.folder, 'variable')
    mkdirSync(folder)
    await works(home, { XDG_CACHE_HOME: folder, TMPDIR: folder })
    assert.deepEqual(readdirSync(folder), [])
  })

  test('damaged code is not run', async (t) => {
    const home = newHome(t, program)
    await works(home)
    const [version = ''] = readdirSync(cache(home.folder))
    for (const name of readdirSync(join(cache(home.folder), version))) {
      const file = join(cache(home.folder), version, name)
      writeFileSync(file, readFileSync(file).fill(7, 40))
    }
    await works(home)
  })
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

test('the server serves the page', async (t) => {
  const { env } = newHome(t)
  const server = spawn(process.execPath, [program, 'serve', '--offline', '--port', '0', '--no-open'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => server.kill())
  const [url] = (await once(createInterface(server.stdout), 'line')) as [string]
  assert.match(await (await fetch(url)).text(), /<script type="module"/)
})

describe('the library, its testing part and its AI SDK part are one: an error of one is an error of the other', () => {
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
    try { prepare({ messages: [], provider: 'nobody' }) } catch (error) { console.log(error instanceof SynapseError) }
    const provider = aiSdkProvider('mine', { specificationVersion: 'v1' })
    await provider.endpoint('x').catch((error) => console.log(error instanceof SynapseError, error.kind))`
  const results = /clock answered: noon\n\/v1\/responses\ntrue\ntrue bad-input\n/

  test('as Node imports it', async () => {
    writeFileSync(join(folder, 'main.mjs'), code)
    const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: folder })
    assert.match(stdout, results)
  })

  test('in one file that a bundler made, far from the package', async (t) => {
    const { folder: away } = newHome(t)
    const outfile = join(away, 'bundle.mjs')
    const stdin = { contents: code, resolveDir: folder }
    await build({
      stdin,
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      external: ['pg', '@opentelemetry/api'],
    })
    const { stdout } = await run(process.execPath, [outfile], { cwd: away })
    assert.match(stdout, results)
  })
})

test('its types are valid, without any package but those that it names', async () => {
  link(folder, ['@types/node', ...packages])
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
  const inference = readFileSync(join(import.meta.dirname, 'inference.ts'), 'utf8')
  writeFileSync(join(folder, 'inference.ts'), inference.replace('../../src/index.ts', 'synapse'))
  const names = exampleNames().filter((name) => !needsMore.includes(name))
  assert.equal(await compiled(folder, names, ['main.ts', 'inference.ts']), '')
})

describe('the examples', () => {
  for (const name of ['chat-bot', 'hand-off', 'custom-wire']) {
    test(`${name} prints what it should`, async () => {
      assert.equal(missing(name, await output(folder, name)), undefined)
    })
  }

  test('each is short, and is run', () => {
    assert.deepEqual(exampleNames().toSorted(), Object.keys(examples).toSorted())
    for (const name of exampleNames()) assert.ok(linesOf(name) <= (name === 'custom-wire' ? 150 : 40), name)
  })
})

test('the licences of what is bundled are there', () => {
  for (const part of ['cli', 'js', 'web']) {
    assert.match(readFileSync(join(installed, 'dist', part, 'THIRD-PARTY.txt'), 'utf8'), /Permission is hereby granted/)
  }
  assert.ok(!existsSync(join(installed, 'src')))
})

describe('synapse/wires without Node', () => {
  const bundle = async (contents: string, conditions: string[] = []) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      conditions,
      logLevel: 'silent',
    })
    return outputFiles[0]?.text ?? ''
  }
  /** What browsers and Workers both have; nothing of Node. */
  const globals = { TextEncoder, TextDecoder, URL, URLSearchParams, atob, btoa, structuredClone }

  for (const [where, conditions] of [
    ['a browser', []],
    ['Workers', ['workerd', 'worker']],
  ] as const) {
    test(`${where}: the same requests, refusals and transcripts as on Node`, async () => {
      writeFileSync(join(folder, 'wires.mjs'), `${portable}\nconsole.log(globalThis.results)`)
      const onNode = await run(process.execPath, ['wires.mjs'], { cwd: folder })
      const code = await bundle(portable, [...conditions])
      assert.doesNotMatch(code, /"node:|require\(/)
      const context = createContext({ ...globals })
      runInContext(code, context)
      const [here, there] = [onNode.stdout, String(context.results)].map((text) => JSON.parse(text) as unknown)
      assert.deepEqual(there, here)
    })
  }

  test('one wire alone is less than half of the code of them all, and refuses to speak another', async () => {
    const all = await bundle(`import * as wires from 'synapse/wires'; console.log(wires)`)
    const one = await bundle(`
      import { prepare, readTranscript } from 'synapse/wires/anthropic-messages'
      const { messages } = readTranscript([{ role: 'user', content: 'Hi' }])
      globalThis.results = JSON.stringify(prepare({ provider: 'anthropic', messages }).body.messages)
      try { prepare({ provider: 'anthropic', messages, protocol: 'openai-chat' }) } catch (error) { globalThis.why = error.message }`)
    // The prices and limits of the models are data that each of them needs.
    const models = JSON.parse(readFileSync(join(root, 'src', 'providers', 'catalogue.json'), 'utf8')) as unknown
    const [code, allCode] = [one, all].map(({ length }) => length - JSON.stringify(models).length) as [number, number]
    assert.ok(code < allCode / 2, `${code} of ${allCode}`)
    const context = createContext({ ...globals })
    runInContext(one, context)
    assert.match(String(context.results), /"Hi"/)
    assert.match(String(context.why), /anthropic/)
  })
})

test('stores and schemas have separate entry points', async () => {
  const code = `
    import { openMemoryStore } from 'synapse/stores'
    import agent from 'synapse/schemas/agent.schema.json' with { type: 'json' }
    const store = await openMemoryStore()
    const { id } = await store.createConversation('me')
    console.log((await store.conversation('me', id)).id === id, typeof agent.properties)`
  writeFileSync(join(folder, 'stores.mjs'), code)
  const { stdout } = await run(process.execPath, ['stores.mjs'], { cwd: folder })
  assert.equal(stdout, 'true object\n')
})
