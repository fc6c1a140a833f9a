// What only this wire does with a history; the rest is in every-wire.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolSpec } from '../../../src/core/context.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { cohereChat } from '../../../src/wires/cohere-chat/index.ts'
import { objectsIn } from '../../../src/wires/shared/json-fields.ts'
import { call, onePixel, reply, result, user } from '../../histories.ts'
import { encoded, own, target, wireMessages } from './target.ts'

const clock: ToolSpec = { name: 'clock', input: { type: 'object', properties: { zone: { type: 'string' } } } }
const other: ToolSpec = { name: 'fs-read', input: { type: 'object', properties: {} } }

test('text next to calls becomes the plan of the calls, with a note', () => {
  const { body, notes } = encoded([user('Go.'), reply('I look.', call('a', 'clock')), result('a', '12:00', 'clock')])
  const [, asked, answered] = body.messages as JsonObject[]
  assert.equal(asked?.tool_plan, 'I look.')
  assert.equal(asked?.content, undefined)
  const [made] = objectsIn(asked?.tool_calls)
  assert.deepEqual(made?.function, { name: 'clock', arguments: '{}' })
  assert.deepEqual(answered, { role: 'tool', tool_call_id: made?.id, content: '12:00' })
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['text next to calls to the plan of the calls'],
  )
})

test('images go as URLs with their data', () => {
  const [message] = wireMessages([user('Look.', onePixel)]) as JsonObject[]
  const [words, image] = objectsIn(message?.content)
  assert.deepEqual(words, { type: 'text', text: 'Look.' })
  assert.match(JSON.stringify(image), /"image_url":\{"url":"data:image\/png;base64,/)
})

test('thinking is sent back to its own model, and to no other', () => {
  const native = {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Two and two.' },
      { type: 'text', text: 'Four.' },
    ],
  }
  const said = own(native, [
    { type: 'reasoning', text: 'Two and two.' },
    { type: 'text', text: 'Four.' },
  ])
  const history = [user('2 + 2?'), said, user('Sure?')]
  assert.deepEqual((wireMessages(history) as JsonObject[])[1], native)
  const { body, notes } = encoded(history, { model: 'command-r7b-12-2024' })
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, [{ type: 'text', text: 'Four.' }])
  assert.equal(notes[0]?.what, '1 reasoning parts')
})

test('one tool is forced by offering no other', () => {
  const options = { toolChoice: { tool: 'clock' } }
  const { body, notes } = encoded([user('Go.')], { options }, { tools: [clock, other] })
  assert.equal(body.tool_choice, 'REQUIRED')
  assert.deepEqual(
    (body.tools as { function: JsonObject }[]).map(({ function: fn }) => fn.name),
    ['clock'],
  )
  assert.equal(notes.find(({ rule }) => rule === 'CO-5')?.kind, 'dropped')
})

test('names of tools have letters, digits and underscores, and are mapped back', () => {
  const { body, toolNames } = encoded([user('Go.')], {}, { tools: [other] })
  assert.equal((body.tools as { function: JsonObject }[])[0]?.function.name, 'fs_read')
  assert.deepEqual(toolNames, { fs_read: 'fs-read' })
  assert.deepEqual(cohereChat.refuse(body), [])
})

test('options are written in its fields, inside of their ranges', () => {
  const { body, notes } = encoded([user('Go.')], {
    options: {
      maxOutput: 100,
      temperature: 1.5,
      topP: 1,
      stop: ['a', 'b', 'c', 'd', 'e', 'f'],
      effort: 'low',
      stream: true,
      answerSchema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] },
    },
  })
  const { messages: _, model, ...rest } = body
  assert.equal(model, target.model)
  assert.deepEqual(rest, {
    max_tokens: 100,
    temperature: 1,
    p: 0.99,
    stop_sequences: ['a', 'b', 'c', 'd', 'e'],
    thinking: { type: 'enabled', token_budget: 2048 },
    response_format: {
      type: 'json_object',
      json_schema: {
        type: 'object',
        properties: { n: { type: 'integer', description: '(minimum: 1)' } },
        required: ['n'],
      },
    },
    stream: true,
  })
  assert.equal(notes.filter(({ rule }) => rule === 'CO-13').length, 3)
  assert.deepEqual(cohereChat.refuse(body), [])
})

test('thinking can be switched off', () => {
  assert.deepEqual(encoded([user('Go.')], { options: { effort: 'none' } }).body.thinking, { type: 'disabled' })
})
