import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../src/core/message.ts'
import type { Effort } from '../../../src/settings/options.ts'
import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'
import { call, failure, onePixel, onePixelUrl, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { encoded, own, target, wireMessages } from './target.ts'

/** Our id `c1` and `c2` on this wire: stable, nine letters or digits. */
const [c1, c2] = ids(reply(call('c1', 'a'), call('c2', 'b')))

function ids(asked: Message): string[] {
  const messages = wireMessages([user('x'), asked, result('c1', '1', 'a'), result('c2', '2', 'b')])
  const assistant = (messages as { tool_calls?: { id: string }[] }[])[1]
  return assistant?.tool_calls?.map((made) => made.id) ?? []
}

test('derived call ids are nine letters or digits, and differ', () => {
  assert.match(String(c1), /^[a-zA-Z0-9]{9}$/)
  assert.match(String(c2), /^[a-zA-Z0-9]{9}$/)
  assert.notEqual(c1, c2)
})

const table: { name: string; messages: Message[]; wire: unknown }[] = [
  {
    name: 'What time is it, with one tool call, is four messages and one that asks to continue',
    messages: whatTimeIsIt,
    wire: [
      { role: 'user', content: 'What time is it?' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: c1, type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }],
      },
      { role: 'tool', tool_call_id: c1, name: 'clock', content: '12:00' },
      { role: 'assistant', content: 'It is noon.' },
      { role: 'user', content: 'Continue.' },
    ],
  },
  {
    name: 'parallel calls are answered by one tool message each, in order',
    messages: [
      user('both'),
      reply('On it.', call('c1', 'a', { x: 1 }), call('c2', 'b')),
      result('c1', 'one', 'a'),
      result('c2', 'two', 'b'),
    ],
    wire: [
      { role: 'user', content: 'both' },
      {
        role: 'assistant',
        content: 'On it.',
        tool_calls: [
          { id: c1, type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
          { id: c2, type: 'function', function: { name: 'b', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: c1, name: 'a', content: 'one' },
      { role: 'tool', tool_call_id: c2, name: 'b', content: 'two' },
    ],
  },
  {
    name: 'a user message after a tool result gets an assistant bridge',
    messages: [user('a'), reply(call('c1', 'a')), result('c1', '1', 'a'), user('b')],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: c1, type: 'function', function: { name: 'a', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: c1, name: 'a', content: '1' },
      { role: 'assistant', content: 'OK.' },
      { role: 'user', content: 'b' },
    ],
  },
  {
    name: 'a failed result says so in its text, once, and an empty one is not empty',
    messages: [
      user('a'),
      reply(call('c1', 'a'), call('c2', 'b')),
      failure('c1', 'no such file', 'a'),
      failure('c2', 'Error: again', 'b'),
      reply(call('c3', 'c'), call('c4', 'd')),
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c3', name: 'c', output: [] }] },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'c4', name: 'd', output: [], failed: true }] },
    ],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: c1, type: 'function', function: { name: 'a', arguments: '{}' } },
          { id: c2, type: 'function', function: { name: 'b', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: c1, name: 'a', content: 'Error: no such file' },
      { role: 'tool', tool_call_id: c2, name: 'b', content: 'Error: again' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'XKC', type: 'function', function: { name: 'c', arguments: '{}' } },
          { id: 'XKD', type: 'function', function: { name: 'd', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'XKC', name: 'c', content: '(no output)' },
      { role: 'tool', tool_call_id: 'XKD', name: 'd', content: 'Error: (no output)' },
    ],
  },
  {
    name: 'an image in a tool result goes to the user after all results, over a bridge',
    messages: [
      user('look'),
      reply(call('c1', 'a'), call('c2', 'b')),
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'c1', name: 'a', output: [{ type: 'text', text: 'here' }, onePixel] }],
      },
      result('c2', 'two', 'b'),
      reply('I see.'),
      user('good'),
    ],
    wire: [
      { role: 'user', content: 'look' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: c1, type: 'function', function: { name: 'a', arguments: '{}' } },
          { id: c2, type: 'function', function: { name: 'b', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: c1, name: 'a', content: 'here\n[image/png, shown below the tool results]' },
      { role: 'tool', tool_call_id: c2, name: 'b', content: 'two' },
      { role: 'assistant', content: 'OK.' },
      { role: 'user', content: [{ type: 'image_url', image_url: onePixelUrl }] },
      { role: 'assistant', content: 'I see.' },
      { role: 'user', content: 'good' },
    ],
  },
  {
    name: 'images, documents by URL and uploaded files are chunks',
    messages: [
      user(
        'see',
        onePixel,
        {
          type: 'media',
          mediaType: 'application/pdf',
          name: 'a.pdf',
          data: { kind: 'url', url: 'https://x.test/a.pdf' },
        },
        { type: 'media', mediaType: 'image/jpeg', data: { kind: 'file', fileId: 'f-1', provider: 'mistral' } },
      ),
    ],
    wire: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: onePixelUrl },
          { type: 'document_url', document_url: 'https://x.test/a.pdf', document_name: 'a.pdf' },
          { type: 'file', file_id: 'f-1' },
        ],
      },
    ],
  },
  {
    name: "media that cannot be taken, another provider's file and a blob leave a line of text",
    messages: [
      user(
        { type: 'media', mediaType: 'video/mp4', name: 'clip.mp4', data: { kind: 'base64', base64: 'AAAA' } },
        { type: 'media', mediaType: 'image/png', data: { kind: 'file', fileId: 'f', provider: 'openai' } },
        { type: 'media', mediaType: 'image/png', data: { kind: 'blob', sha256: '00' } },
      ),
    ],
    wire: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '[video/mp4 "clip.mp4", not shown]' },
          { type: 'text', text: '[image/png, not shown]' },
          { type: 'text', text: '[image/png, not shown]' },
        ],
      },
    ],
  },
  {
    name: 'a system message in the middle becomes labelled user text',
    messages: [user('a'), reply('b'), { role: 'system', parts: [{ type: 'text', text: 'be brief' }] }, user('c')],
    wire: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: '[System]\nbe brief' },
      { role: 'user', content: 'c' },
    ],
  },
  {
    name: 'foreign reasoning stays locally, refusals and summaries are text, server tools are told',
    messages: [
      user('a'),
      reply(
        { type: 'reasoning', text: 'secret' },
        { type: 'refusal', text: 'I will not.' },
        { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
        { type: 'server-tool', name: 'web_search', input: { q: 'z' } },
        { type: 'compaction', text: 'before' },
        { type: 'opaque', kind: 'elsewhere/hologram', data: {} },
        onePixel,
      ),
      user({ type: 'compaction', text: 'all before' }, { type: 'opaque', kind: 'elsewhere/x' }),
    ],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I will not.' },
          { type: 'text', text: '[Tool Call] web_search {"q":"x"}\n[Tool Result] web_search: ["y"]' },
          { type: 'text', text: '[Tool Call] web_search {"q":"z"}' },
          { type: 'text', text: '[Summary of the conversation so far]\nbefore' },
          { type: 'text', text: '[image/png, not shown]' },
        ],
      },
      { role: 'user', content: '[Summary of the conversation so far]\nall before' },
    ],
  },
  {
    name: 'a history that begins with the assistant gets an opening, one with nothing in it a word to continue',
    messages: [reply('hello'), user('hi')],
    wire: [
      { role: 'user', content: '[The beginning of this conversation is not shown]' },
      { role: 'assistant', content: 'hello' },
      { role: 'user', content: 'hi' },
    ],
  },
  { name: 'no messages at all', messages: [], wire: [{ role: 'user', content: 'Continue.' }] },
  {
    name: 'empty messages are left out, neighbours of one role stay two messages',
    messages: [user(''), user('a'), user('b'), reply({ type: 'reasoning', text: 'only' }), user('c')],
    wire: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'user', content: 'c' },
    ],
  },
  {
    name: 'arguments that were no JSON object go as an object that shows them',
    messages: [
      user('a'),
      reply({ type: 'tool-call', callId: 'c1', name: 'a', input: {}, malformed: '{"x": ' }),
      failure('c1', 'bad arguments', 'a'),
    ],
    wire: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: c1, type: 'function', function: { name: 'a', arguments: '{"INVALID_JSON":"{\\"x\\": "}' } }],
      },
      { role: 'tool', tool_call_id: c1, name: 'a', content: 'Error: bad arguments' },
    ],
  },
  {
    name: 'a chunk that only this wire knows goes back as it is',
    messages: [
      user('a', { type: 'opaque', kind: 'mistral-chat/reference', data: { type: 'reference', reference_ids: [1] } }),
    ],
    wire: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'reference', reference_ids: [1] },
        ],
      },
    ],
  },
]

