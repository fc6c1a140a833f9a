// An event as it is stored and served. A long result of a tool is in its entry: here it has only what the model is shown
// of it, or every run with one would store and send it three times.

import type { RunEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { ToolResultPart } from '../../core/message.ts'

/** Characters of a result that is complete in its events. */
const mostValue = 64 * 1024

export function servedEvent(event: RunEvent): RunEvent {
  if (event.type === 'tool-end') return { ...event, result: withoutLongValue(event.result) }
  if (event.type !== 'message' || event.message.role !== 'tool') return event
  return { ...event, message: { ...event.message, parts: event.message.parts.map(withoutLongValue) } }
}

function withoutLongValue(part: ToolResultPart): ToolResultPart {
  if (part.value === undefined || sizeUpTo(part.value, mostValue) < mostValue) return part
  const { value: _, ...rest } = part
  return rest
}

/** About how many characters it has as JSON; not counted further than `limit`. */
function sizeUpTo(value: Json, limit: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 4
  let size = 2
  for (const [name, child] of Object.entries(value)) {
    size += name.length + sizeUpTo(child ?? null, limit - size)
    if (size >= limit) break
  }
  return size
}
