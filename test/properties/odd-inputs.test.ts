// Arguments that no tool asked for: nested beyond all reason, or no object at all. They are sent as text, with a note,
// whoever wrote them.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message, Reply } from '../../src/core/message.ts'
import { prepare, refuse } from '../../src/index.ts'
import { messagesOf } from '../body.ts'
import { result, user } from '../histories.ts'
import { inOwnWords } from '../own-words.ts'
import { someTargets, tools } from '../targets.ts'

function deep(levels: number): Json {
  return JSON.parse(`${'{"a":'.repeat(levels)}"the core"${'}'.repeat(levels)}`) as Json
}

function calling(input: Json): Reply {
  return {
    role: 'assistant',
    parts: [{ type: 'tool-call', callId: 'c1', name: 'clock', input }],
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'm' },
    stop: { reason: 'tool-calls' },
  }
}

for (const target of someTargets) {
  const name = `${target.provider}/${target.model} on ${target.protocol}`

  test(`arguments nested 3,000 deep are sent to ${name} as text, with a note`, () => {
    for (const reply of [calling(deep(3_000)), inOwnWords(calling(deep(3_000)), target)]) {
      const messages: Message[] = [user('go'), reply, result('c1', '12:00', 'clock'), user('and?')]
      const { body, notes } = prepare({ ...target, messages, tools })
      assert.ok(JSON.stringify(body).includes('the core'))
      assert.ok(
        notes.some(({ what, at }) => /arguments/.test(what) && at === 'messages[1]'),
        JSON.stringify(notes),
      )
      assert.deepEqual(refuse(target.protocol, body, target), [])
    }
  })

  test(`arguments nested 100,000 deep do not stop a request to ${name}`, () => {
    const { body } = prepare({ ...target, messages: [user('go'), calling(deep(100_000)), result('c1', 'x')] })
    assert.deepEqual(refuse(target.protocol, body, target), [])
  })

  test(`arguments that are no object are sent to ${name} as text, with a note`, () => {
    for (const input of ['some words', ['some words'], [[], 'some words']]) {
      const { body, notes } = prepare({ ...target, messages: [user('go'), calling(input), result('c1', 'x')], tools })
      assert.ok(JSON.stringify(body).includes('some words'))
      assert.ok(
        notes.some((note) => /arguments/.test(note.what) && note.at === 'messages[1]'),
        JSON.stringify(notes),
      )
      assert.deepEqual(refuse(target.protocol, body, target), [])
    }
  })

  test(`a result inside a reply is not lost without a note on the way to ${name}`, () => {
    const inside = { type: 'tool-result' as const, callId: 'x', name: 'clock', output: [] }
    const reply: Reply = { ...calling({}), parts: [{ type: 'text', text: 'So.' }, inside], stop: { reason: 'done' } }
    const { notes } = prepare({ ...target, messages: [user('go'), reply, user('and?')] })
    assert.ok(notes.some((note) => note.kind === 'dropped' && /result/.test(note.what) && note.at === 'messages[1]'))
  })

  test(`an empty history with the option store makes a request that ${name} accepts`, () => {
    for (const messages of [[], [user('')], [user('Hi.')]]) {
      const { body } = prepare({ ...target, messages, options: { store: true } })
      assert.deepEqual(refuse(target.protocol, body, target), [])
      assert.ok(messagesOf(body).length > 0 || typeof body.input === 'string')
    }
  })
}
