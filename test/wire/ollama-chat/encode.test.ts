import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/message.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'
import { call, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { encoded, own, wireMessages } from './target.ts'

const c1 = idOf('c1')
const c2 = idOf('c2')

function idOf(callId: string): string {
  const messages = wireMessages([user('x'), reply(call(callId, 'a')), result(callId, '1', 'a')])
  return (messages as { tool_calls?: { id: string }[] }[])[1]?.tool_calls?.[0]?.id ?? ''
}

test('derived call ids look like those of the server, and differ', () => {
  assert.match(c1, /^call_[a-zA-Z0-9]{8}$/)
  assert.notEqual(c1, c2)
})

const table: { name: string; messages: Message[]; wire: unknown }[] = [
  {
    name: 'What time is it, with one tool call, is four messages',
    messages: whatTimeIsIt,
    wire: [
      { role: 'user', content: 'What time is it?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: c1, function: { name: 'clock', arguments: { zone: 'UTC' } } }],
      },
      { role: 'tool', tool_name: 'clock', tool_call_id: c1, content: '12:00' },
      { role: 'assistant', content: 'It is noon.' },
    ],
  },
  {
    name: 'parallel calls are answered by one tool message each; a user may follow at once',
    messages: [
      user('both'),
      reply('On it.', call('c1', 'a', { x: 1 }), call('c2', 'b')),
      result('c1', 'one', 'a'),
      failure('c2', 'no', 'b'),
      user('and?'),
    ],
    wire: [
      { role: 'user', content: 'both' },
      {
        role: 'assistant',
        content: 'On it.',
        tool_calls: [
          { id: c1, function: { name: 'a', arguments: { x: 1 } } },
          { id: c2, function: { name: 'b', arguments: {} } },
        ],
      },
      { role: 'tool', tool_name: 'a', tool_call_id: c1, content: 'one' },
      { role: 'tool', tool_name: 'b', tool_call_id: c2, content: 'Error: no' },
      { role: 'user', content: 'and?' },
    ],
  },
  {
    name: 'images are bare base64 on the message, of the user and of the tool',
    messages: [
      user('look', onePixel, 'closely'),
      reply(call('c1', 'a')),
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'a', output: [onePixel] }] },
    ],
    wire: [
      { role: 'user', content: 'look\nclosely', images: [onePixelBase64] },
      { role: 'assistant', content: '', tool_calls: [{ id: c1, function: { name: 'a', arguments: {} } }] },
      { role: 'tool', tool_name: 'a', tool_call_id: c1, content: '', images: [onePixelBase64] },
    ],
  },
  {
    name: 'an image by URL, a document and a file leave a line of text',
    messages: [
      user(
        { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://x.test/a.png' } },
        { type: 'media', mediaType: 'application/pdf', name: 'a.pdf', data: { kind: 'base64', base64: 'AAAA' } },
        { type: 'media', mediaType: 'image/png', data: { kind: 'file', fileId: 'f', provider: 'ollama' } },
      ),
    ],
    wire: [
      {
        role: 'user',
        content: '[image/png, not shown]\n[application/pdf "a.pdf", not shown]\n[image/png, not shown]',
      },
    ],
  },
  {
    name: 'results without output say so',
    messages: [
      user('a'),
      reply(call('c1', 'a'), call('c2', 'b')),
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'a', output: [] }] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c2', name: 'b', output: [], failed: true }] },
    ],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: c1, function: { name: 'a', arguments: {} } },
          { id: c2, function: { name: 'b', arguments: {} } },
        ],
      },
      { role: 'tool', tool_name: 'a', tool_call_id: c1, content: '(no output)' },
      { role: 'tool', tool_name: 'b', tool_call_id: c2, content: 'Error: (no output)' },
    ],
  },
  {
    name: 'system messages stay where they are, the history may begin and end with the assistant',
    messages: [reply('hello'), { role: 'system', parts: [{ type: 'text', text: 'be brief' }] }, reply('ok')],
    wire: [
      { role: 'assistant', content: 'hello' },
      { role: 'system', content: 'be brief' },
      { role: 'assistant', content: 'ok' },
    ],
  },
  {
    name: 'foreign reasoning stays locally, texts of a reply run together, the rest is told in lines',
    messages: [
      user('a'),
      reply(
        { type: 'reasoning', text: 'secret' },
        'one ',
        'sentence',
        { type: 'refusal', text: 'I will not.' },
        { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
        { type: 'server-tool', name: 'web_search' },
        { type: 'compaction', text: 'before' },
        { type: 'compaction' },
        { type: 'opaque', kind: 'elsewhere/hologram', data: {} },
        onePixel,
      ),
      user({ type: 'compaction', text: 'all before' }, { type: 'opaque', kind: 'elsewhere/x' }),
    ],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content:
          'one sentence\nI will not.\n[Tool Call] web_search {"q":"x"}\n[Tool Result] web_search: ["y"]\n' +
          '[Summary of the conversation so far]\nbefore\n[image/png, not shown]',
      },
      { role: 'user', content: '[Summary of the conversation so far]\nall before' },
    ],
  },
  {
    name: 'empty messages are left out',
    messages: [user(''), user('a'), reply(), user('b')],
    wire: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  },
  {
    name: 'arguments that were no JSON object go as an object that shows them',
    messages: [
      user('a'),
      reply(
        { type: 'tool-call', callId: 'c1', name: 'a', input: {}, malformed: '{"x": ' },
        { type: 'tool-call', callId: 'c2', name: 'b', input: [1] },
      ),
      failure('c1', 'bad', 'a'),
      failure('c2', 'bad', 'b'),
    ],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: c1, function: { name: 'a', arguments: { INVALID_JSON: '{"x": ' } } },
          { id: c2, function: { name: 'b', arguments: { INVALID_JSON: '[1]' } } },
        ],
      },
      { role: 'tool', tool_name: 'a', tool_call_id: c1, content: 'Error: bad' },
      { role: 'tool', tool_name: 'b', tool_call_id: c2, content: 'Error: bad' },
    ],
  },
]

