// Options of sampling that only some wires and models have. The others leave them out, with a note.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Options } from '../../settings/options.ts'
import type { Target } from '../wire.ts'
import { within } from './ranges.ts'

const names = ['topK', 'seed', 'presencePenalty', 'frequencyPenalty'] as const

type Name = (typeof names)[number]

/** A field of a wire, with the values that it accepts; or why it cannot be used in this request. */
export type SamplingField = string | { name: string; least: number; most: number } | { unsupported: string }

/** `fields`: those that the wire has. */
export function encodeSampling(
  target: Target,
  fields: Partial<Record<Name, SamplingField>>,
  notes: Note[],
): JsonObject {
  const encoded: JsonObject = {}
  for (const name of names) {
    const value = requested(target.options, name)
    if (value === undefined) continue
    const field = fields[name] ?? { unsupported: 'the wire has no field for it' }
    const why = unsupported(name, field, target)
    if (why !== undefined) notes.push({ kind: 'dropped', what: name, why })
    else if (typeof field === 'string') encoded[field] = value
    else if ('name' in field) encoded[field.name] = within(field.name, value, field, notes)
  }
  return encoded
}

/** Many clients always send penalties of 0, which is the default everywhere. */
function requested(options: Options, name: Name): number | undefined {
  return options[name] === 0 && name.endsWith('Penalty') ? undefined : options[name]
}

/** Models whose sampling is fixed accept a seed. */
function unsupported(name: Name, field: SamplingField, { capabilities }: Target): string | undefined {
  if (typeof field === 'object' && 'unsupported' in field) return field.unsupported
  const { sampling, seed = true, topK = true, penalties = true } = capabilities
  const isSupported = name === 'seed' ? seed : sampling && (name === 'topK' ? topK : penalties)
  return isSupported ? undefined : 'the model or its provider does not support it'
}
