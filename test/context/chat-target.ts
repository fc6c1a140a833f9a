// The target of requests in tests about the context: plain chat completions.

import { openaiChat } from '../../src/wires/openai-chat/index.ts'

export const chatTarget = {
  provider: 'openai',
  model: 'gpt-4o',
  options: {},
  quirks: {},
  capabilities: openaiChat.capabilities,
}
