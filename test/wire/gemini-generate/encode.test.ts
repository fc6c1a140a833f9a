import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import type { Message, Part } from '../../../src/core/message.ts'
import type { Options } from '../../../src/settings/options.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import { call, calls, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { chunk, contentsOf, decoded, native, sent, type Asking } from './target.ts'

/** The ids that c1 and c2 have on this wire: hashed, so they never change. */
const id1 = 'call_mYNgtxIxXlhy'
const id2 = 'call_wa4jcIDv5AJ4'
const dummy = 'skip_thought_signature_validator'
const continueMessage = { role: 'user', parts: [{ text: 'Continue.' }] }
const hi = { role: 'user', parts: [{ text: 'hi' }] }

test('"What time is it?" with one tool call is four contents, and the user message comes last', () => {
  const { path, body } = sent(whatTimeIsIt)
  assert.equal(path, '/models/gemini-3.5-flash:streamGenerateContent?alt=sse')
  assert.deepEqual(body, {
    contents: [
      { role: 'user', parts: [{ text: 'What time is it?' }] },
      {
        role: 'model',
        parts: [{ functionCall: { id: id1, name: 'clock', args: { zone: 'UTC' } }, thoughtSignature: dummy }],
      },
      { role: 'user', parts: [{ functionResponse: { id: id1, name: 'clock', response: { output: '12:00' } } }] },
      { role: 'model', parts: [{ text: 'It is noon.' }] },
      continueMessage,
    ],
  })
})

interface Row {
  shape: string
  history: Message[]
  contents: Json[]
  /** What must be noted, in order: kind and what. */
  notes?: string[]
  asking?: Asking
}

const media = (mediaType: string, data: Extract<Part, { type: 'media' }>['data'], name?: string) => ({
  type: 'media' as const,
  mediaType,
  ...(name && { name }),
  data,
})