for (const { name, messages, wire } of table) {
  test(name, () => {
    const { body } = encoded(messages)
    const text = JSON.stringify(body.messages).replaceAll(idOf('c3'), 'XKC').replaceAll(idOf('c4'), 'XKD')
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(wire)))
    assert.deepEqual(mistralChat.refuse(body), [])
  })
}

function idOf(callId: string): string {
  const messages = wireMessages([user('x'), reply(call(callId, 'c')), result(callId, '1', 'c')])
  return (messages as { tool_calls?: { id: string }[] }[])[1]?.tool_calls?.[0]?.id ?? ''
}

test('every change leaves a note with its place and its rule', () => {
  const { notes } = encoded([
    user('a'),
    reply({ type: 'reasoning', text: 'x' }, call('c1', 'my tool')),
    { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'my tool', output: [onePixel] }] },
    { role: 'system', parts: [{ type: 'text', text: 's' }] },
    reply('end'),
  ])
  assert.deepEqual(
    notes.map(({ kind, at, rule }) => [kind, at, rule]),
    [
      ['changed', undefined, undefined],
      ['dropped', 'messages[1]', undefined],
      ['changed', 'messages[2]', 'T-9'],
      ['changed', 'messages[3]', 'T-1'],
      ['added', undefined, undefined],
      ['added', undefined, 'T-3'],
    ],
  )
})

