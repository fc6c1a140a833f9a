// The view that a policy leaves of a history, for a model with a window that never gets in the way.

import { contextOf } from '../src/context/assemble.ts'
import type { Policy } from '../src/settings/policy.ts'
import type { Context } from '../src/core/context.ts'
import type { Message } from '../src/core/message.ts'
import { openaiChat } from '../src/wires/openai-chat/index.ts'

export function planned(history: readonly Message[], policy: Policy): Context {
  const target = {
    provider: 'openai',
    model: 'a-model',
    options: {},
    quirks: {},
    capabilities: { ...openaiChat.capabilities, contextWindow: 100_000_000 },
  }
  return contextOf({ history, policy, protocol: openaiChat, target }).context
}
