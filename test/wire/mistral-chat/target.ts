// The usual target and a short way to a body, for the tests of this wire.

import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'
import { encoding, type Encoding } from '../encoding.ts'

export const { target, encoded, wireMessages, own }: Encoding = encoding(
  mistralChat,
  'mistral',
  'mistral-medium-latest',
)
