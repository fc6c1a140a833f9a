// The offered tools that a question asks for: those it names, one for the time, one that adds two numbers, one that
// matches the topic of the question.

import type { ToolSpec } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { ToolCallPart } from '../core/message.ts'
import { callMarks } from '../core/tool-kinds.ts'
import { listIn, objectIn, textIn } from '../wires/shared/json-fields.ts'
import { zoneOf } from './city-zones.ts'

export interface WantedCall extends Pick<ToolCallPart, 'kind' | 'namespace'> {
  name: string
  input: JsonObject
}

export function wantedCalls(question: string, tools: readonly ToolSpec[]): WantedCall[] {
  const named = namedCalls(question, tools)
  if (named.length > 0) return named
  const usual = [...timeCalls(question, tools), ...sumCalls(question, tools)]
  return usual.length > 0 ? usual : lookUpCalls(question, tools)
}

export function wantsTime(question: string): boolean {
  return /\bwhat('s| is)? (the )?(current )?time\b|\btime is it\b|\bcurrent time\b|\bthe time\b|\bclock\b/i.test(
    question,
  )
}

/** The pairs of numbers to add: "17 + 25", "add 2 and 3", "the sum of 2 and 3"; not those of a time with its offset. */
export function wantedSums(question: string): [number, number][] {
  const number = String.raw`((?<![\d.:])-?\d{1,15}(?:\.\d{1,15})?)`
  const sums = new RegExp(
    `${number}\\s*(?:\\+|plus)\\s*${number}|\\b(?:add|sum of)\\s+${number}\\s+(?:and|to)\\s+${number}`,
    'gi',
  )
  return [...question.matchAll(sums)].map((match) => [Number(match[1] ?? match[3]), Number(match[2] ?? match[4])])
}

/** "use the tool X with {…}", "call X with {…} and Y with {…}", "use the tool X"; a free-form tool takes what follows. */
function namedCalls(question: string, tools: readonly ToolSpec[]): WantedCall[] {
  const found: { call: WantedCall; at: number }[] = []
  for (const tool of tools) {
    const { name } = tool
    const quoted = `["'\`]?${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}["'\`]?`
    const pattern = new RegExp(
      `(\\b(?:use|call|run)\\s+(?:the\\s+)?(?:tool\\s+)?)?(?<![\\w-])${quoted}(\\s+with\\s+)?`,
      'g',
    )
    for (const match of question.matchAll(pattern)) {
      const rest = question.slice(match.index + match[0].length)
      const text = match[1] && tool.kind === 'free-form' && rest !== '' ? { input: rest } : undefined
      const input = match[2] ? (objectAt(rest) ?? text) : undefined
      if (input || (match[1] && !/^[\w-]/.test(rest))) {
        found.push({ call: { name, input: input ?? {}, ...callMarks(tool) }, at: match.index })
      }
    }
  }
  return found.toSorted((a, b) => a.at - b.at).map((candidate) => candidate.call)
}

/** The JSON object at the beginning of the text. */
function objectAt(text: string): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined
  let depth = 0
  for (const match of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/gs)) {
    if (match[0] === '{') depth++
    if (match[0] === '}') depth--
    if (depth > 0) continue
    try {
      const value = JSON.parse(text.slice(0, match.index + 1)) as Json
      return isObject(value) ? value : undefined
    } catch {
      return undefined
    }
  }
  return undefined
}

function timeCalls(question: string, tools: readonly ToolSpec[]): WantedCall[] {
  if (!wantsTime(question)) return []
  const tool =
    tools.find((candidate) => speaksOf(candidate.name, timeWords)) ??
    tools.find(
      (candidate) =>
        tellsTime.test(purposeOf(candidate)) && !/\btime(out|s|stamp)?\s+limit\b/i.test(purposeOf(candidate)),
    )
  if (!tool) return []
  const place = propertiesOf(tool).find(([, type]) => type === 'string')?.[0]
  const places = placesIn(question)
  if (place === undefined || places.length === 0) {
    const isNeeded = place !== undefined && Array.isArray(tool.input.required) && tool.input.required.includes(place)
    return [call(tool, isNeeded ? { [place]: 'UTC' } : {})]
  }
  return places.map((name) => call(tool, { [place]: wantsZone(tool, place) ? (zoneOf(name) ?? name) : name }))
}

const timeWords = /^(time|clock)$/
const tellsTime =
  /\b(current|local) (date and )?time\b|\b(tells?|gives?|gets?|returns?|shows?|reads?)\b[^.]*\b(time|clock)\b/i
const sumWords = /^(add|adds|adding|addition|sum|sums|plus|calc|calculate|calculates|calculator|arithmetic|math)$/

/** Whether a field takes a time zone, by its name or description, and not a place name. */
function wantsZone(tool: ToolSpec, field: string): boolean {
  const schema = isObject(tool.input.properties) ? tool.input.properties[field] : undefined
  const described = isObject(schema) ? textIn(schema.description) : ''
  return /zone|\btz\b|iana/i.test(`${field} ${described}`)
}

