// How a reply is asked for: tools, choice, sampling, output, cache marks, headers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Options } from '../../../src/settings/options.ts'
import { call, reply, result, user, whatTimeIsIt } from '../../histories.ts'
import { encode, ownReply, texts, thought } from './asking.ts'

const clock = { name: 'clock', input: { type: 'object' } }
const ask = (options: Options, capabilities: object = {}) =>
  encode([user('x')], { tools: [clock], options, capabilities })

test('the tool choice is in the form of the wire, as far as the model supports it', () => {
  const choices: [Options, object, unknown, boolean][] = [
    [{}, {}, undefined, false],
    [{ toolChoice: 'auto' }, {}, { type: 'auto' }, false],
    [{ toolChoice: 'none' }, {}, { type: 'none' }, false],
    [{ toolChoice: 'required' }, {}, { type: 'any' }, false],
    [{ toolChoice: { tool: 'clock' } }, {}, { type: 'tool', name: 'clock' }, false],
    [{ toolChoice: { tool: 'nothing' } }, {}, { type: 'auto' }, true],
    [{ toolChoice: 'required' }, { forcedTool: false }, { type: 'auto' }, true],
    [{ parallelTools: false }, {}, { type: 'auto', disable_parallel_tool_use: true }, false],
    [{ parallelTools: false, toolChoice: 'required' }, {}, { type: 'any', disable_parallel_tool_use: true }, false],
  ]
  for (const [options, capabilities, expected, noted] of choices) {
    const { body, notes } = ask(options, capabilities)
    assert.deepEqual(body.tool_choice, expected)
    assert.deepEqual(
      notes.map(({ rule }) => rule),
      noted ? ['R-21'] : [],
    )
  }
  assert.equal(encode([user('x')], { options: { toolChoice: 'required' } }).body.tool_choice, undefined)
})

test('a history with calls but no tools gets the tools that it names, and may not call them', () => {
  const { body, notes } = encode([...whatTimeIsIt, user('y')])
  assert.deepEqual(body.tools, [{ name: 'clock', input_schema: { type: 'object' } }])
  assert.deepEqual(body.tool_choice, { type: 'none' })
  assert.deepEqual(
    notes.map(({ kind, rule }) => [kind, rule]),
    [['added', 'R-22']],
  )
})

test('a schema is always an object schema without a choice at its top', () => {
  const schemas: [JsonObject, JsonObject][] = [
    [{}, { type: 'object' }],
    [{ type: 'string' }, { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] }],
    [
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        anyOf: [
          { properties: { b: { type: 'number' } }, required: ['b', 'd'] },
          { properties: { c: {} }, required: ['d'] },
        ],
      },
      {
        type: 'object',
        description: 'At least one of these fits: (1) with b, d; (2) with d, optional: c.',
        properties: { a: { type: 'string' }, b: { type: 'number' }, c: {} },
        required: ['a', 'd'],
      },
    ],
  ]
  for (const [input, input_schema] of schemas) {
    const { body, notes } = encode([user('x')], { tools: [{ name: 'f', input }] })
    assert.deepEqual(body.tools, [{ name: 'f', input_schema }])
    assert.deepEqual(
      notes.map(({ rule }) => rule),
      ['R-24'],
    )
  }
})

test('sampling options are sent only if the model supports them', () => {
  const taken: [Options, object, JsonObject][] = [
    [{ temperature: 0.5 }, { sampling: true }, { temperature: 0.5 }],
    [{ topP: 0.5 }, { sampling: true }, { top_p: 0.5 }],
    [{ temperature: 2, topP: 0.5 }, { sampling: true }, { temperature: 1 }],
    [{ temperature: 0.5 }, { sampling: false }, {}],
    [{ temperature: 0.5, effort: 'low' }, { sampling: true }, {}],
  ]
  for (const [options, capabilities, expected] of taken) {
    const { temperature, top_p } = ask(options, capabilities).body
    assert.deepEqual(
      { ...(temperature !== undefined && { temperature }), ...(top_p !== undefined && { top_p }) },
      expected,
    )
  }
  assert.equal(ask({ temperature: 0.5 }, { sampling: false }).notes.length, 1)
})

test('max_tokens is always set, and never above the maximum of the model', () => {
  assert.equal(ask({}).body.max_tokens, 32_000)
  assert.equal(ask({}, { maxOutput: 4096 }).body.max_tokens, 4096)
  assert.equal(ask({ maxOutput: 10 }).body.max_tokens, 10)
  assert.equal(ask({ maxOutput: 100_000 }, { maxOutput: 4096 }).body.max_tokens, 4096)
})

