// The small parts of a run, without a provider and without a store: each rule by its results.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { HookEvent, ReplyEvent, RunEvent } from '../../src/core/event.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import type { Entry, Exchange } from '../../src/core/log.ts'
import type { MediaPart, Message, Part, ToolCallPart, ToolResultPart } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { noUsage } from '../../src/core/usage.ts'
import { argsHashOf } from '../../src/run/approval.ts'
import { meter, overBudget } from '../../src/run/budget.ts'
import { channel } from '../../src/run/channel.ts'
import { checkAnswer } from '../../src/run/check-answer.ts'
import { checkInput, findingsOf } from '../../src/run/check-input.ts'
import { checkMessages, checkParts } from '../../src/run/check-messages.ts'
import { outcomeOf } from '../../src/run/close-interrupted.ts'
import { cooldown } from '../../src/run/cooldown.ts'
import { defineTool } from '../../src/run/define-tool.ts'
import { externalTools } from '../../src/run/external-tools.ts'
import { withHandoffs } from '../../src/run/handoff.ts'
import { afterReply, afterTool, beforeRequest, beforeTool } from '../../src/run/hooks.ts'
import { isGone, thisProcess } from '../../src/run/lease.ts'
import { nextStep } from '../../src/run/next-step.ts'
import { cachedPath, outlineEnd, readWhole } from '../../src/run/path-cache.ts'
import { recallTool } from '../../src/run/recall.ts'
import { repeatLimits, repeatNotes, stuck, withNote } from '../../src/run/repeats.ts'
import { composingOf, fallsBack, modelOfFallback, routedModel } from '../../src/run/route.ts'
import type { LoopContext } from '../../src/run/run-context.ts'
import { runHandle } from '../../src/run/run-handle.ts'
import { runTool } from '../../src/run/run-tool.ts'
import type { RunEnd } from '../../src/run/loop.ts'
import { protocolOf, userMessage, withChanges } from '../../src/run/settings.ts'
import { isStateless, keepsState } from '../../src/run/state.ts'
import { settingsToStore, storedSettings, storedToolNames, toolsNamed } from '../../src/run/stored-settings.ts'
import { inlineTextFiles } from '../../src/run/text-files.ts'
import { thinkingClock } from '../../src/run/thinking-time.ts'
import { titleOf } from '../../src/run/title.ts'
import { readCall } from '../../src/run/tool-step.ts'
import type { Hooks } from '../../src/settings/run.ts'
import type { Store } from '../../src/store/store.ts'
import { call, calls, onePixel, reply, result, user } from '../histories.ts'

function entriesOf(...messages: Message[]): Entry[] {
  return messages.map((message, depth) => ({
    id: `e${depth}`,
    conversationId: 'c',
    parentId: depth === 0 ? null : `e${depth - 1}`,
    depth,
    message,
    at: '',
  }))
}

