// Settings as flags: `-o key=value` for how a reply is requested, in the names of `Options`; `-o body.key=JSON` for a
// field of the request that has no option; and `--policy`. They are validated like files and requests.

import { badInput } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { checkOptions, checkPolicy } from '../settings/check.ts'
import type { Options } from '../settings/options.ts'
import type { Policy } from '../settings/policy.ts'
import { optionFields } from '../settings/schema.ts'

export function readOptions(pairs: readonly string[]): Options {
  const options: { [key: string]: Json } = {}
  for (const text of pairs) {
    const at = text.indexOf('=')
    if (at < 1) {
      throw badInput(`-o takes key=value, not "${text}"; the keys are ${optionNames().join(', ')} and body.KEY.`)
    }
    const [key, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    if (key.startsWith('body.') && key.length > 5) {
      options['extra'] = { ...(options['extra'] as JsonObject | undefined), [key.slice(5)]: jsonOrText(value) }
    } else {
      options[key] = valueOf(key, value)
    }
  }
  checkOptions(options)
  return options
}

/** A preset, or settings as JSON: `--policy '{"preset":"economy","maxToolTurns":3}'`. */
export function readPolicy(text: string): Policy {
  const policy = (text.startsWith('{') ? jsonOrText(text) : text) as Policy
  checkPolicy(policy)
  return policy
}

/** `extra` is written as `body.KEY`. */
export const optionNames = (): string[] => Object.keys(optionFields).filter((name) => name !== 'extra')

/** A flag is text; the type of its option decides how it is parsed. */
function valueOf(key: string, text: string): Json {
  const field = optionNames().includes(key) ? optionFields[key as keyof Options] : undefined
  if (!field || field.type === 'string') return text
  const value = jsonOrText(text)
  if (field.type === 'array') return Array.isArray(value) ? value : [text]
  const isToolName = key === 'toolChoice' && typeof value === 'string' && !['auto', 'none', 'required'].includes(value)
  return isToolName ? { tool: value } : value
}

function jsonOrText(value: string): Json {
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}
