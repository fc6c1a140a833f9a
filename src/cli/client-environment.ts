// What makes a program use this server: variables that the official SDKs read, and for coding agents that read none,
// settings on their command line or in a separate folder.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export interface ClientSetup {
  args: string[]
  /** What is different in its environment; undefined: the variable is removed. */
  env: Record<string, string | undefined>
  /** Removes the files written for it. */
  clean(): void
}

export interface RunServer {
  url: string
  key: string
  /** The model name for clients that must name one. */
  model: string
  /** The variables with the API keys of providers, which the server needs and its client does not. */
  keyVariables: readonly string[]
}

export function setUpClient(command: readonly [string, ...string[]], server: RunServer): ClientSetup {
  const [program, ...args] = command
  const { url, key, model } = server
  const env = commonVariables(server)
  const clean = (): void => {}
  switch (basename(program).replace(/\.(?:cmd|exe|js)$/, '')) {
    case 'claude':
      return setUpClaude(args, url, { ...env, ANTHROPIC_API_KEY: undefined, ANTHROPIC_AUTH_TOKEN: key })
    case 'codex':
      return { args: [...codexFlags(url), ...args], env, clean }
    case 'opencode':
      return { args, env: { ...env, OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url, key)) }, clean }
    case 'gemini': {
      const { home, clean: away } = geminiHome()
      return { args, env: { ...env, ...(home !== undefined && { GEMINI_CLI_HOME: home }) }, clean: away }
    }
    case 'qwen': {
      // A model of its settings would be asked at the address of its settings.
      const named = args.some((arg) => /^(?:-m|--model)(?:=|$)/.test(arg)) ? [] : ['--model', model]
      return { args: ['--auth-type', 'openai', ...named, ...args], env: { ...env, OPENAI_MODEL: model }, clean }
    }
    case 'pi': {
      const folder = temporaryFolder({ 'synapse.js': piExtension(model) })
      const chosen = ['--extension', join(folder.path, 'synapse.js'), '--provider', 'synapse', '--model', model]
      return { args: [...chosen, ...args], env, clean: folder.remove }
    }
    default:
      return { args, env, clean }
  }
}

/** Settings that make a client use another service, or another key. */
const elsewhere = [
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_ANTHROPIC_AWS',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_FOUNDRY',
  'CLAUDE_CODE_USE_MANTLE',
  'CLAUDE_CODE_USE_VERTEX',
  'GOOGLE_GENAI_USE_ENTERPRISE',
  'GOOGLE_GENAI_USE_GCA',
  'GOOGLE_GENAI_USE_VERTEXAI',
]

function commonVariables({ url, key, keyVariables }: RunServer): Record<string, string | undefined> {
  // Other tokens, such as those of clouds, are for more than models: the client's other tools may need them.
  const withheld = [...keyVariables.filter((name) => name.endsWith('_API_KEY')), ...elsewhere]
  return {
    ...Object.fromEntries(withheld.map((name) => [name, undefined])),
    OPENAI_BASE_URL: `${url}/openai/v1`,
    OPENAI_API_BASE: `${url}/openai/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: `${url}/anthropic`,
    ANTHROPIC_API_BASE: `${url}/anthropic`,
    ANTHROPIC_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: `${url}/google`,
    GEMINI_API_KEY: key,
    SYNAPSE_RUN_KEY: key,
    ...withoutProxy(new URL(url).hostname),
  }
}

/** Requests to this machine do not go through a proxy. */
function withoutProxy(host: string): Record<string, string> {
  const { NO_PROXY: upper, no_proxy: lower } = process.env
  return { NO_PROXY: withHost(upper ?? lower, host), no_proxy: withHost(lower ?? upper, host) }
}

/** `list`: as in NO_PROXY. */
function withHost(list: string | undefined, host: string): string {
  const hosts = list?.trim() ?? ''
  return hosts === '*' || hosts === '' ? hosts || host : `${hosts},${host}`
}

/**
 * Variables in the settings of Claude Code replace those of its environment. If some of them choose another address or
 * key, it gets settings with higher precedence.
 */
function setUpClaude(args: string[], url: string, env: ClientSetup['env']): ClientSetup {
  const user = process.env['CLAUDE_CONFIG_DIR'] || join(homedir(), '.claude')
  const files = [join(user, 'settings.json'), '.claude/settings.json', '.claude/settings.local.json']
  const inSettings = files.flatMap((file) => Object.entries(objectIn(settingsIn(file)['env'])))
  const relevant = inSettings.filter(([name]) => name in env)
  if (relevant.length === 0) return { args, env, clean() {} }
  const host = new URL(url).hostname
  const changed = Object.fromEntries(
    relevant.map(([name, value]) => [
      name,
      name.toUpperCase() === 'NO_PROXY' ? withHost(String(value), host) : (env[name] ?? ''),
    ]),
  )
  const folder = temporaryFolder({ 'settings.json': JSON.stringify({ env: changed }) })
  return { args: ['--settings', join(folder.path, 'settings.json'), ...args], env, clean: folder.remove }
}

/** Files for one client, which only this user can read. */
function temporaryFolder(files: Record<string, string>): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'synapse-run-'))
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(path, name), text, { mode: 0o600 })
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

function codexFlags(url: string): string[] {
  const provider = 'model_providers.synapse'
  const settings = {
    model_provider: 'synapse',
    [`${provider}.name`]: 'Synapse',
    [`${provider}.base_url`]: `${url}/openai/v1`,
    [`${provider}.env_key`]: 'SYNAPSE_RUN_KEY',
    [`${provider}.wire_api`]: 'responses',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`])
}

