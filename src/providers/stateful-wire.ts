// A wire at a host with its own kind of stored conversations: the request field that names the state, and the position
// of its id in a reply, are in the provider's row (`state`). For wires whose own API has no such state.

import type { Context } from '../core/context.ts'
import type { ReplyEvent } from '../core/event.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Encoded, Target, Wire } from '../wires/wire.ts'
import type { StateStrategy } from './provider.ts'

export function statefulWire(wire: Wire, strategy: StateStrategy): Wire {
  if (wire.states?.includes(strategy.kind)) return wire
  return {
    ...wire,
    encode(context, target) {
      const { state, ...rest } = context
      return state ? encodeNew(wire, strategy, rest, target, state) : wire.encode(context, target)
    },
    decoder(origin, options) {
      const inner = wire.decoder(origin, options)
      let id: string | undefined
      const named = (events: ReplyEvent[]): ReplyEvent[] =>
        id === undefined ? events : events.map((event) => withId(event, id ?? ''))
      return {
        get done() {
          return inner.done
        },
        push(chunk) {
          const found = valueAt(chunk, strategy.idPath)
          if (typeof found === 'string') id = found
          return named(inner.push(chunk))
        },
        end: (cause) => named(inner.end(cause)),
      }
    },
  }
}

/** The whole request is encoded, so that ids of calls stay the same, and what the provider has stored is removed. */
function encodeNew(
  wire: Wire,
  { field, resend }: StateStrategy,
  context: Context,
  target: Target,
  { id, covers }: { id: string; covers: number },
): Encoded {
  const whole = wire.encode(context, target)
  const held = wire.encode({ ...context, messages: context.messages.slice(0, covers), cacheAfter: [] }, target)
  const { tools, ...others } = whole.body
  const list = Object.keys(others).find((key) => Array.isArray(others[key]))
  if (list === undefined) return whole
  const [all, before] = [others[list] as Json[], held.body[list] as Json[]]
  // A wire may add something after a prefix that ends with the assistant: only the identical part is stored there.
  const known = all.findIndex((element, i) => JSON.stringify(element) !== JSON.stringify(before[i]))
  const opening = resend.includes('system')
    ? all.slice(
        0,
        all.findIndex((element) => !isSystem(element)),
      )
    : []
  const body = {
    ...others,
    ...(tools !== undefined && resend.includes('tools') && { tools }),
    [list]: [...opening, ...all.slice(known < 0 ? all.length : known)],
  }
  return { ...whole, body: withValueAt(body, field.split('.'), id) }
}

function isSystem(element: Json): boolean {
  return isObject(element) && (element.role === 'system' || element.role === 'developer')
}

function withId(event: ReplyEvent, replyId: string): ReplyEvent {
  return event.type === 'reply-start' || event.type === 'reply-end'
    ? { ...event, origin: { ...event.origin, replyId } }
    : event
}

function valueAt(value: Json, path: string): Json | undefined {
  let found: Json | undefined = value
  for (const key of path.split('.')) found = isObject(found) ? found[key] : undefined
  return found
}

function withValueAt(body: JsonObject, [key = '', ...rest]: string[], value: string): JsonObject {
  const inner = body[key]
  return { ...body, [key]: rest.length === 0 ? value : withValueAt(isObject(inner) ? inner : {}, rest, value) }
}
