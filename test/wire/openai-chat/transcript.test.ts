import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'node:test'
import { pair } from '../../../src/context/pair.ts'
import { SynapseError } from '../../../src/core/error.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import type { Message, Part } from '../../../src/core/message.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'
import { freeFormInput } from '../../../src/core/tool-kinds.ts'
import { openaiChatFormat } from '../../../src/wires/openai-chat/transcript.ts'
import { failure, onePixel, reply, result, user, whatTimeIsIt } from '../../histories.ts'

const clockCall = { id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{ "zone": "UTC" }' } }

const conversation: JsonObject[] = [
  { role: 'developer', content: 'Be kind.' },
  { role: 'user', content: [{ type: 'text', text: 'What time is it?', cache_control: { type: 'ephemeral' } }] },
  { role: 'assistant', content: null, refusal: null, tool_calls: [clockCall], annotations: [] },
  { role: 'tool', tool_call_id: 'call_1', name: 'clock', content: '12:00' },
  { role: 'assistant', content: 'Noon.', reasoning_content: 'It is 12.' },
]

function read(json: Json): Message[] {
  return openaiChatFormat.read(json).messages
}

/** Messages less what they were made of. */
function bare(messages: readonly Message[]): Message[] {
  return messages.map(({ source: _source, ...message }) => message as Message)
}

test('messages are read, with replies in the native form of their host', () => {
  const origin = { protocol: 'openai-chat', provider: 'openai', model: '' }
  assert.deepEqual(bare(read(conversation)), [
    { role: 'system', parts: [{ type: 'text', text: 'Be kind.' }] },
    { role: 'user', parts: [{ type: 'text', text: 'What time is it?' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', callId: 'call_1', alias: 'call_1', name: 'clock', input: { zone: 'UTC' }, from: 0 }],
      native: [{ role: 'assistant', content: null, annotations: [], tool_calls: [clockCall] }],
      origin,
      stop: { reason: 'tool-calls', raw: 'stop' },
    },
    {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'call_1', name: 'clock', output: [{ type: 'text', text: '12:00' }] }],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'It is 12.', from: 0 },
        { type: 'text', text: 'Noon.', from: 0 },
      ],
      native: [{ role: 'assistant', content: 'Noon.', reasoning_content: 'It is 12.' }],
      origin,
      stop: { reason: 'done', raw: 'stop' },
    },
  ])
})

test('the same format out again is the same JSON', () => {
  assert.deepEqual(openaiChatFormat.write(read(conversation)), conversation)
})

const grammar = { syntax: 'regex', definition: '.+' }

test('a request body provides its tools and its model as well', () => {
  const { messages, tools, notes } = openaiChatFormat.read({
    model: 'gpt-4o',
    messages: conversation,
    tools: [
      { type: 'function', function: { name: 'clock', description: 'Tells.', parameters: { type: 'object' } } },
      { type: 'custom', custom: { name: 'sh' } },
      { type: 'custom', name: 'edit', description: 'Edits.', format: { type: 'grammar', ...grammar } },
      { type: 'custom', custom: { name: 'sql', format: { type: 'grammar', grammar } } },
      { type: 'hologram' },
      { type: 'custom', name: 'add', input_schema: { type: 'object' } },
    ],
  })
  const freeForm = { input: freeFormInput, kind: 'free-form' }
  assert.deepEqual(tools, [
    { name: 'clock', description: 'Tells.', input: { type: 'object' } },
    { name: 'sh', ...freeForm },
    { name: 'edit', description: 'Edits.', ...freeForm, grammar },
    { name: 'sql', ...freeForm, grammar },
  ])
  assert.deepEqual(
    notes.map(({ what, at }) => [what, at]),
    [
      ['a tool', '$.tools[4]'],
      ['a tool', '$.tools[5]'],
    ],
  )
  assert.equal(messages[2]?.role === 'assistant' && messages[2].origin.model, 'gpt-4o')
})

