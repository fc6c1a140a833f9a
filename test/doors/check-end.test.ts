// A body that continues one without issues is checked at its end only, and what seems wrong there is checked as a whole.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { issuesOf } from '../../src/server/doors/check-end.ts'
import { parseBody } from '../../src/server/doors/known-bodies.ts'
import { loadWire } from '../../src/wires/list.ts'

const chat = await loadWire('openai-chat')
const long = 'A message that is long enough to be remembered. '.repeat(10)
const history: JsonObject[] = Array.from({ length: 60 }, (_, i) => ({
  role: i % 2 === 0 ? 'user' : 'assistant',
  content: `${long}${i}`,
}))
history.push({ role: 'user', content: 'Add 1 and 2.' })

/** How many messages each check looked at. */
function checking(model = 'm', wire = chat, field = 'messages') {
  const lengths: number[] = []
  const refuse: typeof chat.refuse = (body, profile) => {
    lengths.push(((body as JsonObject)[field] as Json[]).length)
    return wire.refuse(body, profile)
  }
  const endpoint = { protocol: { ...wire, refuse }, provider: { id: 'openai' }, model } as never
  return {
    lengths,
    check: (messages: readonly Json[], more: JsonObject = {}) => {
      const body = Buffer.from(JSON.stringify({ model, ...more, [field]: messages }))
      return issuesOf(parseBody(body, field, true).value, field, endpoint).map(({ rule }) => rule)
    },
  }
}

const call = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'add', arguments: '{}' } }],
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '3' })

test('only what follows the last turn of the model is checked again, after the first question', () => {
  const { check, lengths } = checking()
  assert.deepEqual(check(history), [])
  assert.deepEqual(check([...history, call('a'), result('a')]), [])
  assert.deepEqual(check([...history, call('a'), result('a'), call('b'), result('b')]), [])
  assert.deepEqual(lengths, [61, 5, 5])
})

const steps: Record<string, (id: string) => [field: string, question: JsonObject, ...step: JsonObject[]]> = {
  'anthropic-messages': (id) => [
    'messages',
    { role: 'user', content: long },
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'add', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: long }] },
  ],
  'gemini-generate': () => [
    'contents',
    { role: 'user', parts: [{ text: long }] },
    { role: 'model', parts: [{ functionCall: { name: 'add', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'add', response: { sum: long } } }] },
  ],
  'openai-responses': (id) => [
    'input',
    { role: 'user', content: long },
    { type: 'reasoning', summary: [], encrypted_content: 'secret' },
    { type: 'function_call', call_id: id, name: 'add', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: long },
  ],
}

for (const [wire, stepOf] of Object.entries(steps)) {
  test(`a tool loop is checked at its last steps, however long it is (${wire})`, async () => {
    const { check, lengths } = checking('m', await loadWire(wire), stepOf('')[0])
    const [, question] = stepOf('')
    const loop = [
      question,
      ...Array.from({ length: 60 }, (_, i) => stepOf(`call_${i}`).slice(2) as JsonObject[]).flat(),
    ]
    const [, , ...step] = stepOf('call_60')
    const more =
      wire === 'anthropic-messages'
        ? { max_tokens: 100, tools: [{ name: 'add', input_schema: { type: 'object' } }] }
        : {}
    assert.deepEqual([...check(loop, more), ...check([...loop, ...step], more)], [])
    assert.deepEqual(lengths, [loop.length, 1 + 2 * step.length])
  })
}

test('an issue at the end is found', () => {
  const { check } = checking()
  assert.deepEqual(check(history), [])
  assert.deepEqual(check([...history, call('a'), { role: 'user', content: 'And now?' }]), ['C1'])
  assert.deepEqual(check([...history, { role: 'assistant', content: 'Hm.' }, result('a')]), ['C2'])
})

test('a beginning that had an issue is checked again, and so is one that was for another model', () => {
  const broken = [{ role: 'nobody', content: long }, ...history]
  const first = checking('one')
  assert.deepEqual(first.check(broken), ['shape'])
  assert.deepEqual(first.check([...broken, { role: 'assistant', content: 'Three.' }]), ['shape'])
  assert.deepEqual(first.lengths, [62, 63])
  const { check, lengths } = checking('two')
  check([...broken, { role: 'assistant', content: 'Three.' }, { role: 'user', content: 'Sure?' }])
  assert.deepEqual(lengths, [64])
})

test('an end that seems wrong without its beginning is checked with it', () => {
  const { check, lengths } = checking()
  const asksForJson = { response_format: { type: 'json_object' } }
  const before = history.with(2, { role: 'user', content: 'Answer in JSON.' })
  assert.deepEqual(check(before, asksForJson), [])
  assert.deepEqual(check([...before, call('a'), result('a')], asksForJson), [])
  assert.deepEqual(lengths, [61, 5, 63])
})
