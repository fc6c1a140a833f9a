// Who answers at the terminal: the model that was asked for, the one that the conversation had, the first provider
// with a key; and without any key the emulator, which says that it is one.

import { parseModelRef } from '../providers/model-ref.ts'
import type { ProviderRow } from '../providers/provider.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface Choice {
  model: string
  offline: boolean
  /** Set when the emulator answers though no one asked for it. */
  whyOffline?: string
}

export async function chooseModel(request: {
  asked: string | undefined
  kept: string | undefined
  /** The default of synapse.yaml. */
  configured?: string | undefined
  offline: boolean
  env: Env
  rows: readonly ProviderRow[]
}): Promise<Choice> {
  const { env, offline, rows } = request
  const typed = request.asked ?? request.kept ?? env['SYNAPSE_MODEL'] ?? request.configured
  const named = typed === undefined ? undefined : await fullModelName(typed, { env, rows })
  const withKey = rows.find((row) => hasKey(row, env))
  if (named !== undefined) {
    // A model that was named for this question must be served for real, or the person be told why not.
    const asksForReal = request.asked !== undefined || withKey !== undefined || isAtHome(named, rows)
    return { model: named, offline: offline || !asksForReal, ...(!offline && !asksForReal && { whyOffline: noKey() }) }
  }
  const row = withKey ?? rows[0]
  const model = `${row?.id}/${row?.defaultModel}`
  return withKey || offline ? { model, offline } : { model, offline: true, whyOffline: noKey() }
}

/** Gives the whole name of the model. Throws one sentence if the model cannot be asked. */
export async function checkModel(
  model: string,
  options: { offline: boolean; env: Env; rows: readonly ProviderRow[] },
): Promise<string> {
  const { resolve } = await import('../providers/resolve.ts')
  const { env, offline, rows } = options
  const name = await fullModelName(model, options)
  await resolve({ ...parseModelRef(name), env, keyless: offline, rows })
  return name
}

/** `gpt-5.6` as `openai/gpt-5.6`. */
async function fullModelName(model: string, options: { env: Env; rows: readonly ProviderRow[] }): Promise<string> {
  const { provider } = parseModelRef(model)
  if (options.rows.some((row) => row.id === provider)) return model
  const { findModel } = await import('../providers/find-model.ts')
  const found = await findModel(model, options)
  return found.model === undefined ? found.provider : `${found.provider}/${found.model}`
}

/** A server that wants no key can be asked though there is none. */
function isAtHome(model: string, rows: readonly ProviderRow[]): boolean {
  return rows.find((row) => row.id === parseModelRef(model).provider)?.keyOptional === true
}

function hasKey(row: ProviderRow, env: Env): boolean {
  return !row.keyOptional && row.keyVariables.some((name) => env[name]?.trim())
}

function noKey(): string {
  return 'Offline: the built-in emulator answers, not a model. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or another key to talk to one.'
}
