// The endpoints of the server. They may change while it runs: the first stored key turns the emulator off, unless it
// was requested.

import { readStoredKeys, removeStoredKey, storeKey } from '../config/stored-keys.ts'
import type { Config } from '../config/load.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/settings.ts'
import type { Keyring, Reach } from '../server/keyring.ts'
import { chooseModel } from './choose-model.ts'
import { endpoints } from './endpoints.ts'

export interface Reached extends Reach {
  endpoint: Runtime['endpoint']
  keyring: Keyring
  /** Whether the emulator answers: for this model, or in general. */
  isOffline: (model?: string) => boolean
}

/** Throws one sentence if the requested model cannot be used. */
export async function reach(
  values: { model?: string | undefined; offline?: boolean | undefined },
  config: Config | undefined,
  rows: readonly ProviderRow[],
): Promise<Reached> {
  const first = await choose()
  let { endpoint } = first
  let { offline, whyOffline } = first.about
  await endpoint(first.about.defaultModel, undefined)
  return {
    ...first.about,
    endpoint: (model, protocol) => endpoint(model, protocol),
    isOffline: (model) => offline && !(whyOffline !== undefined && model !== undefined && isLocal(model)),
    keyring: {
      stored: () => Object.keys(readStoredKeys()),
      store: storeKey,
      remove: removeStoredKey,
      async reach() {
        const next = await choose()
        ;({ endpoint } = next)
        ;({ offline, whyOffline } = next.about)
        return next.about
      },
    },
  }

  async function choose(): Promise<{ about: Reach; endpoint: Runtime['endpoint'] }> {
    const { model, offline, whyOffline } = await chooseModel({
      asked: values.model,
      stored: undefined,
      configured: config?.model,
      offline: values.offline === true,
      env: process.env,
      keys: readStoredKeys(),
      rows,
      aliases: config?.aliases,
    })
    const about = { defaultModel: model, offline, ...(whyOffline !== undefined && { whyOffline }) }
    const emulated = await endpoints({ offline, rows, aliases: config?.aliases })
    return { about, endpoint: whyOffline === undefined ? emulated : await orLocal(emulated) }
  }

  /** If the emulator answers only because there is no key, a model of a local server is used for real. */
  async function orLocal(emulated: Runtime['endpoint']): Promise<Runtime['endpoint']> {
    const real = await endpoints({ offline: false, rows, aliases: config?.aliases })
    return (model, protocol) => (isLocal(model) ? real(model, protocol) : emulated(model, protocol))
  }

  function isLocal(model: string): boolean {
    const provider = model.slice(0, model.indexOf('/'))
    return rows.some(({ id, keyOptional }) => id === provider && keyOptional === true)
  }
}
