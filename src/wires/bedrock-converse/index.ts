// Converse of Amazon Bedrock, as a Protocol.

import type { Wire } from '../wire.ts'
import { decoder } from './decode.ts'
import { errorBody, whole } from './emulate.ts'
import { encode } from './encode.ts'
import { refuse } from './rules.ts'
import { split } from './split.ts'
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
