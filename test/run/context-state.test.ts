// State at providers: when it is used, and what happens if it is lost.

import assert from 'node:assert/strict'
import test, { describe } from 'node:test'
import type { Context, Note, StateRef } from '../../src/core/context.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Entry, Exchange } from '../../src/core/log.ts'
import type { Message, Reply, StopReason, TextPart } from '../../src/core/message.ts'
import { rows } from '../../src/providers/rows.ts'
import type { RunContext } from '../../src/run/run-context.ts'
import { heldState, keepState, stateNote, usableState } from '../../src/run/request/state.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { reply, user } from '../histories.ts'
import { clockTool, talk, type Talk } from './talking.ts'

/** Every wire of every provider that keeps conversations, with the field of a body that names one. */
const stateful = rows.flatMap(({ id, wires, defaultModel = '' }) =>
  wires.flatMap(({ protocol, state }) =>
    state
      ? [{ model: `${id}/${defaultModel}`, protocol, state, idIn: (body: JsonObject) => at(body, state.field) }]
      : [],
  ),
)

function at(value: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => (inner as JsonObject | undefined)?.[key], value)
}

const base = { tools: [clockTool], system: 'Be exact.', policy: { preset: 'economy', state: 'auto' } } as const

function started(who: (typeof stateful)[number]): Promise<Talk> {
  const { model, protocol } = who
  return talk({ ...base, tools: [clockTool], model, protocol })
}

/** How a provider says that it will not keep anything, whatever the id. */
const refusals: Partial<Record<StateRef['kind'], JsonObject>> = {
  'response-chain': {
    error: {
      message: 'Previous response cannot be used for this organization due to Zero Data Retention.',
      type: 'invalid_request_error',
      param: 'previous_response_id',
      code: 'unsupported_parameter',
    },
  },
  thread: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'thread: not supported for this request',
      details: { error_code: 'thread_unsupported_request', unsupported: ['hipaa'] },
    },
  },
}

function sent(body: JsonObject | undefined): unknown[] {
  return (body?.['input'] ?? body?.['messages'] ?? []) as unknown[]
}