const rows: Row[] = [
  { shape: 'user text', history: [user('hi')], contents: [hi] },
  {
    shape: 'user text in several parts, blanks kept, nothing for empty ones',
    history: [user('one', '', ' ')],
    contents: [{ role: 'user', parts: [{ text: 'one' }, { text: ' ' }] }],
  },
  {
    shape: 'an image given as data',
    history: [user('Look', onePixel)],
    contents: [
      { role: 'user', parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: onePixelBase64 } }] },
    ],
  },
  {
    shape: 'an image given as a data URL',
    history: [user(media('image/png', { kind: 'url', url: 'data:image/png;base64,AAAA' }))],
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }],
  },
  {
    shape: 'a document given as a URL',
    history: [user(media('application/pdf', { kind: 'url', url: 'https://a.example/b.pdf' }))],
    contents: [
      { role: 'user', parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/b.pdf' } }] },
    ],
  },
  {
    shape: 'a file that this provider keeps',
    history: [user(media('audio/mpeg', { kind: 'file', fileId: 'https://files.example/7', provider: 'google' }))],
    contents: [{ role: 'user', parts: [{ fileData: { mimeType: 'audio/mpeg', fileUri: 'https://files.example/7' } }] }],
  },
  {
    shape: 'a file that another provider keeps',
    history: [user(media('image/png', { kind: 'file', fileId: 'file-1', provider: 'openai' }, 'a.png'))],
    contents: [{ role: 'user', parts: [{ text: '[image/png "a.png", not shown]' }] }],
    notes: ['changed image/png to a line of text'],
  },
  {
    shape: 'media that no model takes',
    history: [user(media('image/tiff', { kind: 'base64', base64: 'AAAA' }))],
    contents: [{ role: 'user', parts: [{ text: '[image/tiff, not shown]' }] }],
    notes: ['changed image/tiff to a line of text'],
  },
  {
    shape: 'a system message inside the history',
    history: [user('hi'), { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }],
    contents: [{ role: 'user', parts: [{ text: 'hi' }, { text: '[System]\nBe brief.' }] }],
    notes: ['changed system message to user text'],
  },
  {
    shape: 'a summary in place of older messages',
    history: [user({ type: 'compaction', text: 'They met.' }), user('Continue')],
    contents: [
      { role: 'user', parts: [{ text: '[Summary of the conversation so far]\nThey met.' }, { text: 'Continue' }] },
    ],
  },
  {
    shape: 'a part of this wire that has no name here',
    history: [user({ type: 'opaque', kind: 'gemini-generate/hologram', data: { hologram: { depth: 3 } } })],
    contents: [{ role: 'user', parts: [{ hologram: { depth: 3 } }] }],
  },
  {
    shape: 'a part of another wire that has no name here',
    history: [user('hi', { type: 'opaque', kind: 'elsewhere/hologram', data: { depth: 3 } })],
    contents: [hi],
    notes: ['dropped elsewhere/hologram'],
  },
  {
    shape: 'assistant text',
    history: [user('hi'), reply('Hello.'), user('hi')],
    contents: [hi, { role: 'model', parts: [{ text: 'Hello.' }] }, hi],
  },
  {
    shape: 'text before parallel calls, and results in the order of the calls',
    history: [
      user('hi'),
      reply('Both.', call('c1', 'clock'), call('c2', 'add', { a: 1 })),
      result('c1', '12'),
      result('c2', '2'),
    ],
    contents: [
      hi,
      {
        role: 'model',
        parts: [
          { text: 'Both.' },
          { functionCall: { id: id1, name: 'clock', args: {} }, thoughtSignature: dummy },
          { functionCall: { id: id2, name: 'add', args: { a: 1 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: id1, name: 'clock', response: { output: '12' } } },
          { functionResponse: { id: id2, name: 'add', response: { output: '2' } } },
        ],
      },
    ],
    notes: ['added stand-in thought signature'],
  },
  {
    shape: 'a failed result, and an empty one',
    history: [user('hi'), reply(calls('c1', 'c2')), failure('c1', 'no such file'), result('c2', '')],
    contents: [
      hi,
      {
        role: 'model',
        parts: [
          { functionCall: { id: id1, name: 'tool', args: {} }, thoughtSignature: dummy },
          { functionCall: { id: id2, name: 'tool', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: id1, name: 'tool', response: { error: 'no such file' } } },
          { functionResponse: { id: id2, name: 'tool', response: { output: '(no output)' } } },
        ],
      },
    ],
    notes: ['added stand-in thought signature'],
  },
  {
    shape: 'user text right after results, in the same content',
    history: [user('hi'), reply(calls('c1')), result('c1', '12'), user('hurry')],
    contents: [
      hi,
      { role: 'model', parts: [{ functionCall: { id: id1, name: 'tool', args: {} }, thoughtSignature: dummy }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: id1, name: 'tool', response: { output: '12' } } }, { text: 'hurry' }],
      },
    ],
    notes: ['added stand-in thought signature'],
  },
  {
    shape: 'an image in a result where a response cannot hold it',
    history: [user('hi'), reply(calls('c1')), picture('c1')],
    contents: [
      hi,
      { role: 'model', parts: [{ functionCall: { id: id1, name: 'tool', args: {} }, thoughtSignature: dummy }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: id1, name: 'tool', response: { output: 'Here.\n[image/png, follows below]' } } },
          { inlineData: { mimeType: 'image/png', data: onePixelBase64 } },
        ],
      },
    ],
    notes: ['added stand-in thought signature', 'changed image/png of a tool result to user content after the results'],
  },
  {
    shape: 'an image in a result where a response can hold it',
    history: [user('hi'), reply(calls('c1')), picture('c1')],
    asking: { capabilities: { resultMedia: ['image/*'] } },
    contents: [
      hi,
      { role: 'model', parts: [{ functionCall: { id: id1, name: 'tool', args: {} }, thoughtSignature: dummy }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: id1,
              name: 'tool',
              response: { output: 'Here.' },
              parts: [{ inlineData: { mimeType: 'image/png', data: onePixelBase64 } }],
            },
          },
        ],
      },
    ],
    notes: ['added stand-in thought signature'],
  },
  {
    shape: 'arguments that are no JSON object',
    history: [user('hi'), reply({ ...call('c1', 'clock'), malformed: '{"zone": ' }), result('c1', 'x', 'clock')],
    contents: [
      hi,
      {
        role: 'model',
        parts: [
          { functionCall: { id: id1, name: 'clock', args: { INVALID_JSON: '{"zone": ' } }, thoughtSignature: dummy },
        ],
      },
      { role: 'user', parts: [{ functionResponse: { id: id1, name: 'clock', response: { output: 'x' } } }] },
    ],
    notes: ['changed the arguments of a call of clock', 'added stand-in thought signature'],
  },
  {
    shape: 'no signature is needed',
    history: [user('hi'), reply(calls('c1')), result('c1', '12')],
    asking: { model: 'gemini-2.5-flash', capabilities: { signedCalls: false } },
    contents: [
      hi,
      { role: 'model', parts: [{ functionCall: { id: id1, name: 'tool', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: id1, name: 'tool', response: { output: '12' } } }] },
    ],
  },
  {
    shape: 'foreign reasoning, refusals and server tools',
    history: [
      user('hi'),
      reply(
        { type: 'reasoning', text: 'Hm.' },
        { type: 'refusal', text: 'No.' },
        { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
        { type: 'server-tool', name: 'web_search', input: { q: 'z' } },
      ),
      user('hi'),
    ],
    contents: [
      hi,
      {
        role: 'model',
        parts: [
          { text: 'No.' },
          { text: '[Tool Call] web_search {"q":"x"}\n[Tool Result] web_search: ["y"]' },
          { text: '[Tool Call] web_search {"q":"z"}' },
        ],
      },
      hi,
    ],
    notes: [
      'dropped reasoning',
      'changed refusal to text',
      'changed call of web_search to text',
      'changed call of web_search to text',
    ],
  },
  {
    shape: 'a reply of which nothing can be sent: what is around it is not joined',
    history: [user('hi'), reply({ type: 'reasoning', text: 'Hm.' }), user('hi')],
    contents: [hi, hi],
    notes: ['dropped reasoning', 'dropped assistant message'],
  },
  {
    shape: 'a history that begins with the assistant',
    history: [reply('Hello.'), user('hi')],
    contents: [
      { role: 'user', parts: [{ text: '[The beginning of this conversation is not shown]' }] },
      { role: 'model', parts: [{ text: 'Hello.' }] },
      hi,
    ],
    notes: ['added user message "[The beginning of this conversation is not shown]"'],
  },
  {
    shape: 'a reply after a reply',
    history: [user('hi'), reply('One.'), reply('Two.'), user('hi')],
    contents: [
      hi,
      { role: 'model', parts: [{ text: 'One.' }] },
      continueMessage,
      { role: 'model', parts: [{ text: 'Two.' }] },
      hi,
    ],
    notes: ['added user message "Continue."'],
  },
  {
    shape: 'a reply after a reply, with nothing said between them',
    history: [user('hi'), reply('One.'), user(''), reply('Two.'), user('hi')],
    contents: [
      hi,
      { role: 'model', parts: [{ text: 'One.' }] },
      continueMessage,
      { role: 'model', parts: [{ text: 'Two.' }] },
      hi,
    ],
    notes: ['dropped user message', 'added user message "Continue."'],
  },
  {
    shape: 'nothing at all',
    history: [],
    contents: [continueMessage],
    notes: ['added user message "Continue."'],
  },
  {
    shape: 'unsendable characters',
    history: [user('a\uD800b'), reply(call('c1', 'clock', { 'k\0': ['\uDC00'] })), result('c1', '\0', 'clock')],
    contents: [
      { role: 'user', parts: [{ text: 'a\uFFFDb' }] },
      {
        role: 'model',
        parts: [{ functionCall: { id: id1, name: 'clock', args: { 'k\uFFFD': ['\uFFFD'] } }, thoughtSignature: dummy }],
      },
      { role: 'user', parts: [{ functionResponse: { id: id1, name: 'clock', response: { output: '\uFFFD' } } }] },
    ],
    notes: [
      'changed unsendable characters to U+FFFD',
      'changed unsendable characters to U+FFFD',
      'added stand-in thought signature',
      'changed unsendable characters to U+FFFD',
    ],
  },
]

