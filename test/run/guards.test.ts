// What stops a run that goes wrong, and that it says which guard it was and why.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Tool } from '../../src/core/tool.ts'
import { textOf } from '../../src/core/message.ts'
import { toolLimits } from '../../src/run/guards.ts'
import type { RunSettings } from '../../src/run/settings.ts'
import { calling, clock, collect, only, results, start } from './chatting.ts'

const model = 'anthropic/claude-opus-5'
const same = (times: number) => calling(...Array.from({ length: times }, () => [{ name: 'clock' }]))

async function run(settings: Partial<RunSettings>, reply: ReturnType<typeof calling>) {
  const { chat, emulator } = await start({ model, ...settings }, { emulation: { reply } })
  const events = await collect(chat.send('Go.'))
  const end = only(events, 'run-end')[0]
  return { chat, emulator, events, end, guards: only(events, 'guard') }
}

test('the model is warned at the third identical call with the same result, and the run ends at the fifth', async () => {
  const { chat, end, guards, emulator } = await run({}, same(20))
  assert.equal(end?.outcome, 'stopped')
  assert.equal(end?.guard?.guard, 'repeated-call')
  assert.match(end?.guard?.why ?? '', /clock was called 5 times/)
  assert.deepEqual(
    guards.map(({ action }) => action),
    ['warned', 'warned', 'warned', 'stopped'],
  )
  const notes = (await results(chat)).map(({ output }) => output.findLast((part) => part.type === 'text')?.text)
  assert.deepEqual(
    notes.map((note) => note?.startsWith('[Note] ')),
    [false, false, true, true, true],
  )
  assert.equal(emulator.requests.length, 5)
})

test('the same call is no repeat while its result changes, nor are other arguments', async () => {
  let times = 0
  const counting: Tool = { ...clock, run: () => ++times }
  assert.equal((await run({ tools: [counting] }, same(8))).end?.outcome, 'done')
  const open: Tool = { ...clock, input: { type: 'object' }, run: () => 'same' }
  const others = calling(...Array.from({ length: 8 }, (_, n) => [{ name: 'clock', input: { n } }]))
  assert.equal((await run({ tools: [open] }, others)).end?.outcome, 'done')
})

test('a failure and a success with the same text are different results', async () => {
  let times = 0
  const flaky: Tool = {
    ...clock,
    run() {
      if (++times % 2 === 0) return 'clock failed: busy'
      throw new Error('busy')
    },
  }
  const { end, chat } = await run({ tools: [flaky] }, same(6))
  const outputs = (await results(chat)).map(({ output, failed }) => [failed === true, textOf(output.slice(0, 1))])
  assert.equal(new Set(outputs.map(([, text]) => text)).size, 1, JSON.stringify(outputs))
  assert.equal(end?.outcome, 'done')
})

test('a repeated pattern of calls ends the run, though the results differ', async () => {
  let times = 0
  const tools: Tool[] = ['left', 'right'].map((name) => ({ name, input: { type: 'object' }, run: () => ++times }))
  const turns = Array.from({ length: 40 }, (_, i) => [{ name: i % 2 === 0 ? 'left' : 'right' }])
  const { end, guards } = await run({ tools }, calling(...turns))
  assert.equal(end?.outcome, 'stopped')
  assert.equal(end?.guard?.guard, 'pattern')
  assert.match(end?.guard?.why ?? '', /left, right/)
  assert.ok(guards.some(({ action, guard }) => action === 'warned' && guard === 'pattern'))
})

test('the guard against repeats can be set and switched off', async () => {
  assert.equal((await run({ guards: { repeats: false } }, same(9))).end?.outcome, 'done')
  const strict = await run({ guards: { repeats: 2 } }, same(9))
  assert.match(strict.end?.guard?.why ?? '', /3 times/)
})

