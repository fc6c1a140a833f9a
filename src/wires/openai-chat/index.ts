// OpenAI Chat Completions, and the many compatible servers. The values here are for OpenAI itself; provider rows and
// models refine them.

import { openaiErrorBody } from '../shared/openai-rules.ts'
import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const openaiChat: Wire = {
  id: protocolId,
  framing: { kind: 'sse', done: '[DONE]' },
  capabilities: {
    media: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'],
    mediaUrls: true,
    resultMedia: [],
    tools: true,
    maxTools: 128,
    sampling: true,
    topK: false,
    forcedTool: true,
    prefill: true,
    midSystem: true,
    efforts: [],
    systemRole: 'system',
    outputField: 'max_completion_tokens',
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody: openaiErrorBody,
  whole,
}