test('stop sequences, streaming, a schema for the answer and anything extra', () => {
  const { body, notes } = ask({
    stop: ['END', ' '],
    stream: true,
    answerSchema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 }, minimum: { type: 'string' } } },
    extra: { metadata: { user_id: 'u' }, max_tokens: 7 },
  })
  assert.deepEqual(body.stop_sequences, ['END'])
  assert.equal(body.stream, true)
  assert.deepEqual(body.output_config, {
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { n: { type: 'integer', description: '(minimum: 1)' }, minimum: { type: 'string' } },
        additionalProperties: false,
      },
    },
  })
  assert.deepEqual(body.metadata, { user_id: 'u' })
  assert.equal(body.max_tokens, 7)
  assert.equal(notes.length, 2)
})

test('the beta header is derived from the body, and includes requested betas', () => {
  const betaOf = (extra: JsonObject) => ask({ extra }).headers?.['anthropic-beta']
  assert.equal(betaOf({}), undefined)
  assert.equal(
    betaOf({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }),
    'context-management-2025-06-27',
  )
  assert.equal(betaOf({ compaction: { type: 'summarize' } }), 'compact-2026-09-04')
  assert.equal(betaOf({ mcp_servers: [], betas: ['a-2026', 'mcp-client-2025-11-20'] }), 'mcp-client-2025-11-20,a-2026')
  assert.equal(ask({ extra: { betas: ['a-2026'] } }).body.betas, undefined)
})

function marks(value: unknown): string[] {
  const found: string[] = []
  const walk = (item: unknown, path: string): void => {
    if (Array.isArray(item)) for (const [i, one] of item.entries()) walk(one, `${path}.${i}`)
    else if (typeof item === 'object' && item !== null) {
      for (const [key, one] of Object.entries(item)) {
        if (key === 'cache_control') found.push(`${path}${one.ttl ? ` ${one.ttl}` : ''}`)
        else walk(one, path === '' ? key : `${path}.${key}`)
      }
    }
  }
  walk(value, '')
  return found
}

const long = [
  user('a'),
  ownReply([thought('Hm.'), ...texts('b'), { type: 'tool_use', id: 't', name: 'clock', input: {} }]),
  result('t', 'c', 'clock'),
  user('d'),
  ownReply(texts('e')),
  user('f'),
]

test('cache marks are on the last block of the message they should follow', () => {
  const system = [{ type: 'text' as const, text: 's' }]
  const at = (cacheAfter: number[], asking: object = {}) =>
    marks(encode(long, { tools: [clock], system, cacheAfter, ...asking }).body)
  assert.deepEqual(at([-1, 1, 5]), ['system.0', 'messages.1.content.2', 'messages.4.content.0'])
  assert.deepEqual(at([-1], { system: [] }), ['tools.0'])
  assert.deepEqual(at([2]), ['messages.2.content.0'])
  assert.deepEqual(at([3]), ['messages.2.content.1'])
  assert.deepEqual(at([5], { options: { cacheTtl: '1h' } }), ['messages.4.content.0 1h'])
  assert.deepEqual(at([5], { capabilities: { cacheMarks: false } }), [])
})

test('of more marks than the wire supports the last ones stay', () => {
  const { body, notes } = encode(long, {
    tools: [clock],
    system: [{ type: 'text', text: 's' }],
    cacheAfter: [-1, 0, 1, 3, 4, 5],
  })
  assert.deepEqual(marks(body), ['system.0', 'messages.2.content.1', 'messages.3.content.0', 'messages.4.content.0'])
  assert.deepEqual(
    notes.map(({ rule }) => rule),
    ['R-26'],
  )
  const automatic = encode(long, {
    tools: [clock],
    cacheAfter: [0, 1, 3, 4, 5],
    options: { extra: { cache_control: { type: 'ephemeral' } } },
  })
  assert.equal(marks(automatic.body.messages).length, 3)
})

test('a mark that would fall on thinking falls on the block before it', () => {
  const thinker = ownReply([...texts('a'), thought('Hm.')])
  assert.deepEqual(marks(encode([user('x'), thinker, user('y')], { cacheAfter: [1] }).body), ['messages.1.content.0'])
  const only = encode([user('x'), ownReply([thought('Hm.')]), user('y')], { cacheAfter: [1] })
  assert.deepEqual(marks(only.body), ['messages.0.content.0'])
})

test('marks change nothing else in the body', () => {
  const history = [user('x'), reply('a', call('c', 'clock')), result('c', 'y', 'clock'), user('z')]
  const without = encode(history, { tools: [clock] }).body
  const marked = encode(history, { tools: [clock], cacheAfter: [-1, 0, 2, 3] }).body
  const bare = JSON.parse(
    JSON.stringify(marked, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  ) as JsonObject
  assert.deepEqual(bare, without)
})
