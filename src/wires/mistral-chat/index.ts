// Mistral's chat completions: `POST /v1/chat/completions`, stateless.

import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const mistralChat: Wire = {
  id: protocolId,
  framing: { kind: 'sse', done: '[DONE]' },
  capabilities: {
    media: ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf'],
    mediaUrls: true,
    resultMedia: [],
    tools: true,
    maxTools: 128,
    sampling: true,
    forcedTool: true,
    prefill: false,
    midSystem: false,
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    outputField: 'max_tokens',
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
}
