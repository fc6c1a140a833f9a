// One provider without a store: the same face on every row.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ToolSpec } from '../../src/core/context.ts'
import { textOf, type Message, type Reply } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { createProvider, type ProviderOptions } from '../../src/runtime/create-provider.ts'
import { rows } from '../../src/providers/rows.ts'
import { createEmulator, type EmulatorOptions } from '../../src/testing.ts'
import { call, user } from '../histories.ts'
import { calling, clock, collect, only } from './chatting.ts'

function face(options: Partial<ProviderOptions> = {}, emulation: EmulatorOptions = {}) {
  const emulator = createEmulator(emulation)
  const transport = { sleep: async () => {} }
  return { emulator, provider: createProvider({ provider: 'anthropic', offline: emulator, transport, ...options }) }
}

describe('chat, a loop with a tool, history, state and a summary', () => {
  for (const row of rows) {
    test(row.id, async () => {
      const { provider } = face({ provider: row.id, model: row.defaultModel ?? 'a-model', policy: 'full' })
      const streamed = await collect(provider.chat('My name is Ada.'))
      assert.ok(only(streamed, 'reply-event').length > 3)
      const text = await provider.chatLoop('What time is it?', [clock]).text()
      assert.match(text, /12:00/)
      assert.match(await provider.chat('What is my name?').text(), /Ada/)

      const history = await provider.getHistory()
      assert.deepEqual(
        history.map(({ role }) => role),
        ['user', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
      )
      const result = history[4]?.role === 'tool' ? history[4].parts[0] : undefined
      assert.deepEqual(result?.value, { time: '12:00', zone: 'UTC' })

      const { input, output, requests } = provider.state()
      assert.ok(input > 0 && output > 0)
      assert.equal(requests, 4)

      const shorter = await provider.compact(history)
      assert.ok(shorter.length < history.length)
      assert.equal(provider.state().requests > 4, true)
      assert.equal((await provider.getHistory()).length, 8)
      assert.equal((await provider.chatLoop([...shorter, user('And now?')]).ended).outcome, 'done')
    })
  }
})

test('a tool that is run elsewhere waits for its result to be handed in', async () => {
  const { provider } = face()
  const spec: ToolSpec = { name: 'clock', description: 'Tells the time.', input: { type: 'object', properties: {} } }
  const loop = provider.chatLoop('What time is it?', [spec])
  for await (const event of loop) {
    if (event.type === 'tool-start') loop.submit({ callId: event.call.callId, result: { time: '13:37' } })
  }
  assert.match(await loop.text(), /13:37/)
  const failing = provider.chatLoop('What time is it?', [spec])
  for await (const event of failing) {
    if (event.type === 'tool-start') failing.submit({ callId: event.call.callId, result: 'no clock', failed: true })
  }
  assert.match(await failing.text(), /no clock/)
})

test('tools can be changed while a loop continues', async () => {
  const seen: string[][] = []
  const { provider } = face(
    {},
    {
      reply(situation) {
        seen.push(situation.tools.map(({ name }) => name))
        return calling([{ name: 'clock' }])(situation)
      },
    },
  )
  const changing: Tool = { ...clock, run: () => loop.setTools([{ ...clock, name: 'watch' }]) }
  const loop = provider.chatLoop('Go.', [changing])
  await loop.ended
  assert.deepEqual(seen, [['clock'], ['watch']])
})

test('a loop can be steered and aborted', async () => {
  const { provider } = face()
  const steering: Tool = {
    ...clock,
    run() {
      loop.steer('What did I say first?')
      return 'noon'
    },
  }
  const loop = provider.chatLoop('What time is it?', [steering])
  assert.match(await loop.text(), /"What time is it\?"/)
  const aborted = provider.chatLoop('Tell me about yourself.')
  for await (const event of aborted) if (event.type === 'reply-event') aborted.abort()
  assert.equal((await aborted.ended).outcome, 'cancelled')
})

test('your own history is continued, and what is left out of a request is still in it', async () => {
  const { provider, emulator } = face({ policy: { maxToolTurns: 1, fold: 'remove', step: 1 } })
  const past: Message[] = []
  for (let i = 0; i < 4; i++) {
    await provider.chatLoop([...past, user(`Round ${i}: what time is it?`)], [clock]).ended
    past.splice(0, past.length, ...(await provider.getHistory()))
  }
  assert.equal(past.length, 16)
  assert.equal(past.filter(({ role }) => role === 'tool').length, 4)
  const body = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.ok((body.match(/tool_result/g) ?? []).length < 4)
})

test('settings change from the next request on, even in the middle of a loop', async () => {
  let asked = 0
  const reply = (): Partial<Reply> => ({
    parts: [asked++ < 4 ? call('', 'clock', { n: asked }) : { type: 'text', text: 'That is all.' }],
  })
  const { provider, emulator } = face({ model: 'claude-opus-5', policy: 'full' }, { reply })
  let results = 0
  const open: Tool = {
    ...clock,
    input: { type: 'object' },
    run() {
      if (++results === 3) {
        provider.updateConfig((config) => {
          config.maxToolTurns = 1
          config.step = 1
          config.system = 'Be brief.'
        })
      }
      return 'x'.repeat(2000)
    },
  }
  const { outcome, failure } = await provider.chatLoop('Go.', [open]).ended
  assert.equal(outcome, 'done', failure?.message)
  const counts = emulator.requests.map(({ body }) => (JSON.stringify(body).match(/"tool_result"/g) ?? []).length)
  assert.deepEqual(counts.slice(0, 3), [0, 1, 2])
  assert.equal(counts[3], 1)
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /Be brief\./)
  assert.equal(provider.config().maxToolTurns, 1)
  assert.equal((await provider.getHistory()).filter(({ role }) => role === 'tool').length, 4)
})

