// What a program needs to be told so that it asks this server: variables that the official SDKs read, and for coding agents
// that read none, settings on their command line or in a folder of their own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export interface ClientSetup {
  args: string[]
  env: Record<string, string>
  /** Takes away what was written for it. */
  clean(): void
}

/** `model`: what the client is to call the model, for those that must name one. */
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
    // Asks before it uses a key that it does not know; a token it takes as it is.
    case 'claude': {
      const { ANTHROPIC_API_KEY: _key, ...rest } = env
      return { args, env: { ...rest, ANTHROPIC_AUTH_TOKEN: key }, clean }
    }
    case 'codex':
      return { args: [...codexFlags(url), ...args], env, clean }
    case 'opencode':
      return { args, env: { ...env, OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url, key)) }, clean }
    case 'qwen':
      return { args: ['--auth-type', 'openai', ...args], env: { ...env, OPENAI_MODEL: model }, clean }
    case 'pi': {
      const folder = mkdtempSync(join(tmpdir(), 'synapse-pi-'))
      writeFileSync(join(folder, 'models.json'), JSON.stringify(piModels(url, key, model)), { mode: 0o600 })
      const chosen = ['--provider', 'synapse', '--model', model, ...args]
      const away = () => rmSync(folder, { recursive: true, force: true })
      return { args: chosen, env: { ...env, PI_CODING_AGENT_DIR: folder }, clean: away }
    }
    default:
      return { args, env, clean }
  }
}

/** Codex sends the tools of its newest models in a form of their own; those of this one are tools as every model has them. */
const codexModel = 'gpt-5.5'

function codexFlags(url: string): string[] {
  const provider = 'model_providers.synapse'
  const settings = {
    model: codexModel,
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
