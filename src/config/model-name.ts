// Whether a model name in a file is plausible. A bare name, such as gpt-5.6, is looked up when it is used; what looks
// like a mistyped provider is refused at once.

import { editDistance } from '../core/edit-distance.ts'
import type { ProviderRow } from '../providers/provider.ts'

/** What is wrong with it; undefined: nothing that can be known here. */
export function modelNameProblem(
  name: string,
  rows: readonly ProviderRow[],
  aliases: Readonly<Record<string, string>> = {},
): string | undefined {
  const [provider = '', model] = name.trim().split('/', 2)
  if (rows.some((row) => row.id === provider) || Object.hasOwn(aliases, name.trim())) return undefined
  const near = rows.some((row) => editDistance(provider.toLowerCase(), row.id) <= 2)
  if (model === undefined && !near && /\d|-/.test(provider)) return undefined
  return `there is no provider "${provider}"; known are ${rows.map((row) => row.id).join(', ')}`
}
