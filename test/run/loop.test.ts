// The loop: providers switched in the middle, parallel tools, and steering.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { RunEvent } from '../../src/core/event.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import { textOf, type Reply } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { openSynapse } from '../../src/runtime/open.ts'
import type { Run, RunSettings } from '../../src/run/conversation.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { createEmulator, type EmulatorOptions } from '../../src/testing.ts'

const clock: Tool = {
  name: 'clock',
  description: 'Tells the current time.',
  input: { type: 'object', properties: {} },
  run: () => ({ time: '12:00', zone: 'UTC' }),
}

const models = [
  'openai/gpt-5.6',
  'anthropic/claude-opus-5',
  'google/gemini-3.8-flash',
  'mistral/mistral-medium-latest',
  'deepseek/deepseek-v4-flash',
  'ollama/llama3.3',
]

async function start(settings: Partial<RunSettings> & { model: string }, emulation?: EmulatorOptions) {
  const emulator = createEmulator(emulation)
  const synapse = await openSynapse({ offline: emulator, env: {}, transport: { sleep: async () => {} } })
  const chat = await synapse.start({ tools: [clock], ...settings })
  return { emulator, synapse, chat }
}

async function collect(run: Run): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of run) events.push(event)
  return events
}

for (const model of models) {
  test(`a question, a tool call, its result and the answer are four entries of the log (${model})`, async () => {
    const { chat } = await start({ model })
    const events = await collect(chat.send('What time is it?'))
    const history = (await chat.history()).map((entry) => entry.message)
    assert.deepEqual(
      history.map((message) => message.role),
      ['user', 'assistant', 'tool', 'assistant'],
    )
    const [, asked, answered, said] = history
    assert.ok(asked?.role === 'assistant' && asked.stop.reason === 'tool-calls' && asked.native.length > 0)
    const [result] = answered?.role === 'tool' ? answered.parts : []
    assert.deepEqual(result?.value, { time: '12:00', zone: 'UTC' })
    assert.ok(result?.startedAt && result.endedAt)
    assert.match(textOf(said?.parts ?? []), /12:00/)
    assert.equal(events.at(-1)?.type, 'run-end')
    assert.ok(events.some((event) => event.type === 'tool-start'))
  })
}

test('the same conversation moves from any provider to any other, in the middle and back', async () => {
  for (const first of models) {
    const { chat, emulator } = await start({ model: first })
    await chat.send('What time is it?').ended
    for (const other of models) {
      const { outcome, failure } = await chat.send('And what did I say first?', { model: other }).ended
      assert.deepEqual({ outcome, failure }, { outcome: 'done', failure: undefined }, `${first} to ${other}`)
    }
    await chat.send('How many messages did you get?', { model: first }).ended
    const [, asked] = (await chat.history()).map((entry) => entry.message) as [unknown, Reply]
    const words = asked.native.map(sentBack)
    const body = JSON.stringify(emulator.requests.at(-1)?.body)
    for (const word of words) assert.ok(body.includes(word), `${first} gets its own words back: ${word}`)
  }
})

/** The id, the arguments or the signature that only the provider's own words hold. */
function sentBack(native: Json): string {
  const found = JSON.stringify(native).match(/"(?:id|call_id|thoughtSignature)":"([^"]+)"/g) ?? []
  const call =
    isObject(native) && native['type'] === 'function_call' ? `"call_id":"${String(native['call_id'])}"` : undefined
  return call ?? found.at(-1) ?? ''
}

const oddTools: [string, Partial<Tool>, RegExp][] = [
  [
    'throws an error',
    {
      run: () => {
        throw new Error('no battery')
      },
    },
    /no battery/,
  ],
  [
    'throws a string',
    {
      run: () => {
        throw 'flat'
      },
    },
    /flat/,
  ],
  ['rejects', { run: async () => Promise.reject(new Error('later')) }, /later/],
  ['returns nothing', { run: () => undefined }, /returned nothing/],
  [
    'returns a circle',
    {
      run: () => {
        const a: Record<string, unknown> = {}
        a['a'] = a
        return a
      },
    },
    /JSON/,
  ],
  ['returns a bigint', { run: () => 1n }, /JSON/],
  ['never ends', { run: () => new Promise(() => {}), timeoutMs: 5 }, /within 5 ms/],
]

