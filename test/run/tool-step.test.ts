// The calls of one reply: what the log says of each, when it is reported, and what is not started any more.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Tool } from '../../src/core/tool.ts'
import type { RunSettings } from '../../src/run/conversation.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { calling, clock, collect, only, results, start } from './chatting.ts'

const model = 'anthropic/claude-opus-5'
const open: Tool = { ...clock, input: { type: 'object' }, run: () => 'noon' }
const times = (count: number) => calling(Array.from({ length: count }, (_, n) => ({ name: 'clock', input: { n } })))

/** A memory store with some methods replaced. */
function storeWith(replace: (inner: Store) => Partial<Store>): Store {
  const inner = openMemoryStore()
  return { ...inner, ...replace(inner) }
}

for (const [what, settings, expected] of [
  ['succeeds', { tools: [open] }, ['done', false]],
  ['succeeds and may be repeated', { tools: [{ ...open, repeatable: true }] }, ['done', true]],
  ['fails', { tools: [{ ...open, run: () => Promise.reject(new Error('no battery')) }] }, ['failed', false]],
  ['has an unknown name', { tools: [] }, ['failed', false]],
  [
    'is denied by a hook, of a tool that may be repeated',
    { tools: [{ ...open, repeatable: true }], hooks: { beforeTool: () => ({ deny: 'no' }) } },
    ['failed', false],
  ],
] as [string, Partial<RunSettings>, [string, boolean]][]) {
  test(`a call that ${what} is recorded as ${expected[0]}, and with whether it may be repeated`, async () => {
    const recorded: unknown[] = []
    const store = storeWith((inner) => ({
      async startTool(...given) {
        recorded.push(given[2].repeatable)
        return inner.startTool(...given)
      },
    }))
    const { chat } = await start({ model, ...settings }, { store, emulation: { reply: times(1) } })
    await chat.send('Go.').ended
    const [run] = await store.toolRuns('local', chat.id)
    assert.deepEqual([run?.outcome, ...recorded], expected)
  })
}

test('a call that is aborted while it runs is recorded with an unknown effect', async () => {
  const tool: Tool = { ...open, run: () => (run.abort(), new Promise(() => {})) }
  const { chat, synapse } = await start({ model, tools: [tool] }, { emulation: { reply: times(1) } })
  const run = chat.send('Go.')
  assert.equal((await run.ended).outcome, 'cancelled')
  const [recorded] = await synapse.store.toolRuns('local', chat.id)
  assert.equal(recorded?.outcome, 'unknown')
})

test('once a run is aborted, no further call of the reply is started', async () => {
  const started: unknown[] = []
  const tool: Tool = { ...open, run: (input) => (started.push(input), run.abort(), 'noon') }
  const { chat } = await start(
    { model, tools: [tool], guards: { concurrentTools: 1 } },
    { emulation: { reply: times(3) } },
  )
  const run = chat.send('Go.')
  assert.equal((await run.ended).outcome, 'cancelled')
  assert.deepEqual(started, [{ n: 0 }])
})

test('once a call could not be recorded, no further call of the reply is started or answered', async () => {
  for (const method of ['startTool', 'finishTool'] as const) {
    let ran = 0
    const store = storeWith(() => ({ [method]: () => Promise.reject(new Error('disk full')) }))
    const tool: Tool = { ...open, run: () => ++ran }
    const { chat } = await start(
      { model, tools: [tool], guards: { concurrentTools: 1, callsPerReply: 2 } },
      { store, emulation: { reply: times(3) } },
    )
    const { outcome, failure } = await chat.send('Go.').ended
    assert.deepEqual([outcome, failure?.message], ['failed', 'disk full'])
    assert.equal(ran, method === 'startTool' ? 0 : 1)
    assert.deepEqual(await results(chat), [])
  }
})

test('a result is reported as soon as it and those before it are stored, while other calls still run', async () => {
  const release = Promise.withResolvers<string>()
  const tool: Tool = { ...open, run: (input) => ((input as { n: number }).n === 2 ? release.promise : 'noon') }
  const { chat } = await start({ model, tools: [tool] }, { emulation: { reply: times(3) } })
  let reported = 0
  const run = chat.send('Go.')
  for await (const event of run) {
    if (event.type === 'message' && event.message.role === 'tool' && ++reported === 2) release.resolve('late')
  }
  assert.equal((await run.ended).outcome, 'done')
  assert.equal(reported, 3)
})

test('a stored result is reported even if the store has failed to acknowledge one before it', async () => {
  let first: string | undefined
  const store = storeWith((inner) => ({
    async finishTool(...given) {
      const finished = await inner.finishTool(...given)
      first ??= finished.entry.id
      if (first === finished.entry.id) throw new Error('the connection was lost')
      return finished
    },
  }))
  const { chat } = await start({ model, tools: [open] }, { store, emulation: { reply: times(2) } })
  const run = chat.send('Go.')
  const told = only(await collect(run), 'message').filter(({ message }) => message.role === 'tool')
  assert.equal((await run.ended).failure?.message, 'the connection was lost')
  assert.equal(told.length, 1)
  assert.notEqual(told[0]?.entryId, first)
})

test('calls beyond the limit are answered in messages of at most a thousand results, none of them empty', async () => {
  for (const [surplus, sizes] of [
    [1000, [1000]],
    [1001, [1000, 1]],
  ] as const) {
    const { chat } = await start(
      { model, tools: [open], guards: { callsPerReply: 1 } },
      { emulation: { reply: times(1 + surplus) } },
    )
    await chat.send('Go.').ended
    const messages = (await chat.history()).map(({ message }) => message).filter(({ role }) => role === 'tool')
    assert.deepEqual(
      messages.map(({ parts }) => parts.length),
      [1, ...sizes],
    )
  }
})

test('a result that is one byte too long is reported as cut', async () => {
  for (const [size, warnings] of [
    [100, 0],
    [101, 1],
  ] as const) {
    const tool: Tool = { ...open, run: () => 'x'.repeat(size) }
    const { chat } = await start(
      { model, tools: [tool], guards: { resultSize: 100 } },
      { emulation: { reply: times(1) } },
    )
    assert.equal(only(await collect(chat.send('Go.')), 'guard').length, warnings, `${size}`)
  }
})