for (const { name, messages, wire } of table) {
  test(name, () => {
    const { body } = encoded(messages)
    assert.deepEqual(body.messages, wire)
    assert.deepEqual(ollamaChat.refuse(body), [])
  })
}

test('the body has the fields of the wire, and forbids silent truncation', () => {
  const { body, path, toolNames } = encoded(
    [user('hi')],
    {
      options: {
        maxOutput: 100,
        temperature: 0.5,
        topP: 0.9,
        stop: ['END'],
        effort: 'high',
        answerSchema: { type: 'object' },
        cacheKey: 'k',
        stream: true,
        extra: { keep_alive: '5m' },
      },
    },
    {
      system: [{ type: 'text', text: 'be kind' }],
      tools: [
        { name: 'fs.read', description: 'reads', input: { type: 'object', properties: { path: { type: 'string' } } } },
      ],
    },
  )
  assert.equal(path, '/api/chat')
  assert.deepEqual(toolNames, {})
  assert.deepEqual(body, {
    model: 'qwen3:8b',
    messages: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'hi' },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'fs.read',
          description: 'reads',
          parameters: { type: 'object', properties: { path: { type: 'string' } } },
        },
      },
    ],
    think: true,
    format: { type: 'object' },
    options: { num_predict: 100, temperature: 0.5, top_p: 0.9, stop: ['END'] },
    truncate: false,
    shift: false,
    stream: true,
    keep_alive: '5m',
  })
  assert.deepEqual(ollamaChat.refuse(body), [])
  assert.equal(encoded([user('hi')]).body.stream, false)
})

