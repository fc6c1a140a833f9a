// The messages that an earlier request contained are not read again, and the request is the same as if they were.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { prepare } from '../../src/index.ts'
import { readContinuing } from '../../src/server/doors/known-messages.ts'
import type { ReadRequest } from '../../src/wires/read-request.ts'
import { readRequest } from '../../src/wires.ts'
import { loopHistory } from '../arbitrary.ts'
import fc, { runs } from '../property.ts'
import { tools } from '../targets.ts'
import { doors } from './any-history.ts'

const longHistory = fc
  .array(loopHistory, { minLength: 6, maxLength: 10 })
  .map((histories) => histories.flatMap((history) => [...history, user('And then?')]))

for (const { protocol, provider, model } of doors) {
  test(`a growing history of ${protocol} is read as a whole`, () => {
    fc.assert(
      fc.property(longHistory, (messages) => {
        const key = JSON.stringify(messages)
        const ends = messages.flatMap(({ role }, i) => (role === 'user' ? [i + 1] : []))
        for (const end of ends) {
          const body = prepare({
            provider,
            protocol,
            model,
            messages: messages.slice(0, end),
            tools,
            policy: 'full',
          }).body
          const read = (one: JsonObject) => readRequest(protocol, one, { provider })
          assert.deepEqual(readContinuing(key, { body: copyOf(body), size: 1 }, read), read(copyOf(body)))
        }
      }),
      { numRuns: runs(20) },
    )
  })
}

test('only what is new is read, and a history that was changed is read again', () => {
  const turns = Array.from({ length: 40 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` }))
  const added = [
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: 'Why?' },
  ]
  const sizes: number[] = []
  const ask = (list: object[]): ReadRequest => {
    const body = copyOf({ model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, ...list] } as JsonObject)
    return readContinuing('one', { body, size: 1 }, (one) => {
      sizes.push((one['messages'] as Json[]).length)
      return readRequest('openai-chat', one)
    })
  }
  const first = ask(turns.slice(0, 39))
  const second = ask([...turns.slice(0, 39), ...added])
  assert.deepEqual(sizes, [40, 3])
  assert.equal(second.system, 'Be brief.')
  assert.equal(second.messages.length, 41)
  assert.equal(second.messages[20], first.messages[20])
  ask([...turns.slice(0, 10), { role: 'user', content: 'changed' }, ...turns.slice(11, 39), ...added])
  assert.equal(sizes.at(-1), 42)
})

function user(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

/** As it is received. */
function copyOf(body: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject
}
