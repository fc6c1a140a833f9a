// Which model is asked: by route, by fallback, and not while it fails. Every request is an exchange in the log.

import assert from 'node:assert/strict'
import test from 'node:test'
import { textOf } from '../../src/core/message.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import { createEmulator } from '../../src/testing.ts'
import type { RouteStep } from '../../src/settings/run.ts'
import { clock, collect, only, start } from './chatting.ts'

const big = 'anthropic/claude-opus-5'
const small = 'openai/gpt-5.6'

async function asked(synapse: Awaited<ReturnType<typeof start>>['synapse'], id: string) {
  const { items } = await synapse.store.exchanges('local', id)
  return items.toReversed().map(({ provider, outcome, attempts }) => `${provider} ${outcome} ${attempts}`)
}

test('a route names the model of each step', async () => {
  const steps: Omit<RouteStep, 'messages' | 'usage'>[] = []
  const { chat, synapse } = await start({
    model: big,
    route({ messages, usage, ...step }) {
      steps.push(step)
      assert.equal(messages.length > 1, usage.input > 0)
      return step.step > 1 ? small : undefined
    },
  })
  assert.equal((await chat.send('What time is it?').ended).outcome, 'done')
  assert.deepEqual(await asked(synapse, chat.id), ['anthropic done 1', 'openai done 1'])
  assert.deepEqual(
    steps.map(({ step, kind, model }) => [step, kind, model]),
    [
      [1, 'ask', big],
      [2, 'ask', big],
      [3, 'answer', big],
    ],
  )
})

test('the final answer is composed by another model from the tool results, and the rough one stays in the log', async () => {
  const { chat, synapse, emulator } = await start({
    model: 'mistral/mistral-medium-latest',
    route: { tools: big, answer: small },
  })
  const { reply, outcome } = await chat.send('What time is it?').ended
  assert.equal(outcome, 'done')
  assert.equal(reply?.origin.provider, 'openai')
  assert.match(textOf(reply?.parts ?? []), /12:00/)
  assert.deepEqual(await asked(synapse, chat.id), ['anthropic done 1', 'anthropic done 1', 'openai done 1'])
  assert.deepEqual(
    (await chat.history()).map(({ message }) =>
      message.role === 'assistant' ? message.origin.provider : message.role,
    ),
    ['user', 'anthropic', 'tool', 'openai'],
  )
  assert.equal((await chat.tree()).length, 5)
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /"tool_choice":"none"/)
})

test('the answer may be composed by another model of the same provider, but not twice by the same one', async () => {
  const other = 'anthropic/claude-sonnet-5'
  const first = await start({ model: big, route: { answer: other } })
  assert.equal((await first.chat.send('What time is it?').ended).reply?.origin.model, 'claude-sonnet-5')
  assert.equal((await asked(first.synapse, first.chat.id)).length, 3)
  const same = await start({ model: big, route: { answer: big } })
  await same.chat.send('What time is it?').ended
  assert.equal((await asked(same.synapse, same.chat.id)).length, 2)
})

test('an answer that needed no tool is final', async () => {
  const { chat, synapse } = await start({ model: big, route: { answer: small } })
  await chat.send('Hello').ended
  assert.deepEqual(await asked(synapse, chat.id), ['anthropic done 1'])
})

test('if the composing model fails, the existing answer is used', async () => {
  const { chat, emulator } = await start({ model: big, route: { answer: small } })
  emulator.order({}, 2)
  emulator.order({ status: 401 })
  const { outcome, reply } = await chat.send('What time is it?').ended
  assert.equal(outcome, 'done')
  assert.equal(reply?.origin.provider, 'anthropic')
  assert.equal((await chat.history()).at(-1)?.message.role, 'assistant')
})

test('an unavailable provider is followed by the next, and both are in the log', async () => {
  const { chat, emulator, synapse } = await start({ model: big, fallback: [small] })
  emulator.order({ status: 529 }, 3)
  const events = await collect(chat.send('Hello'))
  assert.deepEqual(
    only(events, 'fallback').map(({ from, to, failure }) => [from, to, failure.kind]),
    [[big, small, 'overloaded']],
  )
  assert.deepEqual(await asked(synapse, chat.id), ['anthropic failed 3', 'openai done 1'])
  assert.equal((await chat.history()).length, 2)
})

test('a fallback is for the kinds of failure that it names, or for those that another provider may not have', async () => {
  for (const [status, fallback, outcome] of [
    [401, [small], 'done'],
    [400, [small], 'failed'],
    [400, [{ model: small, on: ['invalid-request'] as const }], 'done'],
    [401, [{ model: small, on: ['overloaded'] as const }], 'failed'],
  ] as const) {
    const { chat, emulator } = await start({ model: big, fallback })
    emulator.order({ status })
    assert.equal((await chat.send('Hello').ended).outcome, outcome, `${status} ${JSON.stringify(fallback)}`)
  }
})

