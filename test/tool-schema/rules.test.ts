// What providers have said of schemas, word for word where it was recorded (docs/tool-schemas.md).

import assert from 'node:assert/strict'
import test from 'node:test'
import { prepare, refuse } from '../../src/runtime/prepare.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'

const text = { type: 'string' }
const union = { type: 'object', properties: {}, anyOf: [{ required: ['a'] }] }
const loop = {
  type: 'object',
  properties: { top: { $ref: '#/$defs/And' } },
  $defs: { And: { type: 'object', properties: { left: { $ref: '#/$defs/And' } }, required: ['left'] } },
}

/** The provider, the schema of a function named `f`, and the error. */
const functions: [string, string, Json, string][] = [
  [
    'openai',
    'openai-chat',
    union,
    "Invalid schema for function 'f': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
  ],
  [
    'openai',
    'openai-responses',
    union,
    "Invalid schema for function 'f': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
  ],
  [
    'openai',
    'openai-chat',
    { anyOf: [text] },
    `Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
  ],
  [
    'openai',
    'openai-chat',
    { type: 'array', items: text },
    `Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.`,
  ],
  [
    'openai',
    'openai-chat',
    { type: 'object' },
    "Invalid schema for function 'f': In context=(), object schema missing properties.",
  ],
  [
    'openai',
    'openai-chat',
    { type: 'object', properties: { paths: { type: 'array' } } },
    "Invalid schema for function 'f': In context=('properties', 'paths'), array schema missing items.",
  ],
  [
    'openai',
    'openai-responses',
    { type: 'object', properties: { a: { anyOf: [{ type: 'array', prefixItems: [text] }] } } },
    "Invalid schema for function 'f': In context=('properties', 'a', 'anyOf', '0'), array schema missing items.",
  ],
  [
    'openai',
    'openai-chat',
    { type: 'object', properties: { a: { type: 'array', items: { type: ['array', 'string'] } } } },
    "Invalid schema for function 'f': In context=('properties', 'a', 'items', 'type', '0'), array schema missing items.",
  ],
  [
    'openai',
    'openai-chat',
    { type: 'object', properties: { a: { type: 'int' } } },
    "Invalid schema for function 'f': 'int' is not valid under any of the given schemas.",
  ],
  [
    'openai',
    'openai-chat',
    { type: 'object', properties: { a: { type: 'array', items: [text] } } },
    "Invalid schema for function 'f': [{'type': 'string'}] is not of type 'object', 'boolean'.",
  ],
  [
    'deepseek',
    'openai-chat',
    {},
    `Invalid schema for function 'f': schema must be a JSON Schema of 'type: "object"', got 'type: null'.`,
  ],
  [
    'groq',
    'openai-chat',
    { type: 'object', required: [] },
    "invalid JSON schema for tool f, tools[0].function.parameters: 'required' present but 'properties' is missing",
  ],
  [
    'moonshot',
    'openai-chat',
    { properties: {} },
    'Invalid request: tools.function.parameters.type is required and must be "object"',
  ],
  [
    'moonshot',
    'openai-chat',
    union,
    "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'root': when using anyOf, type should be defined in anyOf items instead of the parent schema>",
  ],
  [
    'moonshot',
    'openai-chat',
    { type: 'object', properties: { source: {} } },
    "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.source': type is not defined>",
  ],
  [
    'moonshot',
    'openai-chat',
    {
      type: 'object',
      properties: { w: { type: 'array', items: { type: 'object', properties: {}, required: ['codecType'] } } },
    },
    "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.w.items.required': required property 'codecType' is not defined in properties>",
  ],
  [
    'moonshot',
    'openai-chat',
    { type: 'object', properties: { e: { $ref: '#/$defs/P' } } },
    "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.e.$ref': $defs not found for reference: #/$defs/P>",
  ],
  [
    'fireworks',
    'openai-chat',
    { type: 'object', properties: { e: { $ref: '#/$defs/P' } }, $defs: { P: text } },
    'Invalid tool schema, $ref is not supported',
  ],
  [
    'anthropic',
    'anthropic-messages',
    union,
    'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
  ],
  [
    'anthropic',
    'anthropic-messages',
    { type: 'object', properties: { a: { type: 'array', items: [text] } } },
    'tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.',
  ],
  [
    'google',
    'gemini-generate',
    { type: 'object', properties: { a: { $ref: '#/$defs/X', type: 'object' } }, $defs: { X: text } },
    "$ref 'X' was set alongside unsupported fields. If a schema node has $ref set, then only description and default can be set alongside it",
  ],
  [
    'google',
    'gemini-generate',
    { type: 'object', properties: { a: { anyOf: [text, { $ref: '#/$defs/X' }] } } },
    'reference to undefined schema at properties.a.anyOf.1',
  ],
  [
    'google',
    'gemini-interactions',
    loop,
    'ref loops are only supported if they include optional or nullable property values, or a potentially-zero-length array items, but a ref loop of required fields was found at properties.top',
  ],
  [
    'google',
    'gemini-generate',
    { properties: {} },
    'Unable to submit request because `f` functionDeclaration `parameters` schema should be of type OBJECT. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling',
  ],
]

for (const [provider, protocol, schema, message] of functions) {
  test(`${provider} on ${protocol}: ${message.slice(0, 110)}`, () => {
    const issues = refuse(protocol, declaring(protocol, schema), { provider })
    assert.deepEqual(
      issues.map((issue) => issue.message),
      [message],
    )
    assert.equal(issues[0]?.status, 400)
    const plain = { type: 'object', properties: { a: text }, required: ['a'] }
    assert.deepEqual(refuse(protocol, declaring(protocol, plain), { provider }), [])
  })
}

const user = { role: 'user', content: 'hi' }
const closed = { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false }

/** The provider, the model, the fields of the answer format, and the error; none: it is accepted. */
const answers: [string, string, JsonObject, string?][] = [
  [
    'openai',
    'gpt-4-turbo',
    chatFormat(closed),
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
  ],
  [
    'openai',
    'gpt-4',
    { response_format: { type: 'json_object' }, messages: [{ role: 'user', content: 'As JSON.' }] },
    "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.",
  ],
  [
    'openai',
    'gpt-4-turbo',
    { response_format: { type: 'json_object' } },
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
  ],
  [
    'openai',
    'gpt-4-turbo',
    { response_format: { type: 'json_object' }, messages: [{ role: 'user', content: 'As JSON.' }] },
  ],
  ['openai', 'gpt-4o', chatFormat(closed)],
  [
    'openai',
    'gpt-4o',
    chatFormat({ type: 'array', items: text }),
    `Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: "object"', got 'type: "array"'.`,
  ],
  [
    'openai',
    'gpt-4o',
    chatFormat({ type: 'object', properties: {} }),
    "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required to be supplied and to be false.",
  ],
  [
    'openai',
    'gpt-4o',
    chatFormat({ ...closed, required: [] }),
    "Invalid schema for response_format 'answer': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
  ],
  [
    'deepseek',
    'deepseek-v4-pro',
    { response_format: { type: 'json_object' } },
    "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
  ],
  [
    'groq',
    'llama-3.3-70b-versatile',
    chatFormat(closed),
    'This model does not support response format `json_schema`. See supported models at https://console.groq.com/docs/structured-outputs#supported-models',
  ],
  [
    'groq',
    'openai/gpt-oss-120b',
    chatFormat({ ...closed, properties: { a: { type: 'array', items: text, minItems: 1 } } }),
    'invalid schema for response format: response_format/json_schema/a: minItems is not supported',
  ],
]

