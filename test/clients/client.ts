// Third-party coding agents, unchanged, at pinned versions. They are installed on demand into a folder for temporary
// files, and run with an empty environment, a home folder of their own, and no way out of the loopback interface.

import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export interface Client {
  name: string
  package: string
  version: string
  /** The file to run, in the folder of the installed packages. */
  file: string
  /** What the client needs to find the server: files of its home folder, and variables. */
  setUp(baseUrl: string): { files: Record<string, string>; env: Record<string, string> }
  /** The command line that asks one question and ends. */
  args(ask: Ask): string[]
  /** What it does when a stream ends in the middle: it retries, reports it, or accepts the partial answer. */
  onCut: 'asks again' | 'reports' | 'accepts'
  /** A question that makes the emulator call the tool that reads `a.txt` in this folder. */
  readsFile(folder: string): string
}

export interface Ask {
  prompt: string
  /** Continue the last session. */
  resume?: boolean
  /** The path of a picture to go with the question. */
  image?: string
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
  /** It was stopped because it took too long. */
  timedOut: boolean
}

export interface Home {
  home: string
  cwd: string
  env: Record<string, string>
}

const cache = process.env['SYNAPSE_CLIENTS'] ?? join(tmpdir(), 'synapse-clients')

/** Installs the client if it is not there, without running scripts of its packages, and gives the file to run. */
export async function install(client: Client): Promise<string> {
  const folder = join(cache, `${client.name}-${client.version}`)
  const file = join(folder, 'node_modules', client.file)
  if (existsSync(file)) return file
  mkdirSync(cache, { recursive: true })
  // In a separate folder first, so that an interrupted one is not mistaken for a finished one.
  const making = mkdtempSync(`${folder}-`)
  writeFileSync(join(making, 'package.json'), '{"private":true}')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${client.package}@${client.version}`]
  await promisify(execFile)('npm', args, { cwd: making, timeout: 300_000 })
  if (!existsSync(file)) {
    rmSync(folder, { recursive: true, force: true })
    renameSync(making, folder)
  }
  if (!existsSync(file)) throw new Error(`${client.package}@${client.version} has no ${client.file}`)
  return file
}

/** A home and a working folder for one client, set up for this server. */
export function homeFor(client: Client, baseUrl: string): Home & { close(): void } {
  const folder = mkdtempSync(join(tmpdir(), `synapse-${client.name}-`))
  const home = join(folder, 'home')
  const cwd = join(folder, 'work')
  mkdirSync(home)
  mkdirSync(cwd)
  const { files, env } = client.setUp(baseUrl)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  return { home, cwd, env, close: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) }
}

/** A port without a listener: requests to anything but this machine end there. */
const nowhere = 'http://127.0.0.1:9'
const local = '127.0.0.1,localhost'

export async function run(client: Client, where: Home, ask: Ask, timeoutMs: number = 90_000): Promise<Ended> {
  const file = await install(client)
  const env = {
    HOME: where.home,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    TERM: 'dumb',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: local,
    no_proxy: local,
    ...where.env,
  }
  return new Promise((resolve, reject) => {
    // In a separate process group, so that child processes end with it.
    const child = spawn(file, client.args(ask), {
      cwd: where.cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let timedOut = false
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (piece: Buffer) => (output.stdout += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (output.stderr += piece.toString()))
    const timer = setTimeout(() => {
      timedOut = true
      stop()
    }, timeoutMs)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      stop()
      resolve({ code, ...output, timedOut })
    })

    function stop(): void {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // They are gone already.
      }
    }
  })
}

export const codex: Client = {
  name: 'codex',
  package: '@openai/codex',
  version: '0.169.0',
  file: '.bin/codex',
  onCut: 'asks again',
  setUp: (baseUrl) => ({
    files: {
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        'model_provider = "local"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        '[model_providers.local]',
        'name = "local"',
        `base_url = "${baseUrl}/openai/v1"`,
        'env_key = "LOCAL_KEY"',
        'wire_api = "responses"',
        '[analytics]',
        'enabled = false',
        '',
      ].join('\n'),
    },
    env: { LOCAL_KEY: 'key' },
  }),
  args: ({ prompt, resume, image }) => [
    'exec',
    ...(resume ? ['resume', '--last'] : []),
    '--skip-git-repo-check',
    ...(image ? ['--image', image] : []),
    '--',
    prompt,
  ],
  readsFile: () => 'use the tool exec_command with {"cmd":"cat a.txt"}',
}

/** Codex with one of its newest models: it declares its tools in items, and runs them from a script. */
export const codexNewest: Client = {
  ...codex,
  setUp(baseUrl) {
    const { files, env } = codex.setUp(baseUrl)
    const changed = Object.entries(files).map(([path, text]) => [path, text.replace('gpt-5.5', 'gpt-6.1-sol')])
    return { files: Object.fromEntries(changed) as Record<string, string>, env }
  },
  readsFile: () => {
    const input = 'const { output } = await tools.exec_command({ cmd: "cat a.txt" }); text(output)'
    return `use the tool functions__exec with ${JSON.stringify({ input })}`
  },
}

/** Codex with the provider that is built into it: it tries a WebSocket first, and writes metadata on its items. */
export const codexBuiltIn: Client = {
  ...codex,
  setUp: (baseUrl) => ({
    files: {
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        `openai_base_url = "${baseUrl}/openai/v1"`,
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        '',
      ].join('\n'),
      '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: 'key', tokens: null, last_refresh: null }),
    },
    env: {},
  }),
}

export const opencode: Client = {
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  // The command of the package is made by a script of it; this is the program that it would run.
  file: `opencode-${process.platform}-${process.arch}/bin/opencode`,
  onCut: 'asks again',
  setUp: (baseUrl) => ({
    files: {
      '.config/opencode/opencode.json': JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        model: 'anthropic/claude-sonnet-4-5',
        small_model: 'anthropic/claude-sonnet-4-5',
        provider: {
          anthropic: {
            options: { baseURL: `${baseUrl}/anthropic/v1`, apiKey: 'key' },
            models: {
              'claude-sonnet-4-5': { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } },
            },
          },
        },
      }),
    },
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
  }),
  args: ({ prompt, resume, image }) => [
    'run',
    ...(resume ? ['--continue'] : []),
    ...(image ? ['--file', image] : []),
    '--',
    // An argument with spaces reaches the model in quotation marks, and a number alone is none that it can take.
    ...(/(^| )\d/.test(prompt) ? [prompt] : prompt.split(' ')),
  ],
  readsFile: (folder) => `use the tool read with ${JSON.stringify({ filePath: join(folder, 'a.txt') })}`,
}

const opencodeModels = { openai: 'gpt-5.4', google: 'gemini-2.5-pro' }
const opencodePaths = { openai: '/openai/v1', google: '/google/v1beta' }

/** opencode with the client of another provider, as it has them built in. */
export function opencodeOn(provider: 'openai' | 'google'): Client {
  const model = `${provider}/${opencodeModels[provider]}`
  return {
    ...opencode,
    setUp(baseUrl) {
      const options = { baseURL: `${baseUrl}${opencodePaths[provider]}`, apiKey: 'key' }
      const models = { [opencodeModels[provider]]: { reasoning: true, tool_call: true } }
      const config = { autoupdate: false, share: 'disabled', model, small_model: model }
      const files = {
        '.config/opencode/opencode.json': JSON.stringify({ ...config, provider: { [provider]: { options, models } } }),
      }
      return { files, env: opencode.setUp(baseUrl).env }
    },
  }
}

export const gemini: Client = {
  name: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  file: '.bin/gemini',
  onCut: 'asks again',
  setUp: (baseUrl) => ({
    files: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    },
    env: { GEMINI_API_KEY: 'key', GOOGLE_GEMINI_BASE_URL: `${baseUrl}/google`, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  }),
  args: ({ prompt, resume, image }) => [
    '--model',
    'gemini-2.5-flash',
    '--yolo',
    ...(resume ? ['--resume', 'latest'] : []),
    '--prompt',
    image ? `${prompt} @${image}` : prompt,
  ],
  readsFile: () => 'use the tool read_file with {"file_path":"a.txt"}',
}

export const qwen: Client = {
  name: 'qwen',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  file: '.bin/qwen',
  onCut: 'asks again',
  setUp: (baseUrl) => ({
    files: { '.qwen/settings.json': JSON.stringify({ privacy: { usageStatisticsEnabled: false } }) },
    env: { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${baseUrl}/openai/v1`, OPENAI_MODEL: 'gpt-4.1' },
  }),
  args: ({ prompt, resume, image }) => [
    '--auth-type',
    'openai',
    '--yolo',
    ...(resume ? ['--continue'] : []),
    '--prompt',
    image ? `${prompt} @${image}` : prompt,
  ],
  readsFile: (folder) => `use the tool read_file with ${JSON.stringify({ file_path: join(folder, 'a.txt') })}`,
}

export const pi: Client = {
  name: 'pi',
  package: '@mariozechner/pi-coding-agent',
  version: '0.73.1',
  file: '.bin/pi',
  onCut: 'accepts',
  setUp: (baseUrl) => ({
    files: {
      '.pi/agent/models.json': JSON.stringify({
        providers: {
          local: {
            baseUrl: `${baseUrl}/openai/v1`,
            api: 'openai-completions',
            apiKey: 'key',
            models: [{ id: 'gpt-4.1', input: ['text', 'image'] }],
          },
        },
      }),
    },
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0' },
  }),
  args: ({ prompt, resume, image }) => [
    '--provider',
    'local',
    '--model',
    'gpt-4.1',
    '--print',
    ...(resume ? ['--continue'] : []),
    ...(image ? [`@${image}`] : []),
    prompt,
  ],
  readsFile: () => 'use the tool read with {"path":"a.txt"}',
}

export const clients: readonly Client[] = [codex, opencode, gemini, qwen, pi]
