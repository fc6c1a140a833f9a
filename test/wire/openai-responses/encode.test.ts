import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import type { MediaPart, Message, ToolMessage } from '../../../src/core/message.ts'
import { call, failure, onePixel, onePixelUrl, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { encoded, written, type Changes } from './target.ts'

const image = { type: 'input_image', image_url: onePixelUrl, detail: 'auto' }

const table: [name: string, messages: Message[], input: Json[], notes?: string[], changes?: Changes][] = [
  [
    'a question, a call, its result and the answer are four items',
    whatTimeIsIt,
    [
      { type: 'message', role: 'user', content: 'What time is it?' },
      { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'clock', arguments: '{"zone":"UTC"}' },
      { type: 'function_call_output', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', output: '12:00' },
      { type: 'message', role: 'assistant', content: 'It is noon.' },
    ],
  ],
  [
    'several texts of a user are contents of one message',
    [user('a', 'b')],
    [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ],
      },
    ],
  ],
  [
    'an image goes as a data URL',
    [user('look', onePixel)],
    [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'look' }, image] }],
  ],
  [
    'a file goes with its name, or with one that tells its kind',
    [user(file('application/pdf', 'a.pdf'), file('text/plain'))],
    [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
          { type: 'input_file', filename: 'file.txt', file_data: 'data:text/plain;base64,AA==' },
        ],
      },
    ],
  ],
  [
    'addresses and file ids go as they are',
    [
      user(
        { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://x/y.png' } },
        { type: 'media', mediaType: 'application/pdf', data: { kind: 'url', url: 'https://x/y.pdf' } },
        { type: 'media', mediaType: 'image/png', data: { kind: 'file', fileId: 'file-1', provider: 'openai' } },
      ),
    ],
    [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://x/y.png', detail: 'auto' },
          { type: 'input_file', file_url: 'https://x/y.pdf' },
          { type: 'input_image', file_id: 'file-1', detail: 'auto' },
        ],
      },
    ],
  ],
  [
    'what the target cannot take is named in its place',
    [
      user(file('audio/mpeg', 'song.mp3'), {
        type: 'media',
        mediaType: 'image/png',
        data: { kind: 'file', fileId: 'file-1', provider: 'anthropic' },
      }),
    ],
    [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: '[audio/mpeg "song.mp3", not shown]' },
          { type: 'input_text', text: '[image/png, not shown]' },
        ],
      },
    ],
    ['changed audio/mpeg to text', 'changed image/png to text'],
  ],
  [
    'system messages in the middle keep their place',
    [user('a'), { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }, user('b')],
    [
      { type: 'message', role: 'user', content: 'a' },
      { type: 'message', role: 'system', content: 'Be brief.' },
      { type: 'message', role: 'user', content: 'b' },
    ],
  ],
  [
    'a model without system messages in the middle gets a labelled user message',
    [user('a'), { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }],
    [
      { type: 'message', role: 'user', content: 'a' },
      { type: 'message', role: 'user', content: '[System]\nBe brief.' },
    ],
    ['changed system message to user message'],
    { capabilities: { midSystem: false } },
  ],
  [
    'calls go last and their results follow in order',
    [reply('one ', 'text', call('c1', 'a'), 'two', call('c2', 'b')), result('c1', '1'), result('c2', '2')],
    [
      { type: 'message', role: 'assistant', content: 'one text' },
      { type: 'message', role: 'assistant', content: 'two' },
      { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'a', arguments: '{}' },
      { type: 'function_call', call_id: 'call_wa4jcIDv5AJ4fhRonv5g4Cc0', name: 'b', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', output: '1' },
      { type: 'function_call_output', call_id: 'call_wa4jcIDv5AJ4fhRonv5g4Cc0', output: '2' },
    ],
    ['changed order of calls and text'],
  ],
  [
    'a failed result says so, once; an empty one says that it is empty',
    [
      reply(call('c1', 'a'), call('c2', 'a'), call('c3', 'a')),
      failure('c1', 'no such file'),
      failure('c2', 'Error: no'),
      result('c3', ''),
    ],
    [
      { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'a', arguments: '{}' },
      { type: 'function_call', call_id: 'call_wa4jcIDv5AJ4fhRonv5g4Cc0', name: 'a', arguments: '{}' },
      { type: 'function_call', call_id: 'call_0srBn6EmayQP9GkjnbAcuzOu', name: 'a', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', output: 'Error: no such file' },
      { type: 'function_call_output', call_id: 'call_wa4jcIDv5AJ4fhRonv5g4Cc0', output: 'Error: no' },
      { type: 'function_call_output', call_id: 'call_0srBn6EmayQP9GkjnbAcuzOu', output: '(no output)' },
    ],
  ],
  [
    'images have their place inside a result',
    [reply(call('c1', 'shot')), shot('c1'), user('and?')],
    [
      { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'shot', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js',
        output: [{ type: 'input_text', text: 'Error: blurred' }, image],
      },
      { type: 'message', role: 'user', content: 'and?' },
    ],
  ],
  [
    'where a result cannot hold an image it follows after the whole tool turn',
    [reply(call('c1', 'shot'), call('c2', 'a')), shot('c1'), result('c2', '2'), user('and?')],
    [
      { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'shot', arguments: '{}' },
      { type: 'function_call', call_id: 'call_wa4jcIDv5AJ4fhRonv5g4Cc0', name: 'a', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js',
        output: 'Error: blurred\n[image/png, in the next message]',
      },
      { type: 'function_call_output', call_id: 'call_wa4jcIDv5AJ4fhRonv5g4Cc0', output: '2' },
      { type: 'message', role: 'user', content: [image] },
      { type: 'message', role: 'user', content: 'and?' },
    ],
    ['changed image/png of a tool result to a user message'],
    { capabilities: { resultMedia: [] } },
  ],
  [
    'reasoning of another provider stays in the log',
    [reply({ type: 'reasoning', text: 'hm' }, { type: 'reasoning', text: 'aha' }, 'Yes.')],
    [{ type: 'message', role: 'assistant', content: 'Yes.' }],
    ['dropped reasoning (R7)'],
  ],
  [
    'a refusal is written as text',
    [reply({ type: 'refusal', text: 'I cannot.' })],
    [{ type: 'message', role: 'assistant', content: 'I cannot.' }],
    ['changed refusal to text'],
  ],
  [
    'what another provider ran itself is written as labelled text, or left where nothing of it is known',
    [
      reply(
        { type: 'server-tool', name: 'search', input: { q: 'x' }, output: ['y'] },
        { type: 'server-tool', name: 'browse' },
        'So.',
      ),
    ],
    [
      { type: 'message', role: 'assistant', content: '[Tool Call] search {"q":"x"}\n[Tool Result] search: ["y"]' },
      { type: 'message', role: 'assistant', content: 'So.' },
    ],
    ['changed server tool search to text', 'dropped server tool browse'],
  ],
  [
    'summaries are labelled, and pictures of an assistant named',
    [
      { role: 'user', parts: [{ type: 'compaction', text: 'They met.' }] },
      reply({ type: 'compaction', text: 'They talked.' }, onePixel),
    ],
    [
      { type: 'message', role: 'user', content: '[Summary of the conversation so far]\nThey met.' },
      { type: 'message', role: 'assistant', content: '[Summary of the conversation so far]\nThey talked.' },
      { type: 'message', role: 'assistant', content: '[image/png, not shown]' },
    ],
    ['changed image/png to text'],
  ],
  [
    'things of another wire are left with a note, and a message of nothing else with two',
    [user('a'), reply({ type: 'opaque', kind: 'anthropic-messages/hologram', data: { type: 'hologram' } })],
    [{ type: 'message', role: 'user', content: 'a' }],
    ['dropped anthropic-messages/hologram', 'dropped assistant message'],
  ],
  [
    'arguments that are no JSON object are sent inside one',
    [reply({ type: 'tool-call', callId: 'c1', name: 'a', input: {}, malformed: '{"x": ' }), failure('c1', 'bad')],
    [
      {
        type: 'function_call',
        call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js',
        name: 'a',
        arguments: '{"INVALID_JSON":"{\\"x\\": "}',
      },
      { type: 'function_call_output', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', output: 'Error: bad' },
    ],
    ['changed arguments that are no JSON object (C19)'],
  ],
  [
    'an empty text vanishes, a blank one stays',
    [user('', ' '), reply('', 'ok')],
    [
      { type: 'message', role: 'user', content: ' ' },
      { type: 'message', role: 'assistant', content: 'ok' },
    ],
  ],
  [
    'a target without tool history is told of calls and results',
    [reply('Wait.', call('c1', 'a', { x: 1 })), failure('c1', 'no')],
    [
      { type: 'message', role: 'assistant', content: 'Wait.' },
      { type: 'message', role: 'assistant', content: '[Tool Call] a {"x":1}' },
      { type: 'message', role: 'user', content: '[Tool Result] tool (failed): Error: no' },
    ],
    ['changed call of a to text', 'changed result of tool to text'],
    { quirks: { toolMessages: 'text' } },
  ],
  [
    'a server whose template insists on turns gets neighbours as one',
    [user('a'), user('b'), reply('c'), reply('d')],
    [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'c', annotations: [] },
          { type: 'output_text', text: 'd', annotations: [] },
        ],
      },
    ],
    [],
    { quirks: { alternate: true } },
  ],
  [
    'a provider that wants the last word from the user gets one',
    [user('a'), reply('b')],
    [
      { type: 'message', role: 'user', content: 'a' },
      { type: 'message', role: 'assistant', content: 'b' },
      { type: 'message', role: 'user', content: 'Continue.' },
    ],
    ['added user message "Continue."'],
    { capabilities: { prefill: false } },
  ],
  [
    'an empty history gets something to answer',
    [],
    [{ type: 'message', role: 'user', content: 'Continue.' }],
    ['added user message "Continue." (R18)'],
  ],
]

