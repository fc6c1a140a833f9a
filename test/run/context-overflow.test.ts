// Requests that the provider refuses as too long.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Reply } from '../../src/core/message.ts'
import { clockTool, talk } from './talking.ts'

const long = 'noon '.repeat(800)
const models = ['anthropic/claude-opus-5', 'openai/gpt-5.6', 'google/gemini-3.8-flash', 'deepseek/deepseek-v4-flash']

for (const model of models) {
  test(`${model} that says the request is too long gets a shorter one, once`, async () => {
    const chat = await talk(
      { model, tools: [clockTool], result: () => long, policy: { preset: 'full', atLimit: 'cut' } },
      { contextWindow: 6000 },
    )
    for (let i = 0; i < 12; i++) {
      const { outcome, failure } = await chat.say('What time is it?')
      assert.deepEqual({ outcome, failure }, { outcome: 'done', failure: undefined })
    }
    const refused = (await chat.exchanges()).filter((exchange) => exchange.failure?.kind === 'context-overflow')
    assert.ok(refused.length >= 1)
    const all = (await chat.exchanges()).toReversed()
    for (const [i, exchange] of all.entries()) {
      if (!exchange.failure) continue
      assert.equal(all[i + 1]?.outcome, 'done', 'the next request is the shorter one, and it fits')
      assert.equal(all[i + 1]?.basedOn, exchange.basedOn)
    }
  })
}

test('a single message that is too long is a clear error, and is not retried again and again', async () => {
  const chat = await talk({ model: 'anthropic/claude-opus-5' }, { contextWindow: 2000 })
  const { outcome, failure } = await chat.say('word '.repeat(4000))
  assert.equal(outcome, 'failed')
  assert.equal(failure?.kind, 'context-overflow')
  assert.match(failure?.message ?? '', /prompt is too long/)
  assert.equal(chat.bodies().length, 1, 'a shorter history would not help')
})

const tooLong = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'prompt is too long: 250000 tokens > 200000 maximum' },
}

test('two messages that are too long together are tried again, with less', async () => {
  const chat = await talk({ model: 'anthropic/claude-opus-5', policy: { preset: 'full', atLimit: 'cut' } })
  chat.emulator.order({
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message: 'No.' } },
  })
  assert.equal((await chat.say('word '.repeat(500))).outcome, 'failed')
  chat.emulator.order({ status: 400, body: tooLong })
  assert.equal((await chat.say('Hello.')).outcome, 'done')
  assert.equal(chat.bodies().length, 3)
})

test('once a part of the reply has arrived, its request is not corrected', async () => {
  for (const [fault, requests] of [
    [{ status: 400, body: tooLong }, 2],
    [{ errorAt: 6, body: tooLong }, 1],
  ] as const) {
    const chat = await talk({ model: 'anthropic/claude-opus-5', policy: { preset: 'full', atLimit: 'cut' } })
    await chat.say('Hello.')
    const before = chat.bodies().length
    chat.emulator.order(fault)
    const { outcome } = await chat.say('Count to 50.')
    assert.equal(chat.bodies().length - before, requests)
    assert.equal(outcome, requests === 2 ? 'done' : 'failed')
    assert.equal(chat.history.at(-1)?.message.role, 'assistant', 'what has arrived is stored')
  }
})

test('after an overflow every token counts: recall is not offered then', async () => {
  const chat = await talk({
    model: 'anthropic/claude-opus-5',
    tools: [clockTool],
    result: () => long,
    policy: { maxToolTurns: 1, step: 1, atLimit: 'cut' },
  })
  for (let i = 0; i < 3; i++) await chat.say('What time is it?')
  chat.emulator.order({ status: 400, body: tooLong })
  await chat.say('Hello.')
  const offers = chat.bodies().map((body) => JSON.stringify(body['tools']).includes('"recall"'))
  assert.deepEqual(offers.slice(-2), [true, false])
  await chat.say('Hello.')
  assert.equal(JSON.stringify(chat.bodies().at(-1)?.['tools']).includes('"recall"'), true)
})

test('the known window of a model is respected without a request: fold, then cut, each recorded', async () => {
  const chat = await talk({
    model: 'openai/gpt-5.6',
    tools: [clockTool],
    // Short enough that what may be folded frees a good part of the window: else the cut comes at once.
    result: () => 'noon '.repeat(300),
    contextWindow: 8000,
    policy: { preset: 'full', atLimit: 'cut', maxToolTurns: 2, step: 100 },
  })
  for (let i = 0; i < 12; i++) assert.equal((await chat.say('What time is it?')).outcome, 'done')
  assert.ok((await chat.exchanges()).every((exchange) => !exchange.failure && (exchange.usage?.input ?? 0) <= 8000))
  const kinds = new Set((await chat.overlays()).map((overlay) => overlay.kind))
  assert.ok(kinds.has('fold'))
})

test('nothing is folded for its size as long as everything fits, and folding comes before a summary', async () => {
  const limit = 8000
  const chat = await talk({
    model: 'openai/gpt-5.6',
    tools: [clockTool],
    result: () => 'noon '.repeat(300),
    contextWindow: limit,
    policy: { preset: 'full', maxToolTurns: 2, step: 100 },
  })
  let before = 0
  while ((await chat.overlays()).length === 0) before = (await chat.say('What time is it?')).usage?.input ?? 0
  assert.ok(before > limit / 4, `folded after ${before} tokens`)
  const inputs = (await chat.exchanges()).map((exchange) => exchange.usage?.input ?? 0)
  assert.ok(Math.max(...inputs) > limit / 2, `the largest request had ${Math.max(...inputs)} tokens`)
  assert.equal((await chat.overlays())[0]?.kind, 'fold')
})

