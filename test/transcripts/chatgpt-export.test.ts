import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { chatgptExportFormat } from '../../src/transcripts/chatgpt-export.ts'
import { call, reply, result, user } from '../histories.ts'

/** Nodes in one line, each the child of the one before. */
function mapping(...messages: (JsonObject | null)[]): JsonObject {
  return Object.fromEntries(
    messages.map((message, n) => [
      `n${n}`,
      {
        id: `n${n}`,
        message: message && { id: `n${n}`, create_time: n, ...message },
        parent: n === 0 ? null : `n${n - 1}`,
        children: n === messages.length - 1 ? [] : [`n${n + 1}`],
      },
    ]),
  )
}

const by = (role: string, content: Json, rest: JsonObject = {}): JsonObject => ({
  author: { role, name: null, metadata: {} },
  content,
  status: 'finished_successfully',
  metadata: {},
  recipient: 'all',
  ...rest,
})
const text = (...parts: Json[]) => ({ content_type: 'text', parts })
const ofModel = { metadata: { model_slug: 'gpt-5', finish_details: { type: 'stop' } } }

const conversation: JsonObject = {
  title: 'The time',
  create_time: 1,
  current_node: 'n9',
  default_model_slug: 'gpt-5',
  mapping: mapping(
    null,
    by('system', text('')),
    by('user', { content_type: 'user_editable_context', user_profile: 'I am Kim.', user_instructions: 'Be brief.' }),
    by('user', text('What time is it?')),
    by(
      'assistant',
      { content_type: 'thoughts', thoughts: [{ summary: 'Clock', content: 'I need a clock.' }] },
      ofModel,
    ),
    by(
      'assistant',
      { content_type: 'code', language: 'python', text: 'print(now())' },
      { ...ofModel, recipient: 'python' },
    ),
    by('tool', { content_type: 'execution_output', text: '12:00' }, { author: { role: 'tool', name: 'python' } }),
    by('assistant', { content_type: 'reasoning_recap', content: 'Thought for 5 seconds' }, ofModel),
    by('assistant', text('It is noon.'), ofModel),
    by(
      'user',
      {
        content_type: 'multimodal_text',
        parts: [{ content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-1' }, 'and here?'],
      },
      { metadata: { attachments: [{ id: 'file-1', name: 'sun.png', mime_type: 'image/png' }] } },
    ),
  ),
}

test('the branch that was last shown is read; all that ChatGPT did for one question is one reply', () => {
  const { messages, notes } = chatgptExportFormat.read([conversation])
  assert.deepEqual(notes, [])
  assert.deepEqual(
    messages.map(({ role, parts }) => ({ role, parts })),
    [
      { role: 'system', parts: [{ type: 'text', text: 'I am Kim.\n\nBe brief.' }] },
      { role: 'user', parts: [{ type: 'text', text: 'What time is it?' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'I need a clock.' },
          { type: 'server-tool', name: 'python', input: { language: 'python', code: 'print(now())' }, output: '12:00' },
          {
            type: 'opaque',
            kind: 'chatgpt-export/reasoning_recap',
            data: { content_type: 'reasoning_recap', content: 'Thought for 5 seconds' },
          },
          { type: 'text', text: 'It is noon.' },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            type: 'media',
            mediaType: 'image/png',
            name: 'sun.png',
            data: { kind: 'file', fileId: 'file-service://file-1', provider: 'chatgpt' },
          },
          { type: 'text', text: 'and here?' },
        ],
      },
    ],
  )
  const answered = messages[2]
  assert.deepEqual(answered?.role === 'assistant' && [answered.origin, answered.stop], [
    { protocol: 'chatgpt-export', provider: 'chatgpt', model: 'gpt-5' },
    { reason: 'done', raw: 'stop' },
  ])
})

test('the same file is restored, as a list or as one conversation', () => {
  const several: Json = [conversation, { title: 'other', mapping: {} }]
  for (const file of [[conversation], conversation, several]) {
    assert.deepEqual(chatgptExportFormat.write(chatgptExportFormat.read(file).messages), file)
  }
  assert.equal(chatgptExportFormat.read(several).notes[0]?.what, '1 other conversations')
})

test('other branches are left in the file, with a note', () => {
  const nodes = { ...(conversation.mapping as JsonObject) }
  nodes.x = { id: 'x', message: by('assistant', text('regenerated')), parent: 'n3', children: [] }
  const { messages, notes } = chatgptExportFormat.read({ ...conversation, mapping: nodes })
  assert.equal(messages.length, 4)
  assert.equal(notes[0]?.what, '1 messages of other branches')
})

test('without a current node the newest leaf is used', () => {
  const { current_node: _, ...old } = conversation
  assert.equal(chatgptExportFormat.read([old]).messages.length, 4)
})

test('new messages are appended to the current node, the same way each time', () => {
  const { messages } = chatgptExportFormat.read([conversation])
  const more = [
    ...messages,
    reply({ type: 'reasoning', text: 'hm' }, call('c1', 'clock', { zone: 'UTC' })),
    result('c1', '13:00', 'clock'),
    reply('One.'),
  ]
  const written = chatgptExportFormat.write(more)
  assert.deepEqual(chatgptExportFormat.write(more), written)
  const again = chatgptExportFormat.read(written)
  assert.deepEqual(
    again.messages.slice(0, -1).map(({ parts }) => parts),
    messages.map(({ parts }) => parts),
  )
  assert.deepEqual(again.messages.at(-1)?.parts, [
    { type: 'reasoning', text: 'hm' },
    { type: 'server-tool', name: 'clock', input: { zone: 'UTC' }, output: '13:00' },
    { type: 'text', text: 'One.' },
  ])
  assert.deepEqual(chatgptExportFormat.write(again.messages), written)
})

test('messages from elsewhere make a new conversation', () => {
  const written = chatgptExportFormat.write([
    { role: 'system', parts: [{ type: 'text', text: 'be kind' }] },
    user('hi', { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://x.test/a.png' } }),
    reply('hello', { type: 'server-tool', name: 'web', input: { q: 1 }, output: ['y'] }),
  ])
  assert.equal(chatgptExportFormat.recognise(written), true)
  assert.deepEqual(
    chatgptExportFormat.read(written).messages.map(({ role, parts }) => ({ role, parts })),
    [
      { role: 'system', parts: [{ type: 'text', text: 'be kind' }] },
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: 'https://x.test/a.png' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'hello' },
          { type: 'server-tool', name: 'web', input: { q: 1 }, output: '["y"]' },
        ],
      },
    ],
  )
})

