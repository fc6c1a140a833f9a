// What the real servers refuse in a body, with their error messages. Written from recorded refusals, measurements and
// the servers' sources, never from the output of `encode`. In the order in which OpenAI checks (measured 2026-08): the
// model, the keys, the items, the other fields, consistency, and last the capabilities of the model.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'
import { checksFor } from './rules-hosts.ts'
import { invalid, missing, wrongType, type ResponsesBody } from './rules-context.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  if (!isObject(body)) return [invalid('shape', 'We could not parse the JSON body of your request.')]
  const shape = shapeIssue(body)
  if (shape) return [shape]
  const read: ResponsesBody = {
    fields: body,
    provider: profile.provider ?? 'openai',
    model: profile.model ?? (typeof body.model === 'string' ? body.model : ''),
    items: itemsOf(body.input),
  }
  return checksFor(profile.provider).flatMap((check) => check(read))
}

/** What must be valid before anything else can be checked. A stored prompt may contain the model. */
function shapeIssue({ model, input, prompt, messages }: JsonObject): Issue | undefined {
  if (model === undefined && !isObject(prompt)) return missing('shape', 'model')
  if (model !== undefined && typeof model !== 'string') return wrongType('model', 'a string', model)
  if (messages !== undefined) {
    const text =
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the new parameter."
    return invalid('shape', text, null, 'unsupported_parameter')
  }
  if (input === undefined && !isObject(prompt)) return missing('R18', 'input')
  if (input === undefined || typeof input === 'string') return undefined
  if (!Array.isArray(input)) return wrongType('input', 'one of a string or array of input items', input)
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) return wrongType(`input[${index}]`, 'an input item', item)
  }
  return undefined
}

function itemsOf(input: Json | undefined): JsonObject[] {
  if (typeof input === 'string') return input === '' ? [] : [{ role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}
