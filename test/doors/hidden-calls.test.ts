// What a client gets of replies with calls that the server answers itself.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Entry } from '../../src/core/log.ts'
import type { ReplyEvent, RunEvent } from '../../src/core/event.ts'
import type { Message, Part, Reply, StopReason } from '../../src/core/message.ts'
import {
  isOursBeside,
  lastShown,
  shownReply,
  withoutAnswered,
  withoutHiddenCalls,
} from '../../src/server/doors/hidden-calls.ts'

const recall: Part = { type: 'tool-call', callId: 'a', name: 'recall', input: { id: '2' } }
const read: Part = { type: 'tool-call', callId: 'b', name: 'read', input: {} }
const origin = { protocol: 'openai-chat', provider: 'openai', model: 'gpt-5.6' }
const text: Part = { type: 'text', text: 'Found.' }

function reply(parts: Part[], reason: StopReason): Reply {
  return { role: 'assistant', parts, native: [{ role: 'assistant' }], origin, stop: { reason } }
}

test('a reply says why it stopped as the client has it', () => {
  const looked = reply([recall], 'tool-calls')
  assert.equal(shownReply([reply([recall, read], 'tool-calls')])?.stop.reason, 'tool-calls', 'one call is left')
  assert.equal(shownReply([looked, reply([text], 'length')])?.stop.reason, 'length')
  assert.equal(shownReply([looked])?.stop.reason, 'done', 'the model did not go on')
})

test('several replies to one request are one, without what their provider sent', () => {
  const whole = shownReply([reply([text, recall], 'tool-calls'), reply([text, read], 'tool-calls')])
  assert.deepEqual([whole?.parts, whole?.native], [[text, text, read], []])
  const only = reply([text], 'done')
  assert.equal(shownReply([only]), only)
  assert.equal(shownReply([]), undefined)
})

test('a history loses the calls that the server answered, and nothing else', () => {
  const results = (...ids: string[]): Message => ({
    role: 'tool',
    parts: ids.map((callId) => ({
      type: 'tool-result' as const,
      callId,
      name: callId === 'a' ? 'recall' : 'read',
      output: [],
      ...(callId === 'a' && { value: 'raw' }),
    })),
  })
  const path = [reply([text, recall, read], 'tool-calls'), results('a', 'b'), results('a')].map(
    (message, i) => ({ id: String(i), message }) as Entry,
  )
  const shown = withoutAnswered(path)
  assert.deepEqual(
    shown.map(({ message }) => message.parts.map((part) => ('callId' in part ? part.callId : part.type))),
    [['text', 'b'], ['b']],
  )
  assert.ok(shown[0]?.message.role === 'assistant' && shown[0].message.native.length === 0)
  const ofClient: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', callId: 'a', name: 'recall', output: [] }],
  }
  for (const message of [results('b'), ofClient]) {
    const other = [{ id: '0', message } as Entry]
    assert.deepEqual(withoutAnswered(other), other)
  }
})

/** The events of a reply with these parts. */
function eventsOf(parts: Part[], reason: StopReason): ReplyEvent[] {
  const ofParts = parts.flatMap((part, index): ReplyEvent[] => [
    { type: 'part-start', index, part },
    { type: 'part-end', index, part },
  ])
  return [{ type: 'reply-start', origin }, ...ofParts, { type: 'reply-end', origin, native: [], stop: { reason } }]
}

/** What a client gets of the replies of a run, in a few words. */
function shownOf(replies: readonly ReplyEvent[][], clientTools: readonly string[] = []): string[] {
  const shown: string[] = []
  const pass = (event: RunEvent) => {
    if (event.type !== 'reply-event') return
    const { event: inner } = event
    if (inner.type === 'part-start') shown.push(inner.part.type === 'tool-call' ? inner.part.name : inner.part.type)
    else if (inner.type === 'reply-end') shown.push(`end: ${inner.stop.reason}`)
    else if (inner.type === 'reply-start') shown.push('start')
  }
  const { take, end } = withoutHiddenCalls(isOursBeside(clientTools.map((name) => ({ name }))), pass)
  for (const event of replies.flat()) take({ type: 'reply-event', event } as RunEvent)
  end()
  return shown
}

test('a client gets one reply of several, without the calls that are answered in between', () => {
  const looked = eventsOf([recall], 'tool-calls')
  const answered = eventsOf([text], 'done')
  assert.deepEqual(shownOf([answered]), ['start', 'text', 'end: done'])
  assert.deepEqual(shownOf([looked, answered]), ['start', 'text', 'end: done'])
  const begun = eventsOf([text, recall], 'tool-calls')
  assert.deepEqual(shownOf([begun, answered]), ['start', 'text', 'text', 'end: done'])
  assert.deepEqual(shownOf([looked, looked, eventsOf([read], 'tool-calls')]), ['start', 'read', 'end: tool-calls'])
  const both = eventsOf([text, recall, read], 'tool-calls')
  assert.deepEqual(shownOf([both]), ['start', 'text', 'read', 'end: tool-calls'], 'the client runs its own call')
  assert.deepEqual(shownOf([looked]), ['start', 'end: done'], 'the model did not go on')
  assert.deepEqual(shownOf([looked], ['recall']), ['start', 'recall', 'end: tool-calls'], 'a tool of the client')
})

test('the reply at the end of a path is what the client has of it', () => {
  const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
  const recalled: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', callId: 'a', name: 'recall', output: [], value: 'raw' }],
  }
  const wordsOf = (...messages: Message[]) => {
    const path = messages.map((message, i) => ({ id: String(i), message }) as Entry)
    const { before, reply: shown } = lastShown(path)
    return [before.map(({ id }) => id).join(), shown?.parts.map(({ type }) => type).join()]
  }
  const [looked, answered] = [reply([text, recall], 'tool-calls'), reply([text], 'done')]
  assert.deepEqual(wordsOf(user, answered), ['0', 'text'])
  assert.deepEqual(wordsOf(user, looked, recalled, answered), ['0', 'text,text'])
  assert.deepEqual(wordsOf(user, looked, recalled, looked, recalled, answered), ['0', 'text,text,text'])
  assert.deepEqual(wordsOf(user, answered, answered), ['0,1', 'text'], 'two replies in a row are two')
  assert.deepEqual(wordsOf(answered), ['', 'text'])
  assert.deepEqual(wordsOf(answered, user), ['0,1', undefined])
})
