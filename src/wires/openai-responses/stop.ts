// Why a reply ended. The wire has no reason for tool calls: they are a completed response with a call in it.

import type { JsonObject } from '../../core/json.ts'
import type { Part, Stop, StopReason } from '../../core/message.ts'
import { objectIn, stringIn } from './types.ts'

export function readStop(response: JsonObject, parts: readonly Part[]): Stop {
  const status = stringIn(response, 'status') ?? 'completed'
  if (status === 'incomplete') {
    const raw = stringIn(objectIn(response, 'incomplete_details') ?? {}, 'reason') ?? status
    return { reason: incompleteReasons.get(raw) ?? 'interrupted', raw }
  }
  if (status === 'cancelled') return { reason: 'cancelled', raw: status }
  if (status === 'queued' || status === 'in_progress') return { reason: 'paused', raw: status }
  if (parts.some((part) => part.type === 'tool-call')) return { reason: 'tool-calls', raw: status }
  if (parts.some((part) => part.type === 'refusal')) return { reason: 'refusal', raw: status }
  return { reason: 'done', raw: status }
}

const incompleteReasons = new Map<string, StopReason>([
  ['max_output_tokens', 'length'],
  ['max_messages', 'length'],
  ['length', 'length'],
  ['content_filter', 'refusal'],
  ['steered', 'paused'],
])
