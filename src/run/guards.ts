// The limits on tools that always apply.

import type { Guards } from '../settings/run.ts'

export interface ToolLimits {
  callsPerReply: number
  concurrentTools: number
  resultSize: number
}

export function toolLimits({ callsPerReply, concurrentTools, resultSize }: Guards = {}): ToolLimits {
  return {
    callsPerReply: callsPerReply ?? 128,
    concurrentTools: Math.max(1, concurrentTools ?? 16),
    resultSize: resultSize ?? 16 * 1024 * 1024,
  }
}
