// Every command in hostile folders, with canaries in the environment and a listener that nothing may connect to.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { trustFiles } from '../../src/config/trust.ts'
import { openStore } from '../../src/store/open.ts'
import { serveEmulator } from '../../src/testing.ts'
import { compileCache } from '../compile-cache.ts'
import { reply, user } from '../store/messages.ts'
import { writeFiles, writeFolder, type Collector, type HostileFolder } from './hostile-folders.ts'

/** Conversations that were held before: with an agent by its name alone, by a path, and bound to another file. */
const held = {
  'old-name': { agent: 'helper' },
  'old-path': { agent: './agents/helper.yaml' },
  'bound-path': {
    agent: 'helper',
    origin: { folder: '/elsewhere', agent: { file: '/elsewhere/helper.yaml', sha256: 'x' } },
  },
  plain: { model: 'openai/gpt-5.6', origin: { folder: '/elsewhere' } },
}

const inFolder = ['inspect', 'last']
const promptLine = ['-p', 'review', 'hi']

/** Every command at least once; `import` before the ones that continue what it wrote. */
export const commandLines: string[][] = [
  ['hi'],
  ['--json', 'hi'],
  ['-m', 'evil/m', 'hi'],
  ['-m', 'openai/gpt-5.6', 'hi'],
  ['-m', 'fast', 'hi'],
  ['-m', 'ollama/m', 'hi'],
  ['-m', 'bedrock/amazon.nova-lite-v1:0', 'hi'],
  ['-m', 'vertex/gemini-3-flash', 'hi'],
  promptLine,
  ['--no-config', '-p', 'review', 'hi'],
  ['--no-config', '-m', 'openai/gpt-5.6', 'hi'],
  ['--agent', 'helper', 'hi'],
  ['--no-config', '--agent', 'helper', 'hi'],
  ...Object.keys(held).flatMap((id) => [
    ['--conversation', id, 'hi'],
    ['--conversation', id, '--resume', '--yes'],
    ['inspect', id],
  ]),
  ['-c', '--agent', 'helper', 'hi'],
  ['chat'],
  ['chat', '-c'],
  ['chat', '--agent', 'helper'],
  ['chat', '--no-config'],
  ['log'],
  ['log', 'old-name'],
  ['inspect', 'old-name', '--exact'],
  ['inspect', 'old-name', '--agent', 'helper'],
  ['usage'],
  ['models'],
  ['models', 'evil', '--live'],
  ['models', 'openai', '--live'],
  ['agent', 'list'],
  ['agent', 'check'],
  ['agent', 'check', '--load'],
  ['agent', 'check', 'helper', '--load'],
  ['agent', 'run', 'helper', 'hi'],
  ['agent', 'run', 'helper', '--no-config', 'hi'],
  ['config', 'check'],
  ['trust', '--list'],
  ['trust', '--remove'],
  ['convert', 'chat.json', '--to', 'openai'],
  ['convert', 'chat.json', '--to', 'evil/m'],
  ['convert', 'chat.json', '--to', 'codex'],
  ['check', 'chat.json', '--for', 'openai'],
  ['run', '--', 'true'],
  ['run', '--offline', '--', 'true'],
  ['sessions'],
  ['sessions', '--all'],
  ['carry', 'latest', '--to', 'codex'],
  ['carry', 'chat.json', '--to', 'opencode'],
  ['carry', 'chat.json', '--to', 'codex', '--dry-run'],
  ['carry', 'chat.json', '--to', 'claude-code'],
  ['sessions', '--json'],
  ['providers'],
  ['probe', 'openai', '--yes'],
  ['probe', 'evil/m', '--yes'],
  ['serve', '--port', '0', '--no-open'],
  ['serve', '--port', '0', '--no-open', '--no-config'],
  ['serve', '--port', '0', '--no-open', '--folder', '.', '--model', 'evil/m'],
  ['keys', 'list'],
  ['auth', '--list'],
  ['compare', '-m', 'openai/gpt-5.6', '-m', 'anthropic/claude-opus-5', 'hi'],
  ['compare', '-m', 'evil/m', '-m', 'openai/gpt-5.6', 'hi'],
  ['auth', 'openai'],
  ['search', 'hi'],
  ['import', 'import.jsonl'],
  inFolder,
  ['--resume', '--yes'],
  ['-c', 'hi'],
  ['-c', '--no-config', 'hi'],
  ['--resume', '--yes', '--agent', 'helper'],
  ['export', '--all'],
  ['delete', 'nobody'],
  ['doctor'],
  ['migrate'],
  ['emulate', '--port', '0'],
  ['completion', 'bash'],
  ['completion', 'words', '-m', ''],
]