for (const who of stateful) {
  const name = `${who.model} on ${who.protocol}`

  test(`${name} is sent only what is new to it`, async () => {
    const chat = await started(who)
    await chat.say('My name is Ada.')
    await chat.say('What time is it?')
    await chat.say('What did I say first?')
    const bodies = chat.bodies()
    assert.deepEqual(
      bodies.map((body) => who.idIn(body) !== undefined),
      [false, true, true, true],
    )
    for (const body of bodies.slice(1)) assert.equal(sent(body).length, 1, JSON.stringify(sent(body)))
    assert.match(JSON.stringify(chat.history.at(-1)?.message), /My name is Ada/)
    // The id is the one at the row's own place in the reply before.
    assert.equal(who.state.idPath, 'id')
    const replies = chat.history.flatMap(({ message }) => (message.role === 'assistant' ? [message] : []))
    assert.equal(who.idIn(bodies[3] ?? {}), replies[2]?.origin.replyId)
  })

  test(`${name} gets what another model said meanwhile, and only that, when it is used again`, async () => {
    const chat = await started(who)
    await chat.say('My name is Ada.')
    await chat.say('Two.', { model: 'mistral/mistral-medium-latest', protocol: 'mistral-chat' })
    assert.equal((await chat.say('What did I say first?')).outcome, 'done')
    const body = chat.bodies().at(-1)
    assert.notEqual(who.idIn(body ?? {}), undefined)
    assert.ok(sent(body).length <= 3 && !JSON.stringify(body).includes('My name is Ada.'))
    assert.match(JSON.stringify(chat.history.at(-1)?.message), /My name is Ada/)
  })

  const again = who.state.branches ? 'is continued again from there' : 'is sent everything: its state can be used once'
  test(`${name}, asked twice from the same reply, ${again}`, async () => {
    const chat = await started(who)
    await chat.say('One.')
    await chat.say('Two.')
    await chat.fork(2)
    assert.equal((await chat.say('Another two.')).outcome, 'done')
    const ids = chat.bodies().map(who.idIn)
    assert.notEqual(ids[1], undefined)
    assert.equal(ids[2], who.state.branches ? ids[1] : undefined)
  })

  test(`${name} gets everything again when an earlier message was edited`, async () => {
    const chat = await started(who)
    await chat.say('One.')
    await chat.fork(0)
    assert.equal((await chat.say('Another one.')).outcome, 'done')
    assert.equal(who.idIn(chat.bodies().at(-1) ?? {}), undefined)
  })

  test(`${name} gets everything again when something was cut`, async () => {
    const chat = await started(who)
    const policy = { maxMessages: 6, step: 4, state: 'auto' } as const
    const ids: unknown[] = []
    for (let i = 0; i < 5; i++) {
      assert.equal((await chat.say(`Message ${i}.`, { policy })).outcome, 'done')
      ids.push(who.idIn(chat.bodies().at(-1) ?? {}))
    }
    assert.deepEqual(
      ids.map((id) => id !== undefined),
      [false, true, true, false, true],
    )
  })

  test(`${name} that refuses an id with an unknown error gets everything, in the same call`, async () => {
    const chat = await started(who)
    await chat.say('One.')
    for (const status of [400, 404]) {
      chat.emulator.order({ status, body: { error: { message: 'No.', code: 'invalid_request' } } })
      assert.equal((await chat.say('Two.')).outcome, 'done')
    }
    assert.deepEqual(
      chat.bodies().map((body) => who.idIn(body) !== undefined),
      [false, true, false, true, false],
    )
    assert.deepEqual(await chat.overlays('stateless'), [])
  })

  test(`${name} that refuses for another reason than the request is not asked again without the id`, async () => {
    for (const status of [401, 403]) {
      const chat = await started(who)
      await chat.say('One.')
      chat.emulator.order({ status, body: { error: { message: 'No.' } } })
      assert.equal((await chat.say('Two.')).outcome, 'failed')
      assert.equal(chat.bodies().length, 2)
      await chat.say('Three.')
      assert.notEqual(who.idIn(chat.bodies().at(-1) ?? {}), undefined, 'its state is still used')
    }
  })

  const refusal = refusals[who.state.kind]
  const undocumented = !refusal && 'how it would say so is not documented'
  test(`${name} without storage for this account is tried once`, { skip: undocumented }, async () => {
    const chat = await started(who)
    await chat.say('One.')
    chat.emulator.order({ status: 400, body: refusal ?? null })
    assert.equal((await chat.say('Two.')).outcome, 'done')
    await chat.say('Three.')
    const bodies = chat.bodies()
    assert.equal(bodies.length, 4)
    for (const body of bodies.slice(2)) {
      assert.equal(who.idIn(body), undefined)
      assert.ok(body['store'] !== true && body['thread'] === undefined)
    }
    assert.equal((await chat.overlays('stateless')).length, 1)
  })

  test(`${name} without storage for this account may say so at the first request`, { skip: undocumented }, async () => {
    const chat = await started(who)
    chat.emulator.order({ status: 400, body: refusal ?? null })
    assert.equal((await chat.say('One.')).outcome, 'done')
    const [first, second] = chat.bodies()
    assert.ok(first?.['store'] === true || first?.['thread'] !== undefined)
    assert.ok(second && second['store'] !== true && second['thread'] === undefined)
    assert.equal(chat.bodies().length, 2)
    assert.equal((await chat.overlays('stateless')).length, 1)
  })

  test(`${name} that has forgotten is sent everything, in the same call`, async () => {
    const chat = await started(who)
    await chat.say('My name is Ada.')
    chat.emulator.order({ expireState: true })
    const { outcome } = await chat.say('What did I say first?')
    assert.equal(outcome, 'done')
    assert.match(JSON.stringify(chat.history.at(-1)?.message), /My name is Ada/)
    const [, lost, whole] = chat.bodies()
    assert.ok(lost && who.idIn(lost) !== undefined)
    assert.ok(whole && who.idIn(whole) === undefined && sent(whole).length >= 3)
    const outcomes = (await chat.exchanges()).map((exchange) => exchange.failure?.kind ?? exchange.outcome)
    assert.deepEqual(outcomes.slice(0, 2), ['done', 'state-lost'])
    await chat.say('Hello.')
    assert.notEqual(who.idIn(chat.bodies().at(-1) ?? {}), undefined, 'and continues from there')
    await chat.fork(2)
    const { length } = chat.bodies()
    await chat.say('Another way.')
    assert.deepEqual(chat.bodies().slice(length).map(who.idIn), [undefined], 'what was lost is not tried again')
  })

  test(`${name} gets no id of another branch`, async () => {
    const chat = await started(who)
    await chat.say('One.')
    await chat.say('Two.')
    const { length } = chat.history
    await chat.say('Three.')
    const third = who.idIn(chat.bodies().at(-1) ?? {})
    await chat.fork(length - 2)
    assert.equal((await chat.say('Another two.')).outcome, 'done')
    const forked = who.idIn(chat.bodies().at(-1) ?? {})
    assert.notEqual(forked, third)
    const reply = chat.history[1]?.message
    const first = reply?.role === 'assistant' ? reply.origin.replyId : undefined
    assert.ok(forked === undefined || forked === first)
  })

  test(`${name} is sent everything when system or tools have changed, or something was folded`, async () => {
    const chat = await started(who)
    await chat.say('One.')
    await chat.say('Two.', { system: 'Be brief.' })
    assert.equal(who.idIn(chat.bodies().at(-1) ?? {}), undefined)
    await chat.say('Three.', { system: 'Be brief.', tools: [] })
    assert.equal(who.idIn(chat.bodies().at(-1) ?? {}), undefined)
    await chat.say('Four.', { system: 'Be brief.', tools: [] })
    assert.notEqual(who.idIn(chat.bodies().at(-1) ?? {}), undefined)
    const made = await chat.compact({ policy: { compaction: { keep: 2, native: false } } })
    assert.ok(made)
    await chat.say('Five.', { system: 'Be brief.', tools: [] })
    assert.equal(who.idIn(chat.bodies().at(-1) ?? {}), undefined)
  })
}

