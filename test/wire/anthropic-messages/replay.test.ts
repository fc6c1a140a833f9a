// Replies of this API sent back to it: their own words, their thinking, their server tools and summaries.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { result, user } from '../../histories.ts'
import { encode, ownReply, sent, texts, thought, withPart } from './asking.ts'

const use = (id: string, name = 'clock'): JsonObject => ({ type: 'tool_use', id, name, input: { zone: 'UTC' } })
const clock = { name: 'clock', input: { type: 'object' } }

test('a reply is sent back verbatim: signatures, citations, unknown blocks and the order of keys', () => {
  const content = [
    thought('Hm.'),
    { type: 'redacted_thinking', data: 'AAAA' },
    { citations: [{ type: 'web_search_result_location', url: 'u', title: null }], text: 'Found.', type: 'text' },
    { type: 'hologram', depth: 3, layers: [null] },
    { input: { b: 1, a: 2 }, name: 'clock', id: 'toolu_1', type: 'tool_use', caller: { type: 'direct' } },
  ]
  const { body, notes } = encode([user('x'), ownReply(content), result('toolu_1', 'y', 'clock')], { tools: [clock] })
  const [, assistant] = body.messages as { content: JsonObject[] }[]
  assert.deepEqual(assistant?.content, content)
  assert.equal(JSON.stringify(assistant?.content), JSON.stringify(content))
  assert.deepEqual(notes, [])
})

test('reply-only fields are left out', () => {
  const content = [
    { type: 'text', text: 'a', citations: null, parsed_output: null },
    {
      type: 'text',
      text: 'b',
      citations: [{ type: 'char_location', cited_text: 'c', file_id: null, document_title: null }],
    },
    { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {}, toolset_name: null, index: 1 },
  ]
  assert.deepEqual(
    sent([user('x'), ownReply(content), result('toolu_1', 'y', 'clock')], { tools: [clock] })[1]?.content,
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', citations: [{ type: 'char_location', cited_text: 'c', document_title: null }] },
      { type: 'tool_use', id: 'toolu_1', name: 'clock', input: {} },
    ],
  )
})

test('a reply is replayed to every Claude and to its own provider, and rebuilt for all others', () => {
  const content = [thought('Hm.'), ...texts('Hello')]
  const replayed: [Partial<Reply['origin']>, { provider: string; model: string }, boolean][] = [
    [{}, { provider: 'anthropic', model: 'claude-haiku-4-5' }, true],
    [{}, { provider: 'vertex', model: 'claude-opus-4-6@20260101' }, true],
    [{ model: '' }, { provider: 'anthropic', model: 'claude-haiku-4-5' }, true],
    [{ provider: 'deepseek', model: 'deepseek-v4' }, { provider: 'deepseek', model: 'deepseek-v4' }, true],
    [{ provider: 'deepseek', model: 'deepseek-v4' }, { provider: 'anthropic', model: 'claude-opus-4-6' }, false],
    [{}, { provider: 'deepseek', model: 'deepseek-v4' }, false],
    [{ provider: 'router', model: 'deepseek-v4' }, { provider: 'router', model: 'claude-opus-4-6' }, false],
    [{ protocol: 'openai-chat' }, { provider: 'anthropic', model: 'claude-opus-4-6' }, false],
  ]
  for (const [origin, target, whole] of replayed) {
    const [, assistant] = sent([user('x'), ownReply(content, origin), user('y')], target)
    assert.deepEqual(assistant?.content, whole ? content : texts('Hello'), JSON.stringify([origin, target]))
  }
})

test('a reply that broke off is built from what there is of it', () => {
  const whole = ownReply([thought('Hm.'), ...texts('So far')])
  const broken: Reply = { ...whole, stop: { reason: 'interrupted' } }
  assert.deepEqual(sent([user('x'), broken, user('y')])[1]?.content, whole.native)
  const cut = withPart(broken, { type: 'reasoning', text: 'and th' })
  const { body, notes } = encode([user('x'), cut, user('y')])
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, texts('So far'))
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['reasoning'],
  )
})

test('blank text that the API itself wrote is sent only if it is alone', () => {
  const { body, notes } = encode([user('x'), ownReply([...texts('\n\n'), use('a')]), result('a', 'y', 'clock')], {
    tools: [clock],
  })
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, [use('a')])
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-8'],
  )
  assert.deepEqual(sent([user('x'), ownReply(texts('\n', 'real')), user('y')])[1]?.content, texts('\n', 'real'))
})