for (const [name, messages, input, notes = [], changes] of table) {
  test(name, () => {
    assert.deepEqual(written(messages, changes), { input, notes })
  })
}

test('a text with half a character is cleaned, with a note that says where', () => {
  const { body, notes } = encoded([user('a\uD800b\0')])
  assert.deepEqual(body.input, [{ type: 'message', role: 'user', content: 'a\uFFFDb\uFFFD' }])
  assert.equal(notes[0]?.at, 'messages[0]')
})

test('two messages of one earlier reply stay two', () => {
  const two = reply({ type: 'text', text: 'Let me look.', from: 0 }, { type: 'text', text: 'Found.', from: 1 })
  const moved = { ...two, origin: { protocol: 'openai-responses', provider: 'azure-openai', model: 'gpt-5.5' } }
  assert.deepEqual(written([moved]).input, [
    { type: 'message', role: 'assistant', content: 'Let me look.' },
    { type: 'message', role: 'assistant', content: 'Found.' },
  ])
})

test('cache marks are on the last content of their message, and nothing else depends on them', () => {
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
  const messages = [user('a'), reply(call('c1', 'clock')), result('c1', '12:00', 'clock'), user('b')]
  const capabilities = { cacheMarks: true }
  const marked = written(messages, { capabilities }, { cacheAfter: [-1, 0, 2] }).input
  assert.deepEqual(marked, [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a', ...mark }] },
    { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'clock', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js',
      output: [{ type: 'input_text', text: '12:00', ...mark }],
    },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'b' }] },
  ])
  const text = JSON.stringify(marked).replaceAll(`,"prompt_cache_breakpoint":{"mode":"explicit"}`, '')
  assert.equal(text, JSON.stringify(written(messages, { capabilities }).input))
})

test('without cache marks in the model none is set', () => {
  assert.deepEqual(written([user('a')], {}, { cacheAfter: [0] }).input, [
    { type: 'message', role: 'user', content: 'a' },
  ])
})

function file(mediaType: string, name?: string): MediaPart {
  return { type: 'media', mediaType, ...(name && { name }), data: { kind: 'base64', base64: 'AA==' } }
}

function shot(callId: string): ToolMessage {
  const output = [{ type: 'text' as const, text: 'blurred' }, onePixel]
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name: 'shot', output, failed: true }] }
}
