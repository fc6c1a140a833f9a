import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'
import { ollamaChatFormat } from '../../../src/wires/ollama-chat/transcript.ts'
import { call, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../../histories.ts'

const asks = (...names: string[]) => ({
  role: 'assistant',
  content: '',
  tool_calls: names.map((name) => ({ function: { name, arguments: { zone: 'UTC' } } })),
})
const answer = (name: string, content = '12:00') => ({ role: 'tool', tool_name: name, content })
const conversation: Json[] = [
  { role: 'system', content: 'be kind' },
  { role: 'user', content: 'look', images: ['iVBORw0KGgo=', '/9j/4AAQ'] },
  asks('clock', 'weather'),
  answer('weather', 'sun'),
  answer('clock'),
  { role: 'assistant', content: 'It is noon.', thinking: 'noon' },
]

test('a list of messages is read; without ids, name and order decide which call a result answers', () => {
  const { messages } = ollamaChatFormat.read(conversation)
  assert.deepEqual(messages[1]?.parts, [
    { type: 'text', text: 'look' },
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'iVBORw0KGgo=' } },
    { type: 'media', mediaType: 'image/jpeg', data: { kind: 'base64', base64: '/9j/4AAQ' } },
  ])
  const asked = messages[2]
  assert.deepEqual(asked?.role === 'assistant' && [asked.native, asked.stop, asked.origin.provider], [
    [conversation[2]],
    { reason: 'tool-calls' },
    'ollama',
  ])
  assert.deepEqual(asked?.parts, [
    { type: 'tool-call', callId: 'call-0', name: 'clock', input: { zone: 'UTC' }, from: 0 },
    { type: 'tool-call', callId: 'call-1', name: 'weather', input: { zone: 'UTC' }, from: 0 },
  ])
  assert.deepEqual(
    [messages[3], messages[4]].map((message) => message?.role === 'tool' && message.parts[0]?.callId),
    ['call-1', 'call-0'],
  )
  assert.deepEqual(messages[5]?.parts, [
    { type: 'reasoning', text: 'noon', from: 0 },
    { type: 'text', text: 'It is noon.', from: 0 },
  ])
})

test('calls of later replies have new ids', () => {
  const { messages } = ollamaChatFormat.read([
    asks('a'),
    answer('a'),
    asks('a'),
    answer('a'),
    { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'a', arguments: {} } }] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ])
  const ids = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-call' || part.type === 'tool-result' ? [part.callId] : [])),
  )
  assert.deepEqual(ids, ['call-0', 'call-0', 'call-1', 'call-1', 'call_1', 'call_1'])
})

test('the same list is restored, and continues in the same form', () => {
  const { messages } = ollamaChatFormat.read(conversation)
  assert.deepEqual(ollamaChatFormat.write(messages), conversation)
  assert.deepEqual(ollamaChatFormat.write([...messages, user('thanks', onePixel)]), [
    ...conversation,
    { role: 'user', content: 'thanks', images: [onePixelBase64] },
  ])
})

test('a whole body provides tools and model as well', () => {
  const body = {
    model: 'qwen3:8b',
    messages: conversation,
    tools: [{ type: 'function', function: { name: 'clock', parameters: { type: 'object' } } }],
  }
  const { messages, tools } = ollamaChatFormat.read(body)
  assert.deepEqual(tools, [{ name: 'clock', input: { type: 'object' } }])
  assert.equal(messages[2]?.role === 'assistant' && messages[2].origin.model, 'qwen3:8b')
})

test('messages from elsewhere are written in this form, and are a valid history', () => {
  const written = ollamaChatFormat.write([
    ...whatTimeIsIt,
    user(
      { type: 'compaction', text: 'before' },
      { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'u' } },
    ),
    reply({ type: 'reasoning', text: 'hm' }, 'both', call('c2', 'a')),
    failure('c2', 'no', 'a'),
    result('elsewhere', 'x'),
  ]) as JsonObject[]
  assert.deepEqual(ollamaChat.refuse({ model: 'm', messages: written }), [])
  assert.equal(written[4]?.content, '[Summary of the conversation so far]\nbefore\nu')
  assert.deepEqual([written[5]?.thinking, written[6]?.content], ['hm', 'Error: no'])
  const again = ollamaChatFormat.read(written)
  assert.deepEqual(ollamaChatFormat.write(again.messages), written)
})

test('it is distinguished from messages that only look like it', () => {
  assert.equal(ollamaChatFormat.recognise(conversation), true)
  assert.equal(ollamaChatFormat.recognise([asks('a')]), true)
  assert.equal(
    ollamaChatFormat.recognise({ model: 'm', messages: [{ role: 'user', content: 'x' }], think: false }),
    true,
  )
  const others: Json[] = [
    [{ role: 'user', content: 'x' }],
    [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'a', arguments: '{}' } }] }],
    [{ role: 'user', content: [{ type: 'text', text: 'x' }], images: ['AAAA'] }],
    [{ role: 'user', parts: [] }],
    [{ type: 'session' }],
    { model: 'm', options: {} },
    null,
  ]
  for (const other of others) assert.equal(ollamaChatFormat.recognise(other), false)
})

test('unreadable input is named by its position', () => {
  const unreadable: [Json, RegExp][] = [
    [{ model: 'm' }, /\$ should be a list of messages/],
    [[3], /\$\[0\] should be an object/],
    [{ messages: [{ role: 'robot' }] }, /\$\.messages\[0\]\.role should be system, user/],
    [[{ role: 'user', content: [] }], /\$\[0\]\.content should be a string/],
  ]
  for (const [json, said] of unreadable) assert.throws(() => ollamaChatFormat.read(json), said)
})
