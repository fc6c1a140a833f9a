// OpenAI's Responses API, also implemented by Azure, xAI, DeepSeek, OpenRouter, Ollama, vLLM, LM Studio and llama.cpp.

import { isObject } from '../../core/json.ts'
import { openaiErrorBody } from '../shared/openai-rules.ts'
import type { Compacting, Wire } from '../wire.ts'
import { decoder, readUsage } from './decode.ts'
import { split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { declareServerTool } from './options.ts'
import { protocolId } from './types.ts'

const compacting: Compacting = {
  kind: 'question',
  path: '/responses/compact',
  fields: ['model', 'input', 'instructions', 'prompt_cache_key'],
  read(answer) {
    const { output, usage } = isObject(answer) ? answer : {}
    const items = Array.isArray(output) ? output : []
    const isSealed = items.some((item) => isObject(item) && item.type === 'compaction' && item.encrypted_content)
    return { items: isSealed ? items : [], usage: readUsage(usage) }
  },
}

const media = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
  'application/json',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'text/*',
]

export const openaiResponses: Wire = {
  id: protocolId,
  framing: { kind: 'sse', named: true },
  capabilities: {
    media,
    mediaUrls: true,
    resultMedia: media,
    tools: true,
    maxTools: 128,
    sampling: true,
    forcedTool: true,
    prefill: true,
    midSystem: true,
    efforts: [],
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody: openaiErrorBody,
  whole,
  compacting,
  states: ['response-chain', 'conversation'],
  declareServerTool,
  counting: {
    path: '/responses/input_tokens',
    // According to the specification of 2026-08.
    fields: [
      'model',
      'input',
      'instructions',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'text',
      'reasoning',
      'previous_response_id',
      'conversation',
      'personality',
      'truncation',
    ],
    answer: 'input_tokens',
  },
}
