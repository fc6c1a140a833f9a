// Settings that are stored, routed and refused.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Exchange } from '../../src/core/log.ts'
import type { Message } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { noUsage } from '../../src/core/usage.ts'
import { meter, overBudget } from '../../src/run/budget.ts'
import { checkMessages, checkParts } from '../../src/run/check-messages.ts'
import { answerSettingsOf, fallsBack, modelOfFallback, routedModel } from '../../src/run/route.ts'
import { toolLimits } from '../../src/run/guards.ts'
import { protocolOf, userMessage, withChanges } from '../../src/run/settings.ts'
import { stepSettings } from '../../src/run/start-run.ts'
import type { RunSettings } from '../../src/settings/run.ts'
import { isStateless, keepsState } from '../../src/run/request/state.ts'
import { settingsToStore, storedSettings, storedToolNames, toolsNamed } from '../../src/run/stored-settings.ts'
import { entriesOf, onePixel, reply, result, user } from '../histories.ts'

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

  test('of a run are read anew at each step, with a value where none was given', () => {
    let given: RunSettings = { model: 'm' }
    const step = stepSettings('c', () => given, ['t'])
    const nothing = {
      protocol: undefined,
      system: [],
      tools: [],
      options: { cacheKey: 'c' },
      policy: 'economy',
      maxSteps: 50,
      route: undefined,
      fallback: [],
      repeats: { warn: 3, stop: 5 },
      limits: toolLimits(),
      budget: undefined,
      context: undefined,
      hooks: undefined,
      answer: undefined,
      absentTools: ['t'],
    }
    assert.deepEqual({ ...step }, { model: 'm', ...nothing })
    const tool: Tool = { name: 't', input: {}, run: () => 1 }
    const answer = { type: 'object' } as const
    const [route, hooks, budget] = [{ answer: 'x' }, {}, { run: { usd: 1 } }]
    given = {
      model: 'n',
      protocol: 'w',
      system: 'Be exact.',
      tools: [tool],
      options: { temperature: 1 },
      policy: 'full',
      maxSteps: 0,
      route,
      fallback: ['o'],
      guards: { repeats: false, callsPerReply: 1 },
      budget,
      context: 7,
      hooks,
      answer,
    }
    assert.deepEqual(
      { ...step },
      {
        model: 'n',
        protocol: 'w',
        system: [{ type: 'text', text: 'Be exact.' }],
        tools: [tool],
        options: { cacheKey: 'c', temperature: 1, answerSchema: answer },
        policy: 'full',
        maxSteps: 0,
        route,
        fallback: ['o'],
        repeats: undefined,
        limits: toolLimits({ callsPerReply: 1 }),
        budget,
        context: 7,
        hooks,
        answer,
        absentTools: undefined,
      },
    )
    given = { model: 'n', options: { cacheKey: 'mine' } }
    assert.deepEqual(step.options, { cacheKey: 'mine' })
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
    assert.deepEqual(answerSettingsOf({ answer: { model: 'b', guidance: 'g' } }), { model: 'b', guidance: 'g' })
    assert.deepEqual(
      [answerSettingsOf({ answer: 'a' }), answerSettingsOf(undefined), answerSettingsOf(() => 'f')],
      [{}, {}, {}],
    )
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
    counted.add(exchange)
    counted.add({} as Exchange)
    assert.deepEqual(counted.spent, { usd: 2, tokens: 7 })
    assert.deepEqual([counted.read(), counted.read()], [[{}, exchange], []])
  })
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
