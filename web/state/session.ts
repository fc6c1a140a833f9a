// State of the whole session: the server, the models, and the theme.

import { effect, signal } from '@preact/signals'
import { failureOf, hasKey } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type { Failure, ModelView, ProviderView, StatusView } from '../api/types.ts'

export const status = signal<StatusView | undefined>(undefined)
export const providers = signal<ProviderView[]>([])
export const models = signal<ModelView[]>([])
/** An error outside a run; shown until it is dismissed. */
export const trouble = signal<Failure | undefined>(undefined)

export type Theme = 'auto' | 'light' | 'dark'
export const theme = signal<Theme>((localStorage.getItem('synapse-theme') as Theme | null) ?? 'auto')
effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem('synapse-theme', theme.value)
})

export function providerName(id: string): string {
  return providers.value.find((provider) => provider.id === id)?.name ?? id
}

export async function loadSession(): Promise<void> {
  await attempt(async () => {
    status.value = await api.status()
    const [who, what] = await Promise.all([api.providers(), api.models()])
    providers.value = who
    models.value = what
  })
}

/** Performs an action, and reports an error if it failed. */
export async function attempt(what: () => Promise<unknown>): Promise<boolean> {
  try {
    await what()
    return true
  } catch (error) {
    const failure = failureOf(error)
    // If no key was entered yet, the dialog asks for one: that is not an error.
    if (failure.status !== 401 || hasKey()) trouble.value = failure
    return false
  }
}
