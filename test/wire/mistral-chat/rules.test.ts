import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { mistralChat } from '../../../src/wires/mistral-chat/index.ts'

const hi = { role: 'user', content: 'hi' }
const made = (...ids: Json[]) => ({
  role: 'assistant',
  content: '',
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'a', arguments: '{}' } })),
})
const answer = (id: Json, rest: JsonObject = {}) => ({ role: 'tool', tool_call_id: id, content: 'ok', ...rest })
const body = (...messages: Json[]): JsonObject => ({ model: 'mistral-small-latest', messages })
const order = { type: 'invalid_request_message_order', code: '3230' }
const plain = { type: 'invalid_request_error', code: null }
const call = { type: 'invalid_function_call', code: '3280' }
const tool = (fn: JsonObject): JsonObject => ({ ...body(hi), tools: [{ type: 'function', function: fn }] })

const refused: [string, JsonObject, string, string, { type: string; code: string | null }][] = [
  [
    'system behind assistant',
    body(hi, { role: 'assistant', content: 'a' }, { role: 'system', content: 's' }),
    'T-1',
    "Unexpected role 'system' after role 'assistant'",
    order,
  ],
  ['tool behind user', body(hi, answer('aaaaaaaa1')), 'T-1', "Unexpected role 'tool' after role 'user'", order],
  [
    'user behind tool',
    body(hi, made('aaaaaaaa1'), answer('aaaaaaaa1'), hi),
    'T-2',
    "Unexpected role 'user' after role 'tool'",
    order,
  ],
  [
    'assistant last',
    body(hi, { role: 'assistant', content: 'a' }),
    'T-3',
    'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    order,
  ],
  [
    'a missing result',
    body(hi, made('aaaaaaaa1', 'aaaaaaaa2'), answer('aaaaaaaa1'), { role: 'assistant', content: 'x' }, hi),
    'T-4',
    'Not the same number of function calls and responses',
    order,
  ],
  [
    'a long id',
    body(hi, made('call_1234567890'), answer('call_1234567890')),
    'T-5',
    'Tool call id was call_1234567890 but must be a-z, A-Z, 0-9, with a length of 9.',
    call,
  ],
  [
    'the string "null" as id',
    body(hi, made('null'), answer('null')),
    'T-5',
    'Tool call id was null but must be a-z, A-Z, 0-9, with a length of 9.',
    call,
  ],
  [
    'no id',
    body(hi, made('aaaaaaaa1'), { role: 'tool', content: 'ok' }),
    'T-6',
    'Tool call id has to be defined.',
    plain,
  ],
  [
    'a result for no call',
    body(hi, made('aaaaaaaa1'), answer('bbbbbbbb1')),
    'T-7',
    'Unexpected tool call id bbbbbbbb1 in tool results',
    order,
  ],
  [
    'two results for one call',
    body(hi, made('aaaaaaaa1', 'aaaaaaaa2'), answer('aaaaaaaa1'), answer('aaaaaaaa1')),
    'T-7',
    'Duplicate tool call id aaaaaaaa1 in tool results',
    order,
  ],
  [
    'two calls with one id',
    body(hi, made('aaaaaaaa1', 'aaaaaaaa1'), answer('aaaaaaaa1'), answer('aaaaaaaa1')),
    'T-7',
    'Duplicate tool call id aaaaaaaa1 in assistant message',
    order,
  ],
  [
    'an empty assistant',
    body(hi, { role: 'assistant', content: '' }, hi),
    'T-8',
    'Assistant message must have either content or tool_calls, but not none.',
    plain,
  ],
  [
    'an image in a result',
    body(hi, made('aaaaaaaa1'), answer('aaaaaaaa1', { content: [{ type: 'image_url', image_url: 'x' }] })),
    'T-9',
    'Unexpected content chunk types in tool message',
    plain,
  ],
  ['no messages', body(), 'T-10', 'Conversation must have at least one message', order],
  [
    'assistant first',
    body({ role: 'assistant', content: 'a' }, hi),
    'T-10',
    'Conversation must start with a user message or system message',
    order,
  ],
  [
    'an empty system prompt',
    body({ role: 'system', content: '' }, hi),
    'T-10',
    'System prompt must have content',
    plain,
  ],
  [
    'a prefix in the middle',
    body(hi, { role: 'assistant', content: 'a', prefix: true }, hi),
    'T-11',
    'Assistant message with prefix True must be last message',
    plain,
  ],
  [
    'a name with a dot',
    tool({ name: 'a.b', parameters: { type: 'object' } }),
    'T-12',
    'Function name was a.b but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.',
    plain,
  ],
  [
    'a draft-4 schema',
    tool({ name: 'a', parameters: { type: 'object', properties: { n: { type: 'integer', exclusiveMinimum: true } } } }),
    'T-13',
    "Invalid tool schema: True is not of type 'number'",
    plain,
  ],
  [
    'an empty model',
    { model: '', messages: [hi] },
    'T-model',
    'Invalid model: ',
    { type: 'invalid_model', code: '1500' },
  ],
]