test('nothing is stored at a provider unless requested', async () => {
  for (const who of stateful) {
    const { model, protocol } = who
    const chat = await talk({ model, protocol, policy: 'economy' })
    await chat.say('One.')
    await chat.say('Two.')
    for (const body of chat.bodies()) {
      assert.equal(who.idIn(body), undefined)
      assert.ok(body['store'] !== true && body['thread'] === undefined)
    }
  }
})

test('two alternating providers keep their own ids, and each gets what the other said', async () => {
  const chat = await talk({ ...base, tools: [], model: 'openai/gpt-5.6' })
  await chat.say('One.')
  await chat.say('Two.', { model: 'xai/grok-4.7' })
  await chat.say('Three.')
  await chat.say('Four.', { model: 'xai/grok-4.7' })
  const ids = chat.history.map(({ message }) => (message.role === 'assistant' ? message.origin.replyId : undefined))
  const bodies = chat.bodies()
  assert.equal(bodies[2]?.['previous_response_id'], ids[1])
  assert.equal(bodies[3]?.['previous_response_id'], ids[3])
  assert.equal(sent(bodies[2]).length, 3)
  assert.match(JSON.stringify(bodies[2]), /Two\./)
})

test('an interrupted reply is not continued', async () => {
  const chat = await talk({ ...base, tools: [], model: 'openai/gpt-5.6' })
  await chat.say('Count to 500.', { options: { maxOutput: 20 } })
  await chat.say('Hello.')
  assert.equal(chat.bodies().at(-1)?.['previous_response_id'], undefined)
})

