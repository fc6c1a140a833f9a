// Models that a person uses often: favourites and recent ones, which the server stores, and models of servers that run
// on its machine, such as Ollama.

import { signal } from '@preact/signals'
import { api } from '../api/routes.ts'
import { attempt } from './session.ts'

export const recentModels = signal<string[]>([])
export const favourites = signal<string[]>([])
/** `provider/model` of local servers on the machine of the server. */
export const localModels = signal<string[]>([])

export async function loadPreferred(): Promise<void> {
  await attempt(async () => {
    const found = await api.preferred()
    recentModels.value = found.recent
    favourites.value = found.favourites
    localModels.value = found.local.flatMap(({ models }) => models)
  })
}

export async function toggleFavourite(model: string): Promise<void> {
  await attempt(async () => {
    const favourite = !favourites.value.includes(model)
    favourites.value = (await api.setFavourite({ model, favourite })).favourites
  })
}