function picture(callId: string): Message {
  const output = [{ type: 'text' as const, text: 'Here.' }, onePixel]
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name: 'tool', output }] }
}

for (const { shape, history, contents, notes = [], asking } of rows) {
  test(`${shape}: exact contents, every change noted`, () => {
    const encoded = sent(history, asking)
    assert.deepEqual(contentsOf(encoded), contents)
    assert.deepEqual(
      encoded.notes.map((note) => `${note.kind} ${note.what}`),
      notes,
    )
    assert.deepEqual(
      geminiGenerate.refuse(encoded.body, { model: asking?.model ?? 'gemini-3.8-flash' }),
      unknownParts(shape),
    )
  })
}

/** A part that the API does not know is refused by it; that it is sent at all is the sender's own wish. */
function unknownParts(shape: string): unknown[] {
  if (shape !== 'a part of this wire that has no name here') return []
  const at = 'contents[0].parts[0]'
  return [
    {
      rule: 'shape',
      status: 400,
      type: 'INVALID_ARGUMENT',
      message: `Invalid JSON payload received. Unknown name "hologram" at '${at}': Cannot find field.`,
    },
    {
      rule: 'G-9',
      status: 400,
      type: 'INVALID_ARGUMENT',
      message: `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field\n`,
    },
  ]
}

