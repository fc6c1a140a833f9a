// What a provider would refuse in a body that is to be sent unchanged. Clients send their whole history with every
// request. If the beginning of the list of messages had no issue with the request before, only its end is checked. An
// issue that takes both to see is found by the provider, and then the request is written from the log.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import type { Issue } from '../../wires/wire.ts'
import { beginningOf } from './known-bodies.ts'

/** The target of each list without issues. */
const accepted = new WeakMap<readonly Json[], string>()

/** `field`: the one that lists the messages. */
export function issuesOf(
  body: JsonObject,
  field: string,
  { protocol, provider, model }: Pick<Endpoint, 'protocol' | 'provider' | 'model'>,
): Issue[] {
  const list = body[field]
  if (!Array.isArray(list)) return issuesIn(body)
  const target = `${protocol.id} ${provider.id}/${model}`
  const before = beginningOf(list)
  const end = before && accepted.get(before) === target ? endAfter(list, before.length) : undefined
  // What seems wrong at the end may be right after the beginning.
  const issues = end && issuesIn({ ...body, [field]: end }).length === 0 ? [] : issuesIn(body)
  if (issues.length === 0) accepted.set(list, target)
  return issues

  function issuesIn(whole: JsonObject): Issue[] {
    const all = protocol.refuse(whole, { provider: provider.id, model })
    // A new field of the provider is refused by older rules.
    return all.filter(({ message }) => !isAboutUnknown(message))
  }
}

/** The first question, and what follows from the last turn of the model in the beginning on: with results come their calls. */
function endAfter(list: readonly Json[], length: number): Json[] | undefined {
  const question = list.findIndex((item) => isObject(item) && item.role === 'user')
  let start = length - 1
  while (start > question && !(isOfModel(list[start]) && !isOfModel(list[start - 1]))) start--
  return start > question ? [...list.slice(0, question + 1), ...list.slice(start)] : undefined
}

/** Results are messages of the user, of a tool, or items of their own. */
function isOfModel(item: Json | undefined): boolean {
  if (!isObject(item)) return false
  if (typeof item.role === 'string') return item.role === 'assistant' || item.role === 'model'
  return typeof item.type === 'string' && !item.type.endsWith('_output')
}

function isAboutUnknown(message: string): boolean {
  return /unknown (?:parameter|name)|unrecognized|extra inputs|not permitted/i.test(message)
}
