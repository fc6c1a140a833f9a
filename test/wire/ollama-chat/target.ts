// The usual target and a short way to a body, for the tests of this wire.

import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'
import { encoding, type Encoding } from '../encoding.ts'

export const { target, encoded, wireMessages, own }: Encoding = encoding(ollamaChat, 'ollama', 'qwen3:8b')
