// `-o key=value`: how a reply is asked for, in the words of `Options`; and what has no word here, as it goes into the
// body: `-o body.key=JSON`.

import { badInput } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Effort, Options } from '../settings/options.ts'
import type { PresetName } from '../settings/policy.ts'

export function readOptions(given: readonly string[]): Options {
  const options: Options = {}
  for (const text of given) {
    const at = text.indexOf('=')
    if (at < 1) throw badInput(`-o takes key=value, not "${text}". ${known()}`)
    const [key, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    if (key.startsWith('body.') && key.length > 5) {
      options.extra = { ...options.extra, [key.slice(5)]: jsonOrText(value) }
      continue
    }
    const read = Object.hasOwn(readers, key) ? readers[key] : undefined
    if (!read) throw badInput(`There is no option "${key}". ${known()}`)
    Object.assign(options, read(value))
  }
  return options
}

export function presetNamed(name: string): PresetName {
  if (name === 'economy' || name === 'classic' || name === 'full' || name === 'small') return name
  throw badInput(`There is no policy "${name}". The policies are economy, classic, full, small.`)
}

export const optionNames = (): string[] => Object.keys(readers)

const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

const readers: Record<string, (value: string) => Options> = {
  temperature: (value) => ({ temperature: numberIn('temperature', value, 0, 2) }),
  topP: (value) => ({ topP: numberIn('topP', value, 0, 1) }),
  maxOutput: (value) => ({ maxOutput: wholeNumber('maxOutput', value) }),
  effort: (value) => ({ effort: oneOf('effort', value, efforts) }),
  stop: (value) => ({ stop: [value] }),
  toolChoice: (value) => ({
    toolChoice: value === 'auto' || value === 'none' || value === 'required' ? value : { tool: value },
  }),
  parallelTools: (value) => ({ parallelTools: yesOrNo('parallelTools', value) }),
  cacheTtl: (value) => ({ cacheTtl: oneOf('cacheTtl', value, ['5m', '1h'] as const) }),
  store: (value) => ({ store: yesOrNo('store', value) }),
  stream: (value) => ({ stream: yesOrNo('stream', value) }),
  answerSchema: (value) => ({ answerSchema: schemaIn(value) }),
}

function known(): string {
  return `The options are ${optionNames().join(', ')}, and body.KEY for a field of the request.`
}

function numberIn(key: string, value: string, least: number, most: number): number {
  const number = Number(value)
  if (value === '' || !(number >= least && number <= most)) {
    throw badInput(`${key} takes a number from ${least} to ${most}, not "${value}".`)
  }
  return number
}

function wholeNumber(key: string, value: string): number {
  const number = Number(value)
  if (!Number.isInteger(number) || number < 1) throw badInput(`${key} takes a whole number, not "${value}".`)
  return number
}

function oneOf<T extends string>(key: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw badInput(`${key} is one of ${allowed.join(', ')}, not "${value}".`)
  return found
}

function yesOrNo(key: string, value: string): boolean {
  return oneOf(key, value, ['true', 'false']) === 'true'
}

function schemaIn(value: string): JsonObject {
  const schema = jsonOrText(value)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw badInput('answerSchema takes a JSON Schema, written as JSON.')
  }
  return schema
}

function jsonOrText(value: string): Json {
  try {
    return JSON.parse(value) as Json
  } catch {
    return value
  }
}
