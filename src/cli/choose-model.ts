// The model at the terminal: the requested one, the one of the conversation, the first provider with a key; and without
// any key the emulator, which says that it is one.

import { setByFolder, userVariable } from '../config/folder-variables.ts'
import type { Config } from '../config/load.ts'
import { readStoredKeys } from '../config/stored-keys.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { commandName } from './command.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface Choice {
  model: string
  offline: boolean
  /** Set if the emulator answers without having been requested. */
  whyOffline?: string
}

export async function chooseModel(
  flags: { model?: string | undefined; offline?: boolean | undefined },
  known: {
    /** The model of the conversation. */
    stored?: string | undefined
    config: Config | undefined
    rows: readonly ProviderRow[]
  },
): Promise<Choice> {
  const { config, rows } = known
  const { env } = process
  const offline = flags.offline === true
  const typed = flags.model ?? known.stored ?? usualModel(env) ?? config?.model
  const named = typed === undefined ? undefined : await fullModelName(typed, rows, config)
  const keys = readStoredKeys()
  const all = rows.filter((row) => hasKey(row, env, keys))
  const withKey = all.find((row) => modelOf(row) !== undefined) ?? all[0]
  if (named !== undefined) {
    // A model that was named for this question must really be used, or the reason must be shown.
    const asksForReal = flags.model !== undefined || withKey !== undefined || isLocal(named, rows)
    const why = !offline && !asksForReal ? { whyOffline: await noKey(rows, env) } : {}
    return { model: named, offline: offline || !asksForReal, ...why }
  }
  const row = withKey ?? rows.find((one) => !one.keyOptional && modelOf(one) !== undefined)
  // Without a model, the error says how to name one.
  const model = [row?.id, row && modelOf(row)].filter(Boolean).join('/')
  return withKey || offline ? { model, offline } : { model, offline: true, whyOffline: await noKey(rows, env) }
}

/** The model of a provider of the configuration without a default is the first one that it describes. */
function modelOf({ defaultModel, models = {} }: ProviderRow): string | undefined {
  return defaultModel ?? Object.keys(models)[0]
}

/** The user's default model. */
export function usualModel(env: Env): string | undefined {
  return userVariable('SYNAPSE_MODEL', env, 'the model')
}

/** Returns the full name of the model. Throws one sentence if the model cannot be used. */
export async function checkModel(
  model: string,
  { offline, rows, config }: { offline: boolean; rows: readonly ProviderRow[]; config?: Config | undefined },
): Promise<string> {
  const { resolve } = await import('../providers/resolve.ts')
  const name = await fullModelName(model, rows, config)
  const storedKeys = readStoredKeys()
  await resolve({ ...parseModelRef(name), env: process.env, keyless: offline, rows, storedKeys })
  return name
}

/** `gpt-5.6` as `openai/gpt-5.6`. */
async function fullModelName(model: string, rows: readonly ProviderRow[], config: Config | undefined): Promise<string> {
  const { provider } = parseModelRef(model)
  if (rows.some((row) => row.id === provider)) return model
  const { findModel } = await import('../providers/find-model.ts')
  const lookup = { env: process.env, keys: readStoredKeys(), rows, aliases: config?.aliases }
  const ref = await findModel(model, lookup)
  return ref.model === undefined ? ref.provider : `${ref.provider}/${ref.model}`
}

/** A server that needs no key can be used without one. */
function isLocal(model: string, rows: readonly ProviderRow[]): boolean {
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
  const reachable = rows.filter((row) => row.baseUrlVariables?.every(isOwn) ?? true)
  const [server] = await findLocalServers(reachable, env)
  const localServer = server ? ` ${server.name} runs on this machine; use it with -m ${server.models[0]}.` : ''
  return `Offline: the built-in emulator answers, not a model.${localServer} To use ${server ? 'another' : 'one'}, store a key with "${commandName} auth anthropic" (or openai, google, …), or set a variable such as ANTHROPIC_API_KEY.`
}
