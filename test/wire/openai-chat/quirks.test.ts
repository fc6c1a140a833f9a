import assert from 'node:assert/strict'
import test from 'node:test'
import type { Context } from '../../../src/core/context.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message } from '../../../src/core/message.ts'
import { call, calls, failure, onePixel, reply, result, user } from '../../histories.ts'
import { sent, type Wanted } from './target.ts'

const system = [{ type: 'text' as const, text: 'Be kind.' }]
const clock = { name: 'clock', input: { type: 'object', properties: {} } }

test('stringContent: every content is a plain string, and media is text', () => {
  const history: Message[] = [user('one', 'two', onePixel), reply(calls('c1')), result('c1', 'x')]
  const { messages } = sent(history, { quirks: { stringContent: true } })
  const contents = (messages as { content: Json }[]).map((message) => message.content)
  assert.deepEqual(contents, ['one\n\ntwo\n\n[image/png, not shown]', '', 'x'])
})

test('alternate: neighbours become one, the user is first, and a later system message is labelled user text', () => {
  const history: Message[] = [
    reply('Hello'),
    reply('there'),
    user('a'),
    { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
    user('b'),
    reply('c'),
  ]
  assert.deepEqual(sent(history, { quirks: { alternate: true, stringContent: true } }, { system }).messages, [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: '[The beginning of this conversation is not shown]' },
    { role: 'assistant', content: 'Hello\n\nthere' },
    { role: 'user', content: 'a\n\n[System]\nBe brief.\n\nb' },
    { role: 'assistant', content: 'c' },
  ])
})

test('alternate: a reply with calls after another is merged with it, calls and all', () => {
  const history = [user('go'), reply('First.'), reply('Then.', call('c1', 'tool')), result('c1', 'x'), reply('Done.')]
  const messages = sent(history, { quirks: { alternate: true } }).messages as JsonObject[]
  assert.deepEqual(
    messages.map((message) => message.role),
    ['user', 'assistant', 'tool', 'assistant'],
  )
  assert.equal(messages[1]?.content, 'First.\n\nThen.')
  assert.ok(Array.isArray(messages[1]?.tool_calls) && messages[1].tool_calls.length === 1)
})

test('a model without system messages in the middle gets them as labelled text', () => {
  const history: Message[] = [user('a'), { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] }]
  const { messages, notes } = sent(history, { capabilities: { midSystem: false } })
  assert.deepEqual((messages as Json[])[1], { role: 'user', content: '[System]\nBe brief.' })
  assert.equal(notes[0]?.at, 'messages[1]')
})

test('noToolChoice and noParallelTools: the fields are left out, with a note', () => {
  const { body, notes } = sent(
    [user('a')],
    { options: { toolChoice: 'required', parallelTools: true }, quirks: { noToolChoice: true, noParallelTools: true } },
    { tools: [clock] },
  )
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'tools'])
  assert.deepEqual(
    notes.map((note) => note.what),
    ['parallel_tool_calls', 'tool choice'],
  )
})

test('noStreamOptions: a stream is requested without them', () => {
  const { body } = sent([user('a')], { options: { stream: true }, quirks: { noStreamOptions: true } })
  assert.equal(body.stream, true)
  assert.equal('stream_options' in body, false)
})

test('toolMessages: text: calls and results are written as labelled text', () => {
  const history: Message[] = [
    user('go'),
    reply('Let me look.', call('c1', 'clock', { zone: 'UTC' }), call('c2', 'tool')),
    result('c1', '12:00', 'clock'),
    failure('c2', 'no disk'),
    reply('Noon.'),
  ]
  assert.deepEqual(sent(history, { quirks: { toolMessages: 'text', alternate: true } }).messages, [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Let me look.\n\n[Tool Call] clock {"zone":"UTC"}\n\n[Tool Call] tool {}' },
    {
      role: 'user',
      content: [
        { type: 'text', text: '[Tool Result] clock: 12:00' },
        { type: 'text', text: '[Tool Result] tool (failed): no disk' },
      ],
    },
    { role: 'assistant', content: 'Noon.' },
  ])
})

test('a model that knows no tools gets none, and a history without them', () => {
  const history = [user('go'), reply(call('c1', 'clock')), result('c1', '12:00', 'clock')]
  const { body } = sent(history, { capabilities: { tools: false } }, { tools: [clock] })
  assert.equal('tools' in body, false)
  assert.deepEqual(
    (body.messages as JsonObject[]).map((message) => message.role),
    ['user', 'assistant', 'user'],
  )
})

