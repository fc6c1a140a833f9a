// Calls of a reply that was cut off are never run: their arguments may be cut off as well, and a tool may pay or delete.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { StopReason } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { rows } from '../../src/providers/rows.ts'
import { nextStep } from '../../src/run/next-step.ts'
import { start } from './chatting.ts'

const cutOff: StopReason[] = ['length', 'refusal', 'interrupted', 'cancelled', 'failed']

for (const { id, wires, defaultModel } of rows.filter((row) => row.defaultModel !== undefined)) {
  for (const { protocol } of wires) {
    test(`${id} on ${protocol}: a call in a reply that ended at its length limit is not run`, async () => {
      let paid = 0
      const pay: Tool = { name: 'pay', input: { type: 'object' }, run: () => ++paid }
      const reply = () => ({
        parts: [
          { type: 'text' as const, text: 'I pay.' },
          { type: 'tool-call' as const, callId: '', name: 'pay', input: { amount: 5 } },
        ],
        stop: { reason: 'length' as const },
      })
      const { chat, emulator } = await start(
        { model: `${id}/${defaultModel}`, protocol, tools: [pay] },
        { emulation: { reply } },
      )
      await chat.send('Pay 5.').ended
      assert.equal(paid, 0)
      assert.equal(emulator.requests.length, 1)
    })
  }
}

for (const reason of cutOff) {
  test(`the calls of a reply that stopped by ${reason} are not the next step`, () => {
    const message = {
      role: 'assistant' as const,
      parts: [{ type: 'tool-call' as const, callId: 'c', name: 'pay', input: {} }],
      stop: { reason },
      origin: { protocol: 'openai-chat', provider: 'openai', model: 'gpt-5.6' },
    }
    const entry = { id: 'e', conversationId: 'c', parentId: null, depth: 0, createdAt: '', message }
    assert.equal(nextStep([entry as never]).kind, 'finish')
  })
}
