// The wire of Google's generateContent and streamGenerateContent.

import type { Wire } from '../wire.ts'
import { decoder, split } from './decode.ts'
import { errorBody, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { protocolId } from './types.ts'

export const geminiGenerate: Wire = {
  id: protocolId,
  framing: { kind: 'sse' },
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
      'text/*',
    ],
    mediaUrls: true,
    // Gemini 3 takes some; behind the responses every model does.
    resultMedia: [],
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
    // Beside bare `contents` nothing would be counted of tools and system (checked 2026-11).
    question: (counted, model) => ({ generateContentRequest: { model: `models/${model}`, ...counted } }),
    answer: 'totalTokens',
  },
}