const signedParts: Json[] = [
  { text: 'I think.', thought: true },
  { text: 'Look', thoughtSignature: 'AAEC' },
  { text: '', thoughtSignature: 'AwQF' },
  { functionCall: { id: 'x1', name: 'clock', args: { zone: 'UTC' } }, thoughtSignature: 'BgcI' },
  { functionCall: { id: 'x2', name: 'clock', args: {} } },
]

test('a reply of the same provider is sent back unchanged, empty signed text and all', () => {
  const history = [user('hi'), native(signedParts), result('x1', '12', 'clock'), result('x2', '13', 'clock')]
  const encoded = sent(history)
  assert.deepEqual(contentsOf(encoded)[1], { role: 'model', parts: signedParts })
  assert.deepEqual(contentsOf(encoded)[2], {
    role: 'user',
    parts: [
      { functionResponse: { id: 'x1', name: 'clock', response: { output: '12' } } },
      { functionResponse: { id: 'x2', name: 'clock', response: { output: '13' } } },
    ],
  })
  assert.deepEqual(encoded.notes, [])
})

test('the same reply is rebuilt for another provider of the same wire, with a placeholder signature', () => {
  const history = [user('hi'), native(signedParts), result('x1', '12', 'clock'), result('x2', '13', 'clock')]
  const [, model, results] = contentsOf(sent(history, { provider: 'vertex' }))
  const [first, second] = ((results?.parts ?? []) as { functionResponse: { id: string } }[]).map(
    (part) => part.functionResponse.id,
  )
  assert.deepEqual(model, {
    role: 'model',
    parts: [
      { text: 'Look' },
      { functionCall: { id: first, name: 'clock', args: { zone: 'UTC' } }, thoughtSignature: dummy },
      { functionCall: { id: second, name: 'clock', args: {} } },
    ],
  })
  assert.notEqual(first, 'x1')
})

test('calls without ids are sent back without, and so are their results', () => {
  const parts = [{ functionCall: { name: 'clock', args: {} }, thoughtSignature: 'AAEC' }]
  const asked = native(parts)
  const [, model, results] = contentsOf(sent([user('hi'), asked, result('call-0', '12', 'clock')]))
  assert.deepEqual(model, { role: 'model', parts })
  assert.deepEqual(results, {
    role: 'user',
    parts: [{ functionResponse: { name: 'clock', response: { output: '12' } } }],
  })
})

