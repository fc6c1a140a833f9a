// The wire of Google's Interactions API.

import { geminiCapabilities, geminiImages } from '../google/models.ts'
import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { declareServerTool, encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const geminiInteractions: Wire = {
  id: protocolId,
  framing: { kind: 'sse', named: true, done: '[DONE]' },
  capabilities: {
    ...geminiCapabilities,
    media: [...geminiImages, 'audio/*', 'video/*', 'application/pdf', 'text/csv'],
    resultMedia: [...geminiImages],
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
  states: ['interaction'],
  declareServerTool,
}
