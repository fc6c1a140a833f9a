import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, Part, SystemMessage, ToolMessage } from '../../../src/core/message.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import { call, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { encode, ownReply, sent, texts } from './asking.ts'

const clock = { name: 'clock', description: 'Tells the time', input: { type: 'object', properties: {} } }
const c1 = 'toolu_mYNgtxIxXlhy50ysmTzrQ0Js'

test('"What time is it?" is four messages, with the call’s input as an object and its result in a user message', () => {
  const { path, headers, body, notes, toolNames } = encode(whatTimeIsIt, {
    capabilities: { prefill: true },
    system: [{ type: 'text', text: 'Be brief.' }],
    tools: [clock],
  })
  const id = idOf('c1')
  assert.deepEqual(body, {
    model: 'claude-opus-4-6',
    max_tokens: 32_000,
    system: texts('Be brief.'),
    messages: [
      { role: 'user', content: texts('What time is it?') },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'clock', input: { zone: 'UTC' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '12:00' }] },
      { role: 'assistant', content: texts('It is noon.') },
    ],
    tools: [{ name: 'clock', description: 'Tells the time', input_schema: { type: 'object', properties: {} } }],
  })
  assert.equal(path, '/messages')
  assert.deepEqual(headers, { 'anthropic-version': '2023-06-01' })
  assert.deepEqual(notes, [])
  assert.deepEqual(toolNames, {})
})

test('all results of a turn come first in one user message, joined with what the user says next', () => {
  const messages = sent(
    [
      user('both'),
      reply('Looking.', call('a', 'clock'), call('b', 'clock')),
      result('a', '1', 'clock'),
      result('b', '2', 'clock'),
      user('and now?'),
    ],
    { tools: [clock] },
  )
  assert.deepEqual(messages[2], {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: idOf('a'), content: '1' },
      { type: 'tool_result', tool_use_id: idOf('b'), content: '2' },
      ...texts('and now?'),
    ],
  })
  assert.equal(messages.length, 3)
})

test('a result says whether it failed, is never empty, and may hold images and documents', () => {
  const outputs: [ToolMessage['parts'][number]['output'], unknown][] = [
    [
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'a\nb',
    ],
    [[], '(no output)'],
    [[{ type: 'text', text: ' \n' }], '(no output)'],
    [[onePixel], [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: onePixelBase64 } }]],
    [
      [{ type: 'text', text: 'see' }, pdf, { type: 'text', text: 'there' }],
      [
        ...texts('see'),
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
          title: 'a.pdf',
        },
        ...texts('there'),
      ],
    ],
    [[{ type: 'media', mediaType: 'audio/wav', data: { kind: 'base64', base64: 'AA==' } }], '[audio/wav, not shown]'],
  ]
  for (const [output, expected] of outputs) {
    const answer: ToolMessage = { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', name: 'clock', output }] }
    const messages = sent([user('x'), reply(call('c1', 'clock')), answer], { tools: [clock] })
    assert.deepEqual(messages[2]?.content, [{ type: 'tool_result', tool_use_id: idOf('c1'), content: expected }])
  }
  const failed = sent([user('x'), reply(call('c1', 'clock')), failure('c1', '', 'clock')], { tools: [clock] })
  assert.deepEqual(failed[2]?.content, [
    { type: 'tool_result', tool_use_id: idOf('c1'), content: '(no output)', is_error: true },
  ])
})

const pdf = {
  type: 'media' as const,
  mediaType: 'application/pdf',
  name: 'a.pdf',
  data: { kind: 'base64' as const, base64: 'JVBERg==' },
}

test('media that a result may not hold follow after the results', () => {
  const answer: ToolMessage = {
    role: 'tool',
    parts: [
      { type: 'tool-result', callId: 'a', name: 'clock', output: [onePixel] },
      { type: 'tool-result', callId: 'b', name: 'clock', output: [] },
    ],
  }
  const { body, notes } = encode([user('x'), reply(call('a', 'clock'), call('b', 'clock')), answer], {
    tools: [clock],
    capabilities: { resultMedia: [] },
  })
  const { content } = (body.messages as { content: { type: string; content?: string }[] }[])[2] ?? { content: [] }
  assert.deepEqual(
    content.map(({ type }) => type),
    ['tool_result', 'tool_result', 'image'],
  )
  assert.equal(content[0]?.content, '[image/png, shown below the tool results]')
  assert.equal(notes.length, 1)
})

