// Answers with a schema and a type.

import assert from 'node:assert/strict'
import test from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import type { Json } from '../../src/core/json.ts'
import { textOf } from '../../src/core/message.ts'
import { createProvider } from '../../src/index.ts'
import { createEmulator, type ResponderInput } from '../../src/testing.ts'
import { start } from './chatting.ts'

const city = z.object({ city: z.string(), population: z.number().int().min(1) })
const paris = { city: 'Paris', population: 2_100_000 }

/** Says one text after the other, one for each request. */
function saying(...texts: string[]) {
  let next = 0
  const asked: ResponderInput[] = []
  const reply = (input: ResponderInput) => {
    asked.push(input)
    return { parts: [{ type: 'text' as const, text: texts[Math.min(next++, texts.length - 1)] ?? '' }] }
  }
  return { asked, emulation: { reply } }
}

test('an answer has the type of its schema, on every provider of one conversation', async () => {
  const { emulation } = saying(JSON.stringify(paris))
  const { synapse } = await start({ model: 'openai/gpt-5.6' }, { emulation })
  const chat = await synapse.start({ model: 'openai/gpt-5.6', answer: city })
  for (const model of ['openai/gpt-5.6', 'deepseek/deepseek-v4-flash', 'anthropic/claude-opus-5', 'google']) {
    const answer: { city: string; population: number } = await chat.send('Which city?', { model }).object()
    assert.deepEqual(answer, paris, model)
  }
  // @ts-expect-error -- there is no such field in the schema
  assert.equal((await chat.retry().object()).country, undefined)
})

test('the emulator reads a schema from the prompt where a provider has no field for it', async () => {
  const { synapse } = await start({ model: 'openai' })
  for (const model of ['deepseek', 'bedrock', 'qwen']) {
    const chat = await synapse.start({ model, answer: city })
    assert.equal(typeof (await chat.send('Which city?').object()).city, 'string', model)
    assert.ok(
      Array.isArray(await chat.send('List.', { answer: { type: 'array', items: { type: 'number' } } }).object()),
    )
  }
})

test('a schema for one message sets the type of that message', async () => {
  const { emulation } = saying('{"n": "7"}')
  const { chat } = await start({ model: 'openai/gpt-5.6' }, { emulation })
  const numbers = z.object({ n: z.string().transform(Number) })
  const { n } = await chat.send('A number?', { answer: numbers }).object()
  assert.equal(n + 1, 8)
  const ark = await chat.send('A number?', { answer: type({ n: 'string' }) }).object()
  assert.equal(ark.n.length, 1)
  const plain: Json = await chat.send('A number?', { answer: z.toJSONSchema(z.object({ n: z.string() })) }).object()
  assert.deepEqual(plain, { n: '7' })
  const other: unknown = await chat.send('A number?', { answer: { type: 'object' } }).object()
  assert.deepEqual(other, { n: '7' })
})

test('an answer that does not match is requested once more, with the problems', async () => {
  const { emulation, asked } = saying('{"city": "Paris"}', JSON.stringify(paris))
  const { chat } = await start({ model: 'openai/gpt-5.6', tools: [] }, { emulation })
  assert.deepEqual(await chat.send('Which city?', { answer: city }).object(), paris)
  assert.equal(asked.length, 2)
  const [, , again] = (await chat.history()).map(({ message }) => message)
  assert.equal(again?.role, 'user')
  assert.match(textOf(again.parts), /does not fit its schema[^]*population/)
})

test('one that still does not match is a failure, after two requests', async () => {
  const { emulation, asked } = saying('Sure! {"city"')
  const { chat } = await start({ model: 'mistral', tools: [] }, { emulation })
  const run = chat.send('Which city?', { answer: city })
  await assert.rejects(run.object(), { name: 'SynapseError', kind: 'malformed-reply', message: /is not JSON/ })
  assert.equal(asked.length, 2)
  assert.equal((await run.ended).outcome, 'done')
})

test('what only the library can check is checked, and requested again', async () => {
  const even = z.object({ n: z.number() }).refine(({ n }) => n % 2 === 0, { message: 'n must be even' })
  const { emulation, asked } = saying('{"n": 3}', '{"n": 4}')
  const { chat } = await start({ model: 'anthropic', tools: [] }, { emulation })
  assert.deepEqual(await chat.send('An even number?', { answer: even }).object(), { n: 4 })
  assert.match(JSON.stringify(asked[1]?.messages), /n must be even/)
})

test('an answer is not requested again if no step is left', async () => {
  const { emulation, asked } = saying('no')
  const { chat } = await start({ model: 'anthropic', tools: [], maxSteps: 1 }, { emulation })
  await assert.rejects(chat.send('Which city?', { answer: city }).object(), /is not JSON/)
  assert.equal(asked.length, 1)
})

test('only a finished answer is checked, and one of an earlier run is not requested again', async () => {
  const answer = { type: 'object', required: ['n'] } as const
  let reason: 'length' | 'refusal' | 'done' = 'length'
  const emulation = { reply: () => ({ parts: [{ type: 'text' as const, text: '{}' }], stop: { reason } }) }
  for (reason of ['length', 'refusal'] as const) {
    const { chat, emulator } = await start({ model: 'anthropic', tools: [], answer }, { emulation })
    const end = await chat.send('A number?').ended
    assert.deepEqual([end.outcome, end.answer, emulator.requests.length], [reason, undefined, 1])
  }
  reason = 'done'
  const { chat, emulator } = await start({ model: 'anthropic', tools: [] }, { emulation })
  const unchecked = await chat.send('A number?').ended
  assert.deepEqual([unchecked.outcome, unchecked.answer, emulator.requests.length], ['done', undefined, 1])
  const { answer: checked } = await chat.resume({ answer }).ended
  assert.match(checked && 'problem' in checked ? checked.problem : '', /does not fit its schema/)
  assert.equal(emulator.requests.length, 1)
})

test('a schema without JSON Schema is refused at once, and an answer without a schema says what to give', async () => {
  const { chat, synapse } = await start({ model: 'anthropic' })
  const bare = v.object({ n: v.number() })
  assert.throws(() => chat.send('Hi', { answer: bare }), /The answer schema \(valibot\) has no JSON Schema; wrap it/)
  await assert.rejects(synapse.start({ model: 'anthropic', answer: bare }), /valibot/)
  await assert.rejects(chat.send('Hi').object(), /There is no answer schema/)
})

test('the schema is stored with the conversation, and applies when it is opened again', async () => {
  const { emulation } = saying(JSON.stringify(paris))
  const { synapse } = await start({ model: 'openai/gpt-5.6' }, { emulation })
  const { id } = await synapse.start({ model: 'openai/gpt-5.6', answer: city })
  const again = await synapse.open(id)
  assert.deepEqual(await again.send('Which city?').object(), paris)
  const typed = await synapse.open(id, { answer: city })
  const { population }: { population: number } = await typed.send('Which city?').object()
  assert.equal(population, paris.population)
})

test('a provider without a store returns objects too', async () => {
  const { emulation } = saying(JSON.stringify(paris))
  const provider = createProvider({ provider: 'mistral', answer: city, offline: createEmulator(emulation) })
  assert.deepEqual(await provider.chat('Which city?').object(), paris)
  assert.equal(provider.config().answer, city)
})