test('thinking without a signature is not sent to a model that would check it', () => {
  const unsigned = ownReply([{ type: 'thinking', thinking: 'Hm.' }, ...texts('Hello')])
  const { body, notes } = encode([user('x'), unsigned, user('y')])
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, texts('Hello'))
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-18'],
  )
})

const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }

test('a server tool is sent with its result, even if that came in a later reply', () => {
  const { body, notes } = encode(
    [
      user('x'),
      ownReply([search, use('a')]),
      result('a', 'y', 'clock'),
      ownReply([found, ...texts('Done')]),
      user('z'),
    ],
    { tools: [clock] },
  )
  const types = (body.messages as { content: { type: string }[] }[]).map(({ content }) =>
    content.map(({ type }) => type),
  )
  assert.deepEqual(types, [
    ['text'],
    ['server_tool_use', 'tool_use'],
    ['tool_result'],
    ['web_search_tool_result', 'text'],
    ['text'],
  ])
  assert.deepEqual(notes, [])
})

test('a server tool without its result, and a result without its call, are left away', () => {
  const { body, notes } = encode([
    user('x'),
    ownReply([search, ...texts('Hm')]),
    user('y'),
    ownReply([{ ...found, tool_use_id: 'srvtoolu_2' }, ...texts('Oh')]),
    user('z'),
  ])
  assert.deepEqual(
    (body.messages as JsonObject[]).map(({ content }) => content),
    [texts('x'), texts('Hm'), texts('y'), texts('Oh'), texts('z')],
  )
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-25', 'R-25'],
  )
})

test('a server tool that was left open when its reply broke off is not sent', () => {
  const broken: Reply = { ...ownReply([...texts('Searching'), search]), stop: { reason: 'interrupted' } }
  assert.deepEqual(sent([user('x'), broken]), [
    { role: 'user', content: texts('x') },
    { role: 'assistant', content: texts('Searching') },
    { role: 'user', content: texts('Continue.') },
  ])
})

test('a paused reply is sent back as the last message, to be continued', () => {
  const paused = ownReply([...texts('Searching'), search], {}, 'pause_turn')
  const { body, notes } = encode([user('x'), paused])
  assert.deepEqual((body.messages as JsonObject[]).at(-1), {
    role: 'assistant',
    content: [...texts('Searching'), search],
  })
  assert.deepEqual(notes, [])
  const rest = ownReply([found, ...texts('Done')])
  assert.deepEqual(sent([user('x'), paused, rest, user('y')])[1], {
    role: 'assistant',
    content: [...texts('Searching'), search, found, ...texts('Done')],
  })
})

test('an effort becomes the switch that the model knows', () => {
  const asked = (
    effort: 'none' | 'minimal' | 'low' | 'high' | 'max',
    thinking: ('enabled' | 'adaptive' | 'disabled')[],
  ) => {
    const { body } = encode([user('x')], {
      options: { effort },
      capabilities: { thinking, efforts: ['low', 'medium', 'high'], maxOutput: 64_000 },
    })
    return [body.thinking, (body.output_config as JsonObject | undefined)?.effort, body.max_tokens]
  }
  assert.deepEqual(asked('high', ['adaptive', 'disabled']), [{ type: 'adaptive' }, 'high', 32_000])
  assert.deepEqual(asked('max', ['adaptive']), [{ type: 'adaptive' }, 'high', 32_000])
  assert.deepEqual(asked('minimal', ['adaptive', 'enabled']), [{ type: 'adaptive' }, 'low', 32_000])
  assert.deepEqual(asked('none', ['adaptive', 'disabled']), [{ type: 'disabled' }, undefined, 32_000])
  assert.deepEqual(asked('none', ['adaptive']), [undefined, undefined, 32_000])
  assert.deepEqual(asked('high', ['enabled', 'disabled']), [
    { type: 'enabled', budget_tokens: 16_384 },
    undefined,
    48_384,
  ])
  assert.deepEqual(asked('max', ['enabled']), [{ type: 'enabled', budget_tokens: 32_000 }, undefined, 64_000])
  assert.deepEqual(asked('high', []), [undefined, undefined, 32_000])
})