describe('what a conversation waits for', () => {
  const next = (...messages: Message[]) => nextStep(entriesOf(...messages))
  const stopped = (reason: 'paused' | 'length' | 'interrupted' | 'tool-calls', ...parts: Part[]) => ({
    ...reply(...parts),
    stop: { reason },
  })

  test('follows from the last reply and what came after it', () => {
    assert.deepEqual(next(), { kind: 'rest' })
    assert.deepEqual(next(user('q')), { kind: 'ask' })
    assert.deepEqual(next(result('a', '1')), { kind: 'ask' })
    const done = reply('a')
    assert.deepEqual(next(user('q'), done), { kind: 'rest', reply: done })
    assert.deepEqual(next(user('q'), done, user('r')), { kind: 'ask' })
    assert.deepEqual(next(user('q'), stopped('paused')), { kind: 'ask' })
    for (const reason of ['length', 'interrupted'] as const) {
      assert.equal(next(user('q'), stopped(reason, ...calls('a'))).kind, 'rest', 'calls that were cut off never run')
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
    assert.deepEqual(next(user('q'), none), { kind: 'rest', reply: none })
    assert.equal(outcomeOf('length'), 'done')
    assert.deepEqual((['cancelled', 'interrupted', 'failed'] as const).map(outcomeOf), [
      'cancelled',
      'interrupted',
      'failed',
    ])
  })
})

describe('a queue of values', () => {
  const sum = (a: number, b: number) => (b > 0 ? a + b : undefined)

  test('merges only after a thousand, with the last one, and where it can', async () => {
    const queue = channel<number>(sum)
    for (let i = 0; i < 1001; i++) queue.push(1)
    queue.push(5)
    queue.push(-1)
    queue.push(2)
    queue.end()
    const all: number[] = []
    for await (const value of queue) all.push(value)
    assert.deepEqual(all.slice(999), [1, 6, 1])
    assert.equal(all.length, 1002)
  })

  test('gives all waiting values at once, and waits for more', async () => {
    const queue = channel<number>()
    queue.push(1)
    queue.push(2)
    const batches = queue.batches()[Symbol.asyncIterator]()
    assert.deepEqual(await batches.next(), { done: false, value: [1, 2] })
    const waiting = batches.next()
    queue.push(3)
    assert.deepEqual(await waiting, { done: false, value: [3] })
    const last = batches.next()
    queue.end()
    assert.deepEqual(await last, { done: true, value: undefined })
  })

  test('loses nothing when it is long, and when values arrive while it is read', async () => {
    const queue = channel<number>()
    const reader = queue[Symbol.asyncIterator]()
    const read: unknown[] = []
    for (let i = 0; i < 2500; i++) queue.push(i)
    for (let i = 0; i < 2400; i++) read.push((await reader.next()).value)
    for (let i = 2500; i < 4000; i++) queue.push(i)
    const rest = Promise.all(Array.from({ length: 1600 }, () => reader.next()))
    for (const { value } of await rest) read.push(value)
    assert.deepEqual(read, [...read.keys()])
    assert.equal(read.length, 4000)
    const late = reader.next()
    queue.push(7)
    assert.deepEqual(await late, { done: false, value: 7 })
    queue.end()
    assert.deepEqual(await reader.next(), { done: true, value: undefined })
  })

  test('gives an error to a reader whose place another has taken, waiting or not', async () => {
    const queue = channel<number>()
    const first = queue[Symbol.asyncIterator]()
    const waiting = first.next()
    const second = queue[Symbol.asyncIterator]()
    queue.push(1)
    await assert.rejects(async () => waiting, /another reader has started/)
    await assert.rejects(async () => first.next(), /another reader has started/)
    assert.deepEqual(await second.next(), { done: false, value: 1 })
    queue.end()
    await assert.rejects(async () => first.next(), /another reader has started/)
    assert.deepEqual(await second.next(), { done: true, value: undefined })
    const batches = queue.batches()[Symbol.asyncIterator]()
    await batches.next()
    await assert.rejects(async () => second.next(), /another reader has started/)
  })
})

describe('arguments', () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false }

  test('that do not fit are named by their path, in words', async () => {
    assert.equal(await checkInput('t', schema, { a: 1 }), undefined)
    assert.match((await checkInput('t', schema, {})) ?? '', /lacks the field "a"/)
    assert.match((await checkInput('t', schema, { a: 'x' })) ?? '', /a.*of type string, and must be of type number/)
    assert.match((await checkInput('t', schema, { a: 1, b: 2 })) ?? '', /There is no such field/)
    assert.deepEqual((await findingsOf({ properties: { 'x/y': { type: 'null' } } }, { 'x/y': 1 }))[0]?.path, ['x/y'])
    assert.deepEqual(await findingsOf({}, { a: 1 }), [])
    assert.deepEqual(await findingsOf({ type: 'object', properties: {} }, {}), [])
    assert.equal((await findingsOf({ type: 'object' }, 'x')).length, 1)
    assert.equal((await findingsOf({ type: 'array' }, {})).length, 1)
    assert.deepEqual(await findingsOf({ $ref: '#/nowhere' }, { a: 1 }), [], 'a schema that cannot be read')
  })

  test('are read for the tool that is called, or a problem says why it was not run', async () => {
    const seen: unknown[] = []
    const tool = (change: Partial<Tool> = {}): Tool => ({
      name: 'add',
      input: schema,
      run: (input) => void seen.push(input),
      ...change,
    })
    const problem = async (tools: Tool[], asked: ToolCallPart) => {
      const read = await readCall(tools, asked)
      return 'problem' in read ? read.problem : undefined
    }
    const asked = (input: Json) => call('c', 'add', input)
    assert.equal(await problem([], asked({})), 'There is no tool named add. Known tools: none.')
    assert.match((await problem([tool({ name: 'x' }), tool({ name: 'y' })], asked({}))) ?? '', /Known tools: x, y\./)
    assert.match((await problem([tool()], { ...asked({}), malformed: '{"a' })) ?? '', /not a JSON object.*\{"a/)
    assert.match((await problem([tool()], asked({}))) ?? '', /no arguments came, and it needs "a"/)
    assert.match((await problem([tool({ input: { required: ['a', 1, 'b'] } })], asked({}))) ?? '', /needs "a", "b"\./)
    assert.match((await problem([tool()], asked({ a: 'x' }))) ?? '', /add/)
    assert.equal(await problem([tool()], asked({ a: 1 })), undefined)
    assert.equal(await problem([tool({ input: {} })], asked({})), undefined)
    assert.equal(
      await problem([tool({ input: {}, read: () => Promise.reject(new Error('broken')) })], asked({})),
      'add was not run: broken',
    )
    assert.equal(
      await problem([tool({ input: {}, read: () => Promise.reject('text') })], asked({})),
      'add was not run: text',
    )
    const asks = async (ask: Tool['ask']) => {
      const read = await readCall([tool({ ...(ask !== undefined && { ask }) })], asked({ a: 1 }))
      return 'problem' in read ? undefined : read.asks()
    }
    assert.deepEqual(await Promise.all([asks(undefined), asks(true), asks(false)]), [false, true, false])
    assert.deepEqual([await asks((input) => (input as { a: number }).a === 1), await asks(() => false)], [true, false])
    const free = await readCall([tool({ kind: 'free-form', input: {} })], asked({ input: 'plain' }))
    if (!('problem' in free)) await free.run({} as never)
    const other = await readCall([tool({ input: {} })], asked({ input: 'plain' }))
    if (!('problem' in other)) await other.run({} as never)
    assert.deepEqual(seen, ['plain', { input: 'plain' }])
  })

  test('have a hash of exactly what the model wrote', () => {
    const hash = (part: Partial<ToolCallPart>) => argsHashOf({ ...call('c', 't', { a: 1 }), ...part })
    assert.equal(hash({}), hash({ callId: 'other', name: 'u' }))
    assert.notEqual(hash({}), hash({ input: { a: 2 } }))
    assert.notEqual(hash({}), hash({ malformed: '{"a":2}' }))
    assert.equal(hash({ malformed: '{"a":1}' }), hash({}))
  })

  test('of a typed tool are those of its schema, also when it is called directly', async () => {
    const ran: unknown[] = []
    const add = defineTool({
      name: 'add',
      description: 'adds',
      input: z.object({ a: z.number().default(7) }),
      ask: ({ a }) => a > 5,
      run: ({ a }) => ran.push(a),
      repeatable: true,
      timeoutMs: 5,
      askTimeoutMs: 6,
    })
    assert.deepEqual([add.repeatable, add.timeoutMs, add.askTimeoutMs, add.description], [true, 5, 6, 'adds'])
    assert.equal('$schema' in (add.input as object), false)
    await add.run({}, {} as never)
    await assert.rejects(async () => add.run({ a: 'x' }, {} as never), /a/)
    assert.deepEqual(ran, [7])
    const { ask } = add
    assert.ok(typeof ask === 'function')
    assert.deepEqual([await ask({ a: 6 }), await ask({ a: 5 }), await ask({ a: 'x' })], [true, false, false])
    const plain = defineTool({ name: 'p', input: { type: 'object' }, ask: true, run: () => 1 })
    assert.equal(plain.ask, true)
    assert.deepEqual(Object.keys(plain).toSorted(), ['ask', 'input', 'name', 'read', 'run'])
  })
})

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
    assert.deepEqual([late.text, late.failed, aborted], ['look gave no result within 1 ms.', true, true])
    assert.equal((await run(() => 'x', { timeoutMs: Infinity })).text, 'x')
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

describe('hooks', () => {
  const told: HookEvent[] = []
  let settled = 0
  const context = (hooks: Hooks) =>
    ({
      conversationId: 'c',
      owner: 'o',
      context: 1,
      options: { temperature: 1, store: true },
      hooks,
      emit: (event: HookEvent) => told.push(event),
      pending: { settled: async () => void settled++ },
    }) as unknown as LoopContext
  const events = () =>
    told
      .splice(0)
      .map(({ hook, action, why, callId }) => [hook, action, why, ...(callId === undefined ? [] : [callId])])
  const about = { step: 1, kind: 'ask', model: 'm', messages: [] } as never
  const usual = 'a hook of the application'
  const asked = call('a', 'look', { x: 1 })
  const found = result('a', 'out').parts[0] as ToolResultPart

  test('before a request change the system and options of it, note it, or deny it', async () => {
    const ask = (given: object | undefined) => beforeRequest(context({ beforeRequest: () => given }), about)
    assert.deepEqual(await ask(undefined), {})
    assert.deepEqual(await ask({}), { hookNotes: [] })
    assert.deepEqual(events(), [])
    assert.deepEqual(await ask({ system: '' }), {
      hookNotes: [{ kind: 'changed', what: 'system', why: usual, rule: 'hook' }],
      system: [{ type: 'text', text: '' }],
    })
    assert.deepEqual(events(), [['beforeRequest', 'changed', usual]])
    const both = await ask({ system: 's', options: { temperature: 0 }, note: 'n' })
    assert.deepEqual(both.options, { temperature: 0, store: true })
    assert.deepEqual(
      both.hookNotes?.map(({ what, why }) => [what, why]),
      [
        ['system', 'n'],
        ['options', 'n'],
      ],
    )
    assert.deepEqual(events(), [['beforeRequest', 'changed', 'n']])
    assert.deepEqual((await ask({ note: 'n' })).hookNotes, [
      { kind: 'changed', what: 'nothing', why: 'n', rule: 'hook' },
    ])
    assert.deepEqual(events(), [['beforeRequest', 'noted', 'n']])
    await assert.rejects(async () => ask({ deny: 'no' }), /^SynapseError: no$/)
    assert.deepEqual(events(), [['beforeRequest', 'denied', 'no']])
  })

  test('after a reply end the run or note it, once earlier writes are stored', async () => {
    const after = (given: object | undefined) => afterReply(context({ afterReply: () => given }), reply('a'))
    settled = 0
    assert.deepEqual(
      [await after(undefined), await after({ note: 'n' }), await after({ deny: 'no' })],
      [undefined, undefined, 'no'],
    )
    assert.deepEqual(events(), [
      ['afterReply', 'noted', 'n'],
      ['afterReply', 'denied', 'no'],
    ])
    assert.equal(settled, 3)
    await afterReply(context({}), reply('a'))
    assert.equal(settled, 3, 'nothing is waited for without a hook')
  })

  test('before a tool change its arguments, note it or deny it', async () => {
    const before = (given: object | undefined) => beforeTool(context({ beforeTool: () => given }), asked)
    assert.deepEqual(await before(undefined), { call: asked })
    assert.deepEqual(await before({ input: { y: 2 } }), { call: { ...asked, input: { y: 2 } } })
    assert.deepEqual(events(), [['beforeTool', 'changed', usual, 'a']])
    assert.deepEqual(await before({ note: 'n' }), { call: asked })
    assert.deepEqual(events(), [['beforeTool', 'noted', 'n', 'a']])
    assert.deepEqual(await before({ deny: 'no' }), { deny: 'look was not run: no' })
    assert.deepEqual(events(), [['beforeTool', 'denied', 'no', 'a']])
  })

  test('after a tool replace its output, note it or deny it', async () => {
    const valued = { ...found, value: 'all' }
    const after = (given: object | undefined) => afterTool(context({ afterTool: () => given }), asked, valued)
    assert.equal(await after(undefined), valued)
    assert.equal(await after({ note: 'n' }), valued)
    assert.deepEqual(events(), [['afterTool', 'noted', 'n', 'a']])
    assert.deepEqual(await after({ output: 'new' }), { ...found, output: [{ type: 'text', text: 'new' }] })
    assert.deepEqual(events(), [['afterTool', 'changed', usual, 'a']])
    assert.deepEqual((await after({ output: [onePixel], note: 'n' })).output, [onePixel])
    assert.deepEqual(events(), [['afterTool', 'changed', 'n', 'a']])
    assert.deepEqual(await after({ deny: 'no' }), { ...found, output: [{ type: 'text', text: 'no' }], failed: true })
    assert.deepEqual(events(), [['afterTool', 'denied', 'no', 'a']])
  })

  test('a hand-off is a tool of its own name, the same one at each step', async () => {
    const taken: object[] = []
    const take = async (settings: object) => void taken.push(settings)
    const [a, b] = [
      { name: 'a', description: 'Knows A.', settings: { model: 'x' } },
      { name: 'b', settings: () => ({ model: 'y' }) },
    ]
    const own: Tool = { name: 'own', input: {}, run: () => 1 }
    const plain = { model: 'm' }
    assert.equal(withHandoffs(plain, take), plain)
    const settings = { model: 'm', tools: [own], handoffs: [a, b] } as never
    const made = withHandoffs(settings, take).tools ?? []
    assert.deepEqual(
      made.map(({ name }) => name),
      ['own', 'hand_off_to_a', 'hand_off_to_b'],
    )
    assert.match(made[1]?.description ?? '', /then on\. Knows A\.$/)
    assert.match(made[2]?.description ?? '', /then on\.$/)
    const again = withHandoffs(settings, take).tools ?? []
    for (const i of [1, 2]) assert.equal(again[i], made[i])
    assert.equal(await made[1]?.run({}, {} as never), 'a continues.')
    await made[2]?.run({}, {} as never)
    assert.deepEqual(taken, [{ model: 'x' }, { model: 'y' }])
  })
})

describe('a model without progress', () => {
  const limits = repeatLimits(undefined)
  assert.ok(limits)
  /** One turn: a call of a tool with an argument, and its result. */
  const turn = (name: string, argument: Json, output: string, id: string) => [
    reply(call(id, name, { argument })),
    result(id, output, name),
  ]
  const turns = (...of: [string, Json, string][]) =>
    entriesOf(user('q'), ...of.flatMap(([name, argument, output], i) => turn(name, argument, output, `c${i}`)))
  const same = (count: number): [string, Json, string][] => Array.from({ length: count }, () => ['look', 1, 'x'])

  test('has limits of three and five by default, of at least two, and none if switched off', () => {
    assert.deepEqual(limits, { warn: 3, stop: 5 })
    assert.deepEqual(repeatLimits(4), { warn: 4, stop: 7 })
    assert.deepEqual(repeatLimits(1), { warn: 2, stop: 3 })
    assert.equal(repeatLimits(false), undefined)
  })

  test('is stopped at the limit of equal calls with equal results, since the last message of the user', () => {
    assert.equal(stuck(turns(...same(4)), limits), undefined)
    assert.deepEqual(stuck(turns(...same(5)), limits), {
      guard: 'repeated-call',
      why: 'look was called 5 times with the same arguments and the same result.',
    })
    assert.equal(stuck(turns(...same(4), ['look', 1, 'y']), limits), undefined)
    assert.equal(stuck(turns(...same(4), ['look', 2, 'x']), limits), undefined)
    assert.equal(stuck(entriesOf(...turns(...same(5)).map(({ message }) => message), user('r')), limits), undefined)
    assert.equal(stuck([], limits), undefined)
    const long = 'z'.repeat(200)
    assert.ok(stuck(turns(...Array.from({ length: 5 }, (): [string, Json, string] => ['look', long, long])), limits))
  })

  test('is stopped at a pattern of two to six turns that came ten times in a row', () => {
    const pattern = (period: number, count: number) =>
      turns(...Array.from({ length: count }, (_, i): [string, Json, string] => [`t${i % period}`, 0, `${i}`]))
    assert.equal(stuck(pattern(2, 19), limits), undefined)
    assert.deepEqual(stuck(pattern(2, 20), limits), {
      guard: 'pattern',
      why: 'The same 2 tool turns (t0, t1) came 10 times in a row.',
    })
    assert.match(stuck(pattern(6, 60), limits)?.why ?? '', /same 6 tool turns/)
    assert.equal(stuck(pattern(6, 59), limits), undefined)
    assert.equal(stuck(pattern(7, 140), limits), undefined)
    assert.equal(stuck(pattern(1, 40), limits), undefined, 'one turn with new results is polling')
  })

  test('is warned with the result of the third equal call, and of a pattern', () => {
    const history = turns(...same(2))
    const asked = call('new', 'look', { argument: 1 })
    const warn = repeatNotes(history, [asked], limits)
    const answer = (text: string) => result('new', text, 'look').parts[0] as ToolResultPart
    assert.match(warn(asked, answer('x'))?.toModel ?? '', /^This is call 3 of look/)
    assert.equal(warn(asked, answer('y')), undefined)
    assert.equal(warn(asked, { ...answer('x'), failed: true }), undefined)
    const noted = withNote(answer('x'), 'again')
    assert.deepEqual(noted.output[1], { type: 'text', text: '[Note] again' })
    assert.match(warn(asked, noted)?.toModel ?? '', /^This is call 3/, 'our own note is no part of the result')
    assert.equal(repeatNotes(turns(...same(1)), [asked], limits)(asked, answer('x')), undefined)
    const pattern = Array.from({ length: 9 }, (_, i): [string, Json, string] => [`t${i % 2}`, 0, `${i}`])
    const last = call('new', 't1', { argument: 0 })
    assert.equal(
      repeatNotes(turns(...pattern), [last], limits)(last, answer('9'))?.reason.why,
      'The same 2 tool turns came 5 times in a row.',
    )
    assert.equal(repeatNotes(turns(...pattern.slice(1)), [last], limits)(last, answer('9')), undefined)
    const inLog = [...turns(...pattern), ...entriesOf(reply(last)).map((entry) => ({ ...entry, id: 'now', depth: 19 }))]
    assert.ok(repeatNotes(inLog, [last], limits)(last, answer('9')), 'the turn itself is counted once')
  })
})

describe('the path of a conversation', () => {
  const path = entriesOf(...Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? user(`${i}`) : reply(`${i}`))))
  const outline = (message: Message): Message => ({ ...message, parts: [], outline: true }) as never
  const store = (entries: Entry[], overlays: object[] = []) => {
    const reads: object[] = []
    return {
      reads,
      async history(_: string, head: string, options: { last?: number; outlineThrough?: string } = {}) {
        reads.push({ head, ...options })
        const end = entries.findIndex(({ id }) => id === head) + 1
        const whole = entries.slice(0, end)
        return options.last === undefined ? whole : whole.slice(-options.last)
      },
      overlays: async () => overlays as never,
    }
  }
  const at = (head: string | null, entries = 40) => ({ id: 'c', head, entries })

  test('is read once, and then only what is new', async () => {
    const db = store(path)
    const pathTo = cachedPath(db, 'o')
    assert.deepEqual(await pathTo(at(null)), [])
    assert.equal((await pathTo(at('e20'))).length, 21)
    assert.equal((await pathTo(at('e20'))).length, 21)
    assert.equal((await pathTo(at('e10'))).length, 11, 'back to an earlier one')
    assert.equal(db.reads.length, 1)
    assert.equal((await pathTo(at('e20'))).length, 21)
    assert.deepEqual(db.reads.slice(1), [{ head: 'e20', last: 16 }], 'the end is enough')
    assert.equal((await pathTo(at('e39'))).length, 40)
    assert.deepEqual(db.reads.slice(2), [{ head: 'e39', last: 16 }, { head: 'e39' }], 'too far for its end')
    const found = await pathTo(at('e39'))
    assert.deepEqual(
      found.map(({ id }) => id),
      path.map(({ id }) => id),
    )
    assert.deepEqual(await pathTo(at(null)), [])
  })

  test('of a long conversation is read in outline up to a summary, if it has one that every model can read', async () => {
    const summary = { kind: 'compaction', undone: false, data: { text: 's', through: 'e9' }, entryId: 'e11' }
    const long = async (overlays: object[], head = 'e39', entries = 1000) => {
      const db = store(path, overlays)
      await cachedPath(db, 'o')(at(head, entries))
      return db.reads.map((read) => ('outlineThrough' in read ? read.outlineThrough : 'whole'))
    }
    assert.deepEqual(await long([summary]), ['e9'])
    assert.deepEqual(await long([]), ['whole'])
    assert.deepEqual(await long([summary], 'e39', 999), ['whole'])
    assert.deepEqual(await long([{ ...summary, undone: true }]), ['whole'])
    assert.deepEqual(await long([{ ...summary, kind: 'fold' }]), ['whole'])
    assert.deepEqual(await long([{ ...summary, data: { through: 'e9' } }]), ['whole'])
    assert.deepEqual(await long([{ ...summary, data: { text: 's' } }]), ['whole'])
    const db = store(path, [summary])
    const pathTo = cachedPath(db, 'o')
    await pathTo(at('e39', 1000), true)
    assert.deepEqual(db.reads, [{ head: 'e39' }])
  })

  test('has content from its first message that is no outline on, and is read in full where that is needed', async () => {
    const outlined = path.map((entry, i) => (i > 0 && i < 10 ? { ...entry, message: outline(entry.message) } : entry))
    const isRead = outlineEnd(outlined)
    assert.ok(isRead === 9 || isRead === -1)
    assert.equal(outlineEnd(path), -1)
    assert.equal(outlineEnd([]), -1)
    assert.equal(outlineEnd(path.slice(0, 1)), -1)
    const same = await readWhole({ store: store(path), owner: 'o' }, path)
    assert.equal(same, path)
  })
})