test('tools, audio, citations and unknown pieces', () => {
  const { messages } = chatgptExportFormat.read({
    mapping: mapping(
      by('user', {
        content_type: 'multimodal_text',
        parts: [
          { content_type: 'audio_transcription', text: 'hello there' },
          {
            content_type: 'real_time_user_audio_video_asset_pointer',
            audio_asset_pointer: { asset_pointer: 'sediment://a' },
          },
          { content_type: 'hologram', depth: 3 },
          7,
        ],
      }),
      by('assistant', text('{"q":"x"}'), { recipient: 'web.search' }),
      by(
        'tool',
        { content_type: 'tether_quote', url: 'u', text: 't' },
        { author: { role: 'tool', name: 'web.search' } },
      ),
      by(
        'tool',
        {
          content_type: 'multimodal_text',
          parts: [{ content_type: 'image_asset_pointer', asset_pointer: 'file-service://i' }],
        },
        { author: { role: 'tool', name: 'dalle.text2im' } },
      ),
      by('assistant', text('cut'), {
        metadata: { citations: [{ url: 'u' }], finish_details: { type: 'max_tokens' } },
      }),
    ),
  })
  assert.deepEqual(
    messages.map(({ parts }) => parts),
    [
      [
        { type: 'text', text: 'hello there' },
        { type: 'media', mediaType: 'audio/*', data: { kind: 'file', fileId: 'sediment://a', provider: 'chatgpt' } },
        { type: 'opaque', kind: 'chatgpt-export/hologram', data: { content_type: 'hologram', depth: 3 } },
        { type: 'opaque', kind: 'chatgpt-export/part', data: 7 },
      ],
      [
        {
          type: 'server-tool',
          name: 'web.search',
          input: { q: 'x' },
          output: { content_type: 'tether_quote', url: 'u', text: 't' },
        },
        { type: 'server-tool', name: 'dalle.text2im', output: '' },
        {
          type: 'media',
          mediaType: 'image/*',
          data: { kind: 'file', fileId: 'file-service://i', provider: 'chatgpt' },
        },
        { type: 'text', text: 'cut', citations: [{ url: 'u' }] },
      ],
    ],
  )
  assert.deepEqual(messages[1]?.role === 'assistant' && messages[1].stop, { reason: 'length', raw: 'max_tokens' })
})

test('unreadable input is named by its position', () => {
  assert.throws(() => chatgptExportFormat.read([{ title: 'x' }]), /\$\[0\] should be a conversation/)
  assert.throws(
    () => chatgptExportFormat.read({ mapping: {}, current_node: 'gone' }),
    /\$\.mapping\.gone should be a node/,
  )
  for (const other of [[{ role: 'user' }], [{ chat_messages: [] }], {}, null]) {
    assert.equal(chatgptExportFormat.recognise(other), false)
  }
})