for (const [provider, model, fields, message] of answers) {
  test(`${provider}/${model} ${message === undefined ? 'takes' : 'refuses'} ${JSON.stringify(fields).slice(0, 90)}`, () => {
    const issues = refuse('openai-chat', { model, messages: [user], ...fields }, { provider })
    assert.deepEqual(
      issues.map((issue) => [issue.rule, issue.message]),
      message === undefined ? [] : [['answer-format', message]],
    )
  })
}

test('each object in the schema of an answer of Cohere requires a property, and choices and types stay', () => {
  const answerSchema = {
    type: 'object',
    properties: {
      size: { oneOf: [text, { type: 'integer', minimum: 3 }] },
      place: { type: 'object', properties: { city: text, street: text }, required: ['street'] },
    },
  }
  const { body, notes } = prepare({
    protocol: 'cohere-chat',
    provider: 'cohere',
    model: 'command-a-03-2025',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
    options: { answerSchema },
  })
  assert.deepEqual(body['response_format'], {
    type: 'json_object',
    json_schema: {
      type: 'object',
      properties: {
        size: { anyOf: [text, { type: 'integer', description: '(minimum: 3)' }] },
        place: answerSchema.properties.place,
      },
      required: ['size'],
    },
  })
  assert.match(notes.map(({ what }) => what).join(), /one property required/)
})

test('Anthropic accepts only closed objects without bounds as an answer schema', () => {
  const told = (schema: JsonObject, model = 'claude-opus-5') =>
    refuse('anthropic-messages', {
      model,
      max_tokens: 10,
      messages: [user],
      output_config: { format: { type: 'json_schema', schema } },
    }).map((issue) => issue.message)
  assert.deepEqual(told(closed), [])
  const at = 'output_config.format.schema: For'
  assert.deepEqual(told({ type: 'object' }), [
    `${at} 'object' type, 'additionalProperties' must be explicitly set to false`,
  ])
  assert.deepEqual(told({ ...closed, additionalProperties: true }), [
    `${at} 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false`,
  ])
  assert.deepEqual(told({ ...closed, properties: { a: { type: 'array', items: text, maxItems: 2 } } }), [
    `${at} 'array' type, property 'maxItems' is not supported`,
  ])
  assert.equal(told(closed, 'claude-3-5-haiku-latest').length, 1)
})

function chatFormat(schema: JsonObject): JsonObject {
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }
}

function declaring(protocol: string, schema: Json): JsonObject {
  switch (protocol) {
    case 'openai-responses':
      return { model: 'gpt-5.6', input: 'hi', tools: [{ type: 'function', name: 'f', parameters: schema }] }
    case 'anthropic-messages':
      return { model: 'claude-opus-5', max_tokens: 10, messages: [user], tools: [{ name: 'f', input_schema: schema }] }
    case 'gemini-generate':
      return {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }],
      }
    case 'gemini-interactions':
      return { model: 'gemini-3.8-flash', input: 'hi', tools: [{ type: 'function', name: 'f', parameters: schema }] }
    default:
      return {
        model: 'a-model',
        messages: [user],
        tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      }
  }
}