test('user media: images, documents and plain text, by value, by URL and by file id', () => {
  const text = Buffer.from('# Title', 'utf8').toString('base64')
  const base = { type: 'media' as const }
  const standIn = (text: string) => ({ type: 'text', text })
  const shown: [Part, unknown][] = [
    [onePixel, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: onePixelBase64 } }],
    [
      { ...base, mediaType: 'image/jpeg', data: { kind: 'base64', base64: onePixelBase64 } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: onePixelBase64 } },
    ],
    [
      { ...base, mediaType: 'image/png', data: { kind: 'url', url: 'https://example.org/a' } },
      { type: 'image', source: { type: 'url', url: 'https://example.org/a' } },
    ],
    [
      { ...base, mediaType: 'application/pdf', data: { kind: 'url', url: 'https://example.org/b' } },
      { type: 'document', source: { type: 'url', url: 'https://example.org/b' } },
    ],
    [
      { ...base, mediaType: 'application/pdf', data: { kind: 'file', fileId: 'file_1', provider: 'anthropic' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ],
    [
      { ...base, mediaType: 'application/pdf', data: { kind: 'file', fileId: 'file-1', provider: 'openai' } },
      standIn('[application/pdf, not shown]'),
    ],
    [
      { ...base, mediaType: 'text/markdown', name: 'a.md', data: { kind: 'base64', base64: text } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '# Title' }, title: 'a.md' },
    ],
    [
      { ...base, mediaType: 'video/mp4', name: 'a.mp4', data: { kind: 'base64', base64: 'AA==' } },
      standIn('[video/mp4 "a.mp4", not shown]'),
    ],
    [{ ...base, mediaType: 'image/png', data: { kind: 'blob', sha256: 'x' } }, standIn('[image/png, not shown]')],
    [
      { type: 'compaction', text: 'the story so far' },
      standIn('[Summary of the conversation so far]\nthe story so far'),
    ],
  ]
  for (const [part, block] of shown) {
    assert.deepEqual(sent([user('see', part as typeof onePixel)])[0]?.content, [...texts('see'), block])
  }
})

test('blank text is never sent, and only what is not empty is worth a note', () => {
  const { body, notes } = encode([user('', ' ', 'real'), reply('', '\n'), user('continue')])
  assert.deepEqual(body.messages, [{ role: 'user', content: texts('real', 'continue') }])
  assert.deepEqual(
    notes.map(({ what, rule }) => [what, rule]),
    [
      ['blank text', 'R-8'],
      ['blank text', 'R-8'],
      ['assistant message', undefined],
    ],
  )
})

test('a history that begins or ends with the assistant gets the user it misses', () => {
  const { body, notes } = encode([reply('Hello'), reply('there')])
  assert.deepEqual(body.messages, [
    { role: 'user', content: texts('[The beginning of this conversation is not shown]') },
    { role: 'assistant', content: texts('Hello', 'there') },
    { role: 'user', content: texts('Continue.') },
  ])
  assert.deepEqual(
    notes.map(({ kind, rule }) => [kind, rule]),
    [
      ['added', undefined],
      ['added', 'R-14'],
    ],
  )
  assert.deepEqual(sent([]), [{ role: 'user', content: texts('Continue.') }])
})

test('with prefill the last text stays last, without white space after it', () => {
  const { body, notes } = encode([user('{'), reply('The answer is \n')], { capabilities: { prefill: true } })
  assert.deepEqual(body.messages, [
    { role: 'user', content: texts('{') },
    { role: 'assistant', content: texts('The answer is') },
  ])
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-13'],
  )
})

