import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import type { Message } from '../../../src/core/message.ts'
import { call, calls, failure, onePixel, onePixelUrl, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { sent } from './target.ts'

test('"What time is it?" with one tool call is four messages', () => {
  assert.deepEqual(sent(whatTimeIsIt).body, {
    model: 'gpt-4o',
    messages: [
      { role: 'user', content: 'What time is it?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: id1, type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }],
      },
      { role: 'tool', tool_call_id: id1, content: '12:00' },
      { role: 'assistant', content: 'It is noon.' },
    ],
  })
})

/** The ids that c1 and c2 have on this wire: hashed, so they never change. */
const id1 = 'call_mYNgtxIxXlhy50ysmTzrQ0Js'
const id2 = 'call_wa4jcIDv5AJ4fhRonv5g4Cc0'

interface Row {
  shape: string
  history: Message[]
  messages: Json[]
}

const rows: Row[] = [
  { shape: 'user text', history: [user('hi')], messages: [{ role: 'user', content: 'hi' }] },
  {
    shape: 'user text in several parts',
    history: [user('one', 'two')],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
    ],
  },
  {
    shape: 'an image given as data',
    history: [user('Look', onePixel)],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: onePixelUrl } },
        ],
      },
    ],
  },
  {
    shape: 'an image given as a URL',
    history: [user({ type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://a.example/b.png' } })],
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] }],
  },
  {
    shape: 'a file given as data',
    history: [
      user({ type: 'media', mediaType: 'application/pdf', name: 'a.pdf', data: { kind: 'base64', base64: 'JVBE' } }),
    ],
    messages: [
      {
        role: 'user',
        content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } }],
      },
    ],
  },
  {
    shape: 'a file that this provider keeps',
    history: [
      user({
        type: 'media',
        mediaType: 'application/pdf',
        data: { kind: 'file', fileId: 'file-1', provider: 'openai' },
      }),
    ],
    messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
  },
  {
    shape: 'a file that another provider keeps',
    history: [
      user({ type: 'media', mediaType: 'application/pdf', data: { kind: 'file', fileId: 'file-1', provider: 'xai' } }),
    ],
    messages: [{ role: 'user', content: '[application/pdf, not shown]' }],
  },
  {
    shape: 'media that the model does not take',
    history: [user({ type: 'media', mediaType: 'video/mp4', name: 'a.mp4', data: { kind: 'base64', base64: 'AAAA' } })],
    messages: [{ role: 'user', content: '[video/mp4 "a.mp4", not shown]' }],
  },
  {
    shape: 'a summary that represents what came before',
    history: [user({ type: 'compaction', text: 'They met.' }, 'Continue')],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '[Summary of the conversation so far]\nThey met.' },
          { type: 'text', text: 'Continue' },
        ],
      },
    ],
  },
  {
    shape: 'content of this wire without a word here',
    history: [user({ type: 'opaque', kind: 'openai-chat/hologram', data: { type: 'hologram', depth: 3 } })],
    messages: [{ role: 'user', content: [{ type: 'hologram', depth: 3 }] }],
  },
  {
    shape: 'a system message in the middle',
    history: [user('hi'), { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'Be brief.' },
    ],
  },
  {
    shape: 'several calls at once, one message per result',
    history: [user('go'), reply('Both:', ...calls('c1', 'c2')), result('c1', 'a'), result('c2', 'b')],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Both:',
        tool_calls: [
          { id: id1, type: 'function', function: { name: 'tool', arguments: '{}' } },
          { id: id2, type: 'function', function: { name: 'tool', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: id1, content: 'a' },
      { role: 'tool', tool_call_id: id2, content: 'b' },
    ],
  },
  {
    shape: 'calls before text stay in one message with it',
    history: [user('go'), reply(call('c1', 'tool'), 'Wait.'), result('c1', 'a')],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'Wait.',
        tool_calls: [{ id: id1, type: 'function', function: { name: 'tool', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: id1, content: 'a' },
    ],
  },
  {
    shape: 'a failed result says so in its text, once',
    history: [user('go'), reply(calls('c1', 'c2')), failure('c1', 'no disk'), failure('c2', 'Error: no net')],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: id1, type: 'function', function: { name: 'tool', arguments: '{}' } },
          { id: id2, type: 'function', function: { name: 'tool', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: id1, content: 'Error: no disk' },
      { role: 'tool', tool_call_id: id2, content: 'Error: no net' },
    ],
  },
  {
    shape: 'a result without output',
    history: [user('go'), reply(calls('c1')), result('c1', '')],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: id1, type: 'function', function: { name: 'tool', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: id1, content: '(no output)' },
    ],
  },
  {
    shape: 'an image in a result follows in a user message after the whole block',
    history: [
      user('go'),
      reply(calls('c1', 'c2')),
      {
        role: 'tool',
        parts: [
          { type: 'tool-result', callId: 'c1', name: 'tool', output: [{ type: 'text', text: 'A dot:' }, onePixel] },
        ],
      },
      result('c2', 'b'),
      reply('Seen.'),
    ],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: id1, type: 'function', function: { name: 'tool', arguments: '{}' } },
          { id: id2, type: 'function', function: { name: 'tool', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: id1, content: 'A dot:\n[image/png, shown below the tool results]' },
      { role: 'tool', tool_call_id: id2, content: 'b' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: onePixelUrl } }] },
      { role: 'assistant', content: 'Seen.' },
    ],
  },
  {
    shape: 'arguments that were no JSON object',
    history: [
      user('go'),
      reply({ type: 'tool-call', callId: 'c1', name: 'tool', input: {}, malformed: '{"a": ' }),
      failure('c1', 'not JSON'),
    ],
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: id1, type: 'function', function: { name: 'tool', arguments: '{"INVALID_JSON":"{\\"a\\": "}' } },
        ],
      },
      { role: 'tool', tool_call_id: id1, content: 'Error: not JSON' },
    ],
  },
  {
    shape: 'foreign reasoning stays locally',
    history: [user('go'), reply({ type: 'reasoning', text: 'Hm.' }, 'Yes.')],
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'Yes.' },
    ],
  },
  {
    shape: 'a refusal from elsewhere is text',
    history: [user('go'), reply({ type: 'refusal', text: 'I will not.' })],
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'I will not.' },
    ],
  },
  {
    shape: 'neighbouring texts are one, what stands apart is a paragraph of its own',
    history: [user('go'), reply('The answer', ' is 4.', { type: 'compaction', text: 'x' }, 'Bye.')],
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: 'The answer is 4.\n\n[Summary of the conversation so far]\nx\n\nBye.' },
    ],
  },
  {
    shape: 'what a provider ran itself is told',
    history: [user('go'), reply({ type: 'server-tool', name: 'search', input: { q: 1 }, output: ['y'] })],
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: '[Tool Call] search {"q":1}\n[Tool Result] search: ["y"]' },
    ],
  },
  {
    shape: 'a reply with nothing that can be sent is left out',
    history: [user('a'), reply(''), user('b')],
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  },
  {
    shape: 'an empty history gets a message, because an empty list is refused',
    history: [],
    messages: [{ role: 'user', content: 'Continue.' }],
  },
]

