// Structured answers, parsed and checked on every provider.

import assert from 'node:assert/strict'
import test from 'node:test'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import { isObject, type JsonObject } from '../../src/core/json.ts'
import type { Tool } from '../../src/core/tool.ts'
import { checkAnswer } from '../../src/run/answer.ts'
import type { ReplyEvent } from '../../src/core/event.ts'
import { answerUnwrapper } from '../../src/run/request/unwrapped-answer.ts'
import { defineTool } from '../../src/run/tools/define-tool.ts'
import { readCall } from '../../src/run/tools/tool-step.ts'
import { collect, only, start } from './chatting.ts'

const answerSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, population: { type: 'integer', minimum: 1 } },
  required: ['city', 'population'],
  additionalProperties: false,
}
const options = { answerSchema }
const paris = { city: 'Paris', population: 2_100_000 }

/** Says it as a model would that reads the schema in its instructions. */
function saying(text: string) {
  return { reply: () => ({ parts: [{ type: 'text' as const, text }] }) }
}

const models = [
  'openai/gpt-5.6',
  'deepseek/deepseek-v4-flash',
  'anthropic/claude-3-5-haiku-latest',
  'mistral/mistral-medium-latest',
]

test('a structured answer is read on every provider of one conversation, whatever it supports', async () => {
  const { chat } = await start(
    { model: 'openai/gpt-5.6', tools: [], options },
    { emulation: saying(JSON.stringify(paris)) },
  )
  for (const model of models) {
    const { outcome, failure, answer } = await chat.send('Which city?', { model }).ended
    assert.equal(outcome, 'done', `${model}: ${failure?.message}`)
    assert.deepEqual(answer, { value: paris }, model)
  }
})

test('an answer that does not fit says where, on the end of the run and in its events', async () => {
  const { chat } = await start({ model: 'deepseek/deepseek-v4-flash', options }, { emulation: saying('{"city": 5}') })
  const run = chat.send('Which city?')
  const events = await collect(run)
  const { outcome, answer } = await run.ended
  assert.equal(outcome, 'done')
  assert.ok(answer && 'problem' in answer)
  assert.match(answer.problem, /^The answer does not fit its schema\. Answer again\.\n/)
  assert.match(answer.problem, /- city: It is of type number, and must be of type string\./)
  assert.match(answer.problem, /- the answer: It lacks the field "population"\./)
  assert.deepEqual(only(events, 'run-end')[0]?.answer, answer)
})

test('without a schema nothing is checked', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' }, { emulation: saying('Paris') })
  assert.equal('answer' in (await chat.send('Which city?').ended), false)
})

test('a code block around the answer is accepted, other text is not', async () => {
  assert.deepEqual(await checkAnswer(answerSchema, '```json\n{"city":"Rome","population":3}\n```\n'), {
    value: { city: 'Rome', population: 3 },
  })
  const other = await checkAnswer(answerSchema, 'Sure! {"city": "Rome"')
  assert.ok('problem' in other)
  assert.match(other.problem, /^The answer is not JSON \(/)
})

test('an answer that is not an object is unwrapped', async () => {
  const list = { type: 'array', items: { type: 'integer' } }
  assert.deepEqual(await checkAnswer(list, '{"value":[1,2]}'), { value: [1, 2] })
  assert.deepEqual(await checkAnswer(list, '[1,2]'), { value: [1, 2] })
  assert.ok('problem' in (await checkAnswer(list, '{"value":["a"]}')))
  assert.deepEqual(await checkAnswer({ type: 'object' }, '{"value":1}'), { value: { value: 1 } })
})

const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Which city?' }] }]

test('DeepSeek gets JSON mode and the schema in the prompt, which it would refuse otherwise', () => {
  const { body, notes } = prepare({ messages, provider: 'deepseek', options })
  assert.deepEqual(body['response_format'], { type: 'json_object' })
  const [system] = body['messages'] as JsonObject[]
  assert.match(String(system?.['content']), /fits the following JSON Schema[^]*"population"/)
  assert.deepEqual(
    notes.map(({ rule, at }) => [rule, at]),
    [['answer-format', 'options.answerSchema']],
  )
  const asked = {
    ...body,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: answerSchema } },
  }
  assert.deepEqual(refuse('openai-chat', asked, { provider: 'deepseek' }), [
    {
      rule: 'answer-format',
      status: 400,
      message: 'This response_format type is unavailable now',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_request_error',
    },
  ])
})

/** How each asks for the answer: with the schema, for JSON, or in words alone. */
const support: [string, string, 'schema' | 'json' | 'none'][] = [
  ['openai', 'gpt-5.6', 'schema'],
  ['openai', 'gpt-4o', 'schema'],
  ['openai', 'gpt-4-turbo', 'json'],
  ['openai', 'gpt-4', 'none'],
  ['openai', 'o1-mini', 'none'],
  ['anthropic', 'claude-opus-5', 'schema'],
  ['anthropic', 'claude-opus-4-1-20250805', 'schema'],
  ['anthropic', 'claude-sonnet-4-5', 'schema'],
  ['anthropic', 'claude-sonnet-4-20250514', 'none'],
  ['anthropic', 'claude-3-5-haiku-latest', 'none'],
  ['google', 'gemini-3.8-flash', 'schema'],
  ['google', 'gemini-2.5-flash', 'schema'],
  ['mistral', 'mistral-medium-latest', 'schema'],
  ['mistral', 'codestral-mamba-latest', 'json'],
  ['groq', 'openai/gpt-oss-120b', 'schema'],
  ['groq', 'llama-3.3-70b-versatile', 'json'],
  ['qwen', 'qwen3.7-plus', 'json'],
  ['moonshot', 'kimi-k3', 'schema'],
]

