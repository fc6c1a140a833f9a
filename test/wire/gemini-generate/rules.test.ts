import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
import type { Profile } from '../../../src/wires/wire.ts'

const say = (text: string) => ({ role: 'user', parts: [{ text }] })
const answer = (text: string) => ({ role: 'model', parts: [{ text }] })
const ask = (name: string, signature?: string, id?: string) => ({
  functionCall: { ...(id && { id }), name, args: {} },
  ...(signature && { thoughtSignature: signature }),
})
const give = (name: string, id?: string) => ({
  functionResponse: { ...(id && { id }), name, response: { output: '1' } },
})
const model = (...parts: Json[]) => ({ role: 'model', parts })
const user = (...parts: Json[]) => ({ role: 'user', parts })
const declare = (parameters: Json) => [{ functionDeclarations: [{ name: 'f', parameters }] }]

interface Row {
  what: string
  body: Json
  profile?: Profile
  rule: string
  message: string | RegExp
}

const signatureMessage =
  'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:clock` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.'

const rows: Row[] = [
  { what: 'no object', body: [], rule: 'shape', message: /^Invalid JSON payload received\./ },
  {
    what: 'a field of another wire',
    body: { messages: [], contents: [say('hi')] },
    rule: 'shape',
    message: 'Invalid JSON payload received. Unknown name "messages": Cannot find field.',
  },
  {
    what: 'a part of another wire',
    body: { contents: [user({ type: 'text', text: 'hi' })] },
    rule: 'shape',
    message: `Invalid JSON payload received. Unknown name "type" at 'contents[0].parts[0]': Cannot find field.`,
  },
  {
    what: 'a bare string as result',
    body: { contents: [say('hi'), model(ask('f')), user({ functionResponse: { name: 'f', response: '12' } })] },
    rule: 'shape',
    message: `Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), "12"`,
  },
  {
    what: 'another role',
    body: { contents: [{ role: 'assistant', parts: [{ text: 'hi' }] }] },
    rule: 'G-1',
    message: 'Please use a valid role: user, model.',
  },
  {
    what: 'a history that opens with a call',
    body: { contents: [model(ask('f')), user(give('f'))] },
    rule: 'G-2',
    message:
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
  {
    what: 'a response without its call',
    body: { contents: [say('hi'), answer('Hello.'), user(give('f'))] },
    rule: 'G-3',
    message: 'Please ensure that function response turn comes immediately after a function call turn.',
  },
  {
    what: 'fewer responses than calls',
    body: { contents: [say('hi'), model(ask('f'), ask('g')), user(give('f'))] },
    rule: 'G-4',
    message:
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
  },
  {
    what: 'a call that no one answered',
    body: { contents: [say('hi'), model(ask('f')), say('never mind')] },
    rule: 'G-4',
    message:
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
  },
  {
    what: 'a history that ends with the model',
    body: { contents: [say('hi'), answer('Hello.')] },
    rule: 'G-5',
    message: 'Please ensure that multiturn requests ends with a user role or a function response.',
  },
  {
    what: 'nothing but the model',
    body: { contents: [answer('Hello.')] },
    rule: 'G-5',
    message: 'Please ensure that single turn requests end with a user role or the role field is empty.',
  },
  {
    what: 'a response under another id, for the newest models',
    body: { contents: [say('hi'), model(ask('f', 'AAEC', 'x1')), user(give('f', 'x2'))] },
    profile: { model: 'gemini-3.8-flash' },
    rule: 'G-5',
    message: 'Request contains an invalid argument.',
  },
  {
    what: 'a call without its signature',
    body: { contents: [say('hi'), model(ask('clock')), user(give('clock'))] },
    profile: { model: 'gemini-3-flash-preview' },
    rule: 'G-6',
    message: signatureMessage,
  },
  {
    what: 'a signature that is no signature',
    body: { contents: [say('hi'), model(ask('f', 'not base64!')), user(give('f'))] },
    rule: 'G-7',
    message: 'Unable to submit request because Thought signature is not valid.',
  },
  {
    what: 'a content without parts',
    body: { contents: [say('hi'), { role: 'model', parts: [] }, say('hi')] },
    rule: 'G-8',
    message: '* GenerateContentRequest.contents[1].parts: contents.parts must not be empty.\n',
  },
  {
    what: 'a content without parts on Vertex',
    body: { contents: [{ role: 'user', parts: [] }] },
    profile: { provider: 'vertex' },
    rule: 'G-8',
    message: /^Unable to submit request because it must include at least one parts field/,
  },
  {
    what: 'a signature whose empty text was left out',
    body: { contents: [say('hi'), model({ thoughtSignature: 'AAEC' }), say('hi')] },
    rule: 'G-9',
    message:
      "* GenerateContentRequest.contents[1].parts[0].data: required oneof field 'data' must have one initialized field\n",
  },
  {
    what: 'empty text',
    body: { contents: [say('')] },
    rule: 'G-9',
    message:
      "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field\n",
  },
  {
    what: 'no contents',
    body: { contents: [] },
    rule: 'G-10',
    message: '* GenerateContentRequest.contents: contents is not specified\n',
  },
  {
    what: 'a keyword that `parameters` does not know',
    body: { contents: [say('hi')], tools: declare({ type: 'object', additional_properties: false }) },
    rule: 'G-12',
    message: `Invalid JSON payload received. Unknown name "additional_properties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`,
  },
  {
    what: 'a keyword deep inside that `parameters` does not know',
    body: {
      contents: [say('hi')],
      tools: declare({ type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING', const: 'x' } } }),
    },
    rule: 'G-12',
    message: `Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[0].parameters.properties[1].value': Cannot find field.`,
  },
  {
    what: 'a list of nothing in `parameters`',
    body: { contents: [say('hi')], tools: declare({ type: 'object', properties: { files: { type: 'array' } } }) },
    rule: 'G-12',
    message:
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[files].items: missing field.\n',
  },
  {
    what: 'a tool name that begins with a digit',
    body: { contents: [say('hi')], tools: [{ functionDeclarations: [{ name: '2nd' }] }] },
    rule: 'shape',
    message: /Invalid function name/,
  },
  {
    what: 'a tool twice',
    body: { contents: [say('hi')], tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] },
    rule: 'shape',
    message: 'Duplicate function declaration found: f',
  },
  {
    what: 'cached content beside a system instruction',
    body: { contents: [say('hi')], cachedContent: 'cachedContents/1', system_instruction: { parts: [{ text: 'x' }] } },
    rule: 'G-13',
    message:
      'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.',
  },
  {
    what: 'a level and a budget of thinking',
    body: configured({ thinkingConfig: { thinkingLevel: 'low', thinkingBudget: 100 } }),
    rule: 'G-14',
    message: 'You can only set only one of thinking budget and thinking level.',
  },
  {
    what: 'a level of thinking for an older model',
    body: configured({ thinkingConfig: { thinkingLevel: 'low' } }),
    profile: { model: 'gemini-2.5-flash' },
    rule: 'G-14',
    message: 'Thinking level is not supported for this model.',
  },
  {
    what: 'as good as no thinking for the newest models',
    body: configured({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }),
    profile: { model: 'gemini-3.7-flash' },
    rule: 'G-14',
    message: 'Thinking level MINIMAL is not supported for this model.',
  },
  {
    what: 'a penalty for the newest models',
    body: configured({ presencePenalty: 0.2 }),
    profile: { model: 'gemini-3.8-flash' },
    rule: 'G-14',
    message: 'Penalty is not enabled for this model',
  },
  {
    what: 'two candidates from the newest models',
    body: configured({ candidateCount: 2 }),
    profile: { model: 'gemini-3.8-flash' },
    rule: 'G-14',
    message: 'Multiple candidates is not enabled for this model',
  },
]

function configured(generationConfig: JsonObject): Json {
  return { contents: [say('hi')], generationConfig }
}

for (const { what, body, profile, rule, message } of rows) {
  test(`${what} is refused by ${rule}, with Google's message`, () => {
    const [first] = geminiGenerate.refuse(body, profile)
    assert.equal(first?.rule, rule)
    assert.equal(first.status, 400)
    if (typeof message === 'string') assert.equal(first.message, message)
    else assert.match(first.message, message)
  })
}

const accepted: [string, Json, Profile?][] = [
  ['a text alone, without a role', { contents: [{ parts: [{ text: 'hi' }] }] }],
  [
    'snake_case',
    {
      contents: [
        say('hi'),
        model({ function_call: { name: 'f', args: {} } }),
        user({ function_response: { name: 'f', response: {} } }),
      ],
    },
  ],
  ['one content instead of a list', { contents: say('hi') }],
  ['neighbours of one role', { contents: [say('hi'), model(ask('f')), user(give('f')), say('continue')] }],
  [
    'steps of one turn in contents of their own',
    { contents: [say('hi'), model(ask('f', 'AAEC')), model(ask('g', 'AAEC')), user(give('f'), give('g'))] },
    { model: 'gemini-3-flash-preview' },
  ],
  [
    'an empty text with a signature',
    { contents: [say('hi'), model({ text: '', thoughtSignature: 'AAEC' }), say('hi')] },
  ],
  [
    'a second parallel call without a signature',
    { contents: [say('hi'), model(ask('f', 'AAEC'), ask('g')), user(give('f'), give('g'))] },
    { model: 'gemini-3-flash-preview' },
  ],
  [
    'an unsigned call of an earlier turn',
    { contents: [say('hi'), model(ask('f')), user(give('f')), answer('1'), say('and now?')] },
    { model: 'gemini-3-flash-preview' },
  ],
  [
    'an unsigned call for an older model',
    { contents: [say('hi'), model(ask('f')), user(give('f'))] },
    { model: 'gemini-2.5-flash' },
  ],
  [
    'the documented stand-in for a signature',
    { contents: [say('hi'), model(ask('f', 'skip_thought_signature_validator')), user(give('f'))] },
    { model: 'gemini-3.8-flash' },
  ],
  ['a penalty of zero', configured({ presencePenalty: 0 }), { model: 'gemini-3.8-flash' }],
  [
    'additionalProperties in `parameters` on Vertex',
    { contents: [say('hi')], tools: declare({ type: 'object', additionalProperties: false }) },
    { provider: 'vertex' },
  ],
]

for (const [what, body, profile] of accepted) {
  test(`${what} is accepted`, () => assert.deepEqual(geminiGenerate.refuse(body, profile), []))
}

test('a refusal is carried as Google carries it', () => {
  const [issue] = geminiGenerate.refuse({ contents: [] })
  assert.ok(issue)
  assert.deepEqual(geminiGenerate.errorBody(issue), {
    error: {
      code: 400,
      message: '* GenerateContentRequest.contents: contents is not specified\n',
      status: 'INVALID_ARGUMENT',
    },
  })
  assert.deepEqual(geminiGenerate.errorBody({ rule: 'limit', status: 429, message: 'Slowly.' }), {
    error: { code: 429, message: 'Slowly.', status: 'RESOURCE_EXHAUSTED' },
  })
})
