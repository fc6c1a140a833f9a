// One tool: its value, its failure, its time, and results from elsewhere.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Json } from '../../src/core/json.ts'
import type { Tool } from '../../src/core/tool.ts'
import { externalTools } from '../../src/run/tools/external-tools.ts'
import { runTool } from '../../src/run/tools/run-tool.ts'
import { call } from '../histories.ts'

describe('a tool that runs', () => {
  const setting = (change: object = {}) => ({
    conversationId: 'c',
    owner: 'o',
    context: undefined,
    signal: new AbortController().signal,
    progress: () => {},
    ...change,
  })
  const asked = call('a', 'look')
  const run = async (work: (about: { emit: (value: Json) => void; signal: AbortSignal }) => unknown, change = {}) => {
    const shown: Json[] = []
    const ready = { run: work, asks: () => false }
    const part = await runTool(asked, ready, setting({ progress: (value: Json) => shown.push(value), ...change }))
    const [first] = part.output
    return { text: first?.type === 'text' ? first.text : '', failed: part.failed, shown, part }
  }

  test('gives its value, the last value of a stream, or why it failed', async () => {
    assert.deepEqual((await run(() => 'x')).text, 'x')
    async function* two() {
      yield 1
      yield 2
    }
    async function* ended() {
      yield 1
      return 'end'
    }
    const streamed = await run(() => two())
    assert.deepEqual([streamed.text, streamed.shown], ['2', [1, 2]])
    assert.deepEqual([(await run(() => ended())).text, (await run(() => ended())).shown], ['end', [1]])
    const thrown = await run(() => Promise.reject(new Error('broken')))
    assert.deepEqual([thrown.text, thrown.failed], ['look failed: broken', true])
    assert.equal((await run(() => Promise.reject('text'))).text, 'look failed: text')
    assert.equal((await run(() => undefined)).text, 'look returned nothing.')
    const { part } = await run(() => 'x')
    assert.deepEqual([part.callId, part.name, part.type], ['a', 'look', 'tool-result'])
    assert.ok((part.startedAt ?? '') <= (part.endedAt ?? '') && part.startedAt)
  })

  test('shows what can be written as JSON, and nothing once it was cancelled', async () => {
    const stop = new AbortController()
    const shown: Json[] = []
    const progress = (value: Json) => shown.push(value)
    const ended = await run(
      async ({ emit }) => {
        emit({ a: undefined, b: 1 })
        emit((() => {}) as never)
        emit(10n as never)
        stop.abort()
        emit('late')
        return 'x'
      },
      { signal: stop.signal, progress },
    )
    assert.deepEqual(shown, [{ b: 1 }])
    assert.match(ended.text, /was cancelled; whether it had any effect is not known/)
    const before = await run(() => 'x', { signal: AbortSignal.abort() })
    assert.match(before.text, /was cancelled/)
  })

  test('is stopped after its time, and told so', async () => {
    let aborted = false
    const late = await run(
      ({ signal }) => new Promise(() => signal.addEventListener('abort', () => (aborted = true))),
      { timeoutMs: 1 },
    )
    assert.deepEqual([late.text, late.failed, aborted], ['look returned no result within 1 ms.', true, true])
    assert.equal((await run(() => 'x', { timeoutMs: Infinity })).text, 'x')
  })

  test('is never stopped by a limit that is longer than any timer', async () => {
    const slow = () => new Promise((resolve) => setTimeout(() => resolve('x'), 30))
    for (const timeoutMs of [2 ** 31 - 1, 2 ** 31, Infinity]) {
      assert.equal((await run(slow, { timeoutMs })).text, 'x', String(timeoutMs))
    }
  })

  test('elsewhere has its result whenever that is submitted, before or after it is awaited', async () => {
    const { runnable, submit } = externalTools()
    const own: Tool = { name: 'own', input: {}, run: () => 1 }
    const [same, waited] = runnable([own, { name: 'ext', input: {} }])
    assert.ok(waited)
    assert.deepEqual([same === own, waited.timeoutMs], [true, Infinity])
    submit({ callId: 'a', result: 1 })
    assert.equal(await waited.run({}, { callId: 'a' } as never), 1)
    const later = waited.run({}, { callId: 'b' } as never)
    submit({ callId: 'b', result: { why: 'no' }, failed: true })
    await assert.rejects(async () => later, /\{"why":"no"\}/)
    submit({ callId: 'c', result: 'no', failed: true })
    await setImmediate()
    await assert.rejects(async () => waited.run({}, { callId: 'c' } as never), /^Error: no$/)
  })
})
