// How a reply is requested. Options without a field of Converse go into the model's fields.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { answerSchemaFor } from '../shared/answer.ts'
import { nearestEffort } from '../shared/options.ts'
import { inRange } from '../shared/ranges.ts'
import type { Target } from '../wire.ts'

export function encodeOptions(hasTools: boolean, target: Target, notes: Note[]): JsonObject {
  const reasoning = reasoningFields(target, notes)
  const config = inferenceConfig(target, reasoning?.withoutLimit === true, notes)
  const schema = answerSchemaFor(target, hasTools, 'anthropic', notes)?.schema
  return {
    ...(Object.keys(config).length > 0 && { inferenceConfig: config }),
    ...(reasoning && { additionalModelRequestFields: reasoning.fields }),
    ...(schema && {
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'answer', schema: JSON.stringify(schema) } },
        },
      },
    }),
  }
}

function inferenceConfig({ options, capabilities }: Target, withoutLimit: boolean, notes: Note[]): JsonObject {
  const { maxOutput, temperature, topP } = options
  const stop = options.stop?.filter((sequence) => sequence !== '') ?? []
  const sampling: JsonObject = {}
  if (!capabilities.sampling) {
    if (temperature !== undefined || topP !== undefined) {
      notes.push({ kind: 'dropped', what: 'temperature and topP', why: 'the model does not take them' })
    }
  } else if (temperature !== undefined) {
    sampling.temperature = inRange('temperature', temperature, notes, 1)
    if (topP !== undefined) {
      notes.push({ kind: 'dropped', what: 'topP', why: 'newer models do not take it with temperature', rule: 'BM-10' })
    }
  } else if (topP !== undefined) sampling.topP = inRange('top_p', topP, notes)
  const most = capabilities.maxOutput
  const tokens = maxOutput !== undefined && most !== undefined ? Math.min(maxOutput, most) : maxOutput
  if (tokens !== maxOutput) {
    notes.push({ kind: 'changed', what: `maxTokens to ${tokens}`, why: 'the model gives no more' })
  }
  if (withoutLimit && tokens !== undefined) {
    notes.push({ kind: 'dropped', what: 'maxTokens', why: 'it does not go with the highest effort', rule: 'BM-6' })
  }
  return {
    ...(tokens !== undefined && !withoutLimit && { maxTokens: tokens }),
    ...sampling,
    ...(stop.length > 0 && { stopSequences: stop }),
  }
}

interface Reasoning {
  fields: JsonObject
  withoutLimit?: boolean
}

function reasoningFields({ options, capabilities }: Target, notes: Note[]): Reasoning | undefined {
  const { effort } = options
  if (effort === undefined) return undefined
  const known = nearestEffort(effort, capabilities.efforts)
  if (known === undefined || capabilities.effortField === undefined) {
    notes.push({ kind: 'dropped', what: `effort ${effort}`, why: 'the model cannot be asked for one on this wire' })
    return undefined
  }
  if (known !== effort) {
    notes.push({ kind: 'changed', what: `effort from ${effort} to ${known}`, why: 'the model knows no other' })
  }
  switch (capabilities.effortField) {
    case 'reasoning_effort':
      return { fields: { reasoning_effort: known } }
    case 'output_config':
      return { fields: { thinking: { type: 'adaptive' }, output_config: { effort: known } } }
    case 'reasoningConfig':
      if (known === 'none') return { fields: { reasoningConfig: { type: 'disabled' } } }
      return {
        fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: known } },
        withoutLimit: known === 'high',
      }
  }
}