for (const row of rows) {
  test(`the body has ${row.shape}`, () => {
    assert.deepEqual(sent(row.history).messages, row.messages)
  })
}

test('the system prompt comes first, as one string, in the role of the model', () => {
  const system = [
    { type: 'text' as const, text: 'Be kind.' },
    { type: 'text' as const, text: 'Be brief.' },
  ]
  assert.deepEqual(sent([user('hi')], {}, { system }).messages, [
    { role: 'system', content: 'Be kind.\n\nBe brief.' },
    { role: 'user', content: 'hi' },
  ])
  const developer = sent([user('hi')], { capabilities: { systemRole: 'developer' } }, { system })
  assert.deepEqual((developer.messages as Json[])[0], { role: 'developer', content: 'Be kind.\n\nBe brief.' })
})

test('media in a result stays there if the host supports it', () => {
  const history: Message[] = [
    user('go'),
    reply(calls('c1')),
    { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'tool', output: [onePixel] }] },
  ]
  const { messages } = sent(history, { capabilities: { resultMedia: ['image/*'] } })
  assert.deepEqual((messages as Json[])[2], {
    role: 'tool',
    tool_call_id: id1,
    content: [{ type: 'image_url', image_url: { url: onePixelUrl } }],
  })
})

test('audio is sent in the two formats of the wire, and only if the model supports it', () => {
  const sound = (mediaType: string): Message =>
    user({ type: 'media', mediaType, data: { kind: 'base64', base64: 'UklGRg==' } })
  const hears = { capabilities: { media: ['audio/*'] } }
  assert.deepEqual(sent([sound('audio/wav')], hears).messages, [
    { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }] },
  ])
  assert.deepEqual(sent([sound('audio/flac')], hears).messages, [{ role: 'user', content: '[audio/flac, not shown]' }])
  assert.deepEqual(sent([sound('audio/wav')]).messages, [{ role: 'user', content: '[audio/wav, not shown]' }])
})

