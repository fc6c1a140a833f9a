// Every rule that a body can show, broken once: which rule, which status, and the words of the real server.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { openaiResponses } from '../../../src/wires/openai-responses/index.ts'
import { called, reasoning, textItem } from './target.ts'

const hi = { role: 'user', content: 'Hi' }
const tool = { type: 'function', name: 'clock', parameters: { type: 'object', properties: {} } }
const { content: _, ...sealed } = reasoning

function body(input: Json, fields: JsonObject = {}): JsonObject {
  return { model: 'gpt-5.5', input, ...fields }
}

function output(callId: string): JsonObject {
  return { type: 'function_call_output', call_id: callId, output: 'ok' }
}

type Row = [rule: string, status: number, message: RegExp | string, body: Json, provider?: string]

const refused: Row[] = [
  ['shape', 400, 'We could not parse the JSON body of your request.', 'hello'],
  ['shape', 400, "Missing required parameter: 'model'.", { input: 'Hi' }],
  ['shape', 400, "Invalid type for 'model': expected a string, but got an integer instead.", { model: 7, input: 'Hi' }],
  ['shape', 400, /^Unsupported parameter: 'messages'\. In the Responses API/, { model: 'm', messages: [hi] }],
  ['R18', 400, "Missing required parameter: 'input'.", { model: 'm', previous_response_id: 'resp_1' }],
  ['R18', 400, `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`, body([])],
  ['R18', 400, /must be provided\.$/, body('')],
  [
    'shape',
    400,
    "Invalid type for 'input': expected one of a string or array of input items, but got an object instead.",
    body({}),
  ],
  ['shape', 400, "Invalid type for 'input[1]': expected an input item, but got null instead.", body([hi, null])],
  ['shape', 400, "Unknown parameter: 'stop'.", body('Hi', { stop: ['x'] })],
  [
    'shape',
    400,
    "Invalid type for 'store': expected a boolean, but got a string instead.",
    body('Hi', { store: 'yes' }),
  ],

  ['R1', 400, 'No tool output found for function call call_a.', body([hi, called('call_a')])],
  [
    'R1',
    400,
    'No tool output found for custom tool call call_p.',
    body([{ type: 'custom_tool_call', call_id: 'call_p', name: 'patch', input: '' }]),
  ],
  ['R2', 400, 'No tool call found for function call output with call_id call_a.', body([hi, output('call_a')])],
  [
    'R2',
    400,
    'No tool call found for custom tool call output with call_id call_a.',
    body([called('call_a'), { type: 'custom_tool_call_output', call_id: 'call_a', output: '' }, output('call_a')]),
  ],
  ['R4', 400, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", body([sealed, hi])],
  ['R4', 400, /required following item/, body([hi, sealed])],
  ['R4', 400, /required following item/, body([sealed, { role: 'assistant', content: 'Yes.' }, hi])],
  [
    'R6',
    404,
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    body([{ type: 'reasoning', id: 'rs_1', summary: [] }, textItem('Yes.')], { store: false }),
  ],
  ['R6', 404, /^Item with id 'msg_1' not found/, body([{ type: 'item_reference', id: 'msg_1' }, hi], { store: false })],
  [
    'R9',
    400,
    "Invalid 'input[0].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
    body([{ ...reasoning, content: [{ type: 'reasoning_text', text: 'hm' }] }, textItem('Yes.')]),
  ],
  [
    'R10',
    400,
    "Invalid 'input[0].id': 'item_1'. Expected an ID that begins with 'rs'.",
    body([{ ...sealed, id: 'item_1' }, textItem('Yes.')]),
  ],
  ['R10', 400, /begins with 'msg'\.$/, body([{ ...textItem('Yes.'), id: 'fc_1' }])],
  [
    'R11',
    400,
    "Invalid 'input[0].id': string too long. Expected a string with maximum length 64, but got a string with length 68 instead.",
    body([{ ...textItem('Yes.'), id: `msg_${'x'.repeat(64)}` }]),
  ],
  [
    'R12',
    400,
    "Invalid 'input[0].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.",
    body([called('x'.repeat(65), 'a', '{}', 'fc_1'), output('x'.repeat(65))]),
  ],
  ['R12', 400, /empty string/, body([called('', 'a', '{}', 'fc_1'), output('')])],
  [
    'C8',
    400,
    "Invalid 'input[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    body([called('a', 'run shell', '{}', 'fc_1'), output('a')]),
  ],
  [
    'C8',
    400,
    "Invalid 'input[0].name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    body([called('a', '', '{}', 'fc_1'), output('a')]),
  ],
  [
    'C8',
    400,
    /maximum length 128, but got a string with length 129/,
    body([called('a', 'x'.repeat(129), '{}', 'fc_1'), output('a')]),
  ],
  [
    'R13',
    400,
    'Duplicate item found with id msg_1. Remove duplicate items from your input and try again.',
    body([textItem('a'), textItem('b')]),
  ],
  [
    'R14',
    400,
    "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    body([{ role: 'tool', content: 'x' }]),
  ],
  ['R14', 400, "Invalid value: ''. Supported values are: 'assistant', 'system', 'developer', and 'user'.", body([{}])],
  [
    'R15',
    400,
    "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    body([{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }]),
  ],
  [
    'R15',
    400,
    /^Invalid value: 'output_text'/,
    body([{ role: 'user', content: [{ type: 'output_text', text: 'x' }] }]),
  ],
  [
    'R15',
    400,
    "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
    body([called('call_a'), { ...output('call_a'), output: [{ type: 'output_text', text: 'x' }] }]),
  ],
  ['R16', 400, "Unknown parameter: 'input[0].status'.", body([{ ...sealed, status: null }, textItem('Yes.')])],
  [
    'R16',
    400,
    "Unknown parameter: 'input[0].output_index'.",
    body([{ ...called('call_a'), output_index: 0 }, output('call_a')]),
  ],
  ['R16', 400, "Unknown parameter: 'input[0].phase'.", body([{ ...hi, phase: 'commentary' }])],
  [
    'R17',
    400,
    /^Invalid value: 'context_compaction'\. Supported values are: 'additional_tools', /,
    body([{ type: 'context_compaction' }]),
  ],
  [
    'R19',
    400,
    "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'.",
    body('Hi', { previous_response_id: 'resp_1', conversation: 'conv_1' }),
  ],

  ['shape', 400, "Missing required parameter: 'input[0].content'.", body([{ role: 'user' }])],
  [
    'shape',
    400,
    "Missing required parameter: 'input[0].call_id'.",
    body([{ type: 'function_call_output', output: 'x' }]),
  ],
  [
    'output-limit',
    400,
    "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
    body('Hi', { max_output_tokens: 1 }),
  ],
  ['C18', 400, /^Invalid 'prompt_cache_key': string too long/, body('Hi', { prompt_cache_key: 'k'.repeat(65) })],
  ['shape', 400, /^Invalid value: 'bogus'/, body('Hi', { include: ['bogus'] })],
  ['C9', 400, /does not match pattern/, body('Hi', { tools: [{ ...tool, name: 'fs.read' }] })],
  [
    'C9',
    400,
    "Missing required parameter: 'tools[0].name'.",
    body('Hi', { tools: [{ type: 'function', function: { name: 'f' } }] }),
  ],
  ['C9', 400, /maximum length 128/, body('Hi', { tools: [{ ...tool, name: 'n'.repeat(129) }] })],
  ['C10', 400, /^Invalid 'tools': array too long/, body('Hi', { tools: Array.from({ length: 129 }, () => tool) })],
  [
    'tool-schema',
    400,
    `Invalid schema for function 'clock': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`,
    body('Hi', { tools: [{ ...tool, parameters: {} }] }),
  ],
  [
    'tool-choice',
    400,
    "Tool choice 'lock' not found in 'tools' parameter.",
    body('Hi', { tools: [tool], tool_choice: { type: 'function', name: 'lock' } }),
  ],
  ['tool-choice', 400, /^Tool choice 'required'/, body('Hi', { tool_choice: 'required' })],
  [
    'shape',
    400,
    "Missing required parameter: 'text.format.name'.",
    body('Hi', { text: { format: { type: 'json_schema', schema: {} } } }),
  ],
  [
    'file-kind',
    400,
    /got unsupported MIME type 'audio\/mpeg'/,
    body([
      { role: 'user', content: [{ type: 'input_file', filename: 'a.mp3', file_data: 'data:audio/mpeg;base64,AA==' }] },
    ]),
  ],
  ['shape', 400, /must be the final input item/, body([{ type: 'compaction_trigger' }, hi])],

  [
    'C17',
    400,
    "Unsupported value: 'minimal' is not supported with the 'gpt-5.5' model. Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'.",
    body('Hi', { reasoning: { effort: 'minimal' } }),
  ],
  ['C17', 400, /^Invalid value: 'huge'/, body('Hi', { reasoning: { effort: 'huge' } })],
  ['C17', 400, /'reasoning.effort' is not supported/, { model: 'gpt-4o', input: 'Hi', reasoning: { effort: 'low' } }],
  [
    'C16',
    400,
    "Unsupported parameter: 'temperature' is not supported with this model.",
    { model: 'gpt-5.6', input: 'Hi', temperature: 0.5 },
  ],
  ['C16', 400, /'top_p'/, body('Hi', { top_p: 0.5, reasoning: { effort: 'low' } })],
  [
    'encrypted-include',
    400,
    'Encrypted content is not supported with this model.',
    { model: 'gpt-4.1', input: 'Hi', include: ['reasoning.encrypted_content'] },
  ],

  ['xai-null', 422, /untagged enum ModelInput$/, body([{ ...sealed, content: null }, textItem('Yes.')]), 'xai'],
  [
    'xai-empty',
    400,
    'Invalid request content: Each message must have at least one content element.',
    body([{ role: 'user', content: '' }]),
    'xai',
  ],
  ['D2', 422, /unknown variant `developer`/, body([{ role: 'developer', content: 'x' }, hi]), 'deepseek'],
  [
    'D3',
    400,
    'No tool output found for tool call call_a.',
    body([called('call_a'), textItem('x'), output('call_a')]),
    'deepseek',
  ],
  ['D4', 400, /empty array/, body('Hi', { tools: [] }), 'deepseek'],
  ['openrouter-state', 400, /previous_response_id/, body('Hi', { previous_response_id: 'resp_1' }), 'openrouter'],
  ['openrouter-state', 400, /store/, body('Hi', { store: true }), 'openrouter'],
  ['vllm-reasoning', 400, 'Encrypted content is not supported.', body([sealed, textItem('Yes.')]), 'vllm'],
  ['vllm-state', 404, "Response with id 'resp_1' not found.", body('Hi', { previous_response_id: 'resp_1' }), 'vllm'],
  [
    'vllm-message',
    500,
    'Internal Server Error',
    body([{ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, hi]),
    'vllm',
  ],
  [
    'llamacpp-state',
    400,
    "llama.cpp does not support 'previous_response_id'.",
    body('Hi', { previous_response_id: 'resp_1' }),
    'llama.cpp',
  ],
  ['llamacpp-items', 400, "item['content'] is not an array", body([sealed, textItem('Yes.')]), 'llama.cpp'],
  ['llamacpp-items', 400, "item['content'] is empty", body([reasoning, textItem('Yes.')]), 'llama.cpp'],
  [
    'llamacpp-items',
    400,
    "Cannot determine type of 'item'",
    body([{ type: 'compaction', encrypted_content: 'x' }]),
    'llama.cpp',
  ],
]

for (const [rule, status, message, value, provider] of refused) {
  const shown = typeof message === 'string' ? message : String(message)
  test(`${provider ?? 'openai'} refuses by ${rule}: ${shown.slice(0, 90)}`, () => {
    const [first] = openaiResponses.refuse(value, provider === undefined ? {} : { provider })
    assert.ok(first, 'nothing was refused')
    assert.equal(first.rule, rule)
    assert.equal(first.status, status)
    if (typeof message === 'string') assert.equal(first.message, message)
    else assert.match(first.message, message)
  })
}

const accepted: [name: string, body: Json, provider?: string][] = [
  ['a string', body('Hi')],
  ['a call and its output with a message between them', body([called('call_a'), textItem('x'), output('call_a')])],
  [
    'an id that is used again once it is answered',
    body([called('a', 'f', '{}', 'fc_1'), output('a'), called('a', 'f', '{}', 'fc_2'), output('a')]),
  ],
  ['an output whose call is in the chain', body([output('call_a')], { previous_response_id: 'resp_1' })],
  ['nothing new in a chain', body([], { previous_response_id: 'resp_1' })],
  ['reasoning with its id and its message', body([sealed, textItem('Yes.'), hi])],
  [
    'reasoning and message without ids',
    body([{ ...sealed, id: undefined }, { role: 'assistant', content: 'Yes.' }, hi]),
  ],
  [
    'plain reasoning at a server that shows it',
    body([
      { type: 'reasoning', id: 'u', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
      textItem('x'),
    ]),
    'deepseek',
  ],
  ['a refusal of the assistant', body([{ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }, hi])],
  ['sampling for a model that is not asked to reason', body('Hi', { temperature: 0.5 })],
  ['a stored prompt that brings its model', { prompt: { id: 'pmpt_1' } }],
  ['a field of another host', body('Hi', { provider: { only: ['openai'] } }), 'openrouter'],
]

for (const [name, value, provider] of accepted) {
  test(`${provider ?? 'openai'} accepts ${name}`, () => {
    assert.deepEqual(openaiResponses.refuse(value, provider === undefined ? {} : { provider }), [])
  })
}

test('a refusal has the format of the wire, and that of xAI', () => {
  const [issue] = openaiResponses.refuse(body([hi, output('call_a')]))
  assert.deepEqual(issue && openaiResponses.errorBody(issue), {
    error: {
      message: 'No tool call found for function call output with call_id call_a.',
      type: 'invalid_request_error',
      param: 'input',
      code: null,
    },
  })
  const [empty] = openaiResponses.refuse(body([{ role: 'user', content: [] }]), { provider: 'xai' })
  assert.deepEqual(empty && openaiResponses.errorBody(empty, { provider: 'xai' }), {
    code: 'Client specified an invalid argument',
    error: 'Invalid request content: Each message must have at least one content element.',
  })
  const [nulls] = openaiResponses.refuse(body([{ ...hi, id: null }]), { provider: 'xai' })
  assert.deepEqual(nulls && Object.keys(openaiResponses.errorBody(nulls, { provider: 'xai' }) as JsonObject), ['error'])
  // These two return only the status number besides the message.
  assert.deepEqual(issue && openaiResponses.errorBody(issue, { provider: 'openrouter' }), {
    error: { message: issue?.message, code: issue?.status },
  })
  assert.deepEqual(issue && openaiResponses.errorBody(issue, { provider: 'llama.cpp' }), {
    error: { code: issue?.status, message: issue?.message, type: 'invalid_request_error' },
  })
})
