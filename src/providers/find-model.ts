// A model by its common name: `gpt-5.6` instead of `openai/gpt-5.6`. A name that one provider offers is that
// provider's; of several, the one with a key. Everything else is one sentence with suggestions.

import { editDistance } from '../core/edit-distance.ts'
import { badInput } from '../core/error.ts'
import { builtInRows, loadCatalogue } from './load.ts'
import { type ModelRef, parseModelRef } from './model-ref.ts'
import type { Catalogue, Price } from './price.ts'
import type { ProviderRow } from './provider.ts'

interface Known {
  /** Absent: the rows that are built in. */
  rows?: readonly ProviderRow[] | undefined
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** The user's own names for models, such as `fast`. A provider of that name takes precedence. */
  aliases?: Readonly<Record<string, string>> | undefined
  /** Keys that the caller has, by provider. */
  keys?: Readonly<Record<string, string>> | undefined
}

/** Loads the list of models only if the text does not begin with a provider. */
export async function findModel(text: string, known: Known): Promise<ModelRef> {
  const ref = parseModelRef(text)
  const rows = known.rows ?? (await builtInRows())
  if (rows.some((row) => row.id === ref.provider)) return ref
  const alias = known.aliases && Object.hasOwn(known.aliases, text.trim()) ? known.aliases[text.trim()] : undefined
  // An alias of an alias is not followed: it could be a cycle.
  if (alias !== undefined) return findModel(alias, { ...known, aliases: undefined })
  return bareModel(text.trim(), listModels(rows, await loadCatalogue()), { ...known, rows }) ?? ref
}

/** Undefined: no similar name. */
function bareModel(
  name: string,
  models: readonly ListedModel[],
  known: Known & { rows: readonly ProviderRow[] },
): ModelRef | undefined {
  const word = name.toLowerCase()
  const offered = models.filter((candidate) => candidate.model.toLowerCase() === word)
  const usable = offered.filter((candidate) =>
    hasKey(
      known.rows.find((row) => row.id === candidate.provider),
      known,
    ),
  )
  // Without a key for any, the maker comes before those that only host it.
  const made = offered.filter((candidate) => known.rows.some((row) => row.id === candidate.provider && isMaker(row)))
  const [only, ...others] = [usable, made].find((some) => some.length > 0) ?? offered
  if (only && others.length === 0) return only
  if (only) {
    const names = [only, ...others].map(fullName)
    throw badInput(`Several providers offer "${name}". Write one of ${names.slice(0, 5).join(', ')}.`)
  }
  // A provider with a similar name is the better suggestion, with its own error message.
  const [prefix, rest] = word.split('/', 2)
  if (rest !== undefined && known.rows.some(({ id }) => editDistance(prefix ?? '', id) <= 2)) return undefined
  const near = nearest(word, models)
  if (near.length === 0) return undefined
  throw badInput(`There is no model or provider "${name}". Did you mean ${near.join(' or ')}?`)
}

function hasKey(row: ProviderRow | undefined, { env = process.env, keys }: Known): boolean {
  if (!row) return false
  return keys?.[row.id] !== undefined || row.keyVariables.some((variable) => env[variable]?.trim())
}

function isMaker({ catalogue, credentials }: ProviderRow): boolean {
  return catalogue === undefined && !credentials
}

function fullName({ provider, model }: ListedModel): string {
  return `${provider}/${model}`
}

/** Similar spellings, or longer names with this prefix. */
function nearest(word: string, models: readonly ListedModel[]): string[] {
  if (word.length < 4) return []
  const scored = models.flatMap((candidate) => {
    const model = candidate.model.toLowerCase()
    const distance = model.startsWith(word) ? 1.5 : editDistance(word, model)
    return distance <= 2 ? [{ name: fullName(candidate), distance }] : []
  })
  return scored
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}

// The models that are known by name: those in a row, its default, and those in the catalogue. Others can be used too.

export interface ListedModel {
  provider: string
  model: string
  contextWindow?: number
  price?: Price
}

export function listModels(rows: readonly ProviderRow[], catalogue: Catalogue): ListedModel[] {
  return rows.flatMap((row) => {
    const listed = catalogue.models[row.catalogue ?? row.id] ?? {}
    const usual = row.defaultModel === undefined ? [] : [row.defaultModel]
    const names = new Set([...Object.keys(row.models ?? {}), ...usual, ...Object.keys(listed)])
    return [...names].map((model) => {
      const { contextWindow, price } = { ...listed[model], ...row.models?.[model] }
      return {
        provider: row.id,
        model,
        ...(contextWindow !== undefined && { contextWindow }),
        ...(price && { price }),
      }
    })
  })
}