test('a step that an older model left unsigned gets a placeholder if the next model requires one', () => {
  const parts = [{ functionCall: { id: 'x1', name: 'clock', args: {} } }]
  const history = [user('hi'), native(parts, 'gemini-2.5-flash'), result('x1', '12', 'clock')]
  assert.deepEqual(contentsOf(sent(history))[1], { role: 'model', parts: [{ ...parts[0], thoughtSignature: dummy }] })
  assert.deepEqual(contentsOf(sent(history, { capabilities: { signedCalls: false } }))[1], { role: 'model', parts })
})

test('an id that two replies share is changed in the second, on call and result alike', () => {
  const first = native([{ functionCall: { id: 'same', name: 'clock', args: {} }, thoughtSignature: 'AAEC' }])
  const again = decoded(
    [
      chunk([{ functionCall: { id: 'same', name: 'clock', args: {} }, thoughtSignature: 'AwQF' }], {
        finishReason: 'STOP',
      }),
    ],
    { callId: () => 'other' },
  ).reply
  const encoded = sent([user('hi'), first, result('same', '1', 'clock'), again, result('other', '2', 'clock')])
  const [, , , model, results] = contentsOf(encoded) as { parts: { [key: string]: { id: string } }[] }[]
  const id = model?.parts[0]?.functionCall?.id
  assert.notEqual(id, 'same')
  assert.equal(results?.parts[0]?.functionResponse?.id, id)
  assert.deepEqual(
    encoded.notes.map((note) => `${note.kind} ${note.what} at ${note.at}`),
    ['changed the id of a call of clock at messages[3]'],
  )
})

test('an interrupted reply with an unfinished call is built from its parts', () => {
  const cut = decoded([
    chunk([{ text: 'Let me see' }]),
    chunk([{ functionCall: { name: 'clock', willContinue: true }, thoughtSignature: 'AAEC' }]),
    chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.zone', stringValue: 'U' }], willContinue: true } }]),
  ]).reply
  const callId = cut.parts.find((part) => part.type === 'tool-call')?.callId ?? ''
  const [, model] = contentsOf(sent([user('hi'), cut, failure(callId, 'not run', 'clock')]))
  assert.deepEqual(model, {
    role: 'model',
    parts: [
      { text: 'Let me see' },
      {
        functionCall: { id: 'call_kyM0XfKW95aO', name: 'clock', args: { INVALID_JSON: '{"zone":"U"}' } },
        thoughtSignature: dummy,
      },
    ],
  })
})

test('the system prompt is an instruction, and empty texts of it are left out', () => {
  const system = ['Be brief.', ''].map((text) => ({ type: 'text' as const, text }))
  assert.deepEqual(sent([user('hi')], { context: { system } }).body.systemInstruction, {
    parts: [{ text: 'Be brief.' }],
  })
})

const tools = [
  {
    name: 'fs.read file',
    description: 'Reads.',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { path: { type: 'string', minLength: 1 }, mode: { const: 'r' }, at: { $ref: '#/definitions/place' } },
      required: [],
      definitions: { place: { type: 'integer', exclusiveMinimum: 0 } },
    },
  },
]

test('tools are declared as JSON Schema with the keywords of Gemini, under a valid name', () => {
  const { body, toolNames, notes } = sent([user('hi')], { context: { tools } })
  assert.deepEqual(body.tools, [
    {
      functionDeclarations: [
        {
          name: 'fs_read_file',
          description: 'Reads.',
          parametersJsonSchema: {
            type: 'object',
            properties: {
              path: { type: 'string', description: '(minLength: 1)' },
              mode: { enum: ['r'] },
              at: { $ref: '#/$defs/place' },
            },
            $defs: { place: { type: 'integer', description: '(exclusiveMinimum: 0)' } },
          },
        },
      ],
    },
  ])
  assert.deepEqual(toolNames, { fs_read_file: 'fs.read file' })
  assert.deepEqual(notes.at(-1), {
    kind: 'changed',
    what: 'schema of tool "fs.read file": $schema left out, const to enum, definitions to $defs, exclusiveMinimum in words, minLength in words, required: [] left out',
    why: 'Gemini supports only a part of JSON Schema',
    at: 'tools[0]',
    rule: 'G-12',
  })
})

