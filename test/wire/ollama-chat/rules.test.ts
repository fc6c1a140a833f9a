import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'

const body = (message: JsonObject, rest: JsonObject = {}): JsonObject => ({
  model: 'qwen3',
  messages: [message],
  ...rest,
})
const hi = { role: 'user', content: 'hi' }
const field = (kind: string, path: string, type: string) =>
  `json: cannot unmarshal ${kind} into Go struct field ChatRequest.${path} of type ${type}`
const asks = (args: Json) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ function: { name: 'a', arguments: args } }],
})
const tool = (parameters: JsonObject) =>
  body(hi, { tools: [{ type: 'function', function: { name: 'a', parameters } }] })

const refused: [string, Json, string, string, number?][] = [
  [
    'a list as content',
    body({ role: 'user', content: [{ type: 'text', text: 'hi' }] }),
    'O-3',
    field('array', 'messages.content', 'string'),
  ],
  ['arguments as text', body(asks('{"a":1}')), 'O-4', "Value looks like object, but can't find closing '}' symbol"],
  ['arguments as a list', body(asks([1])), 'O-4', "Value looks like object, but can't find closing '}' symbol"],
  ['an image by URL', body({ ...hi, images: ['https://x.test/a.png'] }), 'O-5', 'illegal base64 data at input byte 5'],
  [
    'an image as a data URL',
    body({ ...hi, images: ['data:image/png;base64,AAAA'] }),
    'O-5',
    'illegal base64 data at input byte 4',
  ],
  ['an image without padding', body({ ...hi, images: ['AAAAAA'] }), 'O-5', 'illegal base64 data at input byte 4'],
  [
    'an image with half the padding',
    body({ ...hi, images: ['AAAAAA='] }),
    'O-5',
    'illegal base64 data at input byte 7',
  ],
  [
    'images that are no list',
    body({ ...hi, images: 'AAAA' }),
    'O-1',
    field('string', 'messages.images', '[]api.ImageData'),
  ],
  ['no model', { messages: [hi] }, 'O-2', 'model is required'],
  ['an empty model', { model: '', messages: [hi] }, 'O-2', 'model is required'],
  ['a message that is text', { model: 'm', messages: ['hi'] }, 'O-1', field('string', 'messages', 'api.Message')],
  ['a role that is a number', body({ role: 1, content: 'x' }), 'O-1', field('number', 'messages.role', 'string')],
  ['stream as text', body(hi, { stream: 'yes' }), 'O-1', field('string', 'stream', 'bool')],
  [
    'an unknown level of thought',
    body(hi, { think: 'xhigh' }),
    'O-6',
    'invalid think value: "xhigh" (must be "high", "medium", "low", "max", true, or false)',
  ],
  [
    'a number as think',
    body(hi, { think: 5 }),
    'O-6',
    'think must be a boolean or string ("high", "medium", "low", "max", true, or false)',
  ],
  [
    'num_predict as text',
    body(hi, { options: { num_predict: '5' } }),
    'O-7',
    'option "num_predict" must be of type integer',
    500,
  ],
  [
    'temperature as text',
    body(hi, { options: { temperature: 'hot' } }),
    'O-7',
    'option "temperature" must be of type float32',
    500,
  ],
  ['stop as text', body(hi, { options: { stop: 'END' } }), 'O-7', 'option "stop" must be of type array', 500],
  [
    'a boolean schema',
    tool({ type: 'object', properties: { x: { type: 'object', properties: { y: true } } } }),
    'O-8',
    'json: cannot unmarshal bool into Go value of type api.ToolProperty',
  ],
  [
    'a list as type of the parameters',
    tool({ type: ['object'] }),
    'O-1',
    field('array', 'tools.function.parameters.type', 'string'),
  ],
  [
    'a format of another name',
    body(hi, { format: 'yaml' }),
    'O-9',
    'invalid format: "\\"yaml\\""; expected "json" or a valid JSON Schema object',
    500,
  ],
  ['no object', [], 'O-1', 'json: cannot unmarshal array into Go value of type api.ChatRequest'],
]
for (const [name, given, rule, message, status = 400] of refused) {
  test(`${name} is refused by ${rule}, with the server's message`, () => {
    const [first] = ollamaChat.refuse(given)
    assert.deepEqual(first, { rule, status, message })
    assert.deepEqual(ollamaChat.errorBody(first), { error: message })
  })
}

const accepted: [string, JsonObject][] = [
  ['a plain question', body(hi)],
  ['no messages: that loads the model', { model: 'm', messages: [] }],
  ['null in place of content', body({ role: 'assistant', content: null, tool_calls: null })],
  ['a role no one knows', body({ role: 'developer', content: 'x' })],
  [
    'results without calls, two users, an assistant last',
    { model: 'm', messages: [{ role: 'tool', content: 'x' }, hi, hi, { role: 'assistant', content: 'y' }] },
  ],
  ['fields no one knows', body({ ...hi, name: 'n' }, { user: 'u', tool_choice: 'auto' })],
  ['levels of thought', body(hi, { think: 'max', format: 'json', options: { num_ctx: 4096, mirostat: 'odd' } })],
  ['sound images, also with line breaks', body({ ...hi, images: ['AAAA', 'AAA=', 'AA==', 'AA\nAA\r\n', ''] })],
  [
    'a property of several types',
    tool({ type: 'object', required: ['x'], properties: { x: { type: ['string', 'null'], enum: ['a'] } } }),
  ],
]
for (const [name, given] of accepted) {
  test(`${name} is accepted`, () => assert.deepEqual(ollamaChat.refuse(given), []))
}
