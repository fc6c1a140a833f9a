import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { clockTool, talk, type Talk, type TalkSettings } from './talking.ts'

const stateful: (Pick<TalkSettings, 'model' | 'protocol'> & { idIn(body: JsonObject): unknown })[] = [
  { model: 'openai/gpt-5.6', idIn: (body) => body['previous_response_id'] },
  { model: 'xai/grok-4.7', idIn: (body) => body['previous_response_id'] },
  {
    model: 'google/gemini-3.8-flash',
    protocol: 'gemini-interactions',
    idIn: (body) => body['previous_interaction_id'],
  },
  {
    model: 'anthropic/claude-opus-5',
    idIn: (body) => (body['thread'] as JsonObject | undefined)?.['previous_message_id'],
  },
]

const base = { tools: [clockTool], system: 'Be exact.', policy: { preset: 'economy', state: 'auto' } } as const

function started(who: (typeof stateful)[number]): Promise<Talk> {
  const { model, protocol } = who
  return talk({ ...base, tools: [clockTool], model, ...(protocol && { protocol }) })
}

function sent(body: JsonObject | undefined): unknown[] {
  return (body?.['input'] ?? body?.['messages'] ?? []) as unknown[]
}

for (const who of stateful) {
  const name = `${who.model}${who.protocol ? ` on ${who.protocol}` : ''}`

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
    assert.notEqual(who.idIn(chat.bodies().at(-1) ?? {}), undefined, 'and goes on from there')
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

test('nothing is kept at a provider unless it is asked for', async () => {
  for (const who of stateful) {
    const { model, protocol } = who
    const chat = await talk({ model, ...(protocol && { protocol }), policy: 'economy' })
    await chat.say('One.')
    await chat.say('Two.')
    for (const body of chat.bodies()) {
      assert.equal(who.idIn(body), undefined)
      assert.ok(body['store'] !== true && body['thread'] === undefined)
    }
  }
})

test('two providers in turns keep their own ids, and each is told what the other said', async () => {
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

test('a provider that keeps nothing for this account is asked once', async () => {
  const chat = await talk({ ...base, tools: [], model: 'openai/gpt-5.6' })
  await chat.say('One.')
  const message = 'Previous response cannot be used for this organization due to Zero Data Retention.'
  const error = { message, type: 'invalid_request_error', param: 'previous_response_id', code: 'unsupported_parameter' }
  chat.emulator.order({ status: 400, body: { error } })
  assert.equal((await chat.say('Two.')).outcome, 'done')
  await chat.say('Three.')
  const bodies = chat.bodies()
  assert.equal(bodies.length, 4)
  assert.equal(bodies[3]?.['previous_response_id'], undefined)
  assert.equal(bodies[3]?.['store'], false)
})

test('a reply that was cut off is not gone on from', async () => {
  const chat = await talk({ ...base, tools: [], model: 'openai/gpt-5.6' })
  await chat.say('Count to 500.', { options: { maxOutput: 20 } })
  await chat.say('Hello.')
  assert.equal(chat.bodies().at(-1)?.['previous_response_id'], undefined)
})
