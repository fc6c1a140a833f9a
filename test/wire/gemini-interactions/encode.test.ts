import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../../src/core/json.ts'
import type { Message } from '../../../src/core/message.ts'
import type { Options } from '../../../src/settings/options.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import { call, calls, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { decoded, native, sent, stepsOf, type Asking } from './target.ts'

/** The ids that c1 and c2 have on this wire: hashed, so they never change. */
const id1 = 'call_mYNgtxIxXlhy'
const id2 = 'call_wa4jcIDv5AJ4'
const standIn = { type: 'thought', signature: 'skip_thought_signature_validator' }
const says = (...texts: string[]) => ({
  type: 'user_input',
  content: texts.map((text) => ({ type: 'text', text })),
})
const answers = (...texts: string[]) => ({
  type: 'model_output',
  content: texts.map((text) => ({ type: 'text', text })),
})

test('"What time is it?" with one tool call is four steps and a placeholder signature, and the user message comes last', () => {
  const { path, body } = sent(whatTimeIsIt)
  assert.equal(path, '/interactions')
  assert.deepEqual(body, {
    model: 'gemini-3.5-flash',
    input: [
      says('What time is it?'),
      standIn,
      { type: 'function_call', id: id1, name: 'clock', arguments: { zone: 'UTC' } },
      { type: 'function_result', call_id: id1, name: 'clock', result: '12:00' },
      answers('It is noon.'),
      says('Continue.'),
    ],
    store: false,
    stream: true,
  })
})

interface Row {
  shape: string
  history: Message[]
  steps: Json[]
  notes?: string[]
  asking?: Asking
}