describe('recall', () => {
  const history = entriesOf(
    user('q'),
    reply(call('a', 'read', { path: 'p' })),
    {
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: 'a',
          name: 'read',
          output: [{ type: 'text', text: 'short' }],
          value: 'x'.repeat(9000),
        },
      ],
    },
    reply('done', { type: 'refusal', text: 'no' }, { type: 'compaction', text: 'c' }, onePixel),
  )
  const hit = (n: number) => ({ entryId: `e${n}`, kind: 'text', at: 't', snippet: `s${n}` })
  const store = (found: Record<string, object[]>) =>
    ({
      search: async (_: string, { text, limit }: { text: string; limit: number }) => ({
        items: (found[text] ?? []).slice(0, limit),
      }),
      entry: async (_: string, id: string) => history.find((entry) => entry.id === id),
      conversation: async () => ({ head: 'e3' }),
      history: async () => history,
    }) as unknown as Store
  const ask = async (input: Json, found = {}) =>
    recallTool(store(found), 'o', 'c').run(input, {} as never) as Promise<JsonObject>

  test('reads a result in full by its number, page by page, with the arguments of its call', async () => {
    const first = await ask({ id: '2' })
    assert.deepEqual([first['id'], first['tool']], ['2', 'read'])
    assert.match(String(first['text']), /^read was called with \{"path":"p"\}\nread gave: x+$/)
    assert.equal(String(first['text']).length, 8000)
    const whole = 'read was called with {"path":"p"}\nread gave: '.length + 9000
    assert.equal(first['more'], `${whole - 8000} characters are left: continue with offset 8000.`)
    const second = await ask({ id: '[Tool use #2]', offset: 8000 })
    assert.deepEqual([String(second['text']).length, 'more' in second], [whole - 8000, false])
    assert.equal((await ask({ id: '0' }))['role'], 'user', 'a message by its position')
    await assert.rejects(async () => ask({ id: '9' }), /no tool use #9/)
  })

  test('reads an entry by its id, and refuses one that is not there', async () => {
    assert.deepEqual(await ask({ entry: 'e3' }), {
      entry: 'e3',
      role: 'assistant',
      at: '',
      text: 'done\nno\nc\n[image/png]',
    })
    assert.equal((await ask({ id: 'e0' }))['text'], 'q', 'even under the name of a number')
    assert.equal((await ask({ entry: 'e1' }))['text'], 'read was called with {"path":"p"}')
    await assert.rejects(async () => ask({ entry: 'zz' }), /no entry zz/)
    for (const nothing of [{}, { query: ' ' }, 'text', { id: 1 }] as Json[]) {
      await assert.rejects(async () => ask(nothing), /give a query/)
    }
  })

  test('finds entries with all the words, or else with some of them, at most ten', async () => {
    const shown = (n: number) => ({ entry: `e${n}`, kind: 'text', at: 't', snippet: `s${n}` })
    assert.deepEqual(await ask({ query: 'one two' }, { 'one two': [hit(1)] }), { found: [shown(1)] })
    const some = await ask({ query: 'one two of' }, { one: [hit(1), hit(2)], two: [hit(2), hit(3)], of: [hit(4)] })
    assert.deepEqual(some['found'], [shown(1), shown(2), shown(3)])
    assert.match(String(some['note']), /some/)
    assert.match(String(await ask({ query: 'none' })), /Nothing in this conversation/)
    const words = ['aaa', 'bbb', 'ccc', 'ddd', 'eee']
    const many = Object.fromEntries(words.map((word, i) => [word, [hit(3 * i), hit(3 * i + 1), hit(3 * i + 2)]]))
    assert.equal(((await ask({ query: words.join(' ') }, many))['found'] as Json[]).length, 10)
    const tool = await ask({ query: 'x' }, { x: [{ ...hit(1), tool: 'read' }] })
    assert.deepEqual(tool['found'], [{ ...shown(1), tool: 'read' }])
  })
})

