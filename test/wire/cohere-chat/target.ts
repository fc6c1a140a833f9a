// The usual target and a short way to a body, for the tests of this wire.

import { cohereChat } from '../../../src/wires/cohere-chat/index.ts'
import { encoding, type Encoding } from '../encoding.ts'

export const { target, encoded, wireMessages, own }: Encoding = encoding(cohereChat, 'cohere', 'command-a-03-2025')