test('ids of the provider are kept in its own reply, and every other id is made from ours', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'clock', input: {} })
  const first = ownReply([use('call_0')])
  const second = { ...ownReply([use('call_0')]), parts: [{ ...call('again', 'clock'), alias: 'call_0', from: 0 }] }
  const odd = {
    ...ownReply([use('functions.f:0')]),
    parts: [{ ...call('odd', 'clock'), alias: 'functions.f:0', from: 0 }],
  }
  const { body, notes } = encode(
    [user('x'), first, result('call_0', '1'), second, result('again', '2'), odd, result('odd', '3')],
    { tools: [clock] },
  )
  const blocks = (body.messages as { content: { id?: string; tool_use_id?: string }[] }[]).flatMap(
    ({ content }) => content,
  )
  const ids = blocks.flatMap((block) => block.id ?? block.tool_use_id ?? [])
  assert.deepEqual(ids, ['call_0', 'call_0', idOf('again'), idOf('again'), idOf('odd'), idOf('odd')])
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-4', 'R-4'],
  )
})

test('invalid tool names are mapped, in tools, calls and the choice', () => {
  const tool = { ...clock, name: 'fs.read file' }
  const { body, toolNames } = encode([user('x'), reply(call('c1', tool.name)), result('c1', 'y', tool.name)], {
    tools: [tool],
    options: { toolChoice: { tool: tool.name } },
  })
  assert.equal((body.tools as { name: string }[])[0]?.name, 'fs_read_file')
  assert.deepEqual(body.tool_choice, { type: 'tool', name: 'fs_read_file' })
  assert.deepEqual(toolNames, { fs_read_file: 'fs.read file' })
  assert.equal((body.messages as { content: { name?: string }[] }[])[1]?.content[0]?.name, 'fs_read_file')
})

test('arguments that are not a JSON object are sent inside one, even in a native reply', () => {
  const broken: Part = { ...call('c1', 'clock'), malformed: '{"zone": ' }
  const native = ownReply([{ type: 'tool_use', id: 'c1', name: 'clock', input: {} }])
  for (const message of [reply(broken), { ...native, parts: [{ ...broken, alias: 'c1', from: 0 }] }]) {
    const { body, notes } = encode([user('x'), message, result('c1', 'no', 'clock')], { tools: [clock] })
    const [block] = (body.messages as { content: { input: unknown }[] }[])[1]?.content ?? []
    assert.deepEqual(block?.input, { INVALID_JSON: '{"zone": ' })
    assert.deepEqual(
      notes.map(({ rule }) => rule),
      ['R-6'],
    )
  }
})

test('a foreign reply is written as text, and what cannot cross is noted', () => {
  const { body, notes } = encode([
    user('x'),
    reply(
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: 'hmm' },
      { type: 'text', text: 'See', citations: [{ url: 'u' }] },
      { type: 'refusal', text: 'I will not.' },
      { type: 'server-tool', name: 'web_search', input: { q: 'x' }, output: ['y'] },
      { type: 'server-tool', name: 'web_search', input: { q: 'z' } },
      { type: 'compaction', text: 'before' },
      { type: 'opaque', kind: 'openai-responses/thing', data: {} },
      onePixel,
    ),
    user('y'),
  ])
  assert.deepEqual((body.messages as unknown[])[1], {
    role: 'assistant',
    content: texts(
      'See\n\n[Sources]\n- u',
      'I will not.',
      '[Tool Call] web_search {"q":"x"}\n[Tool Result] web_search: ["y"]',
      '[Tool Call] web_search {"q":"z"}',
      '[Summary of the conversation so far]\nbefore',
      '[image/png, not shown]',
    ),
  })
  assert.deepEqual(
    notes.map(({ kind, what }) => `${kind} ${what}`),
    [
      'changed citations to a list of sources in the text',
      'changed web_search to labelled text',
      'changed web_search to labelled text',
      'dropped openai-responses/thing',
      'dropped image/png',
      'dropped reasoning',
    ],
  )
})

