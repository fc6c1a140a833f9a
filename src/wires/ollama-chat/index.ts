// Ollama's own chat: `POST /api/chat`, stateless, newline-delimited JSON. The base URL has no suffix
// (`http://localhost:11434`), so the path is the whole path.

import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const ollamaChat: Wire = {
  id: protocolId,
  framing: { kind: 'ndjson' },
  capabilities: {
    media: ['image/png', 'image/jpeg', 'image/webp'],
    mediaUrls: false,
    resultMedia: ['image/png', 'image/jpeg', 'image/webp'],
    tools: true,
    sampling: true,
    forcedTool: false,
    prefill: true,
    midSystem: true,
    // On and off: every thinking model supports that. Models with levels have them in their row.
    efforts: ['none', 'medium'],
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
}