test('thinking is switched, or gets a level if the model supports levels', () => {
  const levels = { ...ollamaChat.capabilities, efforts: ['low' as const, 'medium' as const, 'high' as const] }
  const none = { ...ollamaChat.capabilities, efforts: [] }
  const think = (effort: 'none' | 'low' | 'xhigh', capabilities = ollamaChat.capabilities) =>
    encoded([user('x')], { options: { effort }, capabilities })
  assert.equal(think('none').body.think, false)
  assert.equal(think('xhigh').body.think, true)
  assert.equal(think('low', levels).body.think, 'low')
  assert.equal(think('none', none).body.think, false)
  for (const left of [think('xhigh', levels), think('low', none)]) {
    assert.equal('think' in left.body, false)
    assert.equal(left.notes.length, 1)
  }
})

test('what the wire does not support is left out with a note', () => {
  const tools = [{ name: 'a', input: { type: 'object' } }]
  const asks = (options: Parameters<typeof encoded>[1]) => encoded([user('x')], options, { tools })
  const forced = asks({ options: { toolChoice: { tool: 'a' }, parallelTools: false, store: true } })
  assert.deepEqual(
    forced.notes.map(({ what }) => what),
    ['parallel tools', 'store', 'tool choice'],
  )
  assert.ok(forced.body.tools)
  assert.equal('tools' in asks({ options: { toolChoice: 'none' } }).body, false)
  const dumb = { ...ollamaChat.capabilities, tools: false, sampling: false }
  const { body, notes } = asks({ capabilities: dumb, options: { temperature: 1 } })
  assert.deepEqual([body.tools, body.options, notes.length], [undefined, undefined, 2])
})

test('a boolean schema is written as an object, because the server cannot read it', () => {
  const input = {
    type: 'object',
    properties: {
      any: true,
      deep: { type: 'object', properties: { no: false } },
      or: { anyOf: [true, { type: 'null' }] },
    },
  }
  const { body, notes } = encoded([user('x')], {}, { tools: [{ name: 'a', input }] })
  assert.deepEqual((body.tools as { function: { parameters: unknown } }[])[0]?.function.parameters, {
    type: 'object',
    properties: {
      any: {},
      deep: { type: 'object', properties: { no: { description: '(must not be given)' } } },
      or: { anyOf: [{}, { type: 'null' }] },
    },
  })
  assert.equal(notes[0]?.rule, 'O-8')
  assert.deepEqual(ollamaChat.refuse(body), [])
})

test('its own reply is sent back unchanged; thinking only to the same model', () => {
  const native = {
    role: 'assistant',
    content: 'Let me see.',
    thinking: 'hm',
    tool_calls: [{ id: 'call_x7rn5sl5', function: { index: 0, name: 'clock', arguments: { zone: 'UTC' } } }],
  }
  const history = [
    user('a'),
    own(
      native,
      [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Let me see.' },
        { type: 'tool-call', callId: 'ours', alias: 'call_x7rn5sl5', name: 'clock', input: { zone: 'UTC' } },
      ],
      { reason: 'tool-calls' },
    ),
    result('ours', '12:00', 'clock'),
  ]
  const tool = { role: 'tool', tool_name: 'clock', tool_call_id: 'call_x7rn5sl5', content: '12:00' }
  const same = encoded(history)
  assert.deepEqual(same.body.messages, [{ role: 'user', content: 'a' }, native, tool])
  assert.deepEqual(same.notes, [])

  const { thinking: _, ...spoken } = native
  const other = encoded(history, { model: 'llama3.2' })
  assert.deepEqual(other.body.messages, [{ role: 'user', content: 'a' }, spoken, tool])
  assert.equal(other.notes[0]?.kind, 'dropped')

  const elsewhere = encoded(history, { provider: 'ollama-cloud' })
  assert.deepEqual((elsewhere.body.messages as unknown[])[1], {
    role: 'assistant',
    content: 'Let me see.',
    tool_calls: [{ id: idOf('ours'), function: { name: 'clock', arguments: { zone: 'UTC' } } }],
  })
})

