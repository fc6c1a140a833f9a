// `synapse/wires/gemini-interactions`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { geminiInteractions } from '../wires/gemini-interactions/index.ts'
import { geminiInteractionsService } from '../wires/gemini-interactions/service.ts'
import { geminiInteractionsFormat } from '../wires/gemini-interactions/transcript.ts'

const only: OneWire = oneWire({
  wire: geminiInteractions,
  transcript: geminiInteractionsFormat,
  service: geminiInteractionsService,
})

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
