// What a conversation waits for, derived from its history, and what it is called.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Message, Part, StopReason, UserMessage } from '../../src/core/message.ts'
import { outcomeOf } from '../../src/run/log/close-interrupted.ts'
import { outcomeOfFailure, outcomeOfReply } from '../../src/run/loop.ts'
import { nextStep } from '../../src/run/next-step.ts'
import { setTitle } from '../../src/run/start-run.ts'
import { titleOf } from '../../src/core/title.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { calls, entriesOf, onePixel, reply, result, user } from '../histories.ts'

describe('what a conversation waits for', () => {
  const next = (...messages: Message[]) => nextStep(entriesOf(...messages))
  const stopped = (reason: 'paused' | 'length' | 'interrupted' | 'tool-calls', ...parts: Part[]) => ({
    ...reply(...parts),
    stop: { reason },
  })

  test('follows from the last reply and what came after it', () => {
    assert.deepEqual(next(), { kind: 'finish' })
    assert.deepEqual(next(user('q')), { kind: 'ask' })
    assert.deepEqual(next(result('a', '1')), { kind: 'ask' })
    const done = reply('a')
    assert.deepEqual(next(user('q'), done), { kind: 'finish', reply: done })
    assert.deepEqual(next(user('q'), done, user('r')), { kind: 'ask' })
    assert.deepEqual(next(user('q'), stopped('paused')), { kind: 'ask' })
    for (const reason of ['length', 'interrupted'] as const) {
      assert.equal(next(user('q'), stopped(reason, ...calls('a'))).kind, 'finish', 'calls that were cut off never run')
    }
  })

  test('is the calls without a result, in order, and then the answer', () => {
    const asked = reply(calls('a', 'b'))
    const open = (...after: Message[]) => {
      const step = next(user('q'), asked, ...after)
      return step.kind === 'tools' ? [step.replyEntry.id, ...step.calls.map(({ callId }) => callId)] : step.kind
    }
    assert.deepEqual(open(), ['e1', 'a', 'b'])
    assert.deepEqual(open(result('b', '1')), ['e1', 'a'])
    assert.deepEqual(open(result('a', '1'), result('b', '2')), 'ask')
    assert.deepEqual(open(user('never mind')), 'ask')
    const none = stopped('tool-calls')
    assert.deepEqual(next(user('q'), none), { kind: 'finish', reply: none })
    assert.equal(outcomeOf('length'), 'done')
    assert.deepEqual((['cancelled', 'interrupted', 'failed'] as const).map(outcomeOf), [
      'cancelled',
      'interrupted',
      'failed',
    ])
  })
})

test('a run ends as its last reply did, and a full disk is told apart from other failures', () => {
  const ends = (reason: StopReason) => outcomeOfReply({ ...reply('a'), stop: { reason } })
  assert.deepEqual((['done', 'length', 'refusal', 'tool-calls', 'paused'] as const).map(ends), [
    'done',
    'length',
    'refusal',
    'done',
    'done',
  ])
  assert.equal(outcomeOfReply(undefined), 'done')
  assert.equal(outcomeOfFailure({ kind: 'storage', code: 'full', message: '' }), 'storage-full')
  assert.equal(outcomeOfFailure({ kind: 'storage', message: '' }), 'failed')
  assert.equal(outcomeOfFailure({ kind: 'network', code: 'full', message: '' }), 'failed')
})

test('a conversation without a title gets that of its message, and one that has a title keeps it', async () => {
  const store = openMemoryStore()
  const named = async (message: UserMessage, title?: string) => {
    const { id } = await store.createConversation('local', title === undefined ? {} : { title })
    await setTitle(store, 'local', id, message, await store.conversation('local', id))
    return (await store.conversation('local', id))?.title
  }
  assert.equal(await named(user('Hello.')), 'Hello.')
  assert.equal(await named(user('Hello.'), 'Mine'), 'Mine')
  assert.equal((await named(user(onePixel))) ?? '', '')
  await assert.rejects(setTitle(store, 'local', 'x', user('Hello.'), undefined), {
    kind: 'not-found',
    message: 'There is no conversation x.',
  })
})

test('a conversation is called after the first line of its first message', () => {
  assert.equal(titleOf(user('\n a b\nc')), 'a b')
  assert.equal(titleOf(user('x'.repeat(81))), 'x'.repeat(80))
  assert.equal(titleOf(user(onePixel)), '')
})
