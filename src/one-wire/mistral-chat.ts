// `synapse/wires/mistral-chat`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { mistralChat } from '../wires/mistral-chat/index.ts'
import { mistralChatService } from '../wires/mistral-chat/service.ts'
import { mistralChatFormat } from '../wires/mistral-chat/transcript.ts'

const only: OneWire = oneWire({ wire: mistralChat, transcript: mistralChatFormat, service: mistralChatService })

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
