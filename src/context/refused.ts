// Fields that a provider has put into its replies and does not accept back: they are left out of later requests.

import { isObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { withoutFields } from '../wires/shared/refused-fields.ts'
import type { Reader, RefusedField } from './decisions.ts'
import type { View } from './view.ts'

/** Changed once and cached, so that the encoding of the message can be cached. */
const changed = new WeakMap<Message, Map<string, Message>>()

export function withoutRefused(view: View, refused: readonly RefusedField[], { provider, model }: Reader): View {
  const fields = refused.filter((each) => each.provider === provider && each.model === model).map(({ field }) => field)
  if (fields.length === 0) return view
  const notes = [...view.notes]
  const messages = view.messages.map((message, index) => {
    const bare = withoutRefusedFields(message, provider, fields)
    const at = `messages[${view.places[index]}]`
    if (bare !== message) {
      notes.push({ kind: 'dropped', what: fields.join(', '), why: 'the provider has refused it', at, rule: 'refused' })
    }
    return bare
  })
  return { ...view, messages, notes }
}

/** Whether the message would send the field to the provider that has refused it. */
export function hasField(message: Message, { provider, field }: Pick<RefusedField, 'provider' | 'field'>): boolean {
  return withoutRefusedFields(message, provider, [field]) !== message
}

function withoutRefusedFields(message: Message, provider: string, fields: readonly string[]): Message {
  const key = fields.join(' ')
  const known = changed.get(message)?.get(key)
  if (known) return known
  const bare = removeFields(message, provider, new Set(fields))
  if (bare !== message) changed.set(message, (changed.get(message) ?? new Map<string, Message>()).set(key, bare))
  return bare
}

function removeFields(message: Message, provider: string, fields: ReadonlySet<string>): Message {
  if (message.role === 'assistant') {
    if (message.origin.provider !== provider) return message
    const native = withoutFields(message.native, fields)
    return native === message.native || !Array.isArray(native) ? message : { ...message, native }
  }
  if (message.role !== 'user') return message
  const parts = message.parts.map((part) => {
    const data = part.type === 'opaque' && isObject(part.data) ? withoutFields(part.data, fields) : undefined
    return part.type === 'opaque' && data !== undefined && data !== part.data ? { ...part, data } : part
  })
  return parts.every((part, i) => part === message.parts[i]) ? message : { ...message, parts }
}