describe('a run as its caller sees it', () => {
  const controls = { abort: () => {}, steer: () => {}, update: () => {} }
  const inner = (event: ReplyEvent, exchangeId = 'x') => ({ type: 'reply-event', exchangeId, event }) as RunEvent
  const delta = (text: string, partType: string, index = 0) =>
    inner({ type: 'part-delta', index, text, partType } as ReplyEvent)
  const handle = (events: RunEvent[], end: Partial<RunEnd> = {}) =>
    runHandle(
      controls,
      () => undefined,
      async (emit) => {
        await setImmediate()
        for (const event of events) emit(event)
        return { outcome: 'done', ...end } as RunEnd
      },
    )
  const failure = { kind: 'overloaded', message: 'later' } as const

  test('has the text of its replies, and nothing of thoughts and calls', async () => {
    const events = [
      inner({ type: 'part-start', index: 0, part: { type: 'text', text: 'a' } }),
      delta('b', 'text'),
      delta('h', 'reasoning'),
      delta('{}', 'tool-call'),
      inner({ type: 'part-start', index: 1, part: { type: 'reasoning', text: 'hm' } }),
      inner({ type: 'part-end', index: 0, part: { type: 'text', text: 'ab' } }),
      { type: 'run-start', conversationId: 'c' } as RunEvent,
    ]
    const texts: string[] = []
    for await (const text of handle(events).textStream) texts.push(text)
    assert.deepEqual(texts, ['a', 'b'])
    const seen: RunEvent[] = []
    for await (const event of handle(events)) seen.push(event)
    assert.deepEqual(seen, events)
    await assert.rejects(async () => {
      for await (const text of handle(events, { failure }).textStream) texts.push(text)
    }, /later/)
    assert.equal(texts.length, 4, 'the text comes first')
  })

  test('gives its text and answer, or says why there is none', async () => {
    assert.equal(await handle([], { reply: reply('x', 'y') }).text(), 'xy')
    await assert.rejects(async () => handle([], { failure }).text(), /later/)
    await assert.rejects(async () => handle([]).text(), /ended before the model answered/)
    assert.deepEqual(await handle([], { answer: { value: { a: 1 } } }).object(), { a: 1 })
    await assert.rejects(async () => handle([], { answer: { problem: 'bad' } }).object(), /bad/)
    await assert.rejects(async () => handle([]).object(), /no schema to read the answer by/)
    await assert.rejects(
      async () => handle([], { outcome: 'cancelled' }).object(),
      /ended as cancelled, without an answer/,
    )
    await assert.rejects(async () => handle([], { failure }).object(), /later/)
  })

  test('shows as much of an object as can be read, each time that is more', async () => {
    const partials = async (...pieces: string[]) => {
      const all: unknown[] = []
      for await (const one of handle(pieces.map((piece) => delta(piece, 'text'))).partialObjectStream) all.push(one)
      return all
    }
    assert.deepEqual(await partials('{"a"', ': 1', '2, "b', '": "x\\', 'n', '"}'), [
      {},
      { a: 1 },
      { a: 12 },
      { a: 12, b: 'x' },
      { a: 12, b: 'x\n' },
    ])
    assert.deepEqual(await partials('[{"a":[1', ',2', ']}', ',{'), [[{ a: [1] }], [{ a: [1, 2] }], [{ a: [1, 2] }, {}]])
    assert.deepEqual(await partials('```json\n{"a":1}', '\n```'), [{ a: 1 }])
    assert.deepEqual(await partials('tr', 'ue'), [true])
    assert.deepEqual(await partials('{"a":"\\u00', 'e9"}'), [{ a: '' }, { a: 'é' }])
    assert.deepEqual(await partials('{"a":tr'), [{}])
    assert.deepEqual(await partials('{"a":"}]"', ',"b":{"c":nul'), [{ a: '}]' }, { a: '}]', b: {} }])
    assert.deepEqual(await partials('no'), [])
  })

  test('merges what nobody has read yet: deltas of one part, and of a call only its end', async () => {
    const many = Array.from({ length: 1001 }, () => ({ type: 'step', n: 1 }) as unknown as RunEvent)
    const merged = async (...events: RunEvent[]) => {
      const run = handle([...many, ...events])
      await run.ended
      const seen: RunEvent[] = []
      for await (const event of run) seen.push(event)
      return seen.slice(1001)
    }
    const asked = inner({ type: 'part-start', index: 1, part: { ...call('a', 'look'), input: {} } })
    const texts = await merged(
      delta('a', 'text'),
      delta('b', 'text'),
      asked,
      delta('{', 'tool-call', 1),
      delta('c', 'text'),
    )
    assert.deepEqual(texts, [delta('abc', 'text')])
    const other = inner({ type: 'part-delta', index: 0, text: 'z', partType: 'text' }, 'other')
    assert.equal((await merged(delta('a', 'text'), other)).length, 2, 'another reply')
    assert.equal((await merged(delta('a', 'text'), delta('b', 'text', 1))).length, 2, 'another part')
    assert.equal((await merged(delta('a', 'text'), { type: 'run-start', conversationId: 'c' } as RunEvent)).length, 2)
  })
})