test('the body has the fields of the wire, and only requested ones', () => {
  const { body, path, toolNames } = encoded(
    [user('hi')],
    {
      options: {
        maxOutput: 100,
        temperature: 0.5,
        topP: 0.9,
        stop: ['END'],
        effort: 'high',
        toolChoice: 'required',
        parallelTools: false,
        answerSchema: { type: 'object' },
        cacheKey: 'conversation-1',
        stream: true,
        extra: { random_seed: 7 },
      },
    },
    {
      system: [
        { type: 'text', text: 'be kind' },
        { type: 'text', text: 'be brief' },
      ],
      tools: [{ name: 'fs.read', description: 'reads', input: { type: 'object' } }],
    },
  )
  assert.equal(path, '/chat/completions')
  assert.deepEqual(toolNames, { fs_read: 'fs.read' })
  assert.deepEqual(body, {
    model: 'mistral-medium-latest',
    messages: [
      { role: 'system', content: 'be kind\n\nbe brief' },
      { role: 'user', content: 'hi' },
    ],
    tools: [{ type: 'function', function: { name: 'fs_read', description: 'reads', parameters: { type: 'object' } } }],
    tool_choice: 'any',
    parallel_tool_calls: false,
    max_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    stop: ['END'],
    reasoning_effort: 'high',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
    },
    prompt_cache_key: 'conversation-1',
    stream: true,
    random_seed: 7,
  })
  assert.deepEqual(mistralChat.refuse(body), [])
  assert.deepEqual(encoded([user('hi')]).body, {
    model: 'mistral-medium-latest',
    messages: [{ role: 'user', content: 'hi' }],
  })
})

test('a named tool is chosen by its name on the wire', () => {
  const { body } = encoded(
    [user('hi')],
    { options: { toolChoice: { tool: 'fs.read' } } },
    { tools: [{ name: 'fs.read', input: { type: 'object' } }] },
  )
  assert.deepEqual(body.tool_choice, { type: 'function', function: { name: 'fs_read' } })
})

