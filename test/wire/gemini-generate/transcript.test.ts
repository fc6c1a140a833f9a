import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import fc, { runs } from '../../property.ts'
import { pair } from '../../../src/context/pair.ts'
import type { Json } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import { geminiGenerateFormat } from '../../../src/wires/gemini-generate/transcript.ts'
import { loopHistory } from '../../arbitrary.ts'
import { call, reply, result, user } from '../../histories.ts'

const read = (json: Json) => geminiGenerateFormat.read(json)
const write = (messages: Message[]) => geminiGenerateFormat.write(messages)
const recognise = (json: Json) => geminiGenerateFormat.recognise(json)

const contents: Json = [
  { role: 'user', parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
  {
    role: 'model',
    parts: [
      { text: 'Hm.', thought: true },
      { functionCall: { name: 'clock', args: { zone: 'UTC' } }, thoughtSignature: 'AAEC' },
      { functionCall: { name: 'clock', args: { zone: 'CET' } } },
      { functionCall: { name: 'add', args: {} } },
    ],
  },
  {
    role: 'user',
    parts: [
      { functionResponse: { name: 'add', response: { error: 'no numbers' } } },
      { functionResponse: { name: 'clock', response: { output: '12:00' } } },
      { functionResponse: { name: 'clock', response: { hour: 13 } } },
      { text: 'And now?' },
    ],
  },
  { role: 'model', parts: [{ text: 'Noon.' }, { text: '', thoughtSignature: 'AwQF' }] },
]

test('contents become messages: calls without ids are numbered, and responses find them by name and order', () => {
  const { messages } = read(contents)
  assert.deepEqual(
    messages.map(({ role, parts }) => [
      role,
      ...parts.map((part) => ('callId' in part ? `${part.type} ${part.callId}` : part.type)),
    ]),
    [
      ['user', 'text', 'media'],
      ['assistant', 'reasoning', 'tool-call call-0', 'tool-call call-1', 'tool-call call-2'],
      ['tool', 'tool-result call-2', 'tool-result call-0', 'tool-result call-1'],
      ['user', 'text'],
      ['assistant', 'text'],
    ],
  )
  assert.deepEqual(messages[2]?.parts, [
    {
      type: 'tool-result',
      callId: 'call-2',
      name: 'add',
      output: [{ type: 'text', text: 'no numbers' }],
      failed: true,
    },
    { type: 'tool-result', callId: 'call-0', name: 'clock', output: [{ type: 'text', text: '12:00' }] },
    {
      type: 'tool-result',
      callId: 'call-1',
      name: 'clock',
      output: [{ type: 'text', text: '{"hour":13}' }],
      value: { hour: 13 },
    },
  ])
  const asked = messages[1] as Reply
  assert.deepEqual(asked.native, (contents[1] as { parts: Json[] }).parts)
  assert.deepEqual(asked.origin, { protocol: 'gemini-generate', provider: 'google', model: '' })
  assert.deepEqual(asked.stop, { reason: 'tool-calls' })
})

test('what was read is written unchanged', () => {
  assert.deepEqual(write(read(contents).messages), contents)
})

test('repeated ids are distinguished', () => {
  const turn = [
    { role: 'model', parts: [{ functionCall: { id: 'same', name: 'clock', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'same', name: 'clock', response: { output: '1' } } }] },
  ]
  const { messages } = read([{ role: 'user', parts: [{ text: 'hi' }] }, ...turn, ...turn])
  const ids = messages.flatMap(({ parts }) => parts.flatMap((part) => ('callId' in part ? [part.callId] : [])))
  assert.deepEqual(ids, ['same', 'same', 'call-0', 'call-0'])
})

test('a response without its call keeps a separate id', () => {
  const { messages } = read([{ role: 'user', parts: [{ functionResponse: { name: 'clock', response: {} } }] }])
  assert.deepEqual(messages[0]?.parts, [
    { type: 'tool-result', callId: 'call-0', name: 'clock', output: [], value: {} },
  ])
})

test('a request body is read with its system prompt and its tools, in either spelling', () => {
  const body: Json = {
    system_instruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      {
        parts: [
          { inline_data: { mime_type: 'image/png', data: 'AAAA' } },
          { file_data: { file_uri: 'gs://a/b', mime_type: 'audio/wav' } },
        ],
      },
      { role: 'model', parts: [{ function_call: { name: 'f', args: { some_key: 1 } }, thought_signature: 'AAEC' }] },
      { role: 'function', parts: [{ function_response: { name: 'f', response: { output: 'x' } } }] },
    ],
    tools: [
      { google_search: {} },
      {
        function_declarations: [
          {
            name: 'f',
            description: 'Does.',
            parameters: {
              type: 'OBJECT',
              properties: { a: { type: 'STRING', nullable: true, enum: ['A'] } },
              required: ['a'],
            },
          },
          { name: 'g', parametersJsonSchema: { type: 'object', additionalProperties: false } },
          { name: 'h' },
        ],
      },
    ],
  }
  assert.equal(recognise(body), true)
  const transcript = read(body)
  assert.deepEqual(transcript.system, [{ type: 'text', text: 'Be brief.' }])
  assert.deepEqual(transcript.tools, [
    {
      name: 'f',
      description: 'Does.',
      input: { type: 'object', properties: { a: { type: ['string', 'null'], enum: ['A'] } }, required: ['a'] },
    },
    { name: 'g', input: { type: 'object', additionalProperties: false } },
    { name: 'h', input: { type: 'object', properties: {} } },
  ])
  assert.deepEqual(
    transcript.notes.map((note) => note.what),
    ['tool google_search'],
  )
  const [said, asked] = transcript.messages
  assert.deepEqual(said?.parts, [
    { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: 'AAAA' } },
    { type: 'media', mediaType: 'audio/wav', data: { kind: 'file', fileId: 'gs://a/b', provider: 'google' } },
  ])
  assert.deepEqual((asked as Reply).native, [
    { functionCall: { name: 'f', args: { some_key: 1 } }, thoughtSignature: 'AAEC' },
  ])
  assert.deepEqual(write(transcript.messages), (body as { contents: Json }).contents)
})

