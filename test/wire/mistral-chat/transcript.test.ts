import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'
import { mistralChatFormat } from '../../../src/wires/mistral-chat/transcript.ts'
import { call, failure, onePixel, reply, result, user, whatTimeIsIt } from '../../histories.ts'

const asks = (...ids: string[]) => ({
  role: 'assistant',
  content: '',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } })),
})
const answer = (id: string, content: Json = '12:00') => ({ role: 'tool', tool_call_id: id, name: 'clock', content })
const conversation: Json[] = [
  { role: 'system', content: 'be kind' },
  { role: 'user', content: 'What time is it?' },
  asks('AbCdEf123'),
  answer('AbCdEf123'),
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'noon' }], closed: true },
      { type: 'text', text: 'It is noon.' },
    ],
  },
]

test('a list of messages is read, with native replies', () => {
  const { messages } = mistralChatFormat.read(conversation)
  assert.deepEqual(
    messages.map(({ role, parts }) => [role, parts.map((part) => part.type)]),
    [
      ['system', ['text']],
      ['user', ['text']],
      ['assistant', ['tool-call']],
      ['tool', ['tool-result']],
      ['assistant', ['reasoning', 'text']],
    ],
  )
  const [, , asked, answered, last] = messages
  assert.deepEqual(asked?.role === 'assistant' && [asked.native, asked.origin, asked.stop], [
    [conversation[2]],
    { protocol: 'mistral-chat', provider: 'mistral', model: '' },
    { reason: 'tool-calls' },
  ])
  assert.deepEqual(answered?.parts, [
    { type: 'tool-result', callId: 'AbCdEf123', name: 'clock', output: [{ type: 'text', text: '12:00' }] },
  ])
  assert.deepEqual(last?.parts, [
    { type: 'reasoning', text: 'noon', from: 0 },
    { type: 'text', text: 'It is noon.', from: 0 },
  ])
})

test('the same list is restored, and continues in the same form', () => {
  const { messages } = mistralChatFormat.read(conversation)
  assert.deepEqual(mistralChatFormat.write(messages), conversation)
  assert.deepEqual(mistralChatFormat.write([...messages, user('thanks')]), [
    ...conversation,
    { role: 'user', content: 'thanks' },
  ])
})

test('a whole body provides tools and model as well', () => {
  const body = {
    model: 'mistral-small-latest',
    messages: conversation,
    tools: [{ type: 'function', function: { name: 'clock', description: 'tells', parameters: { type: 'object' } } }],
  }
  const { messages, tools } = mistralChatFormat.read(body)
  assert.deepEqual(tools, [{ name: 'clock', description: 'tells', input: { type: 'object' } }])
  assert.equal(messages[2]?.role === 'assistant' && messages[2].origin.model, 'mistral-small-latest')
})

test('a reused id gets a number, and results find their own call', () => {
  const { messages } = mistralChatFormat.read([
    { role: 'user', content: 'x' },
    asks('AAAAAAAAA', 'BBBBBBBBB'),
    answer('BBBBBBBBB'),
    answer('AAAAAAAAA'),
    asks('AAAAAAAAA'),
    answer('AAAAAAAAA'),
    { role: 'tool', tool_call_id: 'nobody', content: null },
  ])
  const ids = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-call' || part.type === 'tool-result' ? [part.callId] : [])),
  )
  assert.deepEqual(ids, ['AAAAAAAAA', 'BBBBBBBBB', 'BBBBBBBBB', 'AAAAAAAAA', 'AAAAAAAAA~2', 'AAAAAAAAA~2', 'nobody'])
})