test('what a model or host does not support is left out with a note', () => {
  const { body, notes } = encoded(
    [user('hi')],
    {
      options: {
        temperature: 1,
        effort: 'max',
        toolChoice: 'required',
        store: true,
        cacheKey: 'k',
        parallelTools: true,
      },
      quirks: { noToolChoice: true, noParallelTools: true, cacheKey: false },
      capabilities: { ...mistralChat.capabilities, sampling: false, maxTools: 1, efforts: [] },
    },
    {
      tools: [
        { name: 'a', input: { type: 'object' } },
        { name: 'b', input: { type: 'object' } },
      ],
    },
  )
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'tools'])
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['temperature and top_p', 'store', '1 tools after the first 1', 'tool choice', 'effort "max"'],
  )
})

test('an effort that the model does not support becomes the nearest one, and reasoning stays on', () => {
  const efforts: Effort[] = ['none', 'high']
  const rows: [Effort, Effort, string[]][] = [
    ['none', 'none', []],
    ['low', 'high', ['effort "low" to "high"']],
    ['medium', 'high', ['effort "medium" to "high"']],
    ['max', 'high', ['effort "max" to "high"']],
  ]
  for (const [effort, sent, whats] of rows) {
    const capabilities = { ...mistralChat.capabilities, efforts }
    const { body, notes } = encoded([user('hi')], { options: { effort }, capabilities })
    assert.equal(body.reasoning_effort, sent)
    assert.deepEqual(
      notes.map(({ what }) => what),
      whats,
    )
  }
})

test('a host that refuses tool history gets all of it as labelled text', () => {
  const { body, notes } = encoded(
    [
      user('a'),
      own(
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'abcdefghi', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }],
        },
        [{ type: 'tool-call', callId: 'c1', alias: 'abcdefghi', name: 'clock', input: { zone: 'UTC' } }],
        { reason: 'tool-calls' },
      ),
      {
        role: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: 'c1',
            name: 'clock',
            output: [{ type: 'text', text: '12:00' }, onePixel],
            failed: true,
          },
        ],
      },
      reply('noon'),
      user('thanks'),
    ],
    { quirks: { toolMessages: 'text' } },
  )
  assert.deepEqual(body.messages, [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: '[Tool Call] clock {"zone":"UTC"}' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '[Tool Result] clock (failed): 12:00' },
        { type: 'image_url', image_url: onePixelUrl },
      ],
    },
    { role: 'assistant', content: 'noon' },
    { role: 'user', content: 'thanks' },
  ])
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['tool calls to labelled text', 'tool results to labelled user text'],
  )
})

test('a server that insists on turns and plain strings gets both', () => {
  const messages = wireMessages(
    [
      user('a', onePixel),
      user('b'),
      reply('c'),
      own(
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: [] },
            { type: 'text', text: 'd' },
          ],
        },
        [{ type: 'text', text: 'd' }],
      ),
      own({ role: 'assistant', content: 'e' }, [{ type: 'text', text: 'e' }]),
      user('f'),
    ],
    { quirks: { alternate: true, stringContent: true } },
  )
  assert.deepEqual(messages, [
    { role: 'user', content: 'a\n[image/png, not shown]\nb' },
    { role: 'assistant', content: 'c\nd\ne' },
    { role: 'user', content: 'f' },
  ])
})

test('its own reply is sent back unchanged, without reply-only fields', () => {
  const native = {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], signature: 's', closed: true },
      { type: 'text', text: 'Let me see.' },
      { type: 'reference', reference_ids: [3] },
    ],
    tool_calls: [{ id: 'AbCdEf123', function: { name: 'clock', arguments: '{ "zone" : "UTC" }' }, index: 0 }],
    reasoning_content: 'hm',
  }
  const parts = [
    { type: 'reasoning' as const, text: 'hm' },
    { type: 'text' as const, text: 'Let me see.' },
    { type: 'tool-call' as const, callId: 'ours', alias: 'AbCdEf123', name: 'clock', input: { zone: 'UTC' } },
  ]
  const { body, notes } = encoded([
    user('a'),
    own(native, parts, { reason: 'tool-calls' }),
    result('ours', '12:00', 'clock'),
  ])
  const { reasoning_content: _, ...sent } = native
  assert.deepEqual(body.messages, [
    { role: 'user', content: 'a' },
    sent,
    { role: 'tool', tool_call_id: 'AbCdEf123', name: 'clock', content: '12:00' },
  ])
  assert.deepEqual(notes, [])
  assert.deepEqual(mistralChat.refuse(body), [])
})