const rows: Row[] = [
  { shape: 'user text', history: [user('hi')], steps: [says('hi')] },
  { shape: 'user text in several parts', history: [user('one', '', ' ')], steps: [says('one', ' ')] },
  {
    shape: 'neighbouring user messages stay apart',
    history: [user('one'), user('two')],
    steps: [says('one'), says('two')],
  },
  {
    shape: 'images, documents and sound',
    history: [
      user(
        onePixel,
        { type: 'media', mediaType: 'application/pdf', data: { kind: 'url', url: 'https://a.example/b.pdf' } },
        {
          type: 'media',
          mediaType: 'audio/mpeg',
          data: { kind: 'file', fileId: 'https://f.example/7', provider: 'google' },
        },
        { type: 'media', mediaType: 'video/mp4', data: { kind: 'url', url: 'data:video/mp4;base64,AAAA' } },
      ),
    ],
    steps: [
      {
        type: 'user_input',
        content: [
          { type: 'image', mime_type: 'image/png', data: onePixelBase64 },
          { type: 'document', mime_type: 'application/pdf', uri: 'https://a.example/b.pdf' },
          { type: 'audio', mime_type: 'audio/mpeg', uri: 'https://f.example/7' },
          { type: 'video', mime_type: 'video/mp4', data: 'AAAA' },
        ],
      },
    ],
  },
  {
    shape: 'media that cannot be sent',
    history: [
      user({ type: 'media', mediaType: 'font/ttf', name: 'a.ttf', data: { kind: 'base64', base64: 'AAAA' } }),
      user({ type: 'media', mediaType: 'image/png', data: { kind: 'file', fileId: 'file-1', provider: 'openai' } }),
    ],
    steps: [says('[font/ttf "a.ttf", not shown]'), says('[image/png, not shown]')],
    notes: ['changed font/ttf to a line of text', 'changed image/png to a line of text'],
  },
  {
    shape: 'a system message inside the history, and a summary',
    history: [
      user('hi'),
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
      user({ type: 'compaction', text: 'They met.' }),
    ],
    steps: [says('hi'), says('[System]\nBe brief.'), says('[Summary of the conversation so far]\nThey met.')],
    notes: ['changed system message to user text'],
  },
  {
    shape: 'content that has no name here, of this wire and of another',
    history: [
      user(
        { type: 'opaque', kind: 'gemini-interactions/content.hologram', data: { type: 'hologram', depth: 3 } },
        { type: 'opaque', kind: 'elsewhere/hologram', data: { depth: 3 } },
      ),
    ],
    steps: [{ type: 'user_input', content: [{ type: 'hologram', depth: 3 }] }],
    notes: ['dropped elsewhere/hologram'],
  },
  {
    shape: 'assistant text around parallel calls, and results in the order of the calls',
    history: [
      user('hi'),
      reply('One.', 'Two.', call('c1', 'clock'), call('c2', 'add', { a: 1 }), 'Wait.'),
      result('c1', '12'),
      failure('c2', 'broken'),
      user('hurry'),
    ],
    steps: [
      says('hi'),
      answers('One.', 'Two.'),
      standIn,
      { type: 'function_call', id: id1, name: 'clock', arguments: {} },
      { type: 'function_call', id: id2, name: 'add', arguments: { a: 1 } },
      answers('Wait.'),
      { type: 'function_result', call_id: id1, name: 'clock', result: '12' },
      { type: 'function_result', call_id: id2, name: 'add', result: 'broken', is_error: true },
      says('hurry'),
    ],
    notes: ['added stand-in thought signature'],
  },
  {
    shape: 'an image in a result, and an empty result',
    history: [user('hi'), reply(calls('c1', 'c2')), picture('c1', 'image/png'), result('c2', '')],
    steps: [
      says('hi'),
      standIn,
      { type: 'function_call', id: id1, name: 'tool', arguments: {} },
      { type: 'function_call', id: id2, name: 'tool', arguments: {} },
      {
        type: 'function_result',
        call_id: id1,
        name: 'tool',
        result: [
          { type: 'text', text: 'Here.' },
          { type: 'image', mime_type: 'image/png', data: 'AAAA' },
        ],
      },
      { type: 'function_result', call_id: id2, name: 'tool', result: '(no output)' },
    ],
    notes: ['added stand-in thought signature'],
  },
  {
    shape: 'a document in a result goes after all results',
    history: [user('hi'), reply(calls('c1', 'c2')), picture('c1', 'application/pdf'), result('c2', '2'), user('hi')],
    steps: [
      says('hi'),
      standIn,
      { type: 'function_call', id: id1, name: 'tool', arguments: {} },
      { type: 'function_call', id: id2, name: 'tool', arguments: {} },
      { type: 'function_result', call_id: id1, name: 'tool', result: 'Here.\n[application/pdf, follows below]' },
      { type: 'function_result', call_id: id2, name: 'tool', result: '2' },
      { type: 'user_input', content: [{ type: 'document', mime_type: 'application/pdf', data: 'AAAA' }] },
      says('hi'),
    ],
    notes: [
      'added stand-in thought signature',
      'changed application/pdf of a tool result to user content after the results',
    ],
  },
  {
    shape: 'arguments that are no JSON object',
    history: [user('hi'), reply({ ...call('c1', 'clock'), malformed: '{"zone": ' }), result('c1', 'x', 'clock')],
    steps: [
      says('hi'),
      standIn,
      { type: 'function_call', id: id1, name: 'clock', arguments: { INVALID_JSON: '{"zone": ' } },
      { type: 'function_result', call_id: id1, name: 'clock', result: 'x' },
    ],
    notes: ['changed the arguments of a call of clock', 'added stand-in thought signature'],
  },
  {
    shape: 'foreign reasoning, refusals and server tools',
    history: [
      user('hi'),
      reply(
        { type: 'reasoning', text: 'Hm.' },
        { type: 'refusal', text: 'No.' },
        { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
      ),
      user('hi'),
    ],
    steps: [
      says('hi'),
      answers('No.', '[Tool Call] web_search {"q":"x"}\n[Tool Result] web_search: ["y"]'),
      says('hi'),
    ],
    notes: ['dropped reasoning', 'changed refusal to text', 'changed call of web_search to text'],
  },
  {
    shape: 'a history that begins with the assistant, and a reply of which nothing can be sent',
    history: [reply('Hello.'), reply({ type: 'reasoning', text: 'Hm.' }), user('hi')],
    steps: [says('[The beginning of this conversation is not shown]'), answers('Hello.'), says('hi')],
    notes: [
      'dropped reasoning',
      'dropped assistant message',
      'added user message "[The beginning of this conversation is not shown]"',
    ],
  },
  { shape: 'nothing at all', history: [], steps: [says('Continue.')], notes: ['added user message "Continue."'] },
]

function picture(callId: string, mediaType: string): Message {
  const media = { type: 'media' as const, mediaType, data: { kind: 'base64' as const, base64: 'AAAA' } }
  return {
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name: 'tool', output: [{ type: 'text', text: 'Here.' }, media] }],
  }
}

for (const { shape, history, steps, notes = [], asking } of rows) {
  test(`${shape}: exact steps, every change noted`, () => {
    const encoded = sent(history, asking)
    assert.deepEqual(stepsOf(encoded), steps)
    assert.deepEqual(
      encoded.notes.map((note) => `${note.kind} ${note.what}`),
      notes,
    )
    assert.deepEqual(geminiInteractions.refuse(encoded.body), [])
  })
}

const thought = { type: 'thought', signature: 'AAEC', summary: [{ type: 'text', text: 'Hm.' }] }
const clock = { type: 'function_call', id: 'x1', name: 'clock', arguments: { zone: 'UTC' } }

test('a reply of the same provider is sent back step by step unchanged, thoughts and unknown steps and all', () => {
  const steps = [thought, { type: 'hologram_projection', depth: 3 }, answers('Look'), clock]
  const encoded = sent([user('hi'), native(...steps), result('x1', '12', 'clock')])
  assert.deepEqual(stepsOf(encoded), [
    says('hi'),
    ...steps,
    { type: 'function_result', call_id: 'x1', name: 'clock', result: '12' },
  ])
  assert.deepEqual(encoded.notes, [])
})

test('thoughts of another provider are not sent, nor is its id', () => {
  const encoded = sent([user('hi'), native(thought, clock), result('x1', '12', 'clock')], { provider: 'elsewhere' })
  const [, unsigned, asked, given] = stepsOf(encoded)
  assert.deepEqual(unsigned, standIn)
  assert.deepEqual(asked, { ...clock, id: asked?.id })
  assert.notEqual(asked?.id, 'x1')
  assert.equal(given?.call_id, asked?.id)
})