test('a call of a free-form tool that a host made as a function is written in its own form', () => {
  const made = { type: 'tool-call', callId: 'c', name: 'sh', input: { input: 'ls' }, from: 0 } as const
  const written = (kind: { kind?: 'free-form' }) =>
    openaiChatFormat.write([
      {
        role: 'assistant',
        parts: [{ ...made, ...kind }],
        native: [{ role: 'assistant', tool_calls: [{ id: 'n', type: 'function', function: { name: 'sh' } }] }],
        origin: { protocol: 'openai-chat', provider: 'deepseek', model: 'm' },
        stop: { reason: 'tool-calls' },
      },
    ])
  const custom = { id: 'c', type: 'custom', custom: { name: 'sh', input: 'ls' } }
  assert.deepEqual(written({ kind: 'free-form' }), [{ role: 'assistant', content: null, tool_calls: [custom] }])
  assert.equal(JSON.stringify(written({})).includes('"type":"function"'), true)
})

const wrappers: [string, Json, string][] = [
  ['a bare list', conversation, 'openai'],
  ['tau-bench', { traj: conversation }, 'openai'],
  ['SWE-agent', { history: conversation }, 'openai'],
  ['a body for a named provider', { messages: conversation, provider: 'groq', model: 'm' }, 'groq'],
  [
    'mini-SWE-agent',
    { messages: conversation, info: { config: { model: { model_name: 'deepseek/deepseek-chat' } } } },
    'deepseek',
  ],
]

for (const [what, json, provider] of wrappers) {
  test(`${what} is recognised and read, and its replies are of ${provider}`, () => {
    assert.equal(openaiChatFormat.recognise(json), true)
    const messages = read(json)
    assert.equal(messages.length, conversation.length)
    assert.equal(messages[4]?.role === 'assistant' && messages[4].origin.provider, provider)
  })
}

const others: [string, Json][] = [
  ['nothing', []],
  ['a list of numbers', [1, 2]],
  ['Anthropic messages', [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'y' }] }]],
  ['an Anthropic body', { system: 'Be kind.', messages: [{ role: 'user', content: 'hi' }] }],
  ['Anthropic tools', { messages: [{ role: 'user', content: 'hi' }], tools: [{ name: 'a', input_schema: {} }] }],
  ['Gemini contents', [{ role: 'user', parts: [{ text: 'hi' }] }]],
  ['Responses items', [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]],
  ['something else with messages', { messages: 'none' }],
]

for (const [what, json] of others) {
  test(`${what} is not mistaken for this format`, () => {
    assert.equal(openaiChatFormat.recognise(json), false)
  })
}

test('ids that come again get another name, and their results find them', () => {
  const turn = (text: string): JsonObject[] => [
    { role: 'assistant', content: null, tool_calls: [{ ...clockCall, id: 'call_0' }] },
    { role: 'tool', tool_call_id: 'call_0', content: text },
  ]
  const messages = read([{ role: 'user', content: 'go' }, ...turn('1'), ...turn('2'), ...turn('3')])
  const ids = messages.flatMap((message) =>
    message.parts.flatMap((part) => ('callId' in part ? [[part.type, part.callId]] : [])),
  )
  assert.deepEqual(ids, [
    ['tool-call', 'call_0'],
    ['tool-result', 'call_0'],
    ['tool-call', 'call_0~2'],
    ['tool-result', 'call_0~2'],
    ['tool-call', 'call_0~3'],
    ['tool-result', 'call_0~3'],
  ])
  assert.deepEqual(pair(messages).notes, [])
})

test('calls without ids are answered in order', () => {
  const { type, function: fn } = clockCall
  const messages = read([
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { type, function: fn },
        { type, function: fn },
      ],
    },
    { role: 'tool', content: 'a' },
    { role: 'tool', content: 'b' },
  ])
  const results = messages.slice(1).flatMap((message) => message.parts)
  assert.deepEqual(
    results.map((part) => part.type === 'tool-result' && part.callId),
    ['call-0', 'call-1'],
  )
})

test('the old function role answers the old function call', () => {
  const messages = read([
    { role: 'assistant', content: null, function_call: { name: 'clock', arguments: '{}' } },
    { role: 'function', name: 'clock', content: '12:00' },
  ])
  assert.deepEqual(pair(messages).notes, [])
})