test('manual thinking needs room, a loop that began with it, and no forced call', () => {
  const capabilities = { thinking: ['enabled' as const], sampling: true }
  const rules = (messages: Message[], options: object) => {
    const { body, notes } = encode(messages, { tools: [clock], capabilities, options: { effort: 'high', ...options } })
    return [body.thinking !== undefined, ...notes.map(({ rule }) => rule)]
  }
  const silent = [user('x'), ownReply([use('a')]), result('a', 'y', 'clock')]
  const thinking = [
    user('x'),
    ownReply([thought('Hm.'), use('a')]),
    result('a', 'y', 'clock'),
    ownReply([use('b')]),
    result('b', 'z', 'clock'),
  ]
  assert.deepEqual(rules([user('x')], {}), [true])
  assert.deepEqual(rules(thinking, {}), [true])
  assert.deepEqual(rules(silent, {}), [false, 'R-16'])
  assert.deepEqual(rules([...silent, ownReply(texts('Done')), user('again')], {}), [true])
  assert.deepEqual(rules([user('x')], { maxOutput: 1000 }), [false, 'R-20'])
  assert.deepEqual(rules([user('x')], { toolChoice: 'required' }), [false, 'R-21'])
  const small = encode([user('x')], { capabilities, options: { effort: 'high', maxOutput: 3000 } })
  assert.deepEqual(small.body.thinking, { type: 'enabled', budget_tokens: 1500 })
})

test('a request without thinking includes no earlier thinking', () => {
  const messages = [user('x'), ownReply([thought('Hm.'), use('a')]), result('a', 'y', 'clock')]
  const { body, notes } = encode(messages, { tools: [clock], options: { effort: 'none' } })
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, [use('a')])
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-17'],
  )
})

test('a last reply with thinking is not continued by prefill: a user message follows it', () => {
  const thinker = ownReply([thought('Hm.'), ...texts('So')])
  const capabilities = { prefill: true }
  const expected = [
    { role: 'user', content: texts('x') },
    { role: 'assistant', content: thinker.native },
    { role: 'user', content: texts('Continue.') },
  ]
  assert.deepEqual(sent([user('x'), thinker], { capabilities }), expected)
  assert.deepEqual(sent([user('x'), ownReply(texts('So'))], { capabilities, options: { effort: 'low' } }).length, 3)
  assert.deepEqual(sent([user('x'), ownReply(texts('So'))], { capabilities }).length, 2)
})

const bound = { boundReasoning: true, thinking: ['adaptive' as const] }
const opening = [user('first')]

function proven(messages: Message[], content: JsonObject[], asking: object = {}): Reply {
  const { basis } = encode(messages, { capabilities: bound, tools: [clock], ...asking })
  assert.ok(basis)
  const reply = ownReply(content)
  return { ...reply, origin: { ...reply.origin, basis } }
}

test('bound thinking stays while everything before it is the same', () => {
  const first = proven(opening, [thought('One.'), use('a')])
  const then = [...opening, first, result('a', 'y', 'clock')]
  const second = proven(then, [thought('Two.'), ...texts('Done')])
  const messages = [...then, second, user('more')]
  const { body, notes } = encode(messages, {
    capabilities: bound,
    tools: [clock],
    cacheAfter: [0, 2],
    options: { effort: 'low' },
  })
  const kept = (body.messages as { content: { thinking?: string }[] }[]).flatMap(({ content }) =>
    content.flatMap(({ thinking }) => thinking ?? []),
  )
  assert.deepEqual(kept, ['One.', 'Two.'])
  assert.deepEqual(body.thinking, { type: 'adaptive' })
  assert.deepEqual(notes, [])
})

test('when something before bound thinking has changed, it is dropped, with all later thinking', () => {
  const first = proven(opening, [thought('One.'), use('a')])
  const then = [...opening, first, result('a', 'y', 'clock')]
  const second = proven(then, [thought('Two.'), ...texts('Done')])
  const messages = [...then, second, user('more')]
  const changes: [string, object, Message[]][] = [
    ['the system prompt', { system: [{ type: 'text', text: 'new' }] }, messages],
    ['a tool', { tools: [clock, { name: 'other', input: { type: 'object' } }] }, messages],
    ['a message', {}, [user('edited'), ...messages.slice(1)]],
  ]
  for (const [what, asking, history] of changes) {
    const { body, notes } = encode(history, { capabilities: bound, tools: [clock], ...asking })
    assert.ok(!JSON.stringify(body.messages).includes('"thinking"'), what)
    assert.deepEqual(
      notes.map(({ rule, at }) => [rule, at]),
      [['R-19', 'messages[1]']],
      what,
    )
  }
  const later = encode([...then.slice(0, 2), result('a', 'edited', 'clock'), second, user('more')], {
    capabilities: bound,
    tools: [clock],
  })
  assert.ok(JSON.stringify(later.body.messages).includes('One.'))
  assert.ok(!JSON.stringify(later.body.messages).includes('Two.'))
})