describe('settings', () => {
  test('are stored as far as they can be, and read back as far as they are valid', () => {
    const tool: Tool = { name: 't', input: {}, run: () => 1 }
    const answer = { type: 'object', $schema: 'x' }
    const stored = settingsToStore({
      model: 'm',
      tools: [tool],
      answer,
      signal: AbortSignal.abort(),
      hooks: {},
      options: { temperature: 1 },
      route: () => 'x',
    })
    assert.deepEqual(stored, {
      model: 'm',
      options: { temperature: 1, answerSchema: { type: 'object' } },
      toolNames: ['t'],
    })
    assert.deepEqual(settingsToStore({ model: 'm', route: { tools: 'x' } }), { model: 'm', route: { tools: 'x' } })
    assert.deepEqual(settingsToStore({ options: {} }), { options: {} })
    assert.deepEqual(storedSettings({ model: 'm', options: { temperature: 'hot' }, other: 1 }), { model: 'm' })
    assert.deepEqual(storedToolNames({ toolNames: ['a', 1, 'b'] }), ['a', 'b'])
    assert.deepEqual([storedToolNames({}), storedToolNames({ toolNames: 'a' })], [[], []])
    assert.deepEqual(toolsNamed(['t', 'u'], [tool]), [tool])
    assert.equal(toolsNamed(['u'], [tool]), undefined)
  })

  test('of a wire belong to the model that they were chosen for', () => {
    const settings = { model: 'm', protocol: 'w' }
    assert.equal(withChanges(settings, { model: 'm' }).protocol, 'w')
    assert.equal(withChanges(settings, { model: 'n' }).protocol, undefined)
    assert.equal(withChanges(settings, {}).protocol, 'w')
    assert.equal(protocolOf({ protocol: 'w', policy: { state: 'auto' } }), 'w')
    assert.equal(protocolOf({ policy: { state: 'auto' } }), 'stateful')
    assert.deepEqual([protocolOf({}), protocolOf({ policy: 'full' })], [undefined, undefined])
    assert.deepEqual(userMessage('a'), user('a'))
    assert.deepEqual(userMessage([onePixel]), user(onePixel))
    assert.throws(() => userMessage(1 as never), /a text or a list of parts/)
  })

  test('of a route name the model of a step, and of a fallback the failures that it is for', async () => {
    const step = { kind: 'ask', model: 'm' } as never
    const last = { kind: 'answer', model: 'm' } as never
    const of = (route: never, at: never) => routedModel(route, at)
    assert.deepEqual(
      await Promise.all([
        of(undefined as never, step),
        of({ tools: 't' } as never, step),
        of({ tools: 't' } as never, last),
      ]),
      ['m', 't', 'm'],
    )
    assert.equal(await of({ answer: 'a' } as never, last), 'a')
    assert.equal(await of({ answer: { model: 'b' } } as never, last), 'b')
    assert.equal(await of((() => 'f') as never, step), 'f')
    assert.deepEqual(composingOf({ answer: { model: 'b', guidance: 'g' } }), { model: 'b', guidance: 'g' })
    assert.deepEqual([composingOf({ answer: 'a' }), composingOf(undefined), composingOf(() => 'f')], [{}, {}, {}])
    const fails = (fallback: Parameters<typeof fallsBack>[0], kind: string) =>
      fallsBack(fallback, { kind, message: '' } as never)
    for (const kind of ['quota', 'auth', 'permission', 'not-found', 'overloaded', 'rate-limit'])
      assert.equal(fails('x', kind), true, kind)
    for (const kind of ['invalid-request', 'refused', 'bad-input']) assert.equal(fails('x', kind), false, kind)
    assert.deepEqual(
      [fails({ model: 'x', on: ['refused'] }, 'refused'), fails({ model: 'x', on: ['refused'] }, 'quota')],
      [true, false],
    )
    assert.deepEqual([modelOfFallback('x'), modelOfFallback({ model: 'y' })], ['x', 'y'])
  })

  test('of a budget are reached at the limit, not before', () => {
    const spent = { usd: 1, tokens: 100 }
    assert.equal(overBudget(undefined, spent, 'run'), undefined)
    assert.equal(overBudget({ usd: 1.01, tokens: 101 }, spent, 'run'), undefined)
    assert.deepEqual(overBudget({ usd: 1 }, spent, 'run'), {
      guard: 'spend',
      why: 'The run reached its budget of $1 (spent $1.0000).',
    })
    assert.deepEqual(overBudget({ tokens: 100 }, spent, 'run')?.guard, 'tokens')
    const counted = meter()
    const exchange = { cost: 2, usage: { ...noUsage, input: 3, output: 4 } } as Exchange
    counted.ended(exchange)
    counted.ended({} as Exchange)
    assert.deepEqual(counted.spent, { usd: 2, tokens: 7 })
    assert.deepEqual([counted.read(), counted.read()], [[{}, exchange], []])
  })
})

