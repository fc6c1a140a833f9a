// `synapse run` with unchanged coding agents that are not configured at all: the model of another provider answers, and
// afterwards it says what that cost and how to open the conversation. Claude Code only where the user has installed it.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { bin } from '../installed.ts'
import { tempFolder } from '../store/temp.ts'
import { codex, gemini, install, opencode, pi, qwen, type Client } from './client.ts'

const prompt = 'What is 17 + 25?'

const commands: [Client, string[]][] = [
  [codex, ['exec', '--skip-git-repo-check', prompt]],
  [opencode, ['run', prompt]],
  [gemini, ['--model', 'gemini-2.5-flash', '--yolo', '--prompt', prompt]],
  [qwen, ['--yolo', '--prompt', prompt]],
  [pi, ['--print', prompt]],
]

for (const [client, args] of commands) {
  test(`${client.name} ${client.version} without any settings of its own`, { timeout: 400_000 }, async (t) => {
    await answersIn(tempFolder(t), await install(client), args)
  })
}

const claude = spawnSync('sh', ['-c', 'command -v claude'], { encoding: 'utf8' }).stdout.trim()

test('Claude Code', { skip: claude === '' && 'it is not installed here', timeout: 400_000 }, async (t) => {
  await answersIn(tempFolder(t), claude, ['-p', prompt])
})

async function answersIn(folder: string, program: string, args: string[]): Promise<void> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  for (const one of [home, cwd]) mkdirSync(one)
  const run = ['run', '--offline', '--db', join(folder, 'chats.db'), '-m', 'anthropic/claude-opus-5', '--', program]
  const { stdout, stderr } = await ended([bin, ...run, ...args], home, cwd)
  assert.match(stdout, /17 \+ 25 = 42/, `${stdout.slice(-1500)}\n${stderr.slice(-1500)}`)
  assert.match(stderr, /anthropic\/claude-opus-5/)
  const [, id = ''] = /synapse \w+ .*?([0-9a-f-]{8,36})/.exec(stderr) ?? []
  assert.notEqual(id, '', stderr.slice(-1000))
}

function ended(argv: string[], home: string, cwd: string): Promise<{ stdout: string; stderr: string }> {
  const nowhere = 'http://127.0.0.1:9'
  const env = {
    HOME: home,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    TERM: 'dumb',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    PI_OFFLINE: '1',
  }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, argv, { cwd, env, timeout: 120_000 }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    )
    child.stdin?.end()
  })
}