test('messages that were made elsewhere are written from their parts, thoughts and all', () => {
  const history = [
    user('hi'),
    reply({ type: 'reasoning', text: 'Hm.' }, 'Hello.', call('c1', 'clock')),
    result('c1', '12', 'clock'),
  ]
  const id = 'call_mYNgtxIxXlhy'
  assert.deepEqual(write(history), [
    { role: 'user', parts: [{ text: 'hi' }] },
    {
      role: 'model',
      parts: [{ text: 'Hm.', thought: true }, { text: 'Hello.' }, { functionCall: { id, name: 'clock', args: {} } }],
    },
    { role: 'user', parts: [{ functionResponse: { id, name: 'clock', response: { output: '12' } } }] },
  ])
})

test('a new result has the id of the call that was read', () => {
  const { messages } = read([
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts: [{ functionCall: { id: 'x1', name: 'clock', args: {} } }] },
  ])
  const written = write([...messages, result('x1', '12', 'clock')]) as Json[]
  assert.deepEqual(written[2], {
    role: 'user',
    parts: [{ functionResponse: { id: 'x1', name: 'clock', response: { output: '12' } } }],
  })
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
  'text',
  [{ role: 'user', content: 'hi' }],
  [{ role: 'assistant', parts: [{ type: 'text', text: 'hi' }] }],
  [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  [{ type: 'user_input', content: [] }],
  { messages: [{ role: 'user', content: 'hi' }] },
]

for (const json of foreign) {
  test(`${JSON.stringify(json)} is not mistaken for Gemini contents`, () => assert.equal(recognise(json), false))
}

const unreadable: [Json, RegExp][] = [
  [{ messages: [] }, /\$ should be a list of contents/],
  [[{ role: 'user', parts: [{ text: 'a' }] }, 'b'], /\$\[1\] should be a content/],
  [{ contents: [{ role: 'user', parts: ['a'] }] }, /\$\.contents\[0\]\.parts\[0\] should be an object/],
]

for (const [json, message] of unreadable) {
  test(`${JSON.stringify(json)} is unreadable, and the place is named`, () => assert.throws(() => read(json), message))
}

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'corpus', 'trajectories', 'gemini-cli')
const skip = existsSync(folder) ? false : 'the recorded conversations are not here'
const trajectories = skip
  ? []
  : readdirSync(folder).map((file) => ({ file, json: JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json }))

test('recorded conversations are read and written without a difference', { skip }, (t) => {
  for (const { file, json } of trajectories) {
    assert.equal(recognise(json), true, file)
    const { messages, notes } = read(json)
    assert.deepEqual(write(messages), json, file)
    assert.deepEqual(notes, [], file)
    t.diagnostic(`${file}: ${(json as Json[]).length} contents, ${messages.length} messages`)
  }
})

test('a recorded conversation, cut anywhere, can continue with Google', { skip }, (t) => {
  let bodies = 0
  for (const { file, json } of trajectories) {
    const { messages } = read(json)
    for (let cut = 1; cut <= messages.length; cut++) {
      for (const part of [messages.slice(0, cut), messages.slice(cut - 1)]) {
        for (const model of ['gemini-3.8-flash', 'gemini-2.5-flash']) assertAccepted(part, model, file)
        bodies += 4
      }
    }
  }
  t.diagnostic(`${bodies} bodies`)
})

function assertAccepted(history: Message[], model: string, file: string): void {
  const context = { system: [], messages: pair(history).messages, tools: [], cacheAfter: [] }
  for (const protocol of [geminiGenerate, geminiInteractions]) {
    const target = { provider: 'google', model, options: {}, quirks: {}, capabilities: protocol.capabilities }
    assert.deepEqual(protocol.refuse(protocol.encode(context, target).body, { model }), [], file)
  }
}