const parts: [string, JsonObject, Part][] = [
  [
    'an image',
    { type: 'image_url', image_url: { url: 'https://a.example/b.png?x=1', detail: 'low' } },
    { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://a.example/b.png?x=1' } },
  ],
  [
    'an image as data',
    { type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } },
    { type: 'media', mediaType: 'image/webp', data: { kind: 'base64', base64: 'AAAA' } },
  ],
  [
    'sound',
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
    { type: 'media', mediaType: 'audio/mpeg', data: { kind: 'base64', base64: 'AAAA' } },
  ],
  [
    'a file',
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
    { type: 'media', mediaType: 'application/pdf', data: { kind: 'base64', base64: 'JVBE' }, name: 'a.pdf' },
  ],
  [
    'a file by its id',
    { type: 'file', file: { file_id: 'file-1' } },
    { type: 'media', mediaType: 'application/pdf', data: { kind: 'file', fileId: 'file-1', provider: 'openai' } },
  ],
  [
    'something without a word here',
    { type: 'hologram', depth: 3 },
    { type: 'opaque', kind: 'openai-chat/hologram', data: { type: 'hologram', depth: 3 } },
  ],
]

for (const [what, content, part] of parts) {
  test(`${what} in a user message is read, and written unchanged`, () => {
    const list = [{ role: 'user', content: [content] }]
    assert.deepEqual(bare(read(list)), [{ role: 'user', parts: [part] }])
    assert.deepEqual(openaiChatFormat.write(read(list)), list)
  })
}

const broken: [string, Json, string][] = [
  ['what has no list', { a: 1 }, '$ should be a list of messages'],
  ['a message that is none', { messages: [{ role: 'user', content: 'hi' }, 3] }, '$.messages[1] should be an object'],
  ['a message without a role', [{ content: 'hi' }], '$[0].role should be a role'],
  ['content of another kind', { traj: [{ role: 'user', content: { a: 1 } }] }, '$.traj[0].content should be'],
  ['a part that is none', [{ role: 'user', content: ['hi'] }], '$[0].content[0] should be an object'],
  ['calls that are no list', [{ role: 'assistant', tool_calls: {} }], '$[0].tool_calls should be a list'],
  ['a call without a name', [{ role: 'assistant', tool_calls: [{ id: 'x' }] }], '$[0].tool_calls[0] should be a call'],
]

for (const [what, json, words] of broken) {
  test(`the error for ${what} names the place`, () => {
    assert.throws(
      () => read(json),
      (error) => error instanceof SynapseError && error.kind === 'bad-input' && error.message.includes(words),
    )
  })
}

test('messages from elsewhere are written from their parts, and read back alike', () => {
  const history: Message[] = [
    ...whatTimeIsIt,
    user('Look', onePixel),
    reply({ type: 'reasoning', text: 'Hm.' }, 'A dot.', {
      type: 'tool-call',
      callId: 'c2',
      name: 'add',
      input: { a: 1 },
    }),
    failure('c2', 'no disk', 'add'),
  ]
  const written = openaiChatFormat.write(history) as JsonObject[]
  assert.deepEqual(
    written.map((message) => message.role),
    ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant', 'tool'],
  )
  assert.equal(written[5]?.reasoning_content, 'Hm.')
  assert.deepEqual(written[6], { role: 'tool', tool_call_id: 'c2', content: 'Error: no disk' })
  const back = read(written)
  assert.deepEqual(
    back.map((message) => message.role),
    history.map((message) => message.role),
  )
  const called = (messages: Message[]) =>
    messages.flatMap((message) => message.parts.flatMap((part) => ('callId' in part ? [part.callId] : [])))
  assert.deepEqual(called(back), called(history))
})

test('later messages are written after what was read, with the same call ids', () => {
  const twice = [...conversation, ...conversation.slice(1, 3)]
  const messages = [...read(twice), result('call_1~2', '13:00', 'clock'), reply('One.')]
  const written = openaiChatFormat.write(messages) as JsonObject[]
  assert.deepEqual(written.slice(0, twice.length), twice)
  assert.deepEqual(written.slice(twice.length), [
    { role: 'tool', tool_call_id: 'call_1', content: '13:00' },
    { role: 'assistant', content: 'One.' },
  ])
})