const choices: [Options['toolChoice'], Json | undefined][] = [
  ['auto', { mode: 'AUTO' }],
  ['none', { mode: 'NONE' }],
  ['required', { mode: 'ANY' }],
  [{ tool: 'fs.read file' }, { mode: 'ANY', allowedFunctionNames: ['fs_read_file'] }],
  [{ tool: 'unknown' }, undefined],
]

for (const [toolChoice, config] of choices) {
  test(`tool choice ${JSON.stringify(toolChoice)}`, () => {
    const { body } = sent([user('hi')], { context: { tools }, options: { ...(toolChoice && { toolChoice }) } })
    assert.deepEqual(body.toolConfig, config && { functionCallingConfig: config })
  })
}

test('a choice among no tools is left out with a note', () => {
  const { body, notes } = sent([user('hi')], { options: { toolChoice: 'required' } })
  assert.equal(body.toolConfig, undefined)
  assert.deepEqual(notes, [{ kind: 'dropped', what: 'the tool choice', why: 'no tools are declared' }])
})

test('options become the generation config', () => {
  const options: Options = {
    maxOutput: 100,
    temperature: 0.5,
    topP: 0.9,
    stop: ['END'],
    answerSchema: { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } },
    extra: { generationConfig: { seed: 7 }, safetySettings: [] },
  }
  const { body } = sent([user('hi')], { options })
  assert.deepEqual(body.generationConfig, {
    maxOutputTokens: 100,
    temperature: 0.5,
    topP: 0.9,
    stopSequences: ['END'],
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', properties: { a: { type: 'string', description: '(pattern: "x")' } } },
    seed: 7,
  })
  assert.deepEqual(body.safetySettings, [])
})

const efforts: [string, Options['effort'], Json | undefined, Asking['capabilities']?][] = [
  ['gemini-3.5-flash', 'low', { includeThoughts: true, thinkingLevel: 'low' }],
  ['gemini-3.5-flash', 'max', { includeThoughts: true, thinkingLevel: 'high' }],
  ['gemini-3.5-flash', 'none', { thinkingLevel: 'minimal' }],
  [
    'gemini-3.8-flash',
    'minimal',
    { includeThoughts: true, thinkingLevel: 'low' },
    { efforts: ['low', 'medium', 'high'] },
  ],
  ['gemini-flash-latest', 'medium', { includeThoughts: true, thinkingLevel: 'medium' }],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, { efforts: ['none', 'low', 'medium', 'high'] }],
  ['gemini-2.5-flash', 'medium', { includeThoughts: true, thinkingBudget: 8192 }],
  ['gemini-2.0-flash', 'medium', undefined, { efforts: [] }],
]

for (const [model, effort, config, capabilities = {}] of efforts) {
  test(`effort ${effort} on ${model}`, () => {
    const { body } = sent([user('hi')], { model, capabilities, options: { ...(effort && { effort }) } })
    assert.deepEqual(body.generationConfig, config && { thinkingConfig: config })
    assert.deepEqual(geminiGenerate.refuse(body, { model }), [])
  })
}

test('without a stream the method is generateContent, and no key is in the URL', () => {
  assert.equal(sent([user('hi')], { options: { stream: false } }).path, '/models/gemini-3.5-flash:generateContent')
  assert.equal(
    sent([user('hi')], { model: 'tunedModels/mine' }).path,
    '/tunedModels/mine:streamGenerateContent?alt=sse',
  )
})

test('what this wire does not support is a note', () => {
  const { body, notes } = sent([user('hi')], {
    options: { parallelTools: false, store: true, temperature: 1 },
    capabilities: { sampling: false },
  })
  assert.deepEqual(body, { contents: [hi] })
  assert.deepEqual(
    notes.map((note) => note.what),
    ['temperature and topP', 'one tool call at a time', 'the request to store the reply'],
  )
})
