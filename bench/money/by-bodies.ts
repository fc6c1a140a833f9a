// The same strategies billed with real request bodies: encoded by the protocol, read and accounted for by the emulator.
// Too slow for everything, but it shows that the short names of `bill.ts` cost what the bodies do.

import { createPromptCache } from '../../src/emulator/cache.ts'
import { anthropicMessages } from '../../src/wires/anthropic-messages/index.ts'
import { anthropicMessagesService } from '../../src/wires/anthropic-messages/service.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { openaiChatService } from '../../src/wires/openai-chat/service.ts'
import type { Target } from '../../src/wires/wire.ts'
import type { Sent } from './bill.ts'
import type { PriceClass } from './classes.ts'
import { model, provider, type Trajectory } from './trajectory.ts'

export function billBodies({ system }: Trajectory, sent: readonly Sent[], price: PriceClass): number {
  const isMarked = price.rules.kind === 'marks'
  const protocol = isMarked ? anthropicMessages : openaiChat
  const service = isMarked ? anthropicMessagesService : openaiChatService
  const target: Target = { provider, model, options: {}, quirks: {}, capabilities: protocol.capabilities }
  const cache = createPromptCache((text) => Buffer.byteLength(text) / 3.3)
  const instructions = 'x'.repeat(Math.round(system * 3.3))
  let cost = 0
  for (const { messages, places, cacheAfter, at } of sent) {
    const context = {
      system: [{ type: 'text' as const, text: instructions }],
      messages: [...messages],
      tools: [],
      cacheAfter: [...cacheAfter],
      places: [...places],
    }
    const { body } = protocol.encode(context, target)
    const { input, read, written } = cache.charge('bench', service.prompt(body), price.rules, at)
    const stored = Object.values(written).reduce((sum, count) => sum + count, 0)
    cost += read * price.read + stored * price.write + (input - read - stored)
  }
  return cost
}