test('once there is output no other model continues it', async () => {
  const { chat, emulator, synapse } = await start({ model: small, fallback: [big] })
  emulator.order({ cutAt: 8 })
  const { outcome } = await chat.send('Hello').ended
  assert.equal(outcome, 'failed')
  assert.equal((await asked(synapse, chat.id)).length, 1)
})

test('when the whole chain fails, the last failure is reported', async () => {
  const { chat, emulator } = await start({ model: big, fallback: [small] })
  emulator.order({ status: 500 }, 6)
  const { outcome, failure } = await chat.send('Hello').ended
  assert.equal(outcome, 'failed')
  assert.equal(failure?.kind, 'overloaded')
  assert.equal(emulator.requests.length, 6)
})

test('a fallback without a key is skipped, and the original failure is reported', async () => {
  const emulator = createEmulator()
  const synapse = await openSynapse({
    env: { ANTHROPIC_API_KEY: 'one' },
    baseUrls: { anthropic: 'http://localhost/anthropic' },
    transport: { sleep: async () => {}, fetch: emulator.fetch },
  })
  const chat = await synapse.start({ model: big, fallback: [small, 'anthropic/claude-sonnet-5'] })
  emulator.order({ status: 529 }, 3)
  assert.equal((await chat.send('Hello').ended).reply?.origin.model, 'claude-sonnet-5')
  emulator.order({ status: 529 }, 6)
  const { failure } = await chat.send('Hello', { fallback: [small] }).ended
  assert.equal(failure?.kind, 'overloaded')
})

test('a provider that fails repeatedly is skipped for a while, then tried once', async () => {
  let now = 1_000_000
  const { chat, emulator, synapse } = await start({ model: big, fallback: [small], tools: [clock] }, { now: () => now })
  emulator.order({ status: 529 }, 3)
  await chat.send('one').ended
  await chat.send('two').ended
  assert.deepEqual(await asked(synapse, chat.id), ['anthropic failed 3', 'openai done 1', 'openai done 1'])
  now += 5001
  await chat.send('three').ended
  assert.equal((await asked(synapse, chat.id)).at(-1), 'anthropic done 1')
  // Its success counts: the next time is as short as the first.
  emulator.order({ status: 529 }, 3)
  await chat.send('four').ended
  now += 5001
  await chat.send('five').ended
  assert.deepEqual((await asked(synapse, chat.id)).slice(-3), [
    'anthropic failed 3',
    'openai done 1',
    'anthropic done 1',
  ])
})

test('a model that has failed is not its own fallback, and only failures that may pass count against a provider', async () => {
  const { chat, emulator, synapse } = await start({ model: big, fallback: [big, { model: big }, small] })
  emulator.order({ status: 529 }, 3)
  await chat.send('one').ended
  assert.deepEqual(await asked(synapse, chat.id), ['anthropic failed 3', 'openai done 1'])

  const refused = await start({ model: big, fallback: [small] })
  for (let i = 0; i < 4; i++) {
    refused.emulator.order({ status: 401 })
    await refused.chat.send('Hello').ended
  }
  const all = await asked(refused.synapse, refused.chat.id)
  assert.deepEqual(all, Array.from({ length: 4 }, () => ['anthropic failed 1', 'openai done 1']).flat())
})

test('a provider that fails repeatedly is asked all the same if there is no other, or none for that', async () => {
  for (const fallback of [[], [{ model: small, on: ['auth'] as const }]]) {
    const { chat, emulator, synapse } = await start({ model: big, fallback })
    emulator.order({ status: 529 }, 3)
    await chat.send('one').ended
    assert.equal((await chat.send('two').ended).outcome, 'done')
    assert.deepEqual(await asked(synapse, chat.id), ['anthropic failed 3', 'anthropic done 1'])
  }
})

test('a success ends a series of failures', async () => {
  const { chat, emulator, synapse } = await start({ model: big, fallback: [small] })
  for (let i = 0; i < 3; i++) {
    emulator.order({ status: 529 }, 2)
    await chat.send('Hello').ended
  }
  assert.deepEqual(await asked(synapse, chat.id), Array(3).fill('anthropic done 3'))
})

test('a wire that was chosen for a model is not used for its fallback', async () => {
  const { chat, emulator } = await start({ model: small, protocol: 'openai-chat', fallback: [big] })
  emulator.order({ status: 401 })
  assert.equal((await chat.send('Hello').ended).outcome, 'done')
  assert.deepEqual(
    emulator.requests.map(({ protocol }) => protocol),
    ['openai-chat', 'anthropic-messages'],
  )
})

test('a run that is cancelled between two attempts asks no other model', async () => {
  const { chat, emulator, synapse } = await start({ model: big, fallback: [small] })
  emulator.order({ status: 529 }, 3)
  const run = chat.send('Hello')
  const events = []
  for await (const event of run) {
    if (event.type === 'retry') run.abort()
    events.push(event)
  }
  assert.equal((await run.ended).outcome, 'cancelled')
  assert.deepEqual(only(events, 'fallback'), [])
  assert.equal((await asked(synapse, chat.id)).length, 1)
})
