import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import fc, { runs } from '../../property.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { geminiInteractionsFormat } from '../../../src/wires/gemini-interactions/transcript.ts'
import { loopHistory } from '../../arbitrary.ts'
import { call, reply, result, user } from '../../histories.ts'

const read = (json: Json) => geminiInteractionsFormat.read(json)
const write = (messages: Message[]) => geminiInteractionsFormat.write(messages)
const recognise = (json: Json) => geminiInteractionsFormat.recognise(json)

const says = (text: string) => ({ type: 'user_input', content: [{ type: 'text', text }] })
const thought = { type: 'thought', signature: 'AAEC' }
const clock = { type: 'function_call', id: 'x1', name: 'clock', arguments: { zone: 'UTC' } }
const noon = { type: 'function_result', call_id: 'x1', name: 'clock', result: '12:00' }
const answer = { type: 'model_output', content: [{ type: 'text', text: 'It is noon.' }] }
const steps: Json[] = [says('What time is it?'), thought, clock, noon, answer, says('Thanks')]

test('steps become messages: what the model wrote in a row is one reply', () => {
  const { messages } = read(steps)
  assert.deepEqual(
    messages.map(({ role, parts }) => [role, ...parts.map((part) => part.type)]),
    [
      ['user', 'text'],
      ['assistant', 'reasoning', 'tool-call'],
      ['tool', 'tool-result'],
      ['assistant', 'text'],
      ['user', 'text'],
    ],
  )
  const asked = messages[1] as Reply
  assert.deepEqual(asked.native, [thought, clock])
  assert.deepEqual(asked.stop, { reason: 'tool-calls' })
  assert.deepEqual(messages[2]?.parts, [
    { type: 'tool-result', callId: 'x1', name: 'clock', output: [{ type: 'text', text: '12:00' }] },
  ])
})

test('what was read is written unchanged', () => {
  assert.deepEqual(write(read(steps).messages), steps)
})

test('a request body is read with its system prompt and its tools', () => {
  const body: Json = {
    model: 'gemini-3.5-flash',
    system_instruction: 'Be brief.',
    input: steps,
    tools: [
      { type: 'google_search' },
      { type: 'function', name: 'clock', description: 'Tells.', parameters: { type: 'object' } },
    ],
  }
  assert.equal(recognise(body), true)
  const { messages, system, tools, notes } = read(body)
  assert.deepEqual(system, [{ type: 'text', text: 'Be brief.' }])
  assert.deepEqual(tools, [{ name: 'clock', description: 'Tells.', input: { type: 'object' } }])
  assert.deepEqual(
    notes.map((note) => note.what),
    ['tool google_search'],
  )
  assert.equal((messages[1] as Reply).origin.model, 'gemini-3.5-flash')
  assert.deepEqual(write(messages), steps)
})

test('input may be a text, or content without steps', () => {
  assert.deepEqual(read({ input: 'hi' }).messages[0]?.parts, [{ type: 'text', text: 'hi' }])
  const { messages } = read({
    input: [
      { type: 'text', text: 'hi' },
      { type: 'image', mime_type: 'image/png', data: 'AAAA' },
    ],
  })
  assert.deepEqual(messages[0]?.parts, [
    { type: 'text', text: 'hi' },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' } },
  ])
})

test('an interaction is its input and the answer to it', () => {
  const whole: Json = { id: 'v1_a', object: 'interaction', status: 'completed', input: [says('hi')], steps: [answer] }
  assert.equal(recognise(whole), true)
  assert.deepEqual(write(read(whole).messages), [says('hi'), answer])
})