for (const [what, odd, words] of oddTools) {
  test(`a tool that ${what} returns a failed result, and the loop continues`, async () => {
    const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [{ ...clock, ...odd }] })
    const { outcome } = await chat.send('What time is it?').ended
    assert.equal(outcome, 'done')
    const message = (await chat.history())[2]?.message
    const [result] = message?.role === 'tool' ? message.parts : []
    assert.ok(result?.failed)
    assert.match(result.output.map((part) => (part.type === 'text' ? part.text : '')).join(), words)
  })
}

test('parallel calls run at the same time, and each result is in the log', async () => {
  let running = 0
  let most = 0
  const slow = (name: string): Tool => ({
    ...clock,
    name,
    description: name === 'add' ? 'Adds two numbers.' : 'Tells the current time.',
    input:
      name === 'add' ? { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } : clock.input,
    async run() {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return name
    },
  })
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [slow('clock'), slow('add')] })
  await chat.send('What time is it, and what is 17 + 25?').ended
  assert.equal(most, 2)
  assert.deepEqual(
    (await chat.history()).map((entry) => entry.message.role),
    ['user', 'assistant', 'tool', 'tool', 'assistant'],
  )
})

test('results that are acknowledged out of order are reported and continue in the order of the log', async () => {
  const store = openMemoryStore()
  const written: (() => void)[] = []
  const acknowledged: string[] = []
  const late: Store = Object.assign(Object.create(store) as Store, {
    async finishTool(...end: Parameters<Store['finishTool']>) {
      const finished = await store.finishTool(...end)
      await new Promise<void>((resolve) => {
        if (written.push(resolve) === 2) for (const tell of written.splice(0).toReversed()) setImmediate(tell)
      })
      acknowledged.push(finished.entry.id)
      return finished
    },
  })
  const input = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
  const add: Tool = { ...clock, name: 'add', description: 'Adds two numbers.', input, run: () => 42 }
  const synapse = await openSynapse({ store: late, offline: true, env: {} })
  const chat = await synapse.start({ model: 'openai/gpt-5.6', tools: [clock, add] })
  const run = chat.send('What time is it, and what is 17 + 25?')
  const told: string[] = []
  for await (const event of run) if (event.type === 'message') told.push(event.entryId)
  assert.equal((await run.ended).outcome, 'done')
  const [, ...said] = (await chat.history()).map((entry) => entry.id)
  const [, first, second] = said
  assert.deepEqual(acknowledged, [second, first])
  assert.deepEqual(told, said)
})

test('the user message is in the log before the request is sent, and each message as soon as it exists', async () => {
  const seen: number[] = []
  const { chat, synapse } = await start(
    { model: 'anthropic/claude-opus-5' },
    {
      reply: async () => {
        seen.push((await synapse.conversations()).items[0]?.entries ?? 0)
        return undefined
      },
    },
  )
  await chat.send('What time is it?').ended
  assert.deepEqual(seen, [1, 3])
})

test('an aborted run keeps its partial reply, and the conversation continues', async () => {
  const { chat } = await start({ model: 'anthropic/claude-opus-5' })
  const run = chat.send('Tell me something about yourself, please.')
  for await (const event of run) {
    if (event.type === 'reply-event' && event.event.type === 'part-delta') run.abort()
  }
  assert.equal((await run.ended).outcome, 'cancelled')
  const partial = (await chat.history()).at(-1)?.message
  assert.ok(partial?.role === 'assistant' && partial.stop.reason === 'cancelled' && textOf(partial.parts) !== '')
  assert.equal((await chat.send('What did I say first?', { model: 'openai/gpt-5.6' }).ended).outcome, 'done')
})

