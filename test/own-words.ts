// A reply as its provider would have given it, with its own words in `native`.

import assert from 'node:assert/strict'
import { fold } from '../src/core/fold.ts'
import type { Reply } from '../src/core/message.ts'
import { noUsage } from '../src/core/usage.ts'
import { allWires } from '../src/wires/all.ts'
import type { TestTarget } from './targets.ts'

export function inOwnWords(reply: Reply, { provider, protocol: id, model }: TestTarget): Reply {
  const protocol = allWires().find((one) => one.id === id)
  assert.ok(protocol)
  const origin = { protocol: id, provider, model }
  const whole = protocol.whole(reply, { model, replyId: 'r1', createdAt: 0, usage: noUsage })
  const decoder = protocol.decoder(origin)
  return fold([...protocol.split(whole).flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin).reply
}
