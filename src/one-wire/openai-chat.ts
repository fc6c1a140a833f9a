// `synapse/wires/openai-chat`: this wire alone, without the code of the others.

import { oneWire, type OneWire } from '../runtime/one-wire.ts'
import { openaiChat } from '../wires/openai-chat/index.ts'
import { openaiChatService } from '../wires/openai-chat/service.ts'
import { openaiChatFormat } from '../wires/openai-chat/transcript.ts'

const only: OneWire = oneWire({ wire: openaiChat, transcript: openaiChatFormat, service: openaiChatService })

export const { wire, prepare, refuse, replay, readTranscript, writeTranscript, readRequest }: OneWire = only
