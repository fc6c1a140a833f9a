// What the real hosts refuse in a body, with their error messages. Written from recorded refusals and from the hosts'
// sources, never from the output of `encode`; a host differs from OpenAI only where it is known to
// (docs/protocols/openai-chat.md).

import { isObject, type Json } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'
import { hostChecks } from './rules-hosts.ts'
import { invalid, type ChatBody } from './rules-context.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  const read = readBody(body)
  if ('issue' in read) return [read.issue]
  const model = profile.model ?? read.body.model
  return hostChecks(profile.provider).flatMap((check) => check({ ...read.body, model }))
}

function readBody(body: Json): { body: ChatBody } | { issue: Issue } {
  if (!isObject(body)) return { issue: invalid('shape', 'We could not parse the JSON body of your request.') }
  const { model, messages } = body
  if (typeof model !== 'string' || model === '')
    return { issue: invalid('shape', 'you must provide a model parameter') }
  if (messages === undefined) {
    const message = "Missing required parameter: 'messages'."
    return { issue: invalid('shape', message, 'messages', 'missing_required_parameter') }
  }
  if (!Array.isArray(messages)) {
    const message = `Invalid type for 'messages': expected an array of objects, but got ${nameOf(messages)} instead.`
    return { issue: invalid('shape', message, 'messages', 'invalid_type') }
  }
  const list = []
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) {
      const text = `Invalid type for 'messages[${i}]': expected an object, but got ${nameOf(message)} instead.`
      return { issue: invalid('shape', text, `messages[${i}]`, 'invalid_type') }
    }
    list.push(message)
  }
  return { body: { fields: body, model, messages: list } }
}

function nameOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
