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

export function chooseModel(wish: {
  asked: string | undefined
  kept: string | undefined
  /** The default of synapse.yaml. */
  configured?: string | undefined
  offline: boolean
  env: Env
  rows: readonly ProviderRow[]
}): Choice {
  const { env, offline, rows } = wish
  const named = wish.asked ?? wish.kept ?? env['SYNAPSE_MODEL'] ?? wish.configured
  const withKey = rows.find((row) => hasKey(row, env))
  if (named !== undefined) {
    // A model that was named for this question must be served for real, or the person be told why not.
    const asksForReal = wish.asked !== undefined || withKey !== undefined || isAtHome(named, rows)
    return { model: named, offline: offline || !asksForReal, ...(!offline && !asksForReal && { whyOffline: noKey() }) }
  }
  const row = withKey ?? rows[0]
  const model = `${row?.id}/${row?.defaultModel}`
  return withKey || offline ? { model, offline } : { model, offline: true, whyOffline: noKey() }
}

/** Throws one sentence if the model cannot be asked. */
export async function checkModel(
  model: string,
  options: { offline: boolean; env: Env; rows: readonly ProviderRow[] },
): Promise<void> {
  const { resolve } = await import('../providers/resolve.ts')
  const { env, offline, rows } = options
  await resolve({ ...parseModelRef(model), env, keyless: offline, rows })
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
