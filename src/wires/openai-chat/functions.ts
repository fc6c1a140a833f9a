// The form of a chat request before there were tools: `functions` and `function_call`, at most one call in a reply, and
// results without an id. OpenAI still accepts it (checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { RequestForm } from '../service.ts'
import { objectIn, objectsIn, valueAt } from '../shared/json-fields.ts'

/** Undefined: the request has the usual form. */
export function functionsForm({ functions, tools }: JsonObject): RequestForm | undefined {
  return Array.isArray(functions) && functions.length > 0 && !tools ? form : undefined
}

const form: RequestForm = {
  refuse: () => [],
  request({ functions, function_call: choice, ...body }) {
    const name = valueAt(choice, 'name')
    const toolChoice = name === undefined ? choice : { type: 'function', function: { name } }
    return {
      ...body,
      tools: objectsIn(functions).map((declared) => ({ type: 'function', function: declared })),
      ...(toolChoice !== undefined && { tool_choice: toolChoice }),
      parallel_tool_calls: false,
    }
  },
  unsupported: () => undefined,
  leftOut: () => [],
  token: () => undefined,
  reply({ choices, ...chunk }) {
    return Array.isArray(choices) ? { ...chunk, choices: choices.map(choiceInForm) } : { ...chunk }
  },
}

/** Of a whole reply, or of a chunk. */
function choiceInForm(choice: Json): Json {
  if (!isObject(choice)) return choice
  const { message, delta, finish_reason: finish } = choice
  return {
    ...choice,
    ...(message !== undefined && { message: withoutTools(objectIn(message)) }),
    ...(delta !== undefined && { delta: withoutTools(objectIn(delta)) }),
    ...(finish === 'tool_calls' && { finish_reason: 'function_call' }),
  }
}

/** The form has a place for one call, so others than the first are left out. */
function withoutTools({ tool_calls: calls, ...message }: JsonObject): JsonObject {
  const call = objectsIn(calls).find(({ index = 0 }) => index === 0)
  return call ? { ...message, function_call: call.function ?? null } : message
}