test('a small model is appended to until it is full, and then cut to the floor', async () => {
  const chat = await talk({ model: 'llama.cpp/a-model', policy: 'small', contextWindow: 4096 }, { contextWindow: 4096 })
  for (let i = 0; i < 40; i++) assert.equal((await chat.say(`Tell me about ${'things '.repeat(30)}`)).outcome, 'done')
  const inputs = (await chat.exchanges()).toReversed().map((exchange) => exchange.usage?.input ?? 0)
  const drops = inputs.filter((input, i) => input < (inputs[i - 1] ?? 0))
  assert.ok(drops.length >= 1 && drops.length <= 8, `${drops.length} cuts in 40 requests`)
  assert.equal((await chat.overlays('cut')).length, drops.length)
  assert.ok(Math.max(...inputs) <= 4096)
})

test('a result longer than a quarter of the window is shortened in the middle, and stored in full', async () => {
  const huge = `begin ${'x y '.repeat(20_000)} end`
  const chat = await talk({
    model: 'openai/gpt-5.6',
    tools: [clockTool],
    result: () => huge,
    contextWindow: 16_000,
    policy: 'full',
  })
  assert.equal((await chat.say('What time is it?')).outcome, 'done')
  const body = JSON.stringify(chat.bodies().at(-1))
  assert.match(body, /begin x y/)
  assert.match(body, /y {2}end/)
  assert.match(body, /characters are not shown/)
  assert.ok(body.length < 16_000 * 4)
  const [exchange] = await chat.exchanges()
  assert.ok(exchange?.notes.some((note) => note.rule === 'fit' && /not shown/.test(note.what)))
  assert.ok(JSON.stringify(await chat.store.history('local', chat.history.at(-1)?.id ?? '')).includes(huge))
})

test('provider data that can no longer be read is left out from then on', async () => {
  const chat = await talk({ model: 'openai/gpt-5.6', options: { effort: 'low' }, tools: [clockTool] })
  await chat.say('Think: what time is it?')
  const message =
    'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.'
  const error = { message, type: 'invalid_request_error', param: null, code: 'invalid_encrypted_content' }
  chat.emulator.order({ status: 400, body: { error } })
  const before = chat.bodies().length
  assert.equal((await chat.say('And now?')).outcome, 'done')
  assert.equal(chat.bodies().length, before + 2)
  assert.match(JSON.stringify(chat.bodies().at(-2)), /encrypted_content":"/)
  assert.doesNotMatch(JSON.stringify(chat.bodies().at(-1)), /encrypted_content":"/)
  await chat.say('Hello.')
  assert.equal((await chat.overlays('plain')).length, 1)
  assert.equal((await chat.exchanges())[0]?.outcome, 'done')
})

test('provider data is left out up to the last reply that has some, and without any nothing is tried again', async () => {
  const error = { message: 'No.', type: 'invalid_request_error', param: null, code: 'invalid_encrypted_content' }
  const chat = await talk({ model: 'openai/gpt-5.6', options: { effort: 'low' }, tools: [clockTool] })
  chat.emulator.order({ status: 400, body: { error } })
  assert.equal((await chat.say('Hello.', { model: 'openai/gpt-5.6' })).outcome, 'failed')
  assert.equal(chat.bodies().length, 1)
  await chat.say('Hello.')
  const last = chat.history.at(-1)?.id
  await chat.say('Hello.', { model: 'mistral/mistral-medium-latest', options: {} })
  chat.emulator.order({ status: 400, body: { error } })
  assert.equal((await chat.say('Hello.')).outcome, 'done')
  const [plain] = await chat.overlays('plain')
  assert.deepEqual([plain?.data['through'], plain?.data['provider']], [last, 'openai'])
  assert.match(String(plain?.data['why']), /No\./)
})

test('an item that the provider no longer finds is left out with all of its data, where it stores nothing', async () => {
  const chat = await talk({ model: 'openai/gpt-5.6', options: { effort: 'low' } })
  await chat.say('Hello.')
  const error = { message: "Item with id 'rs_1' not found.", type: 'invalid_request_error', param: 'input', code: null }
  chat.emulator.order({ status: 404, body: { error } })
  assert.equal((await chat.say('And now?')).outcome, 'done')
  assert.deepEqual(
    (await chat.overlays()).map(({ kind }) => kind),
    ['plain'],
  )
})

test('a reply that has no data of the provider is no reason to ask again', async () => {
  const chat = await talk({ model: 'openai/gpt-5.6' })
  await chat.say('Hello.')
  const bare = { ...(chat.history[1]?.message as Reply), native: [] }
  await chat.fork(1)
  chat.history.push(await chat.store.append('local', chat.conversationId, { message: bare }))
  const error = { message: 'No.', type: 'invalid_request_error', param: null, code: 'invalid_encrypted_content' }
  chat.emulator.order({ status: 400, body: { error } })
  const { length } = chat.bodies()
  assert.equal((await chat.say('And now?')).outcome, 'failed')
  assert.equal(chat.bodies().length, length + 1)
})

test('the estimate is corrected by what the provider counted', async () => {
  const chat = await talk(
    { model: 'anthropic/claude-opus-5', contextWindow: 20_000, policy: { preset: 'full', atLimit: 'cut' } },
    { contextWindow: 20_000, countTokens: (text) => text.length },
  )
  for (let i = 0; i < 40; i++) assert.equal((await chat.say(`${i}: ${'word '.repeat(100)}`)).outcome, 'done')
  const refused = (await chat.exchanges()).filter((exchange) => exchange.failure)
  assert.deepEqual(refused, [], 'once the ratio is known, nothing too long is sent')
})