test('results with content, with objects, failed ones, and ones inside of user input', () => {
  const given: Json[] = [
    { type: 'function_call', id: 'a', name: 'f', arguments: {} },
    { type: 'function_call', id: 'b', name: 'f', arguments: {} },
    { type: 'function_call', id: 'c', name: 'f', arguments: {} },
    {
      type: 'function_result',
      call_id: 'a',
      result: [
        { type: 'text', text: 'x' },
        { type: 'image', mime_type: 'image/png', data: 'AAAA' },
      ],
    },
    { type: 'function_result', call_id: 'b', name: 'f', result: { n: 1 }, is_error: true },
    {
      type: 'user_input',
      content: [
        { type: 'function_result', call_id: 'c', name: 'f', result: 'z' },
        { type: 'text', text: 'go' },
      ],
    },
  ]
  const { messages } = read(given)
  assert.deepEqual(
    messages.slice(1).map(({ parts }) => parts),
    [
      [
        {
          type: 'tool-result',
          callId: 'a',
          name: '',
          output: [
            { type: 'text', text: 'x' },
            { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' } },
          ],
        },
      ],
      [
        {
          type: 'tool-result',
          callId: 'b',
          name: 'f',
          output: [{ type: 'text', text: '{"n":1}' }],
          value: { n: 1 },
          failed: true,
        },
      ],
      [{ type: 'tool-result', callId: 'c', name: 'f', output: [{ type: 'text', text: 'z' }] }],
      [{ type: 'text', text: 'go' }],
    ],
  )
  assert.deepEqual(write(messages), given)
})

test('repeated ids are distinguished', () => {
  const { messages } = read([says('hi'), clock, noon, clock, noon])
  const ids = messages.flatMap(({ parts }) => parts.flatMap((part) => ('callId' in part ? [part.callId] : [])))
  assert.deepEqual(ids, ['x1', 'x1', 'call-0', 'call-0'])
})

test('messages that were made elsewhere are written from their parts, and new results fit calls that were read', () => {
  const id = 'call_mYNgtxIxXlhy'
  assert.deepEqual(
    write([user('hi'), reply({ type: 'reasoning', text: 'Hm.' }, call('c1', 'clock')), result('c1', '12', 'clock')]),
    [
      says('hi'),
      { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }] },
      { type: 'function_call', id, name: 'clock', arguments: {} },
      { type: 'function_result', call_id: id, name: 'clock', result: '12' },
    ],
  )
  const { messages } = read([says('hi'), clock])
  assert.deepEqual(write([...messages, result('x1', '12:00', 'clock')]), [says('hi'), clock, noon])
})

test('everything that is written can be read again', () => {
  fc.assert(
    fc.property(loopHistory, (history) => {
      const written = write(history)
      assert.deepEqual(write(read(written).messages), written)
    }),
    { numRuns: runs(100) },
  )
})

const foreign: Json[] = [
  [],
  {},
  [{ role: 'user', content: 'hi' }],
  [{ role: 'user', parts: [{ text: 'hi' }] }],
  [
    { type: 'message', role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
  ],
  { model: 'gpt-5', input: 'hi' },
  { model: 'gpt-5', input: [{ role: 'user', content: 'hi' }] },
]

for (const json of foreign) {
  test(`${JSON.stringify(json)} is not mistaken for steps of an interaction`, () =>
    assert.equal(recognise(json), false))
}

test('anything that is not a step is unreadable, and its position is named', () => {
  assert.throws(() => read([says('hi'), 'text']), /\$\[1\] should be a step/)
  assert.throws(() => read({ input: [{ depth: 3 }] }), /\$\.input\[0\] should be a step/)
  assert.throws(() => read({ messages: [] }), /\$ should be an object with `input` or `steps`/)
})

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus', 'streams', 'gemini-interactions')
const skip = existsSync(folder) ? false : 'the recorded exchanges are not here'

test('recorded interactions are read and written without a difference', { skip }, (t) => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  for (const file of files) {
    const whole = JSON.parse(readFileSync(join(folder, file), 'utf8')) as JsonObject
    assert.equal(recognise(whole), true, file)
    assert.deepEqual(write(read(whole).messages), whole.steps, file)
  }
  t.diagnostic(`${files.length} interactions`)
})