function opencodeConfig(url: string, apiKey: string): object {
  return {
    model: 'anthropic/claude-sonnet-4-5',
    small_model: 'anthropic/claude-haiku-4-5',
    provider: {
      anthropic: { options: { baseURL: `${url}/anthropic/v1`, apiKey } },
      openai: { options: { baseURL: `${url}/openai/v1`, apiKey } },
      google: { options: { baseURL: `${url}/google/v1beta`, apiKey } },
    },
  }
}

/** Adds the server to its providers; its settings and sessions stay those of the user. */
function piExtension(model: string): string {
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const facts = { reasoning: false, input: ['text', 'image'], cost: free, contextWindow: 128_000, maxTokens: 16_384 }
  const settings = { name: 'Synapse', api: 'openai-completions', models: [{ id: model, name: model, ...facts }] }
  return `const { OPENAI_BASE_URL: baseUrl, SYNAPSE_RUN_KEY: apiKey } = process.env
export default (pi) => pi.registerProvider('synapse', { baseUrl, apiKey, ...${JSON.stringify(settings)} })
`
}

/**
 * Gemini CLI uses a key only if its settings say so. If its user has signed in otherwise, it gets a temporary home with
 * changed settings and links to everything else. Files that it adds there, or replaces a link with, are copied back.
 */
function geminiHome(): { home?: string; clean(): void } {
  const geminiFolder = join(process.env['GEMINI_CLI_HOME'] || homedir(), '.gemini')
  const settings = settingsIn(join(geminiFolder, 'settings.json'))
  const security = objectIn(settings['security'])
  const auth = objectIn(security['auth'])
  if (auth['selectedType'] === 'gemini-api-key') return { clean() {} }
  const changed = { ...settings, security: { ...security, auth: { ...auth, selectedType: 'gemini-api-key' } } }
  const folder = temporaryFolder({})
  const its = join(folder.path, '.gemini')
  mkdirSync(its)
  // Its sessions.
  mkdirSync(join(geminiFolder, 'tmp'), { recursive: true })
  for (const name of readdirSync(geminiFolder))
    if (name !== 'settings.json') symlinkSync(join(geminiFolder, name), join(its, name))
  writeFileSync(join(its, 'settings.json'), JSON.stringify(changed), { mode: 0o600 })
  return {
    home: folder.path,
    clean() {
      for (const entry of readdirSync(its, { withFileTypes: true })) {
        const { name } = entry
        if (name === 'settings.json' || entry.isSymbolicLink()) continue
        cpSync(join(its, name), join(geminiFolder, name), { recursive: true })
      }
      folder.remove()
    },
  }
}

/** Settings that cannot be read count as none: the client says what is wrong with them. */
function settingsIn(file: string): Record<string, unknown> {
  try {
    return objectIn(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
