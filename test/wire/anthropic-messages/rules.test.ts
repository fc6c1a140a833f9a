// What the API refuses, rule by rule, with its error messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { texts, thought } from './asking.ts'
import { asks, body, hi, out, refused, says, tool, use } from './bodies.ts'

test('a body that the API accepts is not refused', () => {
  const accepted: Json[] = [
    body([hi]),
    body([hi, says(...texts('a')), says(use('x')), asks(out('x')), asks(...texts('b'))]),
    body([says(...texts('a')), hi]),
    body([asks(...texts(' ', 'real'))]),
    body([hi, says(...texts('prefill'))]),
    body([hi, says(use('x')), asks(out('x', { content: undefined, is_error: false }))]),
    body([hi, { role: 'system', content: 'now in French' }], { model: 'claude-opus-4-8' }),
    body([hi, says(thought('Hm.'), use('x')), asks(out('x'))], { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    body([hi], { temperature: 0.5, top_k: 4 }),
    body([hi], { max_tokens: 0 }),
    { anthropic_version: 'vertex-2023-10-16', max_tokens: 5, messages: [hi] },
    body([asks(out('x'))], { thread: { type: 'continue', previous_message_id: 'msg_1' }, tools: undefined }),
    body([], { thread: { type: 'continue', previous_message_id: 'msg_1' }, tools: undefined }),
  ]
  for (const given of accepted) assert.deepEqual(refused(JSON.parse(JSON.stringify(given)) as Json), [])
})

const ids = (id: string) =>
  `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`

test('calls and results belong together', () => {
  const cases: [Json[], string, string][] = [
    [[hi, says(use('x')), hi], 'R-1', `messages.1: ${ids('x')}`],
    [[hi, says(use('x'))], 'R-1', `messages.1: ${ids('x')}`],
    [[hi, says(use('x'), use('y')), asks(out('x'))], 'R-1', `messages.1: ${ids('y')}`],
    [[hi, says(use('x'), ...texts('a')), asks(out('x'))], 'R-1', `messages.1: ${ids('x')}`],
    [[says(use('x'), ...texts('a')), asks(out('x'))], 'R-1', `messages.1: ${ids('x')}`],
    [[hi, says(use('x')), asks(...texts('a'), out('x'))], 'R-2', `messages.1: ${ids('x')}`],
    [
      [asks(out('x'))],
      'R-3',
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: x. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    ],
    [
      [hi, says(use('x')), asks(out('x'), out('x'))],
      'R-3',
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: x',
    ],
    [
      [hi, says(use('x')), asks(out('x')), says(use('x')), asks(out('x'))],
      'R-4',
      'messages.3.content.0: `tool_use` ids must be unique',
    ],
    [
      [hi, says(use('a.b')), asks(out('a.b'))],
      'R-5',
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      [hi, says(use('x', [])), asks(out('x'))],
      'R-6',
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      [hi, says(use('x')), asks(out('x', { content: '', is_error: true }))],
      'R-7',
      'messages.2.content.0.tool_result: content cannot be empty if is_error is true',
    ],
  ]
  for (const [messages, rule, message] of cases) assert.deepEqual(refused(body(messages))[0], [rule, message])
})

test('no message and no text is empty', () => {
  const none = 'all messages must have non-empty content except for the optional final assistant message'
  const cases: [Json[], string, string][] = [
    [[asks(...texts(''))], 'R-8', 'messages: text content blocks must be non-empty'],
    [[asks(...texts(' '))], 'R-8', 'messages: text content blocks must contain non-whitespace text'],
    [
      [hi, says(...texts('\n'), use('x')), asks(out('x'))],
      'R-8',
      'messages: text content blocks must contain non-whitespace text',
    ],
    [[{ role: 'user', content: '' }], 'R-9', `messages.0: ${none}`],
    [[hi, says(), hi], 'R-9', `messages.1: ${none}`],
    [[], 'R-10', 'messages: at least one message is required'],
  ]
  for (const [messages, rule, message] of cases) assert.deepEqual(refused(body(messages))[0], [rule, message])
  assert.deepEqual(refused(body([hi, says()])), [])
})

const system = { role: 'system', content: 'new rules' }

test('a system message in the middle has its place, and its models', () => {
  assert.deepEqual(refused(body([hi, system]), 'claude-sonnet-5')[0], [
    'R-12',
    "role 'system' is not supported on this model",
  ])
  const wrong: Json[][] = [
    [system, hi],
    [hi, says(...texts('a')), system, hi],
    [hi, system, hi],
  ]
  for (const messages of wrong) assert.equal(refused(body(messages), 'claude-opus-5')[0]?.[0], 'R-12')
})

test('the end of the conversation', () => {
  const end = 'messages: final assistant content cannot end with trailing whitespace'
  const prefill =
    'This model does not support assistant message prefill. The conversation must end with a user message.'
  assert.deepEqual(refused(body([hi, says(...texts('a '))])), [['R-13', end]])
  assert.deepEqual(refused(body([hi, says(...texts('a'))]), 'claude-opus-4-6'), [['R-14', prefill]])
  assert.deepEqual(
    refused(
      body([hi, says({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} })]),
      'claude-opus-5',
    ),
    [],
  )
  assert.deepEqual(
    refused(body([hi, says(thought('a'))])).map(([rule]) => rule),
    ['final-thinking', 'R-17'],
  )
  assert.match(
    refused(body([hi, says(thought('a'), ...texts('b'))]))[0]?.[1] ?? '',
    /^messages\.1\.content\.0: When thinking is disabled/,
  )
})

test('thinking is switched in the form of each model', () => {
  const enabled = { type: 'enabled', budget_tokens: 1024 }
  const cases: [string, JsonObject, string | undefined][] = [
    ['claude-opus-4-6', enabled, undefined],
    [
      'claude-opus-4-7',
      enabled,
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    ],
    ['claude-sonnet-4-5-20250929', { type: 'adaptive' }, 'adaptive thinking is not supported on this model'],
    ['claude-sonnet-5', { type: 'adaptive', display: 'summarized' }, undefined],
    ['claude-fable-5', { type: 'disabled' }, '"thinking.type.disabled" is not supported for this model.'],
    ['claude-opus-5', { type: 'disabled' }, undefined],
    [
      'claude-haiku-4-5',
      { type: 'enabled', budget_tokens: 10 },
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    ],
    [
      'claude-haiku-4-5',
      { type: 'enabled', budget_tokens: 2000 },
      '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
    ],
  ]
  for (const [model, thinking, message] of cases) {
    assert.deepEqual(refused(body([hi], { thinking }), model), message === undefined ? [] : [['R-20', message]])
  }
  const silent = body([hi, says(use('x')), asks(out('x'))], { thinking: enabled })
  const [rule, message] = refused(silent)[0] ?? []
  assert.equal(rule, 'R-16')
  assert.match(
    message ?? '',
    /^messages\.1\.content\.0\.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`\./,
  )
  assert.deepEqual(refused(body([hi, says(thought('a', ''), ...texts('b')), hi])), [
    ['R-18', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
  ])
})

test('sampling and forced calls differ by model', () => {
  const cases: [string, JsonObject, [string, string][]][] = [
    ['claude-opus-4-8', { temperature: 0.5 }, [['sampling', '`temperature` is deprecated for this model.']]],
    ['claude-opus-4-8', { temperature: 1 }, []],
    [
      'claude-haiku-4-5',
      { temperature: 0.5, top_p: 0.5 },
      [['sampling', '`temperature` and `top_p` cannot both be specified for this model. Please use only one.']],
    ],
    [
      'claude-opus-5-5',
      { tool_choice: { type: 'any' } },
      [['R-21', 'tool_choice: type "tool" and "any" are not supported for this model.']],
    ],
    ['claude-opus-5', { tool_choice: { type: 'tool', name: 'f' } }, []],
    [
      'claude-haiku-4-5',
      { tool_choice: { type: 'any' }, thinking: { type: 'enabled', budget_tokens: 1024 } },
      [['R-21', 'Thinking may not be enabled when tool_choice forces tool use.']],
    ],
    [
      'claude-3-5-haiku-20241022',
      { max_tokens: 10_000 },
      [
        [
          'shape',
          'max_tokens: 10000 > 8192, which is the maximum allowed number of output tokens for claude-haiku-4-5',
        ],
      ],
    ],
  ]
  for (const [model, more, expected] of cases) assert.deepEqual(refused(body([hi], more), model), expected)
})

test('tools have names, schemas and a choice among them', () => {
  const schema = (input_schema: Json) => [{ name: 'f', input_schema }]
  const invalid =
    'JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.'
  const cases: [JsonObject, string, string][] = [
    [{ tools: [tool, tool] }, 'R-23', 'tools: Tool names must be unique.'],
    [
      { tools: [{ ...tool, name: 'a.b' }] },
      'R-23',
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    ],
    [
      { tools: [{ ...tool, name: 'a'.repeat(129) }] },
      'R-23',
      'tools.0.custom.name: String should have at most 128 characters',
    ],
    [{ tools: schema({}) }, 'R-24', 'tools.0.custom.input_schema.type: Field required'],
    [{ tools: schema({ type: 'string' }) }, 'R-24', "tools.0.custom.input_schema.type: Input should be 'object'"],
    [
      { tools: schema({ type: 'object', anyOf: [] }) },
      'R-24',
      'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
    ],
    [
      { tools: schema({ type: 'object', properties: { a: { type: 'text' } } }) },
      'R-24',
      `tools.0.custom.input_schema: ${invalid}`,
    ],
    [{ tools: schema({ type: 'object', required: 'a' }) }, 'R-24', `tools.0.custom.input_schema: ${invalid}`],
    [{ tools: [{ ...tool, extra: 1 }] }, 'R-29', 'tools.0.custom.extra: Extra inputs are not permitted'],
    [{ tools: [], tool_choice: { type: 'auto' } }, 'shape', 'tool_choice may only be specified while providing tools.'],
    [{ tool_choice: { type: 'tool', name: 'g' } }, 'shape', "Tool 'g' not found in provided tools"],
  ]
  for (const [more, rule, message] of cases) assert.deepEqual(refused(body([hi], more)), [[rule, message]])
  assert.deepEqual(refused(body([hi, says(use('x')), asks(out('x'))], { tools: [] })), [
    ['R-22', 'Requests which include `tool_use` or `tool_result` blocks must define tools.'],
  ])
})

test('server tools come with their results', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  assert.deepEqual(refused(body([hi, says(search, found), hi])), [])
  assert.deepEqual(refused(body([hi, says(search, use('x')), asks(out('x')), says(found), hi])), [])
  assert.deepEqual(refused(body([hi, says(search), hi])), [
    [
      'R-25',
      '`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block',
    ],
  ])
  assert.deepEqual(refused(body([hi, says(found), hi])), [
    [
      'R-25',
      'messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.',
    ],
  ])
  assert.equal(refused(body([hi, says({ ...search, id: 'call_1' })]))[0]?.[0], 'R-5')
})