for (const [provider, model, expected] of support) {
  test(`${provider}/${model} is asked by ${expected}`, () => {
    const { body, notes } = prepare({ messages, provider, model, options })
    const sent = JSON.stringify(body)
    const inWords = sent.includes('fits the following JSON Schema')
    assert.equal(inWords, expected !== 'schema')
    assert.equal(
      inWords,
      notes.some(({ rule }) => rule === 'answer-format'),
    )
    assert.equal(sent.includes('json_object'), expected === 'json')
    const fields = ['response_format', 'output_config', 'generationConfig', 'text'].filter((key) => key in body)
    assert.equal(fields.length > 0, expected !== 'none', fields.join())
  })
}

test('with tools the older Gemini models get the schema in the prompt', () => {
  const tools = [{ name: 'clock', input: { type: 'object', properties: {} } }]
  const target = { provider: 'google', model: 'gemini-2.5-flash' }
  const { body } = prepare({ messages, tools, options, ...target })
  assert.equal('generationConfig' in body, false)
  assert.match(JSON.stringify(body['systemInstruction']), /population/)
  const both = { ...body, generationConfig: { responseMimeType: 'application/json' } }
  assert.deepEqual(
    refuse('gemini-generate', both, target).map(({ rule, message }) => [rule, message]),
    [['G-15', "Function calling with a response mime type: 'application/json' is unsupported"]],
  )
})

test('arguments are validated against the original schema, wrapped or not', async () => {
  const call = (input: JsonObject) => ({ type: 'tool-call' as const, callId: 'a', name: 'say', input })
  const seen: unknown[] = []
  const say: Tool = { name: 'say', input: { type: 'string', maxLength: 3 }, run: (input) => seen.push(input) }
  const once = defineTool<string>({ name: 'say', input: say.input, run: (input) => seen.push(input) })
  for (const tool of [say, once]) {
    const read = await readCall([tool], call({ value: 'hi' }))
    assert.ok('run' in read)
    await read.run({
      callId: 'a',
      conversationId: 'k',
      owner: 'local',
      emit: () => {},
      signal: new AbortController().signal,
    })
    assert.ok('problem' in (await readCall([tool], call({ value: 'long' }))))
  }
  assert.deepEqual(seen, ['hi', 'hi'])

  const either: Tool = {
    name: 'say',
    input: { oneOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: {}, b: {} } },
    run: () => 'ok',
  }
  assert.ok('run' in (await readCall([either], call({ a: 1 }))))
  assert.ok('problem' in (await readCall([either], call({ a: 1, b: 2 }))))
})

test('a tool without a schema takes no arguments, and an invalid schema is one sentence', async () => {
  for (const input of [undefined, null]) {
    const bare = { name: 'bare', run: () => 'ok', ...(input === null && { input }) } as unknown as Tool
    const { body } = prepare({ messages, tools: [bare], provider: 'mistral' })
    const parameters = { type: 'object', properties: {} }
    assert.deepEqual(body['tools'], [{ type: 'function', function: { name: 'bare', parameters } }])
    assert.ok('run' in (await readCall([bare], { type: 'tool-call', callId: 'a', name: 'bare', input: {} })))
    if (input === null) continue
    const { chat } = await start({ model: 'openai/gpt-5.6', tools: [bare] })
    assert.equal((await chat.send('hi').ended).outcome, 'done')
  }
  const made = defineTool({ name: 'made', input: undefined as unknown as JsonObject, run: () => 'ok' })
  assert.ok(isObject(made.input))
  for (const input of ['nope', 7, ['a'], true]) {
    const odd = { name: 'odd', run: () => 'ok', input } as unknown as Tool
    assert.throws(
      () => prepare({ messages, tools: [odd], provider: 'openai' }),
      /The input schema of tool "odd" is a (string|number|list|boolean): give a JSON Schema object, or leave it out\.$/,
    )
  }
})

test('the text of an answer that is not an object is unwrapped while it arrives, wherever it is cut', () => {
  const list = { type: 'array', items: {} }
  const inner = '[1, {"value": {}} ]'
  const cases: [string, string][] = [
    [` { "value" : ${inner} }\n`, inner],
    ['{"value":{"a":{}}}', '{"a":{}}'],
    [inner, inner],
    ['{"values":[1]}', '{"values":[1]}'],
    ['I cannot. }', 'I cannot. }'],
    // Cut off by the provider.
    ['{"value":[1,', '[1,'],
  ]
  for (const [sent, expected] of cases) {
    for (let cut = 0; cut <= sent.length; cut++) {
      const unwrapped = answerUnwrapper(list)
      const events = [
        { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
        { type: 'part-delta', index: 0, text: sent.slice(0, cut) },
        { type: 'part-delta', index: 0, text: sent.slice(cut) },
        { type: 'part-end', index: 0, part: { type: 'text', text: sent } },
      ] satisfies ReplyEvent[]
      const seen = events.flatMap((event) => unwrapped(event) ?? [])
      const text = seen.flatMap((event) => (event.type === 'part-delta' ? [event.text] : [])).join('')
      assert.equal(text.trimStart(), expected, `${sent} at ${cut}`)
      const last = seen.at(-1)
      assert.equal(last?.type === 'part-end' && last.part.type === 'text' && last.part.text, text)
    }
  }
})
