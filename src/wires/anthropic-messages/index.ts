// The wire of Anthropic's Messages API.

import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { imageTypes, protocolId } from './types.ts'
import { declareServerTool } from './options.ts'

const media = [...imageTypes, 'application/pdf', 'text/plain']

export const anthropicMessages: Wire = {
  id: protocolId,
  framing: { kind: 'sse', named: true },
  // What every available model supports (checked 2026-11); older and newer ones differ by their rows.
  capabilities: {
    contextWindow: 200_000,
    maxOutput: 64_000,
    media,
    mediaUrls: true,
    resultMedia: media,
    maxImages: 100,
    tools: true,
    sampling: false,
    forcedTool: true,
    prefill: false,
    midSystem: false,
    efforts: ['none', 'low', 'medium', 'high'],
    thinking: ['adaptive', 'disabled'],
    cacheMarks: true,
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
  declareServerTool,
  // The answer is only one signed block (beta, checked 2026-11).
  compacting: { kind: 'reply', fields: { compaction: { type: 'summarize' } } },
  states: ['thread'],
  counting: {
    path: '/messages/count_tokens',
    // What @anthropic-ai/sdk 1.8.0 has for it (checked 2026-11).
    fields: [
      'model',
      'messages',
      'system',
      'tools',
      'tool_choice',
      'thinking',
      'output_config',
      'cache_control',
      'context_management',
      'mcp_servers',
      'speed',
    ],
    answer: 'input_tokens',
  },
}