test('a provider is skipped from the third failure in a minute on, and again at once if it fails after that', () => {
  let now = 0
  const { isOut, failed, succeeded } = cooldown(() => now)
  failed('p', 2)
  assert.equal(isOut('p'), false)
  now = 60_000
  failed('p')
  assert.equal(isOut('p'), false, 'the first two are a minute old')
  failed('p', 2)
  assert.deepEqual([isOut('p'), isOut('q')], [true, false])
  now += 4999
  assert.equal(isOut('p'), true)
  now += 1
  assert.equal(isOut('p'), false)
  for (const ms of [10_000, 20_000, 40_000, 60_000, 60_000]) {
    failed('p')
    now += ms - 1
    assert.equal(isOut('p'), true, `${ms}`)
    now += 1
    assert.equal(isOut('p'), false, `${ms}`)
  }
  succeeded('p')
  failed('p', 2)
  assert.equal(isOut('p'), false)
})

test('text files are sent as text in a fence that is longer than any in them, if the model does not take them', () => {
  const file = (text: string | Buffer, mediaType: string, name?: string): MediaPart => ({
    type: 'media',
    mediaType,
    data: { kind: 'base64', base64: Buffer.from(text).toString('base64') },
    ...(name !== undefined && { name }),
  })
  const shown = (part: MediaPart, media: string[] = []) => {
    const [first] = inlineTextFiles(user(part), media).parts
    return first?.type === 'text' ? first.text : undefined
  }
  assert.equal(shown(file('a\n\n', 'text/plain')), 'text/plain:\n```\na\n```')
  assert.equal(shown(file('a', 'text/plain', 'a.txt')), 'a.txt:\n```\na\n```')
  assert.equal(shown(file('``', 'text/plain', 'x')), 'x:\n```\n``\n```')
  assert.equal(shown(file('```', 'text/plain', 'x')), 'x:\n````\n```\n````')
  assert.equal(shown(file('````` ```', 'text/plain', 'x')), 'x:\n``````\n````` ```\n``````')
  assert.equal(shown(file('<svg/>', 'image/svg+xml', 'x')), 'x:\n```\n<svg/>\n```')
  assert.equal(shown(file('a', 'text/plain'), ['text/*']), undefined)
  for (const type of ['image/png', 'audio/wav', 'video/mp4', 'application/pdf'])
    assert.equal(shown(file('a', type)), undefined, type)
  assert.equal(shown(file('a\0b', 'text/plain')), undefined)
  assert.equal(shown(file(Buffer.from([0xff, 0xfe, 0x41]), 'text/plain')), undefined)
  const plain = user('a')
  assert.equal(inlineTextFiles(plain, []), plain)
  const answered = reply('a')
  assert.equal(inlineTextFiles(answered, []), answered)
  const picture = user('a', onePixel)
  assert.equal(inlineTextFiles(picture, []), picture)
})