test('thinking with an unknown prefix stays, and the API is asked to ignore it if it is invalid', () => {
  const messages = [user('x'), ownReply([thought('Hm.'), ...texts('So')]), user('y')]
  const { body, headers, notes } = encode(messages, { capabilities: bound })
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, [thought('Hm.'), ...texts('So')])
  assert.deepEqual(body.thinking, { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } })
  assert.equal(headers?.['anthropic-beta'], 'thinking-binding-controls-2026-08-01')
  assert.deepEqual(
    notes.map(({ kind, rule }) => [kind, rule]),
    [['added', 'R-19']],
  )
  assert.equal(encode(messages).body.thinking, undefined)
})

test('a basis is the same for the same prefix, however its replies were cut into messages', () => {
  const parted = [user('x'), ownReply(texts('a')), ownReply(texts('b')), user('y')]
  const whole = [user('x'), ownReply(texts('a', 'b')), user('y')]
  const basisOf = (messages: Message[]) => encode(messages, { capabilities: bound }).basis
  assert.equal(basisOf(parted), basisOf(whole))
  assert.notEqual(basisOf(parted), basisOf([...whole, user('z')]))
  assert.equal(encode(whole).basis, undefined)
})

test('a thread is continued with new messages only, and started if a reply should be stored', () => {
  const first = ownReply(texts('Hello'))
  const messages = [user('x'), first, user('y')]
  const asking = { system: [{ type: 'text' as const, text: 's' }], tools: [clock] }
  const { body, headers, notes } = encode(messages, { ...asking, state: { kind: 'thread', id: 'msg_1', covers: 2 } })
  assert.deepEqual(body, {
    model: 'claude-opus-4-6',
    max_tokens: 32_000,
    messages: [{ role: 'user', content: texts('y') }],
    thread: { type: 'continue', previous_message_id: 'msg_1' },
  })
  assert.equal(headers?.['anthropic-beta'], 'message-threads-2026-08-12')
  assert.deepEqual(notes, [])
  const begun = encode(messages, { ...asking, options: { store: true } })
  assert.deepEqual(begun.body.thread, { type: 'create' })
  assert.ok(begun.body.system && begun.body.tools)
  assert.equal((begun.body.messages as unknown[]).length, 3)
})

test('a thread continues with results alone, and with nothing at all after a pause', () => {
  const asks = ownReply([use('a')])
  const state = { kind: 'thread' as const, id: 'msg_1', covers: 2 }
  assert.deepEqual(sent([user('x'), asks, result('a', 'y', 'clock')], { tools: [clock], state }), [
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'y' }] },
  ])
  const paused = ownReply([search], {}, 'pause_turn')
  assert.deepEqual(sent([user('x'), paused], { state }), [])
})

const summary = { type: 'compaction', content: 'what was said' }

test('a native summary is sent back as its own block, with its header', () => {
  const plain = ownReply([summary, ...texts('Going on')])
  const { body, headers } = encode([user('x'), plain, user('y')])
  assert.deepEqual((body.messages as JsonObject[])[1]?.content, [summary, ...texts('Going on')])
  assert.equal(headers?.['anthropic-beta'], 'compact-2026-01-12')
  const failed = encode([user('x'), ownReply([{ type: 'compaction', content: null }, ...texts('Hm')]), user('y')])
  assert.deepEqual((failed.body.messages as JsonObject[])[1]?.content, texts('Hm'))
})

test('a signed summary is the first block of all, and what it represents is left away', () => {
  const signed = { ...summary, signature: 'c2ln' }
  const asked = ownReply([signed], {}, 'compaction')
  const { body, headers, notes } = encode([user('x'), ownReply(texts('a')), user('b'), asked, user('y')])
  assert.deepEqual(body.messages, [
    { role: 'assistant', content: [signed] },
    { role: 'user', content: texts('y') },
  ])
  assert.equal(headers?.['anthropic-beta'], 'compact-2026-09-04')
  assert.deepEqual(
    notes.map(({ what }) => what),
    ['the first 3 messages'],
  )
})
