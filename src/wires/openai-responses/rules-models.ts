// What one OpenAI model refuses and the next one accepts, by the name of the model: the API reveals nothing else.

import { isObject, type Json } from '../../core/json.ts'
import { invalid, listed, wrongValue, type Check } from './rules-context.ts'

/** `gpt-5.4-mini-2026-03-05` is 5.4; the series without a number after the point is .0; undefined for other families. */
function version(model: string): number | undefined {
  const match = /^gpt-(\d+(?:\.\d+)?)(?!\d)/.exec(model)
  return match?.[1] === undefined || model.startsWith('gpt-4') ? undefined : Number(match[1])
}

function isOSeries(model: string): boolean {
  return /^o\d(-|$)/.test(model)
}

function isReasoning(model: string): boolean {
  return isOSeries(model) || ((version(model) ?? 0) >= 5 && !model.includes('-chat'))
}

/** Models that are known not to reason; an unknown name is neither. */
function answersAtOnce(model: string): boolean {
  return /^(gpt-3\.5|gpt-4|chatgpt-)/.test(model) || /^gpt-5[^-]*-chat/.test(model)
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** C17, in this wire's form. */
export const effort: Check = ({ model, fields }) => {
  const asked = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  if (typeof asked !== 'string') return []
  if (!efforts.includes(asked)) return [wrongValue('C17', 'reasoning.effort', asked, efforts)]
  if (answersAtOnce(model)) {
    const text = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    return [invalid('C17', text, 'reasoning.effort', 'unsupported_parameter')]
  }
  const known = knownEfforts(model)
  if (!known || known.includes(asked)) return []
  const text = `Unsupported value: '${asked}' is not supported with the '${model}' model. Supported values are: ${listed(known)}.`
  return [invalid('C17', text, 'reasoning.effort', 'unsupported_value')]
}

/** Read from refusals (checked 2026-11); a pro, codex or open model has its own list. */
function knownEfforts(model: string): string[] | undefined {
  if (isOSeries(model)) return ['low', 'medium', 'high']
  const v = version(model)
  if (v === undefined || !isReasoning(model) || /-(pro|codex)/.test(model)) return undefined
  if (v < 5.1) return ['minimal', 'low', 'medium', 'high']
  if (v < 5.2) return ['none', 'low', 'medium', 'high']
  if (v < 5.6) return ['none', 'low', 'medium', 'high', 'xhigh']
  return v < 6 ? ['none', 'low', 'medium', 'high', 'xhigh', 'max'] : undefined
}

/** C16: a model that reasons accepts no sampling options. From 5.1 to 5.5 it reasons only on request. */
export const sampling: Check = ({ model, fields }) => {
  const asked = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  if (!isReasoning(model) || !reasons(model, asked)) return []
  return ['temperature', 'top_p']
    .filter((name) => typeof fields[name] === 'number' && fields[name] !== 1)
    .map((name) => invalid('C16', `Unsupported parameter: '${name}' is not supported with this model.`, name))
}

function reasons(model: string, asked: Json | undefined): boolean {
  if (typeof asked === 'string') return asked !== 'none'
  const v = version(model) ?? 0
  return isOSeries(model) || v < 5.1 || v >= 5.6
}

/** Without reasoning there is nothing to encrypt. */
export const encryptedReasoning: Check = ({ model, fields }) => {
  const { include } = fields
  if (!Array.isArray(include) || !include.includes('reasoning.encrypted_content') || !answersAtOnce(model)) return []
  return [invalid('encrypted-include', 'Encrypted content is not supported with this model.', 'include')]
}