interface Ran {
  argv: string[]
  code: number | string
  said: string
}

export interface Ground {
  to: Collector
  run: (hostile: HostileFolder, lines?: string[][]) => Promise<Ran[]>
}

/** A home with conversations, a gateway that is the user's own, and a listener that must stay alone. */
export async function ground(t: TestContext): Promise<Ground> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'synapse-trust-')))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const gateway = await serveEmulator()
  t.after(() => gateway.close())
  let connections = 0
  const listener = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  t.after(() => listener.close())
  const to = { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, mark: join(folder, 'MARK') }
  const template = join(folder, 'template')
  await holdConversations(join(template, '.local', 'share', 'synapse', 'synapse.db'))
  let count = 0
  return { to, run }

  async function run(hostile: HostileFolder, lines = commandLines): Promise<Ran[]> {
    const [home, project] = [join(folder, `home-${++count}`), join(folder, `project-${count}`)]
    cpSync(template, home, { recursive: true })
    mkdirSync(project)
    writeFiles(project, { 'chat.json': JSON.stringify([{ role: 'user', content: 'hi' }]) })
    if (hostile.trustedBefore) {
      writeFiles(project, hostile.trustedBefore)
      const files = Object.keys(hostile.trustedBefore).map((name) => join(project, name))
      trustFiles(project, files, [], { HOME: home })
    }
    writeFolder(project, hostile)
    const env = {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: compileCache,
      HOME: home,
      OPENAI_API_KEY: 'canary-openai',
      OPENAI_BASE_URL: `${gateway.url}/openai/v1`,
      ANTHROPIC_API_KEY: 'canary-anthropic',
      ANTHROPIC_BASE_URL: `${gateway.url}/anthropic`,
      AWS_SECRET_ACCESS_KEY: 'canary-aws',
      GITHUB_TOKEN: 'canary-github',
      EVIL_API_KEY: 'canary-evil',
      AWS_KEY: 'canary-aws-key',
      ...hostile.env,
    }
    const script = join(import.meta.dirname, 'run-commands.ts')
    const cwd = join(project, hostile.cwd ?? '.')
    const options = { env, cwd, maxBuffer: 64 * 1024 * 1024, timeout: 600_000 }
    const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(lines)], options)
    const ran = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Ran)
    check(hostile, lines, ran)
    return ran
  }

  function check(hostile: HostileFolder, lines: string[][], ran: readonly Ran[]): void {
    assert.equal(ran.length, lines.length, 'a command ended the process')
    assert.deepEqual(
      ran.filter(({ code }) => code === 'hangs'),
      [],
    )
    assert.equal(connections, 0, `${hostile.name}: something was sent to the folder's host`)
    assert.equal(existsSync(to.mark), false, `${hostile.name}: a program or module of the folder was run`)
    const codeOf = (...argv: string[]) => ran.find((one) => one.argv.join(' ') === argv.join(' '))
    const asked = codeOf('hi')
    if (asked) assert.equal(asked.code, hostile.refuses ? 'bad-input' : 0, `${hostile.name}: ${asked.said}`)
    const prompted = codeOf(...promptLine)
    if (prompted) assert.equal(prompted.code, 'bad-input', `${hostile.name}: ${prompted.said}`)
    const without = codeOf('--no-config', '-m', 'openai/gpt-5.6', 'hi')
    if (without) assert.equal(without.code, hostile.refusesAll ? 'bad-input' : 0, `${hostile.name}: ${without.said}`)
  }
}

async function holdConversations(path: string): Promise<void> {
  const store = await openStore(path)
  for (const [id, settings] of Object.entries(held)) {
    await store.createConversation('local', { id, settings })
    await store.append('local', id, { message: user('my password is canary-password') })
    await store.append('local', id, { message: reply('I will keep it.') })
  }
  await store.close()
}
