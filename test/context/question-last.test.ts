// A system message right after the question, on every provider: the question stays the last thing said.

import assert from 'node:assert/strict'
import test from 'node:test'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { prepare, refuse } from '../../src/index.ts'
import { messagesOf } from '../body.ts'
import { reply, user } from '../histories.ts'
import { everyTarget, type TestTarget } from '../targets.ts'

const system: Message = { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }

/** Whether `[user, system]` is taken as it is. */
function takesSystemLast(target: TestTarget): boolean {
  const last = messagesOf(prepare({ ...target, messages: [user('x'), system] }).body).at(-1)
  return isObject(last) && (last.role === 'system' || last.role === 'developer')
}

for (const target of everyTarget) {
  test(`[user, system] asks ${target.provider}/${target.model} on ${target.protocol} the user's question`, () => {
    const messages = [user('Why?'), reply('So.'), user('What is it?'), system]
    const { body, notes } = prepare({ ...target, messages })
    const sent = JSON.stringify(messagesOf(body))
    assert.ok(!sent.includes('Continue.'), sent)
    assert.ok(sent.includes('Be brief.') || JSON.stringify(body).includes('Be brief.'))
    if (!takesSystemLast(target)) {
      assert.ok(sent.indexOf('Be brief.') < sent.indexOf('What is it?'), sent)
      assert.ok(notes.some((note) => note.what === 'position of a system message' && note.at === 'messages[3]'))
    }
    assert.deepEqual(refuse(target.protocol, body, target), [])

    const longer: Json[] = messagesOf(prepare({ ...target, messages: [...messages, reply('It.'), user('And?')] }).body)
    assert.deepEqual(longer.slice(0, messagesOf(body).length), messagesOf(body), 'a longer history keeps the prefix')
  })
}

test('two user messages are merged for a model that requires alternation', () => {
  const target = { provider: 'deepseek', protocol: 'openai-chat', model: 'deepseek-reasoner' }
  const { body } = prepare({ ...target, messages: [user('One.'), user('Two.')] })
  assert.equal(messagesOf(body).length, 1)
  assert.deepEqual(refuse('openai-chat', body, target), [])
})
