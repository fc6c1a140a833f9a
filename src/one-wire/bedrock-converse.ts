// `synapse/wires/bedrock-converse`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { bedrockConverse } from '../wires/bedrock-converse/index.ts'
import { bedrockConverseService } from '../wires/bedrock-converse/service.ts'
import { bedrockConverseFormat } from '../wires/bedrock-converse/transcript.ts'

const only: OneWire = oneWire({
  wire: bedrockConverse,
  transcript: bedrockConverseFormat,
  service: bedrockConverseService,
})

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