test('a call without an id is sent back without one, and so is its result', () => {
  const native = { role: 'assistant', content: '', tool_calls: [{ function: { name: 'clock', arguments: {} } }] }
  const { body, notes } = encoded([
    user('a'),
    own(native, [{ type: 'tool-call', callId: 'call-0', name: 'clock', input: {} }], { reason: 'tool-calls' }),
    result('call-0', '12:00', 'clock'),
  ])
  assert.deepEqual(body.messages, [
    { role: 'user', content: 'a' },
    native,
    { role: 'tool', tool_name: 'clock', content: '12:00' },
  ])
  assert.deepEqual(notes, [])
})

test('native calls are repaired where their id repeats or the arguments are no object', () => {
  const asks = (callId: string, args: string | object, malformed?: string) =>
    own(
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_0', function: { name: 'a', arguments: args as string } }],
      },
      [{ type: 'tool-call', callId, alias: 'call_0', name: 'a', input: { x: 1 }, ...(malformed && { malformed }) }],
      { reason: 'tool-calls' },
    )
  const { body, notes } = encoded([
    user('x'),
    asks('c1', { x: 1 }),
    result('c1', '1', 'a'),
    asks('c2', '{"x":1}'),
    result('c2', '2', 'a'),
    asks('c3', '{"x', '{"x'),
    result('c3', '3', 'a'),
  ])
  const made = (body.messages as { tool_calls?: { id: string; function: { arguments: unknown } }[] }[]).flatMap(
    (message) => message.tool_calls ?? [],
  )
  assert.deepEqual(
    made.map(({ id, function: fn }) => [id, fn.arguments]),
    [
      ['call_0', { x: 1 }],
      [c2, { x: 1 }],
      [idOf('c3'), { INVALID_JSON: '{"x' }],
    ],
  )
  assert.equal(notes.length, 4)
  assert.deepEqual(ollamaChat.refuse(body), [])
})

test('a broken reply is built from parts when some of it never became native', () => {
  const torn = own({ role: 'assistant', content: 'half' }, [{ type: 'text', text: 'half' }], { reason: 'interrupted' })
  assert.deepEqual(wireMessages([torn]), [{ role: 'assistant', content: 'half' }])
  torn.parts.push({ type: 'reasoning', text: 'cut' })
  assert.deepEqual(wireMessages([torn]), [{ role: 'assistant', content: 'half' }])
  torn.native = [{ role: 'assistant', content: '' }]
  torn.parts = []
  assert.deepEqual(wireMessages([torn, user('x')]), [{ role: 'user', content: 'x' }])
})

test('a model without tools gets tool history as labelled text, one that insists on turns gets turns', () => {
  const messages = wireMessages(
    [
      user('a'),
      own(
        { role: 'assistant', content: 'hm', tool_calls: [{ function: { name: 'clock', arguments: {} } }] },
        [
          { type: 'text', text: 'hm' },
          { type: 'tool-call', callId: 'c1', name: 'clock', input: {} },
        ],
        { reason: 'tool-calls' },
      ),
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'clock', output: [onePixel], failed: true }] },
      user('b'),
      own({ role: 'assistant', content: 'c' }, [{ type: 'text', text: 'c' }]),
      reply('d'),
    ],
    {
      quirks: { toolMessages: 'text', alternate: true },
      capabilities: { ...ollamaChat.capabilities, prefill: false },
    },
  )
  assert.deepEqual(messages, [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'hm\n[Tool Call] clock {}' },
    { role: 'user', content: '[Tool Result] clock (failed): (no output)\nb', images: [onePixelBase64] },
    { role: 'assistant', content: 'c\nd' },
    { role: 'user', content: 'Continue.' },
  ])
})

test('a model that accepts system messages only at the top gets labelled text', () => {
  const capabilities = { ...ollamaChat.capabilities, midSystem: false }
  assert.deepEqual(
    wireMessages([user('a'), { role: 'system', parts: [{ type: 'text', text: 's' }] }], { capabilities }),
    [
      { role: 'user', content: 'a' },
      { role: 'user', content: '[System]\ns' },
    ],
  )
})