/** Only a tool for adding: two numbers alone may as well be an offset and a limit. */
function sumCalls(question: string, tools: readonly ToolSpec[]): WantedCall[] {
  const sums = wantedSums(question)
  const numbers = (tool: ToolSpec) => propertiesOf(tool).filter(([, type]) => type === 'number' || type === 'integer')
  const able = tools.filter((tool) => numbers(tool).length >= 2)
  const tool =
    able.find((candidate) => speaksOf(candidate.name, sumWords)) ??
    able.find((candidate) => speaksOf(purposeOf(candidate), sumWords))
  if (!tool) return []
  const [first, second] = numbers(tool).map(([name]) => name)
  if (first === undefined || second === undefined) return []
  return sums.map(([a, b]) => call(tool, { [first]: a, [second]: b }))
}

/** "What is the weather in Paris?": a tool named after the topic of the question, such as `get_weather`. */
function lookUpCalls(question: string, tools: readonly ToolSpec[]): WantedCall[] {
  if (question.length > 200 || !/^(what|how|tell|show|give|is)\b/i.test(question)) return []
  const questionWords = new Set(wordsOf(question))
  const tool = tools.find(({ name }) => {
    const subject = wordsOf(name).filter((word) => !lookUpWords.test(word))
    return subject.some((word) => word.length > 3) && subject.every((word) => questionWords.has(word))
  })
  if (!tool) return []
  const required = listIn(tool.input.required)
  const place = propertiesOf(tool).find(([, type]) => type === 'string')?.[0]
  const places = place === undefined ? [] : placesIn(question)
  if (required.some((name) => name !== place)) return []
  if (place === undefined || places.length === 0) return required.length > 0 ? [] : [call(tool, {})]
  return places.map((name) => call(tool, { [place]: name }))
}

const lookUpWords = /^(get|gets|fetch|find|look|lookup|up|check|show|tell|current|the|in|at|of|for)$/

/** The purpose of a tool: the first sentence of its description. The rest may mention anything. */
function purposeOf(tool: ToolSpec): string {
  return /^[^.\n]*/.exec((tool.description ?? '').trim())?.[0] ?? ''
}

function call(tool: ToolSpec, values: Record<string, Json>): WantedCall {
  const input = sampleOf({ ...tool.input, type: 'object' }, values)
  return { name: tool.name, input: objectIn(input), ...callMarks(tool) }
}

/** Whether one of the words of a name or description, including camelCase, is among these. */
function speaksOf(text: string, pattern: RegExp): boolean {
  return wordsOf(text).some((word) => pattern.test(word))
}

function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
}

function propertiesOf(tool: ToolSpec): [string, string][] {
  const properties = objectIn(tool.input.properties)
  return Object.entries(properties).map(([name, schema]) => [
    name,
    isObject(schema) ? textIn(schema.type).toLowerCase() : '',
  ])
}

/** "in Paris, New York and Tokyo" → Paris, New York, Tokyo. */
function placesIn(question: string): string[] {
  if (!question.includes('in ')) return []
  const place = String.raw`\p{Lu}[\p{L}/_'-]*(?: \p{Lu}[\p{L}'-]*)*`
  const list = new RegExp(`\\bin (${place}(?:(?:\\s*,\\s*|,?\\s+and\\s+)(?:in\\s+)?${place})*)`, 'u').exec(
    question,
  )?.[1]
  return list ? list.split(/\s*,\s*(?:and\s+)?|\s+and\s+|\bin\s+/).filter((name) => name !== '') : []
}

/**
 * The smallest value that a JSON Schema accepts: the emulator's arguments for a forced tool or schema if the
 * conversation suggests none.
 */
export function sampleOf(schema: Json | undefined, values: Record<string, Json> = {}): Json {
  return sample(schema, objectIn(schema), values, 0)
}

function sample(schema: Json | undefined, root: JsonObject, values: Record<string, Json>, depth: number): Json {
  if (!isObject(schema) || depth > 12) return ''
  if (typeof schema.$ref === 'string') return sample(resolveReference(schema.$ref, root), root, values, depth + 1)
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (Array.isArray(choices)) return sample(choices[0], root, values, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (textIn(type ?? (schema.properties ? 'object' : 'string')).toLowerCase()) {
    case 'object':
      return sampleObject(schema, root, values, depth)
    case 'array':
      return Array.from({ length: numberOf(schema.minItems, 0) }, () => sample(schema.items, root, {}, depth + 1))
    case 'number':
    case 'integer':
      return numberOf(schema.minimum, 0)
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return 'x'.repeat(numberOf(schema.minLength, 0))
  }
}

function sampleObject(schema: JsonObject, root: JsonObject, values: Record<string, Json>, depth: number): JsonObject {
  const properties = objectIn(schema.properties)
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const result: JsonObject = {}
  for (const [name, property] of Object.entries(properties)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value !== undefined) result[name] = value
    else if (required.includes(name)) result[name] = sample(property, root, {}, depth + 1)
  }
  return result
}

function resolveReference(reference: string, root: JsonObject): Json | undefined {
  let value: Json | undefined = root
  for (const key of reference.replace(/^#\/?/, '').split('/')) {
    if (key !== '') value = isObject(value) ? value[key] : undefined
  }
  return value
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