test('a resumed run still knows what was repeated, and a new message begins again', async () => {
  const { chat } = await run({}, same(20))
  const again = await chat.resume().ended
  assert.equal(again.guard?.guard, 'repeated-call')
  assert.equal((await chat.send('Something else.', { tools: [] }).ended).outcome, 'stopped')
})

test('maxSteps says that it was maxSteps', async () => {
  const { end, guards } = await run({ maxSteps: 2 }, same(5))
  assert.equal(end?.outcome, 'max-steps')
  assert.deepEqual(
    guards.map(({ guard, action }) => [guard, action]),
    [['max-steps', 'stopped']],
  )
})

test('a budget of tokens ends the run before the next request', async () => {
  const { end, emulator } = await run({ budget: { run: { tokens: 1 } } }, same(3))
  assert.equal(end?.outcome, 'stopped')
  assert.equal(end?.guard?.guard, 'tokens')
  assert.equal(emulator.requests.length, 1)
})

test('a cost budget applies to the whole conversation if set so', async () => {
  const budget = { conversation: { usd: 0.0001 } }
  const { chat, emulator } = await start({ model, budget, tools: [] })
  const { outcome, cost } = await chat.send('Tell me something about yourself.').ended
  assert.equal(outcome, 'done')
  assert.ok(cost > 0.0001)
  const second = await chat.send('And more.').ended
  assert.equal(second.guard?.guard, 'spend')
  assert.match(second.guard?.why ?? '', /conversation reached its budget of \$0\.0001/)
  assert.equal(emulator.requests.length, 1)
})

test('a budget of a conversation counts what was spent before the run and in it, and is reached exactly', async () => {
  const spending = async (budget?: RunSettings['budget']) => {
    const { chat, emulator } = await start({ model, ...(budget && { budget }) }, { emulation: { reply: same(2) } })
    const used: number[] = []
    for (const text of ['One.', 'Two.']) {
      const { usage, cost } = await chat.send(text).ended
      used.push(usage.input + usage.output, cost)
    }
    return { used, requests: emulator.requests.length }
  }
  const free = await spending()
  assert.equal(free.requests, 6)
  const [tokens = 0, usd = 0, more = 0, moreUsd = 0] = free.used
  for (const [budget, requests] of [
    [{ tokens: tokens + more }, 6],
    [{ tokens: tokens + 1 }, 4],
    [{ tokens }, 3],
    [{ tokens: tokens + more - 1 }, 6],
    [{ usd: usd + moreUsd }, 6],
    [{ usd: usd + moreUsd / 1000 }, 4],
    [{ usd }, 3],
  ] as const) {
    assert.equal((await spending({ conversation: budget })).requests, requests, JSON.stringify(budget))
  }
  // That of a run begins anew.
  assert.equal((await spending({ run: { tokens: 1 } })).requests, 2)
})

test('a cost budget warns about models with an unknown price, any other budget does not', async () => {
  for (const [budget, warns] of [
    [{ run: { usd: 1 } }, true],
    [{ conversation: { usd: 1 } }, true],
    [{ run: { tokens: 100_000 } }, false],
    [undefined, false],
  ] as const) {
    for (const priced of ['anthropic/claude-opus-5', 'vllm/a-model']) {
      const { chat } = await start({ model: priced, ...(budget && { budget }), tools: [] })
      const why = only(await collect(chat.send('Hello')), 'guard').map((event) => [event.action, event.why])
      const expected = [['warned', 'The price of vllm/a-model is not known, so its cost is not counted.']]
      assert.deepEqual(why, warns && priced === 'vllm/a-model' ? expected : [], `${priced} ${JSON.stringify(budget)}`)
    }
  }
})

test('a run that takes too long is stopped, its tools are aborted, and no call is left open', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const hanging: Tool = {
    ...clock,
    run: () => {
      t.mock.timers.tick(50)
      return new Promise(() => {})
    },
  }
  const { end, chat } = await run({ tools: [hanging], guards: { timeoutMs: 50 } }, same(1))
  assert.equal(end?.outcome, 'stopped')
  assert.equal(end?.guard?.guard, 'time')
  assert.equal((await results(chat)).length, 1)
})

