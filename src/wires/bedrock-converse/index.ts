// The wire of Converse, Amazon Bedrock's chat API.

import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, split, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { documentFormats, imageFormats, protocolId } from './types.ts'

const images = Object.keys(imageFormats)

export const bedrockConverse: Wire = {
  id: protocolId,
  framing: { kind: 'aws-events' },
  // What the wire supports; what a model supports of it is in its rows.
  capabilities: {
    media: [...images, ...Object.keys(documentFormats)],
    mediaUrls: false,
    resultMedia: images,
    maxImages: 20,
    tools: true,
    sampling: true,
    answer: 'none',
    forcedTool: true,
    prefill: false,
    midSystem: false,
    efforts: [],
    cacheMarks: false,
  },
  encode,
  decoder,
  split,
  refuse,
  errorBody,
  whole,
  counting: {
    path: '/model/{model}/count-tokens',
    fields: ['messages', 'system', 'toolConfig', 'additionalModelRequestFields'],
    question: (counted) => ({ input: { converse: counted } }),
    answer: 'inputTokens',
  },
}