test('every difference between the log and the body is a note with its place', () => {
  const history: Message[] = [
    user('go', { type: 'opaque', kind: 'elsewhere/thing', data: 1 }),
    reply({ type: 'reasoning', text: 'Hm.' }, { type: 'opaque', kind: 'elsewhere/thing' }, ...calls('c1')),
    { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'tool', output: [onePixel] }] },
  ]
  const notes = sent(history).notes.map(({ kind, what, at, rule }) => ({ kind, what, at, rule }))
  assert.deepEqual(notes, [
    { kind: 'dropped', what: 'elsewhere/thing', at: 'messages[0]', rule: undefined },
    { kind: 'dropped', what: 'elsewhere/thing', at: 'messages[1]', rule: undefined },
    { kind: 'dropped', what: 'reasoning', at: 'messages[1]', rule: undefined },
    {
      kind: 'changed',
      what: 'image/png of a result of tool to a user message after the results',
      at: 'messages[2]',
      rule: 'C12',
    },
  ])
})

test('halves of surrogate pairs and NUL are cleaned, inside arguments too', () => {
  const { messages, notes } = sent([
    user('a\uD800b'),
    reply(call('c1', 'tool', { text: 'x\uDC00y', list: ['\0'] })),
    result('c1', 'ok'),
  ])
  assert.equal((messages as { content: string }[])[0]?.content, 'a\uFFFDb')
  const [, asked] = messages as { tool_calls: { function: { arguments: string } }[] }[]
  assert.deepEqual(JSON.parse(asked?.tool_calls[0]?.function.arguments ?? ''), { text: 'x\uFFFDy', list: ['\uFFFD'] })
  assert.equal(notes.length, 2)
})

test('tool names that the wire refuses are mapped in tools, history and choice alike', () => {
  const { body } = sent(
    [user('go'), reply(call('c1', 'fs.read file')), result('c1', 'x', 'fs.read file')],
    { options: { toolChoice: { tool: 'fs.read file' } } },
    { tools: [{ name: 'fs.read file', input: { type: 'object', properties: {} } }] },
  )
  assert.deepEqual(body.tools, [
    { type: 'function', function: { name: 'fs_read_file', parameters: { type: 'object', properties: {} } } },
  ])
  assert.deepEqual(body.tool_choice, { type: 'function', function: { name: 'fs_read_file' } })
  const [, asked] = body.messages as { tool_calls: { function: { name: string } }[] }[]
  assert.equal(asked?.tool_calls[0]?.function.name, 'fs_read_file')
})
