// A piece of a body in one line: its content, not the leaves of its JSON.

import { isObject } from '../../src/core/json.ts'
import type { Json, JsonObject, PieceView } from '../api/types.ts'

const longest = 140

export function briefly({ kind, value }: Pick<PieceView, 'kind' | 'value'>): string {
  const words = kind === 'settings' ? settingsIn(value) : kind === 'tool' ? toolIn(value) : messageText(value)
  const line = words.replaceAll(/\s+/g, ' ').trim()
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

/** `model: gpt-5.6 · stream: yes`. */
function settingsIn(value: Json): string {
  if (!isObject(value)) return ''
  return Object.entries(value)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')}: ${valueIn(inner)}`)
    .join(' · ')
}

function valueIn(value: Json | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value.length > 24 ? `${value.slice(0, 12)}…` : value
  if (Array.isArray(value)) return value.map(valueIn).join(', ')
  if (isObject(value)) return Object.values(value).map(valueIn).join(' ')
  return String(value)
}

/** Name and description, wherever the wire has them. Gemini has all functions in one. */
function toolIn(value: Json): string {
  if (!isObject(value)) return ''
  const list = value['functionDeclarations'] ?? value['function_declarations']
  if (Array.isArray(list)) {
    const names = list.map((one) => textOf(isObject(one) ? one['name'] : undefined))
    return `${list.length} ${list.length === 1 ? 'tool' : 'tools'}: ${names.join(', ')}`
  }
  const inner = isObject(value['function']) ? value['function'] : value
  const name = textOf(inner['name']) || textOf(value['type'])
  const about = textOf(inner['description'])
  return about === '' ? name : `${name}: ${about}`
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The text of a message, and its other content by type. */
function messageText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(messageText).filter(Boolean).join(' ')
  if (!isObject(value)) return ''
  return callIn(value) || partIn(value)
}

function callIn(value: JsonObject): string {
  const call = [value['functionCall'], value['function'], value].find(
    (one): one is JsonObject => isObject(one) && typeof one['name'] === 'string',
  )
  if (!call) return ''
  const given = call['arguments'] ?? call['input'] ?? call['args']
  if (given === undefined) return ''
  return `${textOf(call['name'])}(${typeof given === 'string' ? given : JSON.stringify(given)})`
}

function partIn(value: JsonObject): string {
  const inner =
    value['text'] ?? value['thinking'] ?? value['output'] ?? value['content'] ?? value['parts'] ?? value['summary']
  const calls = messageText(value['tool_calls'])
  const words = [messageText(inner), calls].filter(Boolean).join(' ')
  if (words !== '') return words
  const response = value['functionResponse']
  if (isObject(response)) return JSON.stringify(response['response'])
  const type = textOf(value['type'])
  return type === '' || type === 'message' ? '' : `[${type.replaceAll('_', ' ')}]`
}
