// `synapse/wires/cohere-chat`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { cohereChat } from '../wires/cohere-chat/index.ts'
import { cohereChatService } from '../wires/cohere-chat/service.ts'
import { cohereChatFormat } from '../wires/cohere-chat/transcript.ts'

const only: OneWire = oneWire({ wire: cohereChat, transcript: cohereChatFormat, service: cohereChatService })

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
