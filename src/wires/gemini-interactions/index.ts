// The wire of Google's Interactions API.

import type { Wire } from '../wire.ts'
import { decoder, split } from './decode.ts'
import { errorBody, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const geminiInteractions: Wire = {
  id: protocolId,
  framing: { kind: 'sse', named: true, done: '[DONE]' },
  capabilities: {
    contextWindow: 1_048_576,
    maxOutput: 65_536,
    media: [
      'image/png',
      'image/jpeg',
      'image/webp',
      'image/heic',
      'image/heif',
      'audio/*',
      'video/*',
      'application/pdf',
      'text/csv',
    ],
    mediaUrls: true,
    resultMedia: ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'],
    tools: true,
    maxTools: 512,
    sampling: true,
    forcedTool: true,
    prefill: false,
    midSystem: false,
    efforts: ['minimal', 'low', 'medium', 'high'],
    signedCalls: true,
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
}
