// The wire of Google's Interactions API.

import { geminiCapabilities, geminiImages } from '../google/models.ts'
import type { Wire } from '../wire.ts'
import { decoder, split } from './decode.ts'
import { errorBody, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'
import { declareServerTool } from './server-tools.ts'

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