test('config returns a copy', () => {
  const { provider } = face({ options: { temperature: 0.5 } })
  const config = provider.config()
  config.maxSteps = 1
  if (config.options) config.options.temperature = 1
  assert.equal(provider.config().maxSteps, undefined)
  assert.equal(provider.config().options?.temperature, 0.5)
  provider.updateConfig(() => ({ maxSteps: 7 }))
  assert.equal(provider.config().maxSteps, 7)
})

test('config names the default model, which is that of the current provider', async () => {
  const usual = (id: string) => rows.find((row) => row.id === id)?.defaultModel
  const { provider, emulator } = face()
  assert.equal(provider.config().model, usual('anthropic'))
  provider.updateConfig((config) => void (config.provider = 'mistral'))
  assert.equal(provider.config().model, usual('mistral'))
  assert.equal((await provider.chat('Hello').ended).outcome, 'done')
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), new RegExp(`"model":"${usual('mistral')}"`))
})

test('a text for the prompt cache opens every request, and is read from the cache', async () => {
  const { provider, emulator } = face({ model: 'claude-opus-5', system: 'Be brief.' })
  const law = 'Paragraph of a long law. '.repeat(400)
  provider.promptCache(law)
  await provider.chat('Hello').ended
  await provider.chat('And again').ended
  const bodies = emulator.requests.map(({ body }) => JSON.stringify(body))
  assert.ok(bodies.every((body) => body.includes('Paragraph of a long law.') && body.includes('cache_control')))
  assert.ok(provider.state().cacheRead > 1000)
  provider.promptCache(undefined)
  await provider.chat('Without').ended
  assert.ok(!JSON.stringify(emulator.requests.at(-1)?.body).includes('long law'))
})

test('state counts retried requests, and their cost', async () => {
  const { provider, emulator } = face({ model: 'claude-opus-5' })
  emulator.order({ status: 529 })
  await provider.chat('Hello').ended
  const { requests, cost } = provider.state()
  assert.equal(requests, 2)
  assert.ok(cost > 0)
})

test('a wrong provider is one sentence, when it is first used', async () => {
  const { provider } = face({ provider: 'antropic' })
  const { outcome, failure } = await provider.chat('Hello').ended
  assert.equal(outcome, 'failed')
  assert.match(failure?.message ?? '', /Did you mean anthropic\?/)
})

test('images in the history are sent whole', async () => {
  const { provider, emulator } = face({ model: 'claude-opus-5' })
  const base64 = Buffer.alloc(90_000, 7).toString('base64')
  await provider.chat([
    { type: 'text', text: 'What is this?' },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } },
  ]).ended
  assert.ok(JSON.stringify(emulator.requests.at(-1)?.body).includes(base64))
  const [first] = await provider.getHistory()
  assert.equal(textOf(first?.parts ?? []), 'What is this?')
  assert.ok(JSON.stringify(first).includes(base64))
})
