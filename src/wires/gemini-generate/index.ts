// The wire of Google's generateContent and streamGenerateContent.

import { geminiCapabilities, geminiImages } from '../google/models.ts'
import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { declareServerTool, encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const geminiGenerate: Wire = {
  id: protocolId,
  framing: { kind: 'sse' },
  capabilities: {
    ...geminiCapabilities,
    media: [...geminiImages, 'audio/*', 'video/*', 'application/pdf', 'text/*'],
    // Gemini 3 supports some; next to the responses every model does.
    resultMedia: [],
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
  declareServerTool,
  counting: {
    path: '/models/{model}:countTokens',
    fields: [
      'contents',
      'systemInstruction',
      'tools',
      'toolConfig',
      'generationConfig',
      'safetySettings',
      'cachedContent',
    ],
    // With bare `contents`, tools and system would not be counted (checked 2026-11).
    question: (counted, model) => ({ generateContentRequest: { model: `models/${model}`, ...counted } }),
    answer: 'totalTokens',
  },
}