test('bridgeAfterTool: an assistant message is between a result and a user message', () => {
  const history = [user('go'), reply(call('c1', 'tool')), result('c1', 'x'), user('and?')]
  const messages = sent(history, { quirks: { bridgeAfterTool: true } }).messages as JsonObject[]
  assert.deepEqual(
    messages.slice(2).map(({ role, content }) => [role, content]),
    [
      ['tool', 'x'],
      ['assistant', 'OK.'],
      ['user', 'and?'],
    ],
  )
})

test('flatArguments: lists and objects in arguments are written as JSON text', () => {
  const history = [
    user('go'),
    reply(call('c1', 'tool', { a: 'x', n: 1, list: [1, { b: 2 }], none: null })),
    result('c1', 'x'),
  ]
  const { messages, notes } = sent(history, { quirks: { flatArguments: true } })
  const written = JSON.stringify({ a: 'x', n: 1, list: '[1,{"b":2}]', none: null })
  assert.ok(JSON.stringify(messages).includes(JSON.stringify(written)))
  assert.match(notes[0]?.what ?? '', /lists and objects in the arguments of the call of tool/)
})

test('thinkingSwitch: an effort switches thinking on, "none" switches it off', () => {
  const ask = (effort: 'none' | 'medium') => {
    const wanted: Wanted = {
      options: { effort },
      quirks: { thinkingSwitch: true },
      capabilities: { efforts: ['low', 'high'] },
    }
    const { model: _model, messages: _messages, ...fields } = sent([user('a')], wanted).body
    return fields
  }
  assert.deepEqual(ask('none'), { thinking: { type: 'disabled' } })
  assert.deepEqual(ask('medium'), { thinking: { type: 'enabled' }, reasoning_effort: 'high' })
})

test('a history that ends with the assistant continues with a user message where the model refuses a prefill', () => {
  const { messages } = sent([user('a'), reply('b')], { capabilities: { prefill: false } })
  assert.deepEqual((messages as Json[])[2], { role: 'user', content: 'Continue.' })
})

const marked: Partial<Context> = { system, tools: [clock], cacheAfter: [-1, 2] }
const turns = [user('go'), reply(call('c1', 'clock')), result('c1', '12:00', 'clock'), user('and?')]

test('cacheControl: marks sit on the last content part of their message, with the time they are to live', () => {
  const wanted = {
    quirks: { cacheControl: true },
    capabilities: { cacheMarks: true },
    options: { cacheTtl: '1h' as const },
  }
  const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const messages = sent(turns, wanted, marked).messages as JsonObject[]
  assert.deepEqual(messages[0]?.content, [{ type: 'text', text: 'Be kind.', ...mark }])
  assert.deepEqual(messages[3]?.content, [{ type: 'text', text: '12:00', ...mark }])
  assert.deepEqual(messages[4]?.content, [{ type: 'text', text: 'and?' }])
})

test('cache marks are breakpoints where the host has its own, and none where it has neither', () => {
  const own = sent(turns, { capabilities: { cacheMarks: true } }, marked).messages as JsonObject[]
  assert.deepEqual(own[3]?.content, [{ type: 'text', text: '12:00', prompt_cache_breakpoint: { mode: 'explicit' } }])
  assert.equal(
    JSON.stringify(sent(turns, { quirks: { cacheControl: true } }, marked).body).includes('cache_control'),
    false,
  )
})

test('a mark after a reply moves to what comes before it: a reply is sent unchanged', () => {
  const wanted = { quirks: { cacheControl: true }, capabilities: { cacheMarks: true } }
  const messages = sent([user('a'), reply('b')], wanted, { cacheAfter: [1] }).messages as JsonObject[]
  assert.deepEqual(messages[0]?.content, [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }])
  assert.equal(messages[1]?.content, 'b')
})

test('without a system prompt the mark for it sits on the last tool', () => {
  const wanted = { quirks: { cacheControl: true }, capabilities: { cacheMarks: true } }
  const { body } = sent([user('a')], wanted, { tools: [clock], cacheAfter: [-1] })
  assert.deepEqual((body.tools as JsonObject[])[0]?.cache_control, { type: 'ephemeral' })
})

test('a mark that moves changes nothing but itself', () => {
  const wanted = { quirks: { cacheControl: true }, capabilities: { cacheMarks: true } }
  const bare = (cacheAfter: number[]) =>
    JSON.stringify(sent(turns, wanted, { ...marked, cacheAfter }).body).replaceAll(
      ',"cache_control":{"type":"ephemeral"}',
      '',
    )
  assert.equal(bare([0]), bare([2, 3]))
})