test('a run that has ended leaves no timer of its time limit', async (t) => {
  const timeoutMs = 3_600_000
  const [begun, cleared] = [t.mock.method(globalThis, 'setTimeout'), t.mock.method(globalThis, 'clearTimeout')]
  assert.equal((await run({ guards: { timeoutMs } }, same(1))).end?.outcome, 'done')
  const timers = begun.mock.calls.filter((one) => one.arguments[1] === timeoutMs).map(({ result }) => result)
  assert.equal(timers.length, 1)
  assert.ok(cleared.mock.calls.some((one) => one.arguments[0] === timers[0]))
})

test('the first reason to stop a run is the one that counts: its caller, or the first limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (const [first, outcome] of [
    ['abort', 'cancelled'],
    ['time', 'stopped'],
  ] as const) {
    const { chat } = await start(
      { model, tools: [], guards: { timeoutMs: 100, outputSize: 10 } },
      { emulation: { reply: () => ({ parts: [{ type: 'text' as const, text: 'x'.repeat(50) }] }) } },
    )
    const running = chat.send('Go.')
    if (first === 'abort') running.abort()
    t.mock.timers.tick(100)
    const { outcome: how, guard } = await running.ended
    assert.deepEqual([how, guard?.guard], [outcome, first === 'time' ? 'time' : undefined])
  }
})

test('a run that writes too much is stopped, and its output is stored', async () => {
  const { chat } = await start({ model, guards: { outputSize: 100 }, tools: [] })
  const { outcome, guard } = await chat.send('Count to 500.').ended
  assert.equal(outcome, 'stopped')
  assert.equal(guard?.guard, 'output-size')
  const last = (await chat.history()).at(-1)?.message
  assert.ok(last?.role === 'assistant' && textOf(last.parts).startsWith('[offline emulator] 1 2 3'))
})

test('output of exactly the limit is let through, and one character more is not', async () => {
  const text = 'x'.repeat(100)
  const emulation = { reply: () => ({ parts: [{ type: 'text' as const, text }] }) }
  for (const [outputSize, outcome] of [
    [100, 'done'],
    [99, 'stopped'],
  ] as const) {
    const { chat } = await start({ model, guards: { outputSize }, tools: [] }, { emulation })
    const events = await collect(chat.send('Go.'))
    assert.equal(only(events, 'run-end')[0]?.outcome, outcome)
    assert.deepEqual(
      only(events, 'guard').map(({ action, guard }) => [action, guard]),
      outcome === 'done' ? [] : [['stopped', 'output-size']],
    )
  }
})

test('a reply that is too long is stored up to the limit, with a note of what is missing', async () => {
  const emulation = { reply: () => ({ parts: [{ type: 'text' as const, text: 'x'.repeat(5000) }] }) }
  const { chat, synapse } = await start({ model, guards: { replySize: 1000 }, tools: [] }, { emulation })
  const { outcome, failure } = await chat.send('Go.').ended
  assert.deepEqual([outcome, failure?.code], ['failed', 'reply-size'])
  const last = (await chat.history()).at(-1)?.message
  assert.ok(last?.role === 'assistant' && textOf(last.parts).length < 1100)
  const noted = async () => {
    const { items } = await synapse.store.exchanges('local', chat.id)
    return items[0]?.notes.filter(({ what }) => what === 'the rest of the reply').map(({ kind, why }) => [kind, why])
  }
  assert.deepEqual(await noted(), [['dropped', failure?.message]])
  await chat.send('Go.', { guards: {} }).ended
  assert.deepEqual(await noted(), [])
})