for (const [name, given, rule, message, { type, code }] of refused) {
  test(`${name} is refused by ${rule}, with Mistral's message`, () => {
    const [first] = mistralChat.refuse(given)
    assert.deepEqual(first, { rule, status: 400, message, type, code, param: null })
    assert.deepEqual(mistralChat.errorBody(first), { object: 'error', message, type, param: null, code })
  })
}

const accepted: [string, JsonObject][] = [
  ['a plain question', body(hi)],
  ['system, user, user', body({ role: 'system', content: 's' }, hi, hi)],
  ['assistant twice', body(hi, { role: 'assistant', content: 'a' }, { role: 'assistant', content: 'b' }, hi)],
  ['a prefix last', body(hi, { role: 'assistant', content: 'a', prefix: true })],
  [
    'an empty list of calls beside content',
    body(hi, { role: 'assistant', content: [{ type: 'text', text: 'a' }], tool_calls: [], prefix: false }, hi),
  ],
  [
    'calls with arguments as an object',
    body(
      hi,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'aaaaaaaa1', function: { name: 'a', arguments: {} }, index: 0 }],
      },
      answer('aaaaaaaa1', { name: 'a' }),
    ),
  ],
  [
    'thinking in an assistant',
    body(
      hi,
      { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }], closed: true }] },
      hi,
    ),
  ],
  ['null where nothing is set', { ...body(hi), stop: null, frequency_penalty: null, n: 1, prompt_cache_key: 'k' }],
  [
    'a tool without a type',
    { ...body(hi), tools: [{ function: { name: 'a', description: '', parameters: {} } }], tool_choice: 'any' },
  ],
]
for (const [name, given] of accepted) {
  test(`${name} is accepted`, () => assert.deepEqual(mistralChat.refuse(given), []))
}

test('the first-party service accepts a user message after a tool result, hosts do not', () => {
  const given = body(hi, made('aaaaaaaa1'), answer('aaaaaaaa1'), hi)
  assert.deepEqual(mistralChat.refuse(given, { provider: 'mistral' }), [])
  assert.equal(mistralChat.refuse(given, { provider: 'azure' })[0]?.rule, 'T-2')
})

const misfits: [string, Json, string, string, (string | number)[]][] = [
  [
    'an unknown field',
    { ...body(hi), user: 'u' },
    'extra_forbidden',
    'Extra inputs are not permitted',
    ['body', 'user'],
  ],
  [
    'stream_options',
    { ...body(hi), stream: true, stream_options: { include_usage: true } },
    'extra_forbidden',
    'Extra inputs are not permitted',
    ['body', 'stream_options'],
  ],
  [
    'max_completion_tokens',
    { ...body(hi), max_completion_tokens: 5 },
    'extra_forbidden',
    'Extra inputs are not permitted',
    ['body', 'max_completion_tokens'],
  ],
  [
    'reasoning_content',
    body(hi, { role: 'assistant', content: 'a', reasoning_content: 'x' }, hi),
    'extra_forbidden',
    'Extra inputs are not permitted',
    ['body', 'messages', 1, 'assistant', 'reasoning_content'],
  ],
  [
    'a name on a user',
    body({ ...hi, name: 'n' }),
    'extra_forbidden',
    'Extra inputs are not permitted',
    ['body', 'messages', 0, 'user', 'name'],
  ],
  ['no model', { messages: [hi] }, 'missing', 'Field required', ['body', 'model']],
  ['no messages', { model: 'm' }, 'missing', 'Field required', ['body', 'messages']],
  [
    'an unknown role',
    body({ role: 'developer', content: 'x' }),
    'union_tag_invalid',
    "Input tag 'developer' found using 'role' does not match any of the expected tags: 'assistant', 'system', 'tool', 'user'",
    ['body', 'messages', 0],
  ],
  ['no object', [], 'dict_type', 'Input should be a valid dictionary', ['body']],
]
for (const [name, given, type, msg, loc] of misfits) {
  test(`${name} does not fit the closed schema: 422 with its place`, () => {
    const [first] = mistralChat.refuse(given)
    assert.equal(first?.status, 422)
    assert.deepEqual(mistralChat.errorBody(first), { detail: [{ type, loc, msg }] })
  })
}

test('more than 128 tools are refused', () => {
  const tools = Array.from({ length: 129 }, (_, n) => ({
    type: 'function',
    function: { name: `t${n}`, parameters: {} },
  }))
  assert.equal(mistralChat.refuse({ ...body(hi), tools })[0]?.rule, 'T-13')
  assert.deepEqual(mistralChat.refuse({ ...body(hi), tools: tools.slice(1) }), [])
})