test('characters that cannot be sent are replaced; signed thinking that contains them cannot be sent', () => {
  const native = ownReply([
    { type: 'thinking', thinking: '\uD800', signature: 'c2ln' },
    { type: 'text', text: 'a\uD800' },
    { type: 'tool_use', id: 'c1', name: 'clock', input: { 'k\uD800': ['\0'] } },
  ])
  const messages = sent([user('\uDC00'), native, result('c1', '\uD800', 'clock')], { tools: [clock] })
  assert.deepEqual(messages, [
    { role: 'user', content: texts('\uFFFD') },
    {
      role: 'assistant',
      content: [...texts('a\uFFFD'), { type: 'tool_use', id: 'c1', name: 'clock', input: { 'k\uFFFD': ['\uFFFD'] } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '\uFFFD' }] },
  ])
})

test('calls go after the text of their reply', () => {
  const parts: Part[] = [call('c1', 'clock'), { type: 'text', text: 'Looking.' }]
  const native = ownReply([{ type: 'tool_use', id: 'c1', name: 'clock', input: {} }, ...texts('Looking.')])
  for (const message of [reply(...parts), native]) {
    const { body, notes } = encode([user('x'), message, result('c1', 'y', 'clock')], { tools: [clock] })
    const { content } = (body.messages as { content: { type: string }[] }[])[1] ?? { content: [] }
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'tool_use'],
    )
    assert.deepEqual(
      notes.map(({ rule }) => rule),
      ['R-1'],
    )
  }
})

const note: SystemMessage = { role: 'system', parts: [{ type: 'text', text: 'Answer in French.' }] }

test('a system message in the middle keeps its role if the model and its position allow it', () => {
  const capabilities = { midSystem: true }
  assert.deepEqual(sent([user('a'), note], { capabilities }), [
    { role: 'user', content: texts('a') },
    { role: 'system', content: texts('Answer in French.') },
  ])
  assert.deepEqual(sent([user('a'), note, reply('b'), user('c')], { capabilities })[1], {
    role: 'system',
    content: texts('Answer in French.'),
  })
  const label = '[System]\nAnswer in French.'
  const asText: [Message[], boolean][] = [
    [[user('a'), note], false],
    [[user('a'), note, user('b')], true],
    [[user('a'), reply('b'), note, user('c')], true],
    [[note, user('a')], true],
  ]
  for (const [messages, midSystem] of asText) {
    const { body, notes } = encode(messages, { capabilities: { midSystem } })
    const content = (body.messages as { role: string; content: { text: string }[] }[]).flatMap((one) => one.content)
    assert.ok(content.some(({ text }) => text === label))
    assert.ok(!(body.messages as { role: string }[]).some(({ role }) => role === 'system'))
    assert.deepEqual(notes[0]?.rule, 'R-12')
  }
})

test('a host without tool history gets calls and results as text', () => {
  const { body } = encode(whatTimeIsIt, { tools: [clock], quirks: { toolMessages: 'text' } })
  assert.deepEqual((body.messages as unknown[]).slice(0, 3), [
    { role: 'user', content: texts('What time is it?') },
    { role: 'assistant', content: texts('[Tool Call] clock {"zone":"UTC"}') },
    { role: 'user', content: texts('[Tool Result] clock: 12:00') },
  ])
})

test('user content of this wire is sent verbatim, that of another one is noted', () => {
  const block = { type: 'search_result', source: 's', title: 't', content: texts('x') }
  const { body, notes } = encode([
    user(
      { type: 'opaque', kind: 'anthropic-messages/search_result', data: block },
      { type: 'opaque', kind: 'elsewhere/thing', data: {} },
    ),
  ])
  assert.deepEqual(body.messages, [{ role: 'user', content: [block] }])
  assert.equal(notes[0]?.what, 'elsewhere/thing')
})

function idOf(callId: string): string {
  const messages = anthropicMessages.encode(
    { system: [], messages: [user('x'), reply(call(callId, 'f'))], tools: [], cacheAfter: [] },
    { provider: 'x', model: 'y', options: {}, quirks: {}, capabilities: anthropicMessages.capabilities },
  ).body.messages as { content: { id: string }[] }[]
  return messages[1]?.content[0]?.id ?? ''
}

test('ids made from ours are the same on every request', () => {
  assert.equal(idOf('c1'), c1)
})
