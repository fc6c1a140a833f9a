// `synapse/wires/gemini-generate`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { geminiGenerate } from '../wires/gemini-generate/index.ts'
import { geminiGenerateService } from '../wires/gemini-generate/service.ts'
import { geminiGenerateFormat } from '../wires/gemini-generate/transcript.ts'

const only: OneWire = oneWire({
  wire: geminiGenerate,
  transcript: geminiGenerateFormat,
  service: geminiGenerateService,
})

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
