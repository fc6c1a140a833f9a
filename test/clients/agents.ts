// Real coding agents for tests: pinned versions from the registry, each with its own home, an empty environment, and a
// recorder on loopback in place of the provider. Claude Code is used only where the user has installed it.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '../../src/core/json.ts'

interface Client {
  /** What is installed; absent: only where the user has it. */
  install?: string
  program: string
  env(home: string, url: string): Record<string, string>
  /** Files of its configuration, below its home. */
  files(url: string): Record<string, string>
  /** Continues a session with one more question. */
  resume(id: string, question: string): string[]
  /** Continues the session that the agent takes for the newest. */
  latest(question: string): string[]
}

const model = 'recorder'

export const clients: Record<string, Client> = {
  'claude-code': {
    program: 'claude',
    env: (_, url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    files: () => ({}),
    resume: (id, question) => ['--resume', id, '-p', question],
    latest: (question) => ['--continue', '-p', question],
  },
  codex: {
    install: '@openai/codex@0.169.0',
    program: 'codex',
    env: () => ({ RECORDER_KEY: 'none' }),
    files: (url) => ({
      '.codex/config.toml': `model = "${model}"\nmodel_provider = "recorder"\n[model_providers.recorder]\nname = "recorder"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "RECORDER_KEY"\n`,
    }),
    resume: (id, question) => ['exec', 'resume', '--skip-git-repo-check', id, question],
    latest: (question) => ['exec', 'resume', '--skip-git-repo-check', '--last', question],
  },
  pi: {
    install: '@earendil-works/pi-coding-agent@0.74.2',
    program: 'pi',
    env: () => ({ PI_OFFLINE: '1' }),
    files: (url) => ({
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          recorder: {
            baseUrl: `${url}/v1`,
            api: 'openai-completions',
            apiKey: 'none',
            models: [{ id: model, input: ['text', 'image'], contextWindow: 10_000_000 }],
          },
        },
      }),
    }),
    resume: (id, question) => ['--session', id, '--provider', 'recorder', '--model', model, '-p', question],
    latest: (question) => ['--continue', '--provider', 'recorder', '--model', model, '-p', question],
  },
  opencode: {
    install: 'opencode-ai@1.18.33',
    program: 'opencode',
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
    files: (url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        provider: {
          recorder: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: {
              [model]: {
                attachment: true,
                tool_call: true,
                modalities: { input: ['text', 'image'], output: ['text'] },
                limit: { context: 10_000_000, output: 10_000 },
              },
            },
          },
        },
        autoupdate: false,
        share: 'disabled',
      }),
    }),
    resume: (id, question) => ['run', '--session', id, '-m', `recorder/${model}`, question],
    latest: (question) => ['run', '--continue', '-m', `recorder/${model}`, question],
  },
  'gemini-cli': {
    install: '@google/gemini-cli@0.61.0',
    program: 'gemini',
    env: (_, url) => ({
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    resume: (id, question) => ['--resume', id, '-m', 'gemini-2.5-pro', '-p', question],
    latest: (question) => ['--resume', 'latest', '-m', 'gemini-2.5-pro', '-p', question],
  },
  'qwen-code': {
    install: '@qwen-code/qwen-code@0.24.4',
    program: 'qwen',
    env: (_, url) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model }),
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        modelProviders: {},
      }),
    }),
    resume: (id, question) => ['--resume', id, '-p', question],
    latest: (question) => ['--continue', '-p', question],
  },
}

/** Kept between runs: the agents are large. */
const installFolder = process.env['SYNAPSE_TEST_AGENTS'] || join(tmpdir(), 'synapse-test-agents')

/** The path of the program, or the reason why it cannot be run. */
export function programOf(agent: string): { path: string } | { missing: string } {
  const { install, program } = clients[agent] as Client
  if (install === undefined) {
    const found = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim()
    return found === '' ? { missing: `${program} is not installed here` } : { path: found }
  }
  const folder = join(installFolder, agent)
  const path = join(folder, 'node_modules', '.bin', program)
  if (!isInstalled(folder, install)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', install]
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', timeout: 600_000 })
    if (status !== 0) return { missing: `${install} cannot be installed: ${stderr.trim().split('\n').at(-1) ?? ''}` }
  }
  return { path: agent === 'opencode' ? nativeOpencode(folder, path) : path }
}

