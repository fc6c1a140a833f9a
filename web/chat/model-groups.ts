// The models in the picker: favourites, recent ones, then the available ones, then the rest. Of a provider, its default
// comes first, then the family of the default, and newer names before older ones.

import type { ModelView, Price } from '../api/types.ts'
import { compact, money } from '../parts/format.ts'
import { favourites, localModels, recentModels } from '../state/model-choice.ts'
import { models, providerName, providers, status } from '../state/session.ts'

export interface ModelGroup {
  title: string
  items: ModelView[]
}

/** More than a person reads; typing filters it. */
const most = 200
const newestFirst = new Intl.Collator('en', { numeric: true })

export function modelGroups(filter: string): ModelGroup[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const found = new Map<string, ModelView>()
  // Models of a local server, and recent ones, may not be in the catalogue.
  const named = [...localModels.value, ...favourites.value, ...recentModels.value].map((model) => ({
    model,
    provider: model.slice(0, model.indexOf('/')),
  }))
  for (const one of [...named, ...models.value]) {
    if (words.every((word) => one.model.toLowerCase().includes(word))) found.set(one.model, one)
  }
  const groups: ModelGroup[] = []
  let room = most
  const add = (title: string, names: Iterable<string>) => {
    const items: ModelView[] = []
    for (const name of names) {
      const one = found.get(name)
      if (!one || room === 0) continue
      items.push(one)
      found.delete(name)
      room--
    }
    if (items.length > 0) groups.push({ title, items })
  }
  add('Favourites', favourites.value)
  add('Recent', recentModels.value)
  add('On this machine', localModels.value)
  const rest = [...found.values()].toSorted(order).map((one) => one.model)
  const usable = new Set(rest.filter((name) => isUsable(found.get(name))))
  add('Available', usable)
  add('Without a key', rest)
  return groups
}

function order(a: ModelView, b: ModelView): number {
  if (a.provider !== b.provider) return placeOf(a.provider) - placeOf(b.provider)
  return rankOf(b) - rankOf(a) || newestFirst.compare(b.model, a.model)
}

/** Dated snapshots come last. */
function rankOf(one: ModelView): number {
  if (isDefault(one)) return 3
  if (/-\d{8}$|-\d{4}-\d\d-\d\d$|-\d{4}$/.test(one.model)) return 0
  return familyOf(one.model) === familyOf(defaultOf(one.provider)) ? 2 : 1
}

/** The part of a name before its version. */
function familyOf(model: string): string {
  return /^\D*/.exec(model.slice(model.indexOf('/') + 1))?.[0] ?? ''
}

function placeOf(id: string): number {
  return providers.value.findIndex((one) => one.id === id)
}

function isDefault(one: ModelView): boolean {
  return defaultOf(one.provider) === one.model
}

function defaultOf(provider: string): string {
  return `${provider}/${providers.value.find(({ id }) => id === provider)?.defaultModel ?? ''}`
}

export function isUsable(one: ModelView | undefined): boolean {
  if (status.value?.offline) return true
  return providers.value.some(({ id, key }) => id === one?.provider && key !== 'missing')
}

export function factsOf(one: ModelView): string {
  const price = one.price as Price | undefined
  const facts = [providerName(one.provider)]
  if (one.contextWindow) facts.push(`${compact(one.contextWindow)} window`)
  if (price) facts.push(`${money(price.input)} in, ${money(price.output)} out / M`)
  return facts.join(' · ')
}
