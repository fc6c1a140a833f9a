import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { runs } from '../property.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { mistralChatFormat } from '../../src/wires/mistral-chat/transcript.ts'
import { synapseFormat } from '../../src/transcripts/synapse.ts'
import { anyHistory } from '../arbitrary.ts'
import { whatTimeIsIt } from '../histories.ts'

test('an export is a manifest and one line per message, and reads back as the same messages', () => {
  const lines = synapseFormat.write(whatTimeIsIt) as Json[]
  assert.deepEqual(lines[0], { synapse: 1 })
  assert.equal(lines.length, 5)
  assert.deepEqual(synapseFormat.read(lines), { messages: whatTimeIsIt, notes: [] })
})

test('any history: written, read and written again is the same', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const lines = synapseFormat.write(history)
      const { messages } = synapseFormat.read(lines)
      assert.deepEqual(messages, history)
      assert.equal(JSON.stringify(synapseFormat.write(messages)), JSON.stringify(lines))
    }),
    { numRuns: runs(100) },
  )
})

test('an imported transcript can still be written in its original format', () => {
  const foreign = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: 'y', prefix: false },
  ]
  const { messages } = synapseFormat.read(synapseFormat.write(mistralChatFormat.read(foreign).messages))
  assert.deepEqual(mistralChatFormat.write(messages), foreign)
})

test('system and tools of the manifest are read', () => {
  const { system, tools, messages } = synapseFormat.read({
    synapse: 1,
    system: [{ type: 'text', text: 'be kind' }],
    tools: [{ name: 'a', description: 'b', input: {} }],
  })
  assert.deepEqual(
    [system, tools, messages],
    [[{ type: 'text', text: 'be kind' }], [{ name: 'a', description: 'b', input: {} }], []],
  )
})

test('it is recognised by its manifest alone', () => {
  assert.equal(synapseFormat.recognise([{ synapse: 1 }]), true)
  assert.equal(synapseFormat.recognise({ synapse: 2 }), true)
  for (const other of [[{ role: 'user' }], [], {}, null, 'x']) assert.equal(synapseFormat.recognise(other), false)
})

const reply: JsonObject = {
  role: 'assistant',
  parts: [],
  native: [],
  origin: { protocol: 'a', provider: 'b', model: 'c' },
  stop: { reason: 'done' },
}
const unreadable: [string, Json[], RegExp][] = [
  ['another version', [{ synapse: 2 }], /\$\[0\]\.synapse should be 1/],
  ['no manifest', [{ role: 'user', parts: [] }], /\$\[0\] should be the manifest/],
  ['a line that is no message', [{ synapse: 1 }, 'x'], /\$\[1\] should be a message/],
  ['an unknown role', [{ synapse: 1 }, { role: 'robot', parts: [] }], /\$\[1\]\.role should be/],
  ['no parts', [{ synapse: 1 }, { role: 'user' }], /\$\[1\]\.parts should be a list/],
  ['a part without a type', [{ synapse: 1 }, { role: 'user', parts: [{}] }], /\$\[1\]\.parts\[0\] should be a part/],
  ['text without text', [{ synapse: 1 }, { role: 'user', parts: [{ type: 'text' }] }], /\.text should be a string/],
  [
    'a result of the user',
    [{ synapse: 1 }, { role: 'user', parts: [{ type: 'tool-result', callId: 'a', name: 'b', output: [] }] }],
    /a part that this role can have/,
  ],
  [
    'a tool that talks',
    [{ synapse: 1 }, { role: 'tool', parts: [{ type: 'text', text: 'x' }] }],
    /should be a tool result/,
  ],
  [
    'a call without input',
    [{ synapse: 1 }, { ...reply, parts: [{ type: 'tool-call', callId: 'a', name: 'b' }] }],
    /\.input should be a value/,
  ],
  ['media without a type', said({ type: 'media' }), /parts\[0\]\.mediaType should be a string/],
  ['media without data', said({ type: 'media', mediaType: 'image/png' }), /\.data should be one of base64, blob/],
  [
    'media at no address',
    said({ type: 'media', mediaType: 'image/png', data: { kind: 'url' } }),
    /\.data\.url should be a string/,
  ],
  ['a thing of no kind', said({ type: 'opaque', data: {} }), /\.kind should be a string/],
  ['a summary that is no text', said({ type: 'compaction', text: 5 }), /\.text should be a string/],
  ['output that is no part', [{ synapse: 1 }, result(['x'])], /\.output\[0\] should be text or media/],
  ['output without text', [{ synapse: 1 }, result([{ type: 'text' }])], /\.output\[0\]\.text should be a string/],
  [
    'arguments that are malformed in another way',
    [
      { synapse: 1 },
      { ...reply, parts: [{ type: 'tool-call', callId: 'a', name: 'b', input: {}, malformed: { a: 1 } }] },
    ],
    /\.malformed should be a string/,
  ],
  ['a reply without native', [{ synapse: 1 }, { ...reply, native: null }], /\$\[1\]\.native should be a list/],
  ['a reply from nowhere', [{ synapse: 1 }, { ...reply, origin: {} }], /\$\[1\]\.origin should be/],
  ['a reply without a stop', [{ synapse: 1 }, { ...reply, stop: null }], /\$\[1\]\.stop should be/],
  ['a system prompt of another kind', [{ synapse: 1, system: ['x'] }], /\$\[0\]\.system\[0\] should be a text part/],
  ['a tool without a schema', [{ synapse: 1, tools: [{ name: 'a' }] }], /\$\[0\]\.tools\[0\] should be a tool/],
]
for (const [name, lines, where] of unreadable) {
  test(`${name} is named by its place`, () => assert.throws(() => synapseFormat.read(lines), where))
}

function said(part: Json): Json[] {
  return [{ synapse: 1 }, { role: 'user', parts: [part] }]
}

function result(output: Json): Json {
  return { role: 'tool', parts: [{ type: 'tool-result', callId: 'a', name: 'b', output }] }
}
