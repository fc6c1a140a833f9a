// A model by the name that people say: `gpt-5.6` instead of `openai/gpt-5.6`. A name that one provider offers is that
// provider's; of several, the one that there is a key for. Everything else is one sentence with suggestions.

import { editDistance } from '../core/edit-distance.ts'
import { badInput } from '../core/error.ts'
import { listModels, type ListedModel } from './list-models.ts'
import { parseModelRef, type ModelRef } from './model-ref.ts'
import type { ProviderRow } from './provider.ts'

interface Known {
  /** Absent: the rows that are built in. */
  rows?: readonly ProviderRow[] | undefined
  env?: Readonly<Record<string, string | undefined>> | undefined
  /** Keys that the caller has, by provider. */
  keys?: Readonly<Record<string, string>> | undefined
}

/** Loads the list of models only where the text does not begin with a provider. */
export async function findModel(text: string, known: Known): Promise<ModelRef> {
  const ref = parseModelRef(text)
  const rows = known.rows ?? (await import('./rows.ts')).rows
  if (rows.some((row) => row.id === ref.provider)) return ref
  const { catalogue } = await import('./catalogue.ts')
  return bareModel(text.trim(), listModels(rows, catalogue), { ...known, rows }) ?? ref
}

/** Undefined: nothing is called nearly so. */
function bareModel(
  name: string,
  models: readonly ListedModel[],
  known: Known & { rows: readonly ProviderRow[] },
): ModelRef | undefined {
  const word = name.toLowerCase()
  const offered = models.filter((one) => one.model.toLowerCase() === word)
  const usable = offered.filter((one) =>
    hasKey(
      known.rows.find((row) => row.id === one.provider),
      known,
    ),
  )
  const [only, ...others] = usable.length > 0 ? usable : offered
  if (only && others.length === 0) return only
  if (only) {
    const names = [only, ...others].map(fullName)
    throw badInput(`Several providers offer "${name}". Write one of ${names.slice(0, 5).join(', ')}.`)
  }
  // A provider that is nearly known is the better suggestion, and its own sentence makes it.
  const [before, rest] = word.split('/', 2)
  if (rest !== undefined && known.rows.some(({ id }) => editDistance(before ?? '', id) <= 2)) return undefined
  const near = nearest(word, models)
  if (near.length === 0) return undefined
  throw badInput(`There is no model or provider "${name}". Did you mean ${near.join(' or ')}?`)
}

function hasKey(row: ProviderRow | undefined, { env = process.env, keys }: Known): boolean {
  if (!row) return false
  return keys?.[row.id] !== undefined || row.keyVariables.some((variable) => env[variable]?.trim())
}

function fullName({ provider, model }: ListedModel): string {
  return `${provider}/${model}`
}

/** Almost so spelled, or longer names that begin so. */
function nearest(word: string, models: readonly ListedModel[]): string[] {
  if (word.length < 4) return []
  const scored = models.flatMap((one) => {
    const model = one.model.toLowerCase()
    const distance = model.startsWith(word) ? 1.5 : editDistance(word, model)
    return distance <= 2 ? [{ name: fullName(one), distance }] : []
  })
  return scored
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name)
}
