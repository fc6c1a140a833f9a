// The model at the terminal: the requested one, the one of the conversation, the first provider with a key; and without
// any key the emulator, which says that it is one.

import { setByFolder, userVariable } from '../config/folder-variables.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import type { ProviderRow } from '../providers/provider.ts'

type Aliases = Readonly<Record<string, string>>
type Env = Readonly<Record<string, string | undefined>>

export interface Choice {
  model: string
  offline: boolean
  /** Set if the emulator answers without having been requested. */
  whyOffline?: string
}

export async function chooseModel(request: {
  asked: string | undefined
  stored: string | undefined
  /** The default of synapse.yaml. */
  configured?: string | undefined
  offline: boolean
  env: Env
  /** Keys that were stored, by provider. */
  keys: Readonly<Record<string, string>>
  rows: readonly ProviderRow[]
  aliases?: Aliases | undefined
}): Promise<Choice> {
  const { env, keys, offline, rows, aliases } = request
  const typed = request.asked ?? request.stored ?? usualModel(env) ?? request.configured
  const named = typed === undefined ? undefined : await fullModelName(typed, { env, keys, rows, aliases })
  const withKey = rows.find((row) => hasKey(row, env, keys))
  if (named !== undefined) {
    // A model that was named for this question must really be used, or the reason must be shown.
    const asksForReal = request.asked !== undefined || withKey !== undefined || isAtHome(named, rows)
    const why = !offline && !asksForReal ? { whyOffline: await noKey(rows, env) } : {}
    return { model: named, offline: offline || !asksForReal, ...why }
  }
  const row = withKey ?? rows[0]
  const model = `${row?.id}/${row?.defaultModel}`
  return withKey || offline ? { model, offline } : { model, offline: true, whyOffline: await noKey(rows, env) }
}

/** The user's default model. */
export function usualModel(env: Env): string | undefined {
  return userVariable('SYNAPSE_MODEL', env, 'the model')
}

/** Returns the full name of the model. Throws one sentence if the model cannot be used. */
export async function checkModel(
  model: string,
  options: {
    offline: boolean
    env: Env
    keys: Readonly<Record<string, string>>
    rows: readonly ProviderRow[]
    aliases?: Aliases | undefined
  },
): Promise<string> {
  const { resolve } = await import('../providers/resolve.ts')
  const { env, keys, offline, rows } = options
  const name = await fullModelName(model, options)
  await resolve({ ...parseModelRef(name), env, keyless: offline, rows, storedKeys: keys })
  return name
}

/** `gpt-5.6` as `openai/gpt-5.6`. */
async function fullModelName(
  model: string,
  options: {
    env: Env
    keys: Readonly<Record<string, string>>
    rows: readonly ProviderRow[]
    aliases?: Aliases | undefined
  },
): Promise<string> {
  const { provider } = parseModelRef(model)
  if (options.rows.some((row) => row.id === provider)) return model
  const { findModel } = await import('../providers/find-model.ts')
  const found = await findModel(model, options)
  return found.model === undefined ? found.provider : `${found.provider}/${found.model}`
}

/** A server that needs no key can be used without one. */
function isAtHome(model: string, rows: readonly ProviderRow[]): boolean {
  return rows.find((row) => row.id === parseModelRef(model).provider)?.keyOptional === true
}

function hasKey(row: ProviderRow, env: Env, keys: Readonly<Record<string, string>>): boolean {
  return !row.keyOptional && (Object.hasOwn(keys, row.id) || row.keyVariables.some((name) => env[name]?.trim()))
}

/** A local server gives a real answer without a key. */
async function noKey(rows: readonly ProviderRow[], env: Env): Promise<string> {
  const { findLocalServers } = await import('../providers/local-servers.ts')
  const isOwn = (name: string) => {
    const value = env[name]?.trim()
    return !value || setByFolder(name, value) === undefined
  }
  // A file in a folder may not choose an address, not even for detection.
  const asked = rows.filter((row) => row.baseUrlVariables?.every(isOwn) ?? true)
  const [found] = await findLocalServers(asked, env)
  const there = found ? ` ${found.name} runs on this machine; use it with -m ${found.models[0]}.` : ''
  return `Offline: the built-in emulator answers, not a model.${there} To use ${found ? 'another' : 'one'}, store a key with "synapse auth anthropic" (or openai, google, …), or set a variable such as ANTHROPIC_API_KEY.`
}
