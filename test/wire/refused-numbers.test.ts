// Numbers and levels that a service refuses, in its recorded words; what is sent never holds one.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { prepare, refuse } from '../../src/index.ts'
import type { Effort } from '../../src/settings/options.ts'
import { user } from '../histories.ts'
import { everyTarget } from '../targets.ts'

const messages = [{ role: 'user', content: 'Hi' }]

const outOfRange: [string, { [field: string]: Json }, string][] = [
  [
    'openai-chat',
    { temperature: -1 },
    "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  ],
  [
    'openai-chat',
    { temperature: 2.5 },
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
  ],
  [
    'openai-chat',
    { top_p: -1 },
    "Invalid 'top_p': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  ],
  [
    'openai-chat',
    { presence_penalty: -3 },
    "Invalid 'presence_penalty': decimal below minimum value. Expected a value >= -2, but got -3 instead.",
  ],
  [
    'openai-responses',
    { temperature: -1 },
    "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
  ],
]

for (const [protocol, fields, message] of outOfRange) {
  test(`OpenAI refuses ${JSON.stringify(fields)} on ${protocol}`, () => {
    const body = protocol === 'openai-chat' ? { model: 'gpt-4o', messages } : { model: 'gpt-4o', input: 'Hi' }
    assert.equal(refuse(protocol, { ...body, ...fields }, { provider: 'openai' })[0]?.message, message)
    assert.deepEqual(refuse(protocol, { ...body, temperature: 0, top_p: 1 }, { provider: 'openai' }), [])
  })
}

test('a Claude model refuses an effort that it does not have', () => {
  const refusal = (model: string, effort: string) => {
    const body = { model, max_tokens: 100, messages, output_config: { effort } }
    return refuse('anthropic-messages', body, { provider: 'anthropic' })[0]?.message
  }
  assert.equal(refusal('claude-haiku-4-5', 'low'), 'This model does not support the effort parameter.')
  assert.equal(refusal('claude-sonnet-4-5', 'high'), 'This model does not support the effort parameter.')
  assert.equal(
    refusal('claude-opus-4-6', 'xhigh'),
    "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
  )
  assert.equal(refusal('claude-opus-4-6', 'max'), undefined)
  assert.equal(refusal('claude-opus-4-5', 'medium'), undefined)
  assert.equal(refusal('claude-opus-5', 'xhigh'), undefined)
})

test('no value that a service refuses is ever sent', () => {
  const efforts: Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
  const asked = [
    // The settings refuse everything beyond; some services take less than that.
    ...[0, 1, 1.5, 2].map((temperature) => ({ temperature })),
    ...[0, 0.5, 1].map((topP) => ({ topP })),
    ...[1, 40, 1000].map((topK) => ({ topK })),
    ...[-1, 0, 7, 2 ** 40].map((seed) => ({ seed })),
    ...[-2, 0, 0.5, 2].flatMap((penalty) => [{ presencePenalty: penalty }, { frequencyPenalty: penalty }]),
    { effort: 'high' as const, temperature: 0.5, topK: 40, presencePenalty: 1 },
    ...efforts.map((effort) => ({ effort })),
  ]
  for (const target of everyTarget) {
    for (const options of asked) {
      const { body } = prepare({ ...target, messages: [user('Hi')], options })
      assert.deepEqual(refuse(target.protocol, body, target), [], `${target.provider} ${JSON.stringify(options)}`)
    }
  }
})