test('the same text is built from parts for another provider of this wire', () => {
  const messages = wireMessages(
    [
      user('a'),
      own({ role: 'assistant', content: [{ type: 'thinking', thinking: [] }] }, [{ type: 'text', text: 'b' }]),
      user('c'),
    ],
    { provider: 'azure' },
  )
  assert.deepEqual(messages, [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ])
})

test('a broken reply is built from parts when some of it never became native', () => {
  const broken = own({ role: 'assistant', content: 'half' }, [{ type: 'text', text: 'half' }], {
    reason: 'interrupted',
  })
  assert.deepEqual(wireMessages([user('a'), broken, user('b')]), [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'half' },
    { role: 'user', content: 'b' },
  ])
  const torn = {
    ...broken,
    parts: [...broken.parts, { type: 'tool-call' as const, callId: 'c1', name: 'a', input: {} }],
  }
  assert.deepEqual(wireMessages([user('a'), torn, result('c1', '1', 'a')]), [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      content: 'half',
      tool_calls: [{ id: c1, type: 'function', function: { name: 'a', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: c1, name: 'a', content: '1' },
  ])
})

test('native calls are repaired where their id repeats, does not fit, or the arguments are broken', () => {
  const asks = (callId: string, alias: string, malformed?: string) =>
    own(
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: alias, type: 'function', function: { name: 'a', arguments: malformed ?? '{}' } }],
      },
      [{ type: 'tool-call', callId, alias, name: 'a', input: {}, ...(malformed !== undefined && { malformed }) }],
      { reason: 'tool-calls' },
    )
  const { body, notes } = encoded([
    user('x'),
    asks('c1', 'AAAAAAAAA'),
    result('c1', '1', 'a'),
    asks('c2', 'AAAAAAAAA'),
    result('c2', '2', 'a'),
    asks('c5', 'chatcmpl-tool-9f149c74c42f265b', '{"x'),
    result('c5', '5', 'a'),
  ])
  const made = (body.messages as { tool_calls?: { id: string; function: { arguments: string } }[] }[]).flatMap(
    (message) => message.tool_calls ?? [],
  )
  assert.deepEqual(
    made.map(({ id }) => id),
    ['AAAAAAAAA', c2, idOf('c5')],
  )
  assert.equal(made[2]?.function.arguments, '{"INVALID_JSON":"{\\"x"}')
  assert.deepEqual(
    notes.map(({ what, rule }) => [what, rule]),
    [
      [`id of the call of a to "${c2}"`, 'T-5'],
      [`id of the call of a to "${idOf('c5')}"`, 'T-5'],
      ['arguments of the call of a', undefined],
    ],
  )
  assert.deepEqual(mistralChat.refuse(body), [])
})

test('200 parallel calls keep 200 different ids', () => {
  const many = Array.from({ length: 200 }, (_, n) => `toolu_01${'x'.repeat(40)}${n}`)
  const { body } = encoded([
    user('go'),
    reply(many.map((id) => call(id, 'a'))),
    ...many.map((id): Message => result(id, 'ok', 'a')),
  ])
  assert.deepEqual(mistralChat.refuse(body), [])
})

test('characters that no wire carries are replaced, with a note', () => {
  const { body, notes } = encoded([user('a\uD800b\0c')], { ...target })
  assert.deepEqual(body.messages, [{ role: 'user', content: 'a\uFFFDb\uFFFDc' }])
  assert.equal(notes.length, 1)
})
