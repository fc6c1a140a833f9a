// `synapse/wires/anthropic-messages`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { anthropicMessages } from '../wires/anthropic-messages/index.ts'
import { anthropicMessagesService } from '../wires/anthropic-messages/service.ts'
import { anthropicMessagesFormat } from '../wires/anthropic-messages/transcript.ts'

const only: OneWire = oneWire({
  wire: anthropicMessages,
  transcript: anthropicMessagesFormat,
  service: anthropicMessagesService,
})

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