test('thinking is timed from a second on, per part, to its last text', () => {
  let now = 0
  const read = thinkingClock(() => now)
  const thought: Part = { type: 'reasoning', text: 'hm' }
  const start = (index: number, part: Part = thought) => read({ type: 'part-start', index, part })
  const grow = (index: number) => read({ type: 'part-delta', index, text: 'x' })
  const end = (index: number, part: Part = thought) => {
    const event = read({ type: 'part-end', index, part })
    return event.type === 'part-end' && event.part.type === 'reasoning' ? event.part.durationMs : undefined
  }
  start(0)
  now = 999
  grow(0)
  now = 5000
  assert.equal(end(0), undefined, 'less than a second')
  start(1)
  now = 6000.4
  grow(1)
  grow(2)
  now = 9000
  assert.equal(end(1), 1000)
  start(3)
  now = 11_000
  assert.equal(end(3), 2000, 'without a text to its end')
  start(4, { type: 'text', text: '' })
  now = 20_000
  assert.equal(end(4, { type: 'text', text: 'a' }), undefined)
})

test('the holder of a lease is gone only if its process has ended on this machine', () => {
  const self = thisProcess()
  const [, host, pid, space, start] = /^(.*):(\d+) \((\w+)\.(\d*)\)$/.exec(self) ?? []
  assert.equal(pid, String(process.pid))
  assert.equal(isGone(self), false)
  assert.equal(isGone(`${host}:${pid} (${space}.1${start})`), true, 'another process had that number')
  assert.equal(isGone(`${host}:${pid} (${space}.)`), false, 'its start is unknown')
  assert.equal(isGone(`${host}:4194304 (${space}.5)`), true)
  assert.equal(isGone(`${host}:1 (${space}.)`), false)
  assert.equal(isGone(`elsewhere:4194304 (${space}.5)`), false)
  assert.equal(isGone(`${host}:4194304 (other.5)`), false)
  assert.equal(isGone('a name'), false)
})