/** An older version of an earlier run does not count. */
function isInstalled(folder: string, install: string): boolean {
  const at = install.lastIndexOf('@')
  const file = join(folder, 'node_modules', install.slice(0, at), 'package.json')
  if (!existsSync(file)) return false
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string }
  return version === install.slice(at + 1)
}

/** Its package starts a script after the installation, which is not run here: the program is next to it. */
function nativeOpencode(folder: string, fallback: string): string {
  const arch = process.arch === 'x64' ? 'x64' : 'arm64'
  const native = join(folder, 'node_modules', `opencode-${process.platform}-${arch}`, 'bin', 'opencode')
  return existsSync(native) ? native : fallback
}

export interface Recorder {
  url: string
  /** The bodies that came since the last time this was asked. */
  take(): Json[]
  close(): void
}

/** Answers "Fine." to everything, on the wires of OpenAI, Anthropic and Google. */
export async function startRecorder(): Promise<Recorder> {
  let bodies: Json[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const events = answerFor(request.url ?? '')
      if (request.method !== 'POST' || !events || !text.startsWith('{')) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}')
        return
      }
      bodies.push(JSON.parse(text) as Json)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = bodies
      bodies = []
      return taken
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answerFor(url: string): string | undefined {
  if (url.includes('/responses')) return responsesEvents()
  if (url.includes('/chat/completions')) return chatEvents()
  if (url.includes(':streamGenerateContent')) return geminiEvents()
  if (url.includes('/v1/messages')) return anthropicEvents()
  return undefined
}

function data(...events: Json[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}

function named(...events: { type: string; [key: string]: Json }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function responsesEvents(): string {
  const item = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Fine.', annotations: [] }],
  }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  return named(
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'resp_1', output: [item], usage } },
  )
}

function chatEvents(): string {
  const chunk = (delta: Json, finish: string | null) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  return `${data(chunk({ role: 'assistant', content: 'Fine.' }, null), { ...chunk({}, 'stop'), usage })}data: [DONE]\n\n`
}

function geminiEvents(): string {
  const content = { role: 'model', parts: [{ text: 'Fine.' }] }
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
  return data({ candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata })
}

function anthropicEvents(): string {
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  return named(
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Fine.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  )
}

export interface Place {
  home: string
  cwd: string
  env: Record<string, string>
  remove(): void
}

/** A home with nothing but the configuration of one agent, and a folder to work in; `program` is on its path. */
export function placeFor(agent: string, url: string, program: string): Place {
  const { env, files, program: name } = clients[agent] as Client
  const root = mkdtempSync(join(tmpdir(), 'synapse-agent-'))
  const [home, cwd] = [join(root, 'home'), join(root, 'app')]
  mkdirSync(home)
  mkdirSync(cwd)
  for (const [name, text] of Object.entries(files(url))) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const bin = join(root, 'bin')
  mkdirSync(bin)
  symlinkSync(program, join(bin, name))
  const path = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`
  return {
    home,
    cwd,
    env: { HOME: home, PATH: path, TERM: 'dumb', ...env(home, url) },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}

export interface Ran {
  code: number | null
  output: string
}

/** Runs the agent without a terminal; it is stopped when it takes too long. */
export function runAgent(
  program: string,
  args: readonly string[],
  { cwd, env }: Place,
  timeoutMs = 120_000,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-20_000)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    const stop = setTimeout(() => {
      // The agent and whatever it started are one group.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, timeoutMs)
    child.on('error', (error) => {
      clearTimeout(stop)
      resolve({ code: null, output: error.message })
    })
    child.on('close', (code) => {
      clearTimeout(stop)
      resolve({ code, output })
    })
  })
}
