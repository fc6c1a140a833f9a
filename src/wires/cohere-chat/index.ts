// Cohere's chat, version 2: `POST /v2/chat`, stateless. The base URL has no version in it, because the list of models is
// at another one.

import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const cohereChat: Wire = {
  id: protocolId,
  framing: { kind: 'sse', named: true, done: '[DONE]' },
  capabilities: {
    media: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
    mediaUrls: true,
    resultMedia: [],
    tools: true,
    sampling: true,
    // A schema is documented for answers only.
    answerWithTools: 'none',
    forcedTool: true,
    prefill: false,
    midSystem: true,
    efforts: ['none', 'low', 'medium', 'high'],
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
}
