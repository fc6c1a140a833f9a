// The settings that are stored with a conversation, so that it continues unchanged wherever it is opened. Functions and
// signals cannot be stored. For tools, the names are stored.

import type { JsonObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import { problemsWith } from '../settings/problems.ts'
import type { RunSettings } from '../settings/run.ts'
import { sharedFields, modelRef } from '../settings/schema.ts'
import { answerSchemaOf } from './answer.ts'

const fields = { model: modelRef, ...sharedFields }

/** The part of these settings that is stored. */
export function settingsToStore(settings: Partial<RunSettings>): JsonObject {
  const { tools, answer, route, signal: _, context: __, hooks: ___, handoffs: ____, ...plain } = settings
  const options = { ...plain.options, ...(answer && { answerSchema: answerSchemaOf(answer) }) }
  const stored = {
    ...plain,
    ...(Object.keys(options).length > 0 && { options }),
    ...(typeof route === 'object' && { route }),
    ...(tools && { toolNames: tools.map((tool) => tool.name) }),
  }
  return JSON.parse(JSON.stringify(stored)) as JsonObject
}

/** The stored settings that are valid here; another program may have written others. */
export function storedSettings(stored: JsonObject): Partial<RunSettings> {
  const valid = Object.entries(fields).filter(
    ([name, rule]) => stored[name] !== undefined && problemsWith(rule, stored[name]).length === 0,
  )
  return Object.fromEntries(valid.map(([name]) => [name, stored[name]]))
}

/** The names of the tools that the conversation was started with. */
export function storedToolNames({ toolNames }: JsonObject): string[] {
  return Array.isArray(toolNames) ? toolNames.filter((name) => typeof name === 'string') : []
}

/** The tools of these names; undefined: none of them is known here. */
export function toolsNamed(names: readonly string[], known: readonly Tool[]): Tool[] | undefined {
  const found = known.filter((tool) => names.includes(tool.name))
  return found.length > 0 ? found : undefined
}
