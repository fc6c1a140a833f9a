import assert from 'node:assert/strict'
import test from 'node:test'
import type { ToolSpec } from '../../../src/core/context.ts'
import type { Effort, Options } from '../../../src/settings/options.ts'
import { call, reply, result, user } from '../../histories.ts'
import { sent, type Wanted } from './target.ts'

const clock: ToolSpec = {
  name: 'clock',
  description: 'Tells the time.',
  input: { type: 'object', properties: { zone: { type: 'string' } } },
}

/** The body less model and messages. */
function asked(options: Options, wanted: Wanted = {}, tools: ToolSpec[] = []) {
  const { model: _model, messages: _messages, ...fields } = sent([user('hi')], { ...wanted, options }, { tools }).body
  return fields
}

test('only requested options are sent', () => {
  assert.deepEqual(asked({}), {})
  assert.deepEqual(asked({ stream: false, stop: [] }), {})
})

test('options go into the fields of the wire', () => {
  assert.deepEqual(asked({ maxOutput: 100, temperature: 0.5, topP: 0.9, stop: ['END'], store: true, stream: true }), {
    max_completion_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    stop: ['END'],
    store: true,
    stream: true,
    stream_options: { include_usage: true },
  })
})

test('the output limit has the name that the model knows, and is no larger than the model can write', () => {
  const capabilities = { outputField: 'max_tokens' as const, maxOutput: 64 }
  assert.deepEqual(asked({ maxOutput: 100 }, { capabilities }), { max_tokens: 64 })
})

test('sampling is left out for models that refuse it, with a note', () => {
  const { body, notes } = sent([user('hi')], {
    options: { temperature: 0.2, topP: 0.1 },
    capabilities: { sampling: false },
  })
  assert.equal('temperature' in body || 'top_p' in body, false)
  assert.deepEqual(notes, [
    { kind: 'dropped', what: 'temperature and top_p', why: 'the model does not support them', rule: 'C16' },
  ])
})

test('tools are functions with an object schema', () => {
  assert.deepEqual(asked({}, {}, [clock, { name: 'bare', input: {} }]), {
    tools: [
      {
        type: 'function',
        function: {
          name: 'clock',
          description: 'Tells the time.',
          parameters: { type: 'object', properties: { zone: { type: 'string' } } },
        },
      },
      { type: 'function', function: { name: 'bare', parameters: { type: 'object', properties: {} } } },
    ],
  })
})

test('more tools than the wire supports are cut, with a note', () => {
  const tools = Array.from({ length: 130 }, (_, i) => ({ ...clock, name: `t${i}` }))
  const { body, notes } = sent([user('hi')], {}, { tools })
  assert.equal((body.tools as unknown[]).length, 128)
  assert.deepEqual(
    notes.map(({ what, rule }) => ({ what, rule })),
    [{ what: '2 tools after the first 128', rule: 'C10' }],
  )
})

test('an empty list of tools is never sent, and neither is what belongs to it', () => {
  assert.deepEqual(asked({ toolChoice: 'required', parallelTools: false }), {})
})

test('a history with tool turns needs no tools', () => {
  const { body, notes } = sent([user('go'), reply(call('c1', 'clock')), result('c1', '12', 'clock')])
  assert.equal('tools' in body, false)
  assert.deepEqual(notes, [])
})

const choices: [Options['toolChoice'], unknown][] = [
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'required'],
  [{ tool: 'clock' }, { type: 'function', function: { name: 'clock' } }],
  [{ tool: 'nobody' }, undefined],
]

for (const [choice, written] of choices) {
  test(`the tool choice ${JSON.stringify(choice)} is written as ${JSON.stringify(written)}`, () => {
    assert.deepEqual(asked({ ...(choice && { toolChoice: choice }) }, {}, [clock]).tool_choice, written)
  })
}

test('a choice that forces a call is left out where it is refused', () => {
  const capabilities = { forcedTool: false }
  assert.equal('tool_choice' in asked({ toolChoice: 'required' }, { capabilities }, [clock]), false)
  assert.equal(asked({ toolChoice: 'none' }, { capabilities }, [clock]).tool_choice, 'none')
})

test('parallel calls can be switched off', () => {
  assert.equal(asked({ parallelTools: false }, {}, [clock]).parallel_tool_calls, false)
})

const efforts: [Effort, Effort[], Effort | undefined][] = [
  ['high', ['low', 'medium', 'high'], 'high'],
  ['minimal', ['none', 'low', 'medium', 'high', 'xhigh'], 'low'],
  ['max', ['low', 'medium', 'high'], 'high'],
  ['none', ['minimal', 'low'], 'minimal'],
  ['medium', ['low', 'high', 'max'], 'high'],
  ['xhigh', ['low', 'high', 'max'], 'high'],
  ['high', [], undefined],
]

for (const [effort, known, written] of efforts) {
  test(`effort ${effort} for a model that knows ${known.join(', ') || 'none'} is ${written}`, () => {
    const { body, notes } = sent([user('hi')], { options: { effort }, capabilities: { efforts: known } })
    assert.equal(body.reasoning_effort, written)
    assert.equal(notes.length, effort === written ? 0 : 1)
  })
}

test('a model that supports tools only without reasoning gets the effort none with tools, requested or not', () => {
  const capabilities = { efforts: ['none', 'low', 'high'] as Effort[], effortWithTools: 'none' as const }
  assert.equal(asked({}, { capabilities }, [clock]).reasoning_effort, 'none')
  assert.equal(asked({ effort: 'high' }, { capabilities }, [clock]).reasoning_effort, 'none')
  assert.equal(asked({ effort: 'high' }, { capabilities }).reasoning_effort, 'high')
  const { notes } = sent([user('hi')], { options: { effort: 'high' }, capabilities }, { tools: [clock] })
  assert.deepEqual(
    notes.map((note) => note.rule),
    ['C14'],
  )
})

test('a model that refuses an effort together with tools gets none', () => {
  const capabilities = { efforts: ['low', 'high'] as Effort[], effortWithTools: 'omitted' as const }
  assert.equal('reasoning_effort' in asked({ effort: 'high' }, { capabilities }, [clock]), false)
  assert.equal(asked({ effort: 'high' }, { capabilities }).reasoning_effort, 'high')
})

test('an answer schema is strict only if the wire accepts it', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  }
  assert.deepEqual(asked({ answerSchema: closed }).response_format, {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: closed, strict: true },
  })
  const open = { type: 'object', properties: { a: { type: 'object', properties: {} } }, required: ['a'] }
  assert.deepEqual(asked({ answerSchema: open }).response_format, {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: open },
  })
})

test('a cache key is sent where it is known, and hashed where it is too long', () => {
  const quirks = { cacheKey: true }
  assert.equal('prompt_cache_key' in asked({ cacheKey: 'abc' }), false)
  assert.equal(asked({ cacheKey: 'abc' }, { quirks }).prompt_cache_key, 'abc')
  const long = asked({ cacheKey: 'x'.repeat(65) }, { quirks }).prompt_cache_key
  assert.match(String(long), /^[0-9a-f]{64}$/)
})

test('more than four stop texts are cut', () => {
  assert.deepEqual(asked({ stop: ['a', 'b', 'c', 'd', 'e'] }).stop, ['a', 'b', 'c', 'd'])
})

test('options without a field here are merged last', () => {
  assert.deepEqual(asked({ temperature: 1, extra: { temperature: 2, seed: 7 } }), { temperature: 2, seed: 7 })
})