test("a user's own tool calls are written as labelled text, with a note", () => {
  const simulation = {
    messages: [
      {
        role: 'user',
        content: null,
        tool_calls: [{ id: 'u1', name: 'status', arguments: { a: 1 }, requestor: 'user' }],
      },
      { role: 'tool', id: 'u1', requestor: 'user', content: 'No signal', error: false },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a1', name: 'look', arguments: {}, requestor: 'assistant' }],
      },
      { role: 'tool', id: 'a1', requestor: 'assistant', content: 'Error: gone', error: true },
    ],
  }
  const { messages, system, notes } = openaiChatFormat.read({
    simulation,
    info: { environment_info: { policy: 'Be kind.' }, agent_info: { llm: 'gpt-4.1' } },
  })
  assert.deepEqual(system, [{ type: 'text', text: 'Be kind.' }])
  assert.deepEqual(
    messages.map((message) => message.parts[0]).map((part) => part && { ...part, from: 0 }),
    [
      { type: 'text', text: '[Tool Call] status {"a":1}', from: 0 },
      { type: 'text', text: '[Tool Result] status: No signal', from: 0 },
      { type: 'tool-call', callId: 'a1', alias: 'a1', name: 'look', input: {}, from: 0 },
      {
        type: 'tool-result',
        callId: 'a1',
        name: 'look',
        output: [{ type: 'text', text: 'Error: gone' }],
        failed: true,
        from: 0,
      },
    ],
  )
  assert.deepEqual(
    notes.map((note) => note.at),
    ['$.simulation.messages[0]', '$.simulation.messages[1]'],
  )
  assert.deepEqual(openaiChatFormat.write(messages), simulation.messages)
})

test('an unknown role is kept complete and never sent', () => {
  const list = [
    { role: 'user', content: 'hi' },
    { role: 'exit', content: 'Bye', extra: { status: 1 } },
  ]
  const messages = read(list)
  assert.deepEqual(openaiChatFormat.write(messages), list)
  const { body, notes } = encoded(messages, 'openai', 'gpt-4o')
  assert.deepEqual(body.messages, [{ role: 'user', content: 'hi' }])
  assert.equal(notes[0]?.at, 'messages[1]')
})

function encoded(messages: Message[], provider: string, model: string) {
  const quirks =
    provider === 'deepseek' ? ({ reasoningField: 'reasoning_content', echoReasoning: 'tool-turns' } as const) : {}
  const target = { provider, model, options: {}, quirks, capabilities: openaiChat.capabilities }
  return openaiChat.encode({ system: [], messages, tools: [], cacheAfter: [] }, target)
}

const corpus = join(import.meta.dirname, '../../../../shared/corpus/trajectories')
const skip = existsSync(corpus) ? false : 'the recorded conversations are not here'

for (const folder of ['tau-bench', 'tau2-bench', 'mini-swe-agent', 'swe-agent']) {
  test(`recorded conversations of ${folder} are read, written back alike, and valid at every cut`, { skip }, (t) => {
    let cuts = 0
    const files = globSync(join(corpus, folder, '*.json'))
    for (const file of files) {
      const json = JSON.parse(readFileSync(file, 'utf8')) as Json
      assert.ok(openaiChatFormat.recognise(json), basename(file))
      const { messages } = openaiChatFormat.read(json)
      assert.deepEqual(openaiChatFormat.write(messages), listIn(json), basename(file))
      const step = Math.max(1, Math.floor(messages.length / 12))
      for (let cut = 1; cut <= messages.length; cut += step) {
        const part = pair(messages.slice(cut % 2 === 0 ? 0 : Math.floor(cut / 3), cut)).messages
        for (const [provider, model] of [
          ['openai', 'gpt-4o'],
          ['deepseek', 'deepseek-v4-flash'],
        ] as const) {
          const { body } = encoded(part, provider, model)
          assert.deepEqual(openaiChat.refuse(body, { provider }), [], `${basename(file)} at ${cut} for ${provider}`)
        }
        cuts++
      }
    }
    assert.ok(files.length > 0)
    t.diagnostic(`${files.length} conversations, ${cuts} cuts, two hosts`)
  })
}

function listIn(json: Json): Json {
  if (!isObject(json)) return json
  const { simulation } = json
  return json.messages ?? json.traj ?? json.history ?? (isObject(simulation) ? simulation.messages : undefined) ?? null
}
