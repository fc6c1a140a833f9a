// What makes a program use this server: variables that the official SDKs read, and for coding agents that read none,
// settings on their command line or in a separate folder.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export interface ClientSetup {
  args: string[]
  env: Record<string, string>
  /** Removes the files written for it. */
  clean(): void
}

/** `model`: the model name for clients that must name one. */
export function setUpClient(
  command: readonly [string, ...string[]],
  server: { url: string; key: string; model: string },
): ClientSetup {
  const [program, ...args] = command
  const { url, key, model } = server
  const env = {
    OPENAI_BASE_URL: `${url}/openai/v1`,
    OPENAI_API_BASE: `${url}/openai/v1`,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: `${url}/anthropic`,
    ANTHROPIC_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: `${url}/google`,
    GEMINI_API_KEY: key,
    GOOGLE_API_KEY: key,
    SYNAPSE_RUN_KEY: key,
  }
  const clean = (): void => {}
  switch (basename(program).replace(/\.(?:cmd|exe|js)$/, '')) {
    // Asks before it uses an unknown key; it accepts a token without asking.
    case 'claude': {
      const { ANTHROPIC_API_KEY: _key, ...rest } = env
      return { args, env: { ...rest, ANTHROPIC_AUTH_TOKEN: key }, clean }
    }
    case 'codex':
      return { args: [...codexFlags(url), ...args], env, clean }
    case 'opencode':
      return { args, env: { ...env, OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url, key)) }, clean }
    case 'gemini': {
      const { home, clean: away } = geminiHome()
      return { args, env: { ...env, ...(home !== undefined && { GEMINI_CLI_HOME: home }) }, clean: away }
    }
    case 'qwen':
      return { args: ['--auth-type', 'openai', ...args], env: { ...env, OPENAI_MODEL: model }, clean }
    case 'pi': {
      const folder = temporaryFolder({ 'models.json': piModels(url, key, model) })
      const chosen = ['--provider', 'synapse', '--model', model, ...args]
      return { args: chosen, env: { ...env, PI_CODING_AGENT_DIR: folder.path }, clean: folder.remove }
    }
    default:
      return { args, env, clean }
  }
}

/** Files for one client, which only this user can read. */
function temporaryFolder(files: Record<string, object>): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'synapse-run-'))
  for (const [name, value] of Object.entries(files)) {
    writeFileSync(join(path, name), JSON.stringify(value), { mode: 0o600 })
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
    provider: {
      anthropic: { options: { baseURL: `${url}/anthropic/v1`, apiKey } },
      openai: { options: { baseURL: `${url}/openai/v1`, apiKey } },
      google: { options: { baseURL: `${url}/google/v1beta`, apiKey } },
    },
  }
}

function piModels(url: string, apiKey: string, model: string): object {
  const models = [{ id: model, input: ['text', 'image'] }]
  return { providers: { synapse: { baseUrl: `${url}/openai/v1`, api: 'openai-completions', apiKey, models } } }
}

/**
 * Gemini CLI uses a key only if its settings say so. If its user has signed in otherwise, it gets a temporary home with
 * changed settings and links to everything else. Files that it adds there are copied back.
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
      for (const name of readdirSync(its)) {
        const isNew = name !== 'settings.json' && !existsSync(join(geminiFolder, name))
        if (isNew) cpSync(join(its, name), join(geminiFolder, name), { recursive: true })
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