test('aborting a run while a tool runs aborts the tool, and leaves no call open', async () => {
  let told = false
  const hanging: Tool = {
    ...clock,
    run: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (told = true))),
  }
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [hanging] })
  const run = chat.send('What time is it?')
  for await (const event of run) if (event.type === 'tool-start') run.abort()
  assert.equal((await run.ended).outcome, 'cancelled')
  assert.ok(told)
  assert.equal((await chat.history()).at(-1)?.message.role, 'tool')
})

test('the loop ends at maxSteps, reports it, and can continue', async () => {
  const { chat } = await start({ model: 'anthropic/claude-opus-5', maxSteps: 1 })
  assert.equal((await chat.send('What time is it?').ended).outcome, 'max-steps')
  assert.equal((await chat.resume().ended).outcome, 'done')
})

test('a provider that fails repeatedly is retried only for a share of the requests, and that is reported', async () => {
  const { chat, emulator } = await start({ model: 'anthropic/claude-opus-5', tools: [] })
  emulator.order({ status: 529 }, 1000)
  for (let i = 0; i < 5; i++) await chat.send('Hello').ended
  assert.equal(emulator.requests.length, 15, 'three attempts each, as long as there is something in reserve')
  const events = await collect(chat.send('Hello'))
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type.endsWith('retry')),
    ['retry', 'no-retry'],
  )
  const before = emulator.requests.length
  for (let i = 0; i < 50; i++) await chat.send('Hello').ended
  assert.equal(emulator.requests.length - before, 60)
})

test('an overloaded provider is asked again, and each attempt is counted', async () => {
  const { chat, emulator, synapse } = await start({ model: 'anthropic/claude-opus-5' })
  emulator.order({ status: 529 }, 2)
  const events = await collect(chat.send('Hello'))
  assert.equal(events.filter((event) => event.type === 'retry').length, 2)
  const { items } = await synapse.store.exchanges('local', chat.id)
  assert.deepEqual(
    items.map(({ attempts, outcome }) => ({ attempts, outcome })),
    [{ attempts: 3, outcome: 'done' }],
  )
})

test('an error event inside the stream, before any output, is like its status', async () => {
  const { chat, emulator } = await start({ model: 'anthropic/claude-opus-5' })
  emulator.order({ errorAt: 1 })
  assert.equal((await chat.send('Hello').ended).outcome, 'done')
  assert.equal(emulator.requests.length, 2)
})

test('an interrupted stream keeps its text as interrupted, and the next request is valid', async () => {
  const { chat, emulator } = await start({ model: 'openai/gpt-5.6' })
  emulator.order({ cutAt: 8 })
  const { outcome } = await chat.send('Hello').ended
  assert.equal(outcome, 'failed')
  const partial = (await chat.history()).at(-1)?.message
  assert.ok(partial?.role === 'assistant' && partial.stop.reason === 'interrupted')
  for (const model of models) assert.equal((await chat.send('Continue.', { model }).ended).outcome, 'done', model)
})

test('a second writer gets an error with the holder, and nothing is mixed up', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  const [first, second] = [chat.send('one'), chat.send('two')]
  const outcomes = await Promise.all([first.ended, second.ended])
  assert.deepEqual(outcomes.map(({ outcome }) => outcome).sort(), ['done', 'failed'])
  const refused = outcomes.find(({ failure }) => failure)
  assert.equal(refused?.failure?.kind, 'conflict')
  assert.deepEqual([refused.cost, refused.usage.input, refused.reply], [0, 0, undefined])
  assert.equal((await chat.history()).length, 2)
})

test('tokens that the built-in emulator has counted are marked, those of a given one are not', async () => {
  for (const offline of [true, createEmulator()]) {
    const synapse = await openSynapse({ offline, env: {} })
    const chat = await synapse.start({ model: 'openai/gpt-5.6', policy: { compaction: { keep: 1 } } })
    for (const text of ['Hello.', 'And now?', 'Well?']) await chat.send(text).ended
    await chat.compact()
    const { items } = await synapse.store.exchanges('local', chat.id)
    assert.equal(items.length, 4)
    for (const { usage } of items) assert.equal(usage?.offline, offline === true ? true : undefined)
  }
})
