// Why a candidate ended. The wire has no reason for tool calls: they come with STOP.

import type { Failure } from '../../core/error.ts'
import type { StopReason } from '../../core/message.ts'

export function stopReason(finish: string): StopReason {
  return reasons[finish] ?? 'failed'
}

/** Checked 2026-11. Any other reason came without a usable answer. */
const reasons: Partial<Record<string, StopReason>> = {
  STOP: 'done',
  MAX_TOKENS: 'length',
  CONTINUATION: 'paused',
  SAFETY: 'refusal',
  RECITATION: 'refusal',
  LANGUAGE: 'refusal',
  BLOCKLIST: 'refusal',
  PROHIBITED_CONTENT: 'refusal',
  SPII: 'refusal',
  MODEL_ARMOR: 'refusal',
  IMAGE_SAFETY: 'refusal',
  IMAGE_PROHIBITED_CONTENT: 'refusal',
  IMAGE_RECITATION: 'refusal',
}

/** A malformed call, an invented tool: the same request often succeeds the next time. */
export function badFinish(finish: string, message: string | undefined): Failure {
  const detail = message === undefined ? '' : `: ${message}`
  return { kind: 'malformed-reply', message: `The model's answer ended with ${finish}${detail}`, code: finish }
}

export function finishFor(reason: StopReason, raw: string | undefined): string | undefined {
  if (raw !== undefined && (reasons[raw] === reason || (reason === 'tool-calls' && raw === 'STOP'))) return raw
  switch (reason) {
    case 'done':
    case 'tool-calls':
      return 'STOP'
    case 'length':
      return 'MAX_TOKENS'
    case 'paused':
      return 'CONTINUATION'
    case 'refusal':
      return 'SAFETY'
    case 'failed':
      return raw ?? 'OTHER'
    default:
      return undefined
  }
}
