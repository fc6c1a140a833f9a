// Cohere's messages as a conversation, and back.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import { readTranscript, writeTranscript } from '../../../src/index.ts'
import { cohereChatFormat } from '../../../src/wires/cohere-chat/transcript.ts'
import { cohereChatService } from '../../../src/wires/cohere-chat/service.ts'
import { readRequestWith } from '../../../src/wires/read-request.ts'
import { whatTimeIsIt } from '../../histories.ts'

const messages = [
  { role: 'user', content: [{ type: 'text', text: 'What time is it?' }] },
  {
    role: 'assistant',
    tool_plan: 'I ask the clock.',
    tool_calls: [{ id: 'clock_1', type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }],
  },
  {
    role: 'tool',
    tool_call_id: 'clock_1',
    content: [{ type: 'document', document: { data: { time: '12:00' }, id: '1' } }],
  },
  { role: 'assistant', content: 'It is noon.' },
]

test('a list with a plan is recognised as one of Cohere, read, and written unchanged', () => {
  const read = readTranscript(messages)
  assert.equal(read.messages[0]?.source?.format, 'cohere-chat')
  const [, asked, answered] = read.messages
  assert.deepEqual(
    asked?.parts.map(({ type }) => type),
    ['reasoning', 'tool-call'],
  )
  assert.deepEqual(answered?.parts[0], {
    type: 'tool-result',
    callId: 'clock_1',
    name: 'clock',
    output: [{ type: 'text', text: '{"time":"12:00"}' }],
  })
  assert.deepEqual(writeTranscript(read.messages, 'cohere-chat'), messages)
})

test('thinking without a signature is recognised as that of Cohere, unless something else says that it is not', () => {
  const question = { role: 'user', content: 'Hello' }
  const thought = { type: 'thinking', thinking: 'A greeting.' }
  const reply = (...content: object[]) => ({ role: 'assistant', content: [...content, { type: 'text', text: 'Hi.' }] })
  const formatOf = (json: object) => readTranscript(json as Json).format
  assert.equal(formatOf([question, reply(thought)]), 'cohere-chat')
  const call = { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} }
  for (const other of [
    [question, reply({ ...thought, signature: 'c2lnbmVk' })],
    [question, reply(thought, call)],
    { system: 'Be brief.', messages: [question, reply(thought)] },
  ]) {
    assert.equal(formatOf(other), 'anthropic-messages')
  }
  assert.equal(formatOf([question, reply()]), 'openai-chat', 'nothing in it is of one API alone')
})

test('a conversation of others is written as one of Cohere', () => {
  const written = writeTranscript(whatTimeIsIt, 'cohere-chat') as { role: string }[]
  assert.deepEqual(
    written.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
})

test('a request is read with its options', () => {
  const body = {
    model: 'command-a-plus-05-2026',
    messages,
    max_tokens: 50,
    p: 0.5,
    temperature: 0.1,
    tool_choice: 'NONE',
    thinking: { type: 'enabled', token_budget: 2048 },
    stop_sequences: ['END'],
    response_format: { type: 'json_object', json_schema: { type: 'object' } },
    stream: true,
  }
  const read = readRequestWith({ transcript: cohereChatFormat, service: cohereChatService }, body)
  assert.equal(read.stream, true)
  assert.deepEqual(read.options, {
    toolChoice: 'none',
    answerSchema: { type: 'object' },
    maxOutput: 50,
    stop: ['END'],
    temperature: 0.1,
    topP: 0.5,
    effort: 'low',
  })
})