test('a run ends with the signal that was given for it, and not with one of an earlier run', async () => {
  const stop = new AbortController()
  const hanging: Tool = { ...clock, run: () => (stop.abort(), new Promise(() => {})) }
  const { chat } = await start({ model, tools: [hanging] }, { emulation: { reply: same(1) } })
  assert.equal((await chat.send('Go.', { signal: stop.signal }).ended).outcome, 'cancelled')
  const { outcome, usage } = await chat.send('Go.', { signal: stop.signal }).ended
  assert.deepEqual([outcome, usage.input], ['cancelled', 0])
  assert.equal((await chat.send('Go.', { tools: [clock] }).ended).outcome, 'done')
})

test('a run that is cancelled while a call waits for approval is cancelled, and asks for nothing', async () => {
  const asking: Tool = { ...clock, ask: true }
  const { chat } = await start(
    { model, tools: [asking, { ...clock, name: 'stop', run: () => run.abort() }] },
    { emulation: { reply: calling([{ name: 'clock' }, { name: 'stop' }]) } },
  )
  const run = chat.send('Go.')
  const events = await collect(run)
  assert.equal((await run.ended).outcome, 'cancelled')
  assert.deepEqual(only(events, 'approval-needed'), [])
})

test('a result is limited in bytes, and the rest is counted in a note', async () => {
  const large: Tool = { ...clock, run: () => 'ä'.repeat(3000) }
  const { chat, events } = await run({ tools: [large], guards: { resultSize: 1001 } }, same(1))
  const [result] = await results(chat)
  // Whole characters only, in the value and in what the model reads.
  assert.equal(result?.value, 'ä'.repeat(500))
  const [text, note] = result?.output ?? []
  assert.equal(text?.type === 'text' && text.text, 'ä'.repeat(500))
  assert.match(note?.type === 'text' ? note.text : '', /^\[Note\] 10000 bytes of this result were not kept/)
  assert.deepEqual(
    only(events, 'guard').map(({ guard }) => guard),
    ['result-size'],
  )
})

test('media that do not fit into a result are left out and counted', async () => {
  const base64 = 'A'.repeat(4000)
  const image = { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64 } } as const
  const drawing: Tool = { ...clock, run: () => [{ type: 'text', text: 'two' }, image, image] }
  const { chat } = await run({ tools: [drawing], guards: { resultSize: 5000 } }, same(1))
  const [result] = await results(chat)
  assert.deepEqual(
    result?.output.map((part) => (part.type === 'text' ? part.text : part.mediaType)),
    ['two', 'image/png', '[Note] 4000 bytes of this result were not kept: 5000 bytes are kept of a result.'],
  )
})

test('limits on tools have a value without settings, and at least one tool runs at a time', () => {
  const size = 16 * 1024 * 1024
  assert.deepEqual(toolLimits(), { callsPerReply: 128, concurrentTools: 16, resultSize: size })
  assert.equal(toolLimits({ concurrentTools: 0 }).concurrentTools, 1)
  assert.deepEqual(toolLimits({ callsPerReply: 1, concurrentTools: 1, resultSize: 1 }), {
    callsPerReply: 1,
    concurrentTools: 1,
    resultSize: 1,
  })
})

test('calls beyond the limit of a reply are all answered at once, unrun and in order, with one warning', async () => {
  let runs = 0
  const counting: Tool = { ...clock, input: { type: 'object' }, run: () => ++runs }
  const four = calling([0, 1, 2, 3].map((n) => ({ name: 'clock', input: { n } })))
  const { chat, guards, end } = await run({ tools: [counting], guards: { callsPerReply: 2 } }, four)
  assert.deepEqual([runs, end?.outcome], [2, 'done'])
  assert.deepEqual(
    guards.map(({ guard, action }) => [guard, action]),
    [['calls-per-reply', 'warned']],
  )
  const answers = await results(chat)
  assert.deepEqual(
    answers.map(({ failed }) => failed === true),
    [false, false, true, true],
  )
  const calls = (await chat.history()).flatMap(({ message }) => (message.role === 'assistant' ? message.parts : []))
  assert.deepEqual(
    answers.map(({ callId }) => callId),
    calls.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : [])),
  )
})
