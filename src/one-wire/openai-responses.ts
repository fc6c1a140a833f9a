// `synapse/wires/openai-responses`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { openaiResponses } from '../wires/openai-responses/index.ts'
import { openaiResponsesService } from '../wires/openai-responses/service.ts'
import { openaiResponsesFormat } from '../wires/openai-responses/transcript.ts'

const only: OneWire = oneWire({
  wire: openaiResponses,
  transcript: openaiResponsesFormat,
  service: openaiResponsesService,
})

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