describe('what a provider stores of a conversation', () => {
  const owner = 'ada'
  const who = { provider: 'openai', protocol: 'openai-responses' }
  const lines: TextPart[] = [{ type: 'text', text: 'Be exact.' }]
  const answered = (stop: StopReason = 'done', replyId = 'r1') => {
    const { origin, ...rest } = reply('Hello, Ada.')
    return { ...rest, origin: { ...origin, ...who, replyId }, stop: { reason: stop } }
  }

  async function stored(answer: Reply = answered(), strategy: object = {}) {
    const store = openMemoryStore({ now: () => Date.parse('2026-11-17T12:00:30Z') })
    const { id: conversationId } = await store.createConversation(owner)
    const history: Entry[] = []
    for (const message of [user('I am Ada.'), answer, user('Who am I?')]) {
      history.push(await store.append(owner, conversationId, { message }))
    }
    const state = { kind: 'response-chain', lifetimeMs: 60_000, branches: true, ...strategy }
    const endpoint = { provider: { id: who.provider }, protocol: { id: who.protocol }, model: 'gpt', state }
    const run = { store, owner, conversationId, endpoint, write: () => ({}) } as unknown as RunContext
    const exchange = { ...who, startedAt: '2026-11-17T12:00:00.000Z' } as Exchange
    return { store, run, history, exchange, entry: history[1] as Entry }
  }

  /** A request with the whole history, or with other messages at some places. */
  function contextOf(
    history: readonly Entry[],
    { other = [], ...rest }: Partial<Context> & { other?: Message[] } = {},
  ) {
    const messages = history.map(({ message }, index) => other[index] ?? message)
    return { system: lines, tools: [], messages, cacheAfter: [], places: history.map((_, index) => index), ...rest }
  }

  async function refFor(next: (history: readonly Entry[]) => Context, first?: Message[]) {
    const { run, history, exchange, entry } = await stored()
    const asked = contextOf(history.slice(0, 1), { ...(first && { other: first }) })
    const note = stateNote(asked, history, 'gpt', entry.message as Reply)
    assert.ok(note)
    await keepState(run, exchange, entry)
    const usable = await usableState(run, history, [{ ...exchange, replyEntryId: entry.id, notes: [note] }])
    assert.ok(usable)
    return usable.refFor(next(history))
  }

  test('is continued if the provider has exactly the beginning of the request', async () => {
    assert.deepEqual(await refFor(contextOf), { kind: 'response-chain', id: 'r1', covers: 2 })
    const shortened = () => [user('[shortened]')]
    const same = (history: readonly Entry[]) => contextOf(history, { other: shortened() })
    assert.equal((await refFor(same, shortened()))?.covers, 2, 'shortened in both requests in the same way')
  })

  for (const [what, next] of Object.entries<(history: readonly Entry[]) => Context>({
    'an earlier message is shortened': (history) => contextOf(history, { other: [user('I am [shortened]')] }),
    'the stored reply is shortened': (history) =>
      contextOf(history, { other: [history[0]?.message ?? user(), { ...answered(), parts: [] }] }),
    'an earlier message is left out': (history) => ({ ...contextOf(history.slice(1)), places: [1, 2] }),
    'the stored reply is left out': (history) => ({ ...contextOf(history.slice(2)), places: [2] }),
    'a message is added before it': (history) => {
      const { messages } = contextOf(history)
      return { ...contextOf([]), messages: [user('Note.'), ...messages], places: [-1, 0, 1, 2] }
    },
    'the system prompt is another': (history) => contextOf(history, { system: [{ type: 'text', text: 'Be brief.' }] }),
    'there is a new tool': (history) => contextOf(history, { tools: [clockTool] }),
  })) {
    test(`is not continued if ${what}`, async () => assert.equal(await refFor(next), undefined))
  }

  test('is not continued after an incomplete reply, another kind of state, or a request that is not known', async () => {
    for (const [answer, strategy, isNoted, isUsable] of [
      [answered(), {}, true, true],
      [answered('tool-calls'), {}, true, true],
      [answered('length'), {}, true, false],
      [answered('interrupted'), {}, true, false],
      [answered(), {}, false, false],
      [answered(), { kind: 'thread' }, true, false],
    ] as const) {
      const { run, history, exchange, entry } = await stored(answer)
      await keepState(run, exchange, entry)
      Object.assign(run.endpoint.state ?? {}, strategy)
      // As in exchanges up to 0.1.0.
      const note: Note = { kind: 'added', what: 'x', why: 'prefix abc', rule: 'state' }
      const done = { ...exchange, replyEntryId: entry.id, notes: isNoted ? [note] : [] }
      const usable = await usableState(run, history, [done])
      assert.equal(usable !== undefined, isUsable, `${answer.stop.reason} ${JSON.stringify(strategy)} ${isNoted}`)
      assert.equal(usable?.refFor(contextOf(history)), undefined, 'the digest is another')
      assert.equal(await usableState(run, history, []), undefined)
      assert.equal(await usableState(run, [], [done]), undefined)
    }
  })

  test('is noted only for a complete reply with an id', async () => {
    for (const [answer, isNoted] of [
      [answered(), true],
      [answered('tool-calls'), true],
      [answered('length'), false],
      [answered('cancelled'), false],
      [reply('without an id'), false],
    ] as const) {
      const { history } = await stored()
      assert.equal(stateNote(contextOf(history), history, 'gpt', answer) !== undefined, isNoted, answer.stop.reason)
    }
  })

  test('is recorded as long as the provider has it, and what was continued is forgotten if that works once', async () => {
    for (const branches of [true, false]) {
      const { store, run, history, exchange, entry } = await stored(answered(), { branches })
      await keepState(run, exchange, entry)
      const first = await store.stateAt(owner, entry.id, who)
      assert.deepEqual([first?.ref, first?.covers, first?.expiresAt], ['r1', entry.id, '2026-11-17T12:01:00.000Z'])
      const again = await store.append(owner, run.conversationId, { message: answered('done', 'r2') })
      await keepState(run, exchange, again, first)
      assert.equal((await store.stateAt(owner, again.id, who))?.ref, 'r2')
      assert.equal((await store.stateAt(owner, history[2]?.id ?? '', who))?.ref, branches ? 'r1' : undefined)
    }
  })

  test('is not recorded for a reply without an id, a message of the user, or a wire that stores nothing', async () => {
    for (const [index, answer, strategy] of [
      [1, reply('without an id'), {}],
      [2, answered(), {}],
      [1, answered(), undefined],
    ] as const) {
      const { store, run, history, exchange } = await stored(answer)
      const endpoint = { ...run.endpoint, ...(!strategy && { state: undefined }) } as RunContext['endpoint']
      await keepState({ ...run, endpoint }, exchange, history[index] as Entry)
      assert.equal(await store.stateAt(owner, history[2]?.id ?? '', who), undefined)
    }
  })

  test('is listed for a conversation with the providers that have something of it', async () => {
    const { store, run, exchange, entry } = await stored()
    const { conversationId } = run
    for (const provider of ['openai', 'xai']) {
      await store.openExchange(owner, conversationId, { ...who, provider, model: 'm', basedOn: entry.id, body: '{}' })
    }
    const refs = async (head: string | null) => (await heldState(run, conversationId, head)).map(({ ref }) => ref)
    assert.deepEqual(await refs(entry.id), [])
    await keepState(run, exchange, entry)
    assert.deepEqual(await refs(entry.id), ['r1'])
    assert.deepEqual(await refs(null), [])
  })
})