test('state at a provider is wanted only where it can be used', () => {
  const run = (change: object = {}) =>
    ({ options: {}, endpoint: { state: { kind: 'k' }, provider: { id: 'p' }, capabilities: {}, ...change } }) as never
  const history = entriesOf(user('q'))
  const overlay = (kind: string, provider: string, undone = false) =>
    ({ kind, data: { provider }, undone, entryId: 'e0', at: '' }) as never
  const keeps = (at: never, settings: object = {}, overlays: never[] = []) =>
    keepsState(at, { state: 'auto', ...settings } as never, history, overlays)
  assert.equal(keeps(run()), true)
  assert.equal(keepsState(run(), {}, history, []), false)
  assert.equal(keeps(run({ state: undefined })), false)
  assert.equal(keeps({ ...(run() as object), options: { store: false } } as never), false)
  assert.equal(keeps(run(), {}, [overlay('stateless', 'p')]), false)
  assert.equal(
    keeps(run(), {}, [overlay('stateless', 'q'), overlay('other', 'p'), overlay('stateless', 'p', true)]),
    true,
  )
  const edits = run({ capabilities: { contextEdits: true } })
  assert.equal(keeps(edits), true)
  assert.equal(keeps(edits, { fold: 'provider' }), false)
  assert.equal(keeps(edits, { compaction: { at: 5 } }), false)
  assert.equal(keeps(run(), { fold: 'provider', compaction: { at: 5 } }), true)
  const stateless = (message: string, code?: string) =>
    isStateless({ kind: 'state-lost', message, ...(code && { code }) })
  assert.deepEqual(
    [stateless('Zero Data Retention is on'), stateless('x', 'thread_unsupported_request'), stateless('x')],
    [true, true, false],
  )
})

test('a message from outside is refused by the name of what is wrong in it', () => {
  const refused = (value: unknown, says: RegExp) => assert.throws(() => checkMessages(value as Message[]), says)
  refused('x', /must be a list of messages/)
  refused([user('a'), null], /messages\[1\]\.role/)
  refused([{ role: 'robot', parts: [] }], /messages\[0\]\.role: must be system, user/)
  refused([{ role: 'user' }], /messages\[0\]\.parts: must be a list/)
  for (const field of ['origin', 'stop', 'native'])
    refused([{ ...reply('a'), [field]: undefined }], /origin, stop and native/)
  checkMessages([user('a'), reply('b'), result('c', 'd')])
  const part = (value: unknown, says: RegExp) =>
    assert.throws(() => checkParts([{ type: 'text', text: 'a' }, value], 'parts'), says)
  part('x', /parts\[1\]\.type: must be one of text, reasoning/)
  part({ type: 'toString' }, /parts\[1\]\.type/)
  part({ type: 'text' }, /parts\[1\]\.text: must be a text/)
  part({ type: 'media', mediaType: 'a/b', data: {} }, /parts\[1\]\.data: must be an object with a kind/)
  part({ type: 'tool-result', callId: 'a', output: 'x' }, /parts\[1\]\.output: must be a list of parts/)
  checkParts([{ type: 'compaction' }, { type: 'opaque', kind: 'k' }], 'parts')
})

test('an answer is read out of a code block, and a problem says what is wrong', async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } } }
  assert.deepEqual(await checkAnswer(schema, '{"a":1}'), { value: { a: 1 } })
  assert.deepEqual(await checkAnswer(schema, ' ```json\n{"a":1}\n```\n'), { value: { a: 1 } })
  assert.deepEqual(await checkAnswer(schema, '```\n{"a":1}```'), { value: { a: 1 } })
  assert.match(JSON.stringify(await checkAnswer(schema, 'x')), /The answer is not JSON/)
  assert.match(JSON.stringify(await checkAnswer(schema, '{"a":"x"}')), /does not fit its schema/)
  const strict = z.object({ a: z.number().refine((a) => a > 5) })
  assert.ok('problem' in (await checkAnswer(schema, '{"a":1}', strict)))
  assert.deepEqual(await checkAnswer(schema, '{"a":6}', strict), { value: { a: 6 } })
})

test('a conversation is called after the first line of its first message', () => {
  assert.equal(titleOf(user('\n a b\nc')), 'a b')
  assert.equal(titleOf(user('x'.repeat(81))), 'x'.repeat(80))
  assert.equal(titleOf(user(onePixel)), '')
})
