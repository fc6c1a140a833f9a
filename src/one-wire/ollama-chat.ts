// `synapse/wires/ollama-chat`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { ollamaChat } from '../wires/ollama-chat/index.ts'
import { ollamaChatService } from '../wires/ollama-chat/service.ts'
import { ollamaChatFormat } from '../wires/ollama-chat/transcript.ts'

const only: OneWire = oneWire({ wire: ollamaChat, transcript: ollamaChatFormat, service: ollamaChatService })

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