test('a native call whose thought was not signed gets a placeholder', () => {
  const encoded = sent([user('hi'), native({ type: 'thought' }, clock), result('x1', '12', 'clock')])
  assert.deepEqual(stepsOf(encoded).slice(1, 4), [{ type: 'thought' }, standIn, clock])
})

test('an interrupted reply with an unfinished call is built from its parts', () => {
  const cut = decoded([
    { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
    { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Let me' } },
    { event_type: 'step.stop', index: 0 },
    { event_type: 'step.start', index: 1, step: { ...clock, arguments: {} } },
    { event_type: 'step.delta', index: 1, delta: { type: 'arguments_delta', arguments: '{"zo' } },
  ]).reply
  const [, text, , asked] = stepsOf(sent([user('hi'), cut, failure('x1', 'not run', 'clock')]))
  assert.deepEqual(text, answers('Let me'))
  assert.deepEqual(asked?.arguments, { INVALID_JSON: '{"zo' })
})

const history = [
  user('one'),
  native(thought, clock),
  result('x1', '12', 'clock'),
  native(answers('Noon.')),
  user('two'),
]
const state = { kind: 'interaction' as const, id: 'v1_b', covers: 4 }
const tools = [{ name: 'clock', input: { type: 'object', properties: {} } }]
const system = [{ type: 'text' as const, text: 'Be brief.' }]

test('in a chain only the new steps are sent, but tools, system and settings all the same', () => {
  const { body } = sent(history, { context: { state, tools, system }, options: { maxOutput: 9 } })
  assert.deepEqual(body, {
    model: 'gemini-3.5-flash',
    previous_interaction_id: 'v1_b',
    system_instruction: 'Be brief.',
    tools: [{ type: 'function', name: 'clock', parameters: { type: 'object', properties: {} } }],
    input: [says('two')],
    generation_config: { max_output_tokens: 9 },
    store: true,
    stream: true,
  })
})

test('in a chain a result has the id that the provider knows its call by', () => {
  const { body } = sent(history.slice(0, 3), { context: { state: { ...state, covers: 2 } } })
  assert.deepEqual(body.input, [{ type: 'function_result', call_id: 'x1', name: 'clock', result: '12' }])
})

test('without storage the chain is not continued, with a note', () => {
  const { body, notes } = sent(history, { context: { state }, options: { store: false } })
  assert.equal(body.previous_interaction_id, undefined)
  assert.equal(body.store, false)
  assert.equal(Array.isArray(body.input) ? body.input.length : 0, 6)
  assert.deepEqual(notes, [{ kind: 'dropped', what: 'the state at the provider', why: 'nothing may be stored there' }])
})

test('state of another kind is not for this wire', () => {
  const { body } = sent(history, { context: { state: { ...state, kind: 'response-chain' } } })
  assert.equal(body.previous_interaction_id, undefined)
})

test('options become the generation config and the response format', () => {
  const options: Options = {
    maxOutput: 100,
    temperature: 0.5,
    topP: 0.9,
    stop: ['END'],
    effort: 'max',
    toolChoice: { tool: 'clock' },
    answerSchema: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } },
    store: true,
    stream: false,
    extra: { generation_config: { seed: 7 }, service_tier: 'flex' },
  }
  const { body, notes } = sent([user('hi')], { options, context: { tools } })
  assert.deepEqual(body, {
    model: 'gemini-3.5-flash',
    tools: [{ type: 'function', name: 'clock', parameters: { type: 'object', properties: {} } }],
    input: [says('hi')],
    generation_config: {
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      thinking_level: 'high',
      thinking_summaries: 'auto',
      tool_choice: { allowed_tools: { mode: 'any', tools: ['clock'] } },
      seed: 7,
    },
    response_format: {
      type: 'text',
      mime_type: 'application/json',
      schema: { type: 'object', properties: { a: { type: 'string', description: '(minLength: 1)' } } },
    },
    store: true,
    service_tier: 'flex',
  })
  assert.deepEqual(
    notes.map((note) => note.what),
    ['effort max to high', 'schema of the answer: minLength in words'],
  )
})

const choices: [Options['toolChoice'], Json | undefined][] = [
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'any'],
  [{ tool: 'unknown' }, undefined],
]

for (const [toolChoice, choice] of choices) {
  test(`tool choice ${JSON.stringify(toolChoice)}`, () => {
    const { body } = sent([user('hi')], { context: { tools }, options: { ...(toolChoice && { toolChoice }) } })
    assert.deepEqual(body.generation_config, choice && { tool_choice: choice })
  })
}

test('an unsupported option is a note', () => {
  const { body, notes } = sent([user('hi')], {
    options: { parallelTools: false, temperature: 1, effort: 'low', toolChoice: 'required' },
    capabilities: { sampling: false, efforts: [] },
  })
  assert.equal(body.generation_config, undefined)
  assert.deepEqual(
    notes.map((note) => note.what),
    ['temperature and top_p', 'one tool call at a time', 'effort low', 'the tool choice'],
  )
})
