import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'

const says = { type: 'user_input', content: [{ type: 'text', text: 'hi' }] }
const answers = { type: 'model_output', content: [{ type: 'text', text: 'Hello.' }] }
const thought = { type: 'thought', signature: 'AAEC' }
const asks = (id = 'x1', rest: JsonObject = {}) => ({
  type: 'function_call',
  id,
  name: 'clock',
  arguments: {},
  ...rest,
})
const gives = (id = 'x1') => ({ type: 'function_result', call_id: id, name: 'clock', result: '12' })
const body = (input: Json, rest: JsonObject = {}) => ({ model: 'gemini-2.5-flash', input, ...rest })
const three = { model: 'gemini-3.5-flash' }
const vague = 'Request contains an invalid argument.'

const refused: [string, Json, string, string | RegExp, string?][] = [
  ['no object', [], 'I-1', vague],
  ['neither a model nor an agent', { input: 'hi' }, 'I-1', vague],
  ['a model and an agent', body('hi', { agent: 'deep-research', background: true }), 'I-1', vague],
  ['no input', { model: 'gemini-2.5-flash' }, 'I-1', vague],
  ['an empty input', body([]), 'I-1', vague],
  [
    'a field of another wire',
    body('hi', { messages: [] }),
    'I-2',
    "Unknown parameter: 'messages'.",
    'parameter_unknown',
  ],
  [
    'the schema of before',
    body([{ role: 'user', content: 'hi' }]),
    'I-3',
    /^The legacy Interactions API schema is no longer supported\. .*interactions-breaking-changes-may-2026$/,
  ],
  ['an item of another wire', body([{ type: 'message', content: 'hi' }]), 'I-4', vague],
  [
    'a call without an id',
    body([says, { type: 'function_call', name: 'clock', arguments: {} }, gives()]),
    'I-4',
    vague,
  ],
  ['arguments in a string', body([says, asks('x1', { arguments: '{}' }), gives()]), 'I-4', vague],
  ['a result without a call id', body([says, asks(), { type: 'function_result', result: '12' }]), 'I-4', vague],
  ['a tool name that begins with a digit', body('hi', { tools: [{ type: 'function', name: '2nd' }] }), 'I-4', vague],
  ['a tool choice of another wire', body('hi', { generation_config: { tool_choice: 'required' } }), 'I-4', vague],
  [
    'in the background without storing',
    body('hi', { store: false, background: true }),
    'I-5',
    'store=true is required for background interactions',
  ],
  ['a chain that is not to be stored', body('hi', { store: false, previous_interaction_id: 'v1_a' }), 'I-6', vague],
  [
    'an agent in the foreground',
    { agent: 'deep-research', input: 'hi' },
    'I-7',
    'background=true is required for agent interactions.',
  ],
  ['user input without content', body([{ type: 'user_input', content: [] }]), 'G-8', vague],
  [
    'a history that opens with a call',
    body([asks(), gives()]),
    'G-2',
    /^Please ensure that function call turn comes immediately after/,
  ],
  [
    'a result without its call',
    body([says, answers, gives()]),
    'G-3',
    'Please ensure that function response turn comes immediately after a function call turn.',
  ],
  [
    'fewer results than calls',
    body([says, asks('x1'), asks('x2'), gives('x1')]),
    'G-4',
    /^Please ensure that the number of function response parts is equal/,
  ],
  ['a result under another id', body([says, asks('x1'), gives('x2')]), 'G-5', vague],
  [
    'a history that ends with the model',
    body([says, answers]),
    'G-5',
    'Please ensure that multiturn requests ends with a user role or a function response.',
  ],
  [
    'a call without a signature',
    body([says, asks(), gives()], three),
    'G-6',
    /^Function call is missing a thought_signature .*`default_api:clock` , position 2\./,
  ],
  [
    'an empty signature',
    body([says, { type: 'thought', signature: '' }, asks(), gives()], three),
    'G-6',
    /position 3\./,
  ],
  [
    'as good as no thinking for the newest models',
    body('hi', { model: 'gemini-3.8-flash', generation_config: { thinking_level: 'minimal' } }),
    'G-14',
    'Thinking level MINIMAL is not supported for this model.',
  ],
]

for (const [what, request, rule, message, code = 'invalid_request'] of refused) {
  test(`${what} is refused by ${rule}`, () => {
    const [first] = geminiInteractions.refuse(request)
    assert.equal(first?.rule, rule)
    assert.equal(first.status, 400)
    assert.equal(first.code, code)
    if (typeof message === 'string') assert.equal(first.message, message)
    else assert.match(first.message, message)
  })
}

const accepted: [string, Json][] = [
  ['a text', body('hi')],
  [
    'content without steps',
    body([
      { type: 'text', text: 'hi' },
      { type: 'image', data: 'AAAA', mime_type: 'image/png' },
    ]),
  ],
  ['one piece of content', body({ type: 'text', text: 'hi' })],
  ['a whole tool turn', body([says, asks('x1'), asks('x2'), gives('x2'), gives('x1')])],
  ['a result inside of user input', body([says, asks(), { type: 'user_input', content: [gives()] }])],
  ['a call behind a signed thought', body([says, thought, asks('x1'), asks('x2'), gives('x1'), gives('x2')], three)],
  ['a call with a signature of its own', body([says, asks('x1', { signature: 'AAEC' }), gives()], three)],
  ['an unsigned call of an earlier turn', body([says, asks(), gives(), answers, says], three)],
  ['a result whose call is in the chain', body([gives()], { previous_interaction_id: 'v1_a' })],
  [
    'steps of server tools',
    body([
      says,
      { type: 'google_search_call', id: 's', arguments: {} },
      { type: 'google_search_result', call_id: 's', result: [] },
      answers,
      says,
    ]),
  ],
  ['an agent in the background', { agent: 'deep-research', input: 'hi', background: true }],
]

for (const [what, request] of accepted) {
  test(`${what} is accepted`, () => assert.deepEqual(geminiInteractions.refuse(request), []))
}

test('a refusal has a string code', () => {
  const [issue] = geminiInteractions.refuse(body('hi', { store: false, background: true }))
  assert.ok(issue)
  assert.deepEqual(geminiInteractions.errorBody(issue), {
    error: { message: 'store=true is required for background interactions', code: 'invalid_request' },
  })
  assert.deepEqual(geminiInteractions.errorBody({ rule: 'state', status: 404, message: 'Gone.' }), {
    error: { message: 'Gone.', code: 'not_found' },
  })
})