test('chunks of the user are parts; unknown ones are kept complete', () => {
  const content = [
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: 'https://x.test/a.png?v=1' },
    { type: 'image_url', image_url: { url: 'data:image/gif;base64,AAAA' } },
    { type: 'document_url', document_url: 'https://x.test/a', document_name: 'a.pdf' },
    { type: 'input_audio', input_audio: 'AAAA' },
    { type: 'file', file_id: 'f' },
  ]
  const { messages } = mistralChatFormat.read([{ role: 'user', content }])
  assert.deepEqual(messages[0]?.parts, [
    { type: 'text', text: 'see' },
    { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://x.test/a.png?v=1' } },
    { type: 'media', mediaType: 'image/gif', data: { kind: 'base64', base64: 'AAAA' } },
    { type: 'media', mediaType: 'application/pdf', data: { kind: 'url', url: 'https://x.test/a' }, name: 'a.pdf' },
    { type: 'media', mediaType: 'audio/mpeg', data: { kind: 'base64', base64: 'AAAA' } },
    { type: 'opaque', kind: 'mistral-chat/file', data: { type: 'file', file_id: 'f' } },
  ])
})

test('messages from elsewhere are written in this form, and are a valid history', () => {
  const written = mistralChatFormat.write([
    ...whatTimeIsIt,
    user('look', onePixel, { type: 'compaction', text: 'before' }),
    reply(
      { type: 'reasoning', text: 'hm' },
      'both',
      { type: 'server-tool', name: 'web', input: {}, output: [1] },
      call('toolu_with_a_long_id', 'a'),
      call('c3', 'b'),
    ),
    failure('toolu_with_a_long_id', 'no', 'a'),
    result('c3', 'yes', 'b'),
  ]) as JsonObject[]
  assert.deepEqual(mistralChat.refuse({ model: 'm', messages: written }), [])
  assert.deepEqual(written[5]?.content, [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
    { type: 'text', text: 'both' },
    { type: 'text', text: '[Tool Call] web {}\n[Tool Result] web: [1]' },
  ])
  assert.equal(written[6]?.content, 'Error: no')
  const again = mistralChatFormat.read(written)
  assert.deepEqual(mistralChatFormat.write(again.messages), written)
})

test('it is distinguished from messages that only look like it', () => {
  assert.equal(mistralChatFormat.recognise(conversation), true)
  assert.equal(mistralChatFormat.recognise({ messages: [{ role: 'user', content: 'x' }], safe_prompt: true }), true)
  assert.equal(mistralChatFormat.recognise([{ role: 'assistant', content: 'a', prefix: false }]), true)
  const others: Json[] = [
    [{ role: 'user', content: 'x' }],
    [{ role: 'tool', tool_call_id: 'call_12345', name: 'clock', content: 'x' }],
    [{ role: 'tool', tool_call_id: 'AbCdEf123', content: 'x' }],
    [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'text', signature: 's' }] }],
    { contents: [] },
    [],
    null,
  ]
  for (const other of others) assert.equal(mistralChatFormat.recognise(other), false)
})

test('unreadable input is named by its position', () => {
  const unreadable: [Json, RegExp][] = [
    [{ model: 'm' }, /\$ should be a list of messages/],
    [['x'], /\$\[0\] should be an object/],
    [{ messages: [{ role: 'robot' }] }, /\$\.messages\[0\]\.role should be system, user/],
    [[{ role: 'user', content: 5 }], /\$\[0\]\.content should be a string/],
    [[{ role: 'assistant', content: {} }], /\$\[0\]\.content should be a string/],
    [[{ role: 'user', content: ['x'] }], /\$\[0\]\.content\[0\] should be an object/],
  ]
  for (const [json, said] of unreadable) assert.throws(() => mistralChatFormat.read(json), said)
})

const folder = join(import.meta.dirname, '../../../../shared/corpus/streams/mistral')
const skip = existsSync(folder) ? false : 'the recorded exchanges are not here'

test('recorded histories come back as they were', { skip }, (t) => {
  let count = 0
  for (const name of readdirSync(folder).filter((file) => /\.(response|stream)\.json$/.test(file))) {
    const { request } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      request: { body: { messages: Json[] } }
    }
    const { messages } = mistralChatFormat.read(request.body)
    assert.deepEqual(mistralChatFormat.write(messages), request.body.messages, name)
    count++
  }
  t.diagnostic(`${count} histories come back`)
})
