// Every provider row on every wire, through the same loop: streaming, tools at once and failing, abort, another provider
// between a call and its result, refusals, broken streams, a history that is too long, state that is gone, fallback.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textOf } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { rows } from '../../src/providers/rows.ts'
import type { RunSettings } from '../../src/run/settings.ts'
import type { EmulatorOptions } from '../../src/testing.ts'
import { someTargets } from '../targets.ts'
import { thorough } from '../thorough.ts'
import { clock, collect, only, results, start } from './chatting.ts'

const add: Tool = {
  name: 'add',
  description: 'Adds two numbers.',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  run: (input) => JSON.stringify(input),
}
const failing: Tool = {
  ...clock,
  run() {
    throw new Error('no battery')
  },
}

for (const [n, target] of someTargets.entries()) {
  const model = `${target.provider}/${target.model}`
  const here = { model, protocol: target.protocol }
  const elsewhere = target.provider === 'mistral' ? 'anthropic/claude-opus-5' : 'mistral/mistral-medium-latest'
  const begin = (settings: Partial<RunSettings> = {}, emulation: EmulatorOptions = {}) =>
    start({ ...here, ...settings }, { emulation })

  describe(`${model} on ${target.protocol}`, () => {
    test('streams its answer in pieces that add up to it', async () => {
      const { chat } = await begin()
      const events = await collect(chat.send('Tell me about yourself.'))
      const kinds = new Map<number, string>()
      const pieces: string[] = []
      for (const { event } of only(events, 'reply-event')) {
        if (event.type === 'part-start') kinds.set(event.index, event.part.type)
        if (event.type === 'part-start' && event.part.type === 'text') pieces.push(event.part.text)
        if (event.type === 'part-delta' && kinds.get(event.index) === 'text') pieces.push(event.text)
      }
      const last = (await chat.history()).at(-1)?.message
      assert.equal(pieces.join(''), textOf(last?.parts ?? []))
      assert.ok(pieces.length > 3)
      assert.ok((only(events, 'run-end')[0]?.usage.input ?? 0) > 0)
    })

    test('calls tools, several if it can, and answers from their results', async () => {
      const { chat } = await begin({ tools: [clock, add] })
      const { outcome, reply, failure } = await chat.send('What time is it, and what is 17 + 25?').ended
      assert.equal(outcome, 'done', failure?.message)
      assert.deepEqual((await results(chat)).map(({ name }) => name).sort(), ['add', 'clock'])
      assert.match(textOf(reply?.parts ?? []), /12:00/)
    })

    test('gets an error when a tool fails', async () => {
      const { chat } = await begin({ tools: [failing] })
      const { reply } = await chat.send('What time is it?').ended
      assert.match(textOf(reply?.parts ?? []), /no battery/)
    })

    test('is aborted at any event, keeps its partial reply, and continues', async () => {
      const whole = await begin({}, { piece: 60 })
      const count = (await collect(whole.chat.send('What time is it?'))).length
      // Each target at some events; all targets together at every one.
      for (let at = thorough ? 0 : n % 5; at < count - 1; at += thorough ? 1 : 5) {
        const { chat } = await begin({}, { piece: 60 })
        const run = chat.send('What time is it?')
        let seen = 0
        for await (const event of run) if (seen++ === at && event.type !== 'run-end') run.abort()
        const kept = await chat.history()
        const { outcome, failure } = await chat.send('What did I say first?').ended
        assert.equal(outcome, 'done', `event ${at}: ${failure?.message}`)
        assert.deepEqual((await chat.history()).slice(0, kept.length), kept, `event ${at}`)
      }
    })

    test('hands over between a call and its result, and takes over', async () => {
      for (const [from, to] of [
        [here, { model: elsewhere }],
        [{ model: elsewhere }, here],
      ] as const) {
        const changing: Tool = {
          ...clock,
          run() {
            run.update(to)
            return 'noon'
          },
        }
        const { chat, synapse } = await start({ ...from, tools: [changing] })
        const run = chat.send('What time is it?')
        const { outcome, reply, failure } = await run.ended
        assert.equal(outcome, 'done', failure?.message)
        assert.match(textOf(reply?.parts ?? []), /noon/)
        const { items } = await synapse.store.exchanges('local', chat.id)
        assert.equal(new Set(items.map(({ provider }) => provider)).size, 2)
      }
    })

    test('is retried after 429, after the requested delay', async () => {
      const { chat, emulator } = await begin()
      emulator.order({ status: 429, headers: { 'retry-after': '2' } })
      const events = await collect(chat.send('Hello'))
      assert.deepEqual(
        only(events, 'retry').map(({ waitMs, failure }) => [waitMs, failure.kind]),
        [[2000, 'rate-limit']],
      )
      assert.equal(only(events, 'run-end')[0]?.outcome, 'done')
    })

    test('keeps its output before an interruption, and continues', async () => {
      const { chat, emulator } = await begin()
      emulator.order({ errorAt: 8 })
      const { outcome, failure } = await chat.send('Tell me about yourself.').ended
      assert.equal(outcome, 'failed')
      assert.ok(failure)
      const partial = (await chat.history()).at(-1)?.message
      assert.ok(partial?.role === 'assistant' && partial.parts.length > 0)
      assert.equal(partial.stop.reason, 'failed')
      assert.equal((await chat.resume().ended).outcome, 'done')
    })

    test('gets a shorter history when it refuses one as too long', async () => {
      const { chat, emulator } = await begin({ tools: [], policy: 'full' }, { contextWindow: 6000 })
      const chatter = 'All work and no play makes Jack a dull boy. '.repeat(60)
      for (let i = 0; i < 14; i++) {
        const { outcome, failure } = await chat.send(`Number ${i}. ${chatter}`).ended
        assert.equal(outcome, 'done', `message ${i}: ${failure?.message}`)
      }
      assert.ok(emulator.requests.some(({ status }) => status >= 400) || target.provider === 'ollama')
      assert.equal((await chat.history()).length, 28)
    })

    test('gets the whole history if its stored state is gone', async () => {
      const { chat, emulator } = await begin({ policy: { state: 'auto' }, tools: [] })
      await chat.send('My name is Ada.').ended
      emulator.order({ expireState: true })
      const { reply, failure } = await chat.send('What is my name?').ended
      assert.match(textOf(reply?.parts ?? []), /Ada/, failure?.message)
      const keeps = rows.find(({ id }) => id === target.provider)?.wires.find((one) => one.protocol === target.protocol)
      assert.equal(
        emulator.requests.some(({ status }) => status >= 400),
        keeps?.state !== undefined,
        'an id that is gone was tried where there is one',
      )
    })

    test('is replaced by its fallback before any output', async () => {
      const { chat, emulator } = await begin({ fallback: [elsewhere] })
      emulator.order({ status: 500 }, 3)
      const events = await collect(chat.send('What time is it?'))
      assert.equal(only(events, 'run-end')[0]?.outcome, 'done')
      // Three failures in a row: the next step does not even try.
      const change = { from: model, to: elsewhere }
      assert.deepEqual(
        only(events, 'fallback').map(({ from, to }) => ({ from, to })),
        [change, change],
      )
      const providers = only(events, 'request').map(({ provider }) => provider)
      assert.deepEqual([...new Set(providers)], [target.provider, elsewhere.split('/', 1)[0]])
    })
  })
}
