import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Issue } from '../../../src/wires/wire.ts'
import { openaiChat } from '../../../src/wires/openai-chat/index.ts'

const user = { role: 'user', content: 'hi' }
const tool = { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } }

function calling(...ids: string[]): JsonObject {
  const tool_calls = ids.map((id) => ({ id, type: 'function', function: { name: 'clock', arguments: '{}' } }))
  return { role: 'assistant', content: null, tool_calls }
}

function result(id: string, content: Json = '12:00'): JsonObject {
  return { role: 'tool', tool_call_id: id, content }
}

function body(messages: JsonObject[], more: JsonObject = {}): JsonObject {
  return { model: 'gpt-4o', messages, ...more }
}

function refused(json: Json, provider?: string): Issue[] {
  return openaiChat.refuse(json, provider === undefined ? {} : { provider })
}

interface Refusal {
  rule: string
  when: string
  body: Json
  provider?: string
  status?: number
  message: string
  param?: string | null
  code?: string | null
}

const refusals: Refusal[] = [
  {
    rule: 'C1',
    when: 'a call is not answered before the next role',
    body: body([user, calling('call_a', 'call_b'), result('call_a'), user]),
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_b",
    param: 'messages.[3].role',
    code: null,
  },
  {
    rule: 'C1',
    when: 'a call at the end is not answered at all',
    body: body([user, calling('call_a')]),
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_a",
    param: 'messages.[2].role',
    code: null,
  },
  {
    rule: 'C2',
    when: 'a result follows no call',
    body: body([user, result('call_a')]),
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param: 'messages.[1].role',
    code: null,
  },
  {
    rule: 'C2',
    when: 'a result names another call',
    body: body([user, calling('call_a'), result('call_a'), result('call_z')]),
    message: "Invalid parameter: 'tool_call_id' of 'call_z' not found in 'tool_calls' of previous message.",
    param: 'messages.[3].tool_call_id',
    code: null,
  },
  {
    rule: 'C2',
    when: 'a result names no call',
    body: body([user, calling('call_a'), result('call_a'), { role: 'tool', content: 'x' }]),
    message: "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
    param: 'messages.[3].tool_call_id',
    code: null,
  },
  {
    rule: 'C3',
    when: 'a call has two results',
    body: body([user, calling('call_a'), result('call_a'), result('call_a')]),
    message: "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_a', in messages[2] and messages[3].",
    param: 'messages.[3].tool_call_id',
    code: null,
  },
  {
    rule: 'C4',
    when: 'an id has more than 40 characters',
    body: body([user, calling('x'.repeat(43)), result('x'.repeat(43))]),
    message:
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 43 instead.",
    param: 'messages[1].tool_calls[0].id',
    code: 'string_above_max_length',
  },
  {
    rule: 'C5',
    when: 'there is an empty list of calls',
    body: body([user, { role: 'assistant', content: 'Hi', tool_calls: [] }]),
    message:
      "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: 'messages[1].tool_calls',
    code: 'empty_array',
  },
  {
    rule: 'C6',
    when: 'content is null without calls',
    body: body([user, { role: 'assistant', content: null }]),
    message: "Invalid value for 'content': expected a string, got null.",
    param: 'messages.[1].content',
    code: null,
  },
  {
    rule: 'C7',
    when: 'there are no messages',
    body: body([]),
    message:
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: 'messages',
    code: 'empty_array',
  },
  {
    rule: 'C7',
    when: 'content is an empty list',
    body: body([{ role: 'user', content: [] }]),
    message:
      "Invalid 'messages[0].content': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    code: 'empty_array',
  },
  {
    rule: 'C8',
    when: 'a call in the history has no name',
    body: body([
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_a', type: 'function', function: { name: '', arguments: '{}' } }],
      },
      result('call_a'),
    ]),
    message:
      "Invalid 'messages[1].tool_calls[0].function.name': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    code: 'empty_string',
  },
  {
    rule: 'C9',
    when: 'the name of a tool has a dot',
    body: body([user], { tools: [{ type: 'function', function: { name: 'fs.read' } }] }),
    message:
      "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    param: 'tools[0].function.name',
    code: 'invalid_value',
  },
  {
    rule: 'C10',
    when: 'there are more than 128 tools',
    body: body([user], { tools: Array.from({ length: 325 }, () => tool) }),
    message:
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 325 instead.",
    code: 'array_above_max_length',
  },
  {
    rule: 'C12',
    when: 'an image stands in a result',
    body: body([
      user,
      calling('call_a'),
      result('call_a', [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }]),
    ]),
    message:
      "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
  },
  {
    rule: 'C13',
    when: 'GPT-5.4 is given functions and an effort',
    body: body([user], { model: 'gpt-5.4', tools: [tool], reasoning_effort: 'low' }),
    message:
      'Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.',
    param: 'reasoning_effort',
  },
  {
    rule: 'C14',
    when: 'GPT-5.6 is given functions and no word about effort',
    body: body([user], { model: 'gpt-5.6', tools: [tool] }),
    message:
      "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
  },
  {
    rule: 'C15',
    when: 'a reasoning model is given max_tokens',
    body: body([user], { model: 'o4-mini', max_tokens: 100 }),
    message:
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    param: 'max_tokens',
    code: 'unsupported_parameter',
  },
  {
    rule: 'C16',
    when: 'a reasoning model is given a temperature',
    body: body([user], { model: 'gpt-5-mini', temperature: 0.16 }),
    message:
      "Unsupported value: 'temperature' does not support 0.16 with this model. Only the default (1) value is supported.",
    code: 'unsupported_value',
  },
  {
    rule: 'C17',
    when: 'the model does not know the effort',
    body: body([user], { model: 'gpt-5.4', reasoning_effort: 'minimal' }),
    message:
      "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', 'high', 'xhigh'.",
    code: 'unsupported_value',
  },
  {
    rule: 'C18',
    when: 'the cache key has more than 64 characters',
    body: body([user], { prompt_cache_key: 'k'.repeat(72) }),
    message:
      "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 72 instead.",
    code: 'string_above_max_length',
  },
  {
    rule: 'C19',
    when: 'arguments are no JSON object on Ollama',
    provider: 'ollama',
    body: body([
      user,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: '{"z' } }],
      },
    ]),
    message: 'invalid tool call arguments',
  },
  {
    rule: 'C19',
    when: 'arguments are no JSON on vLLM',
    provider: 'vllm',
    body: body([
      user,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: '{"z' } }],
      },
    ]),
    message: 'Expecting value: line 1 column 1 (char 0)',
  },
  {
    rule: 'C19',
    when: 'arguments are no JSON on llama.cpp',
    provider: 'llama.cpp',
    status: 500,
    body: body([
      user,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: '{"z' } }],
      },
    ]),
    message: 'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]',
  },
  {
    rule: 'D1',
    when: 'DeepSeek thinks and a tool turn lacks its reasoning',
    provider: 'deepseek',
    body: body([user, calling('a'), result('a')], { model: 'deepseek-v4-pro' }),
    message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
    param: null,
    code: 'invalid_request_error',
  },
  {
    rule: 'D1',
    when: 'Kimi thinks and a tool turn lacks its reasoning',
    provider: 'moonshot',
    body: body([user, calling('a'), result('a')], { model: 'kimi-k2.6' }),
    message: 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
  },
  {
    rule: 'D2',
    when: 'DeepSeek gets the developer role',
    provider: 'deepseek',
    body: body([{ role: 'developer', content: 'Be kind.' }, user], { model: 'deepseek-v4-pro' }),
    message:
      'Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`, `latest_reminder`',
  },
  {
    rule: 'D3',
    when: 'DeepSeek misses a result',
    provider: 'deepseek',
    body: body([user, { ...calling('a'), reasoning_content: '' }, user], { model: 'deepseek-v4-pro' }),
    message:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
  },
  {
    rule: 'D3',
    when: 'DeepSeek gets a result without a call',
    provider: 'deepseek',
    body: body([user, result('a')], { model: 'deepseek-v4-pro' }),
    message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
  },
  {
    rule: 'D4',
    when: 'DeepSeek gets an empty list of tools',
    provider: 'deepseek',
    body: body([user], { model: 'deepseek-v4-pro', tools: [] }),
    message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    param: null,
    code: 'invalid_request_error',
  },
  {
    rule: 'D5',
    when: 'R1 gets two user messages in a row',
    provider: 'deepseek',
    body: body([user, user], { model: 'deepseek-reasoner' }),
    message:
      'deepseek-reasoner does not support successive user or assistant messages (messages[0] and messages[1] in your input). You should interleave the user/assistant messages in the message sequence.',
  },
  {
    rule: 'C1',
    when: 'Qwen misses a result',
    provider: 'qwen',
    body: body([user, calling('a'), user], { model: 'qwen3-max' }),
    message:
      '<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[2].role',
    code: 'invalid_parameter_error',
  },
  {
    rule: 'C5',
    when: 'Qwen gets an empty list of calls',
    provider: 'qwen',
    body: body([user, { role: 'assistant', content: 'Hi', tool_calls: [] }], { model: 'qwen3-max' }),
    message: 'Empty tool_calls is not supported in message',
  },
  {
    rule: 'C1',
    when: 'Moonshot misses a result',
    provider: 'moonshot',
    body: body([user, calling('Read:158'), user], { model: 'moonshot-v1-8k' }),
    message:
      "an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: Read:158",
  },
  {
    rule: 'empty-content',
    when: 'Moonshot gets an empty message',
    provider: 'moonshot',
    body: body([{ role: 'system', content: '' }, user], { model: 'moonshot-v1-8k' }),
    message: "Invalid request: the message at position 0 with role 'system' must not be empty",
  },
  {
    rule: 'empty-content',
    when: 'xAI gets an empty message',
    provider: 'xai',
    body: body([{ role: 'user', content: '' }], { model: 'grok-4' }),
    message: 'Invalid request content: Each message must have at least one content element.',
    code: 'Client specified an invalid argument',
  },
  {
    rule: 'groq-fields',
    when: 'Groq gets reasoning_content',
    provider: 'groq',
    body: body([user, { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }], {
      model: 'openai/gpt-oss-120b',
    }),
    message:
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
  },
  {
    rule: 'groq-results',
    when: 'Groq gets a result as a list',
    provider: 'groq',
    body: body([user, calling('a'), result('a', [{ type: 'text', text: 'x' }])], { model: 'openai/gpt-oss-120b' }),
    message:
      "'messages.2' : for 'role:tool' the following must be satisfied[('messages.2.content' : value must be a string)]",
  },
  {
    rule: 'groq-reasoning',
    when: 'Groq gets reasoning for a model that has none',
    provider: 'groq',
    body: body([user, { role: 'assistant', content: 'Hi', reasoning: 'Hm.' }], {
      model: 'moonshotai/kimi-k2-instruct',
    }),
    message: 'messages[1].reasoning: reasoning is not supported with this model',
  },
  {
    rule: 'C17',
    when: 'Groq does not know the effort',
    provider: 'groq',
    body: body([user], { model: 'openai/gpt-oss-120b', reasoning_effort: 'xhigh' }),
    message: "'reasoning_effort' : value is not one of the allowed values ['none', 'default', 'low', 'medium', 'high']",
  },
  {
    rule: 'cerebras-fields',
    when: 'Cerebras gets reasoning_content',
    provider: 'cerebras',
    body: body([user, user, { role: 'assistant', content: 'Hi', reasoning_content: 'Hm.' }], { model: 'zai-glm-4.7' }),
    message: "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
    param: 'validation_error',
    code: 'wrong_api_format',
  },
  {
    rule: 'ollama-images',
    when: 'Ollama gets an image as a URL',
    provider: 'ollama',
    body: body([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }] }]),
    message: 'image URLs are not currently supported, please use base64 encoded data instead',
  },
  {
    rule: 'C6',
    when: 'Ollama gets null content',
    provider: 'ollama',
    body: body([{ role: 'user', content: null }]),
    message: 'invalid message content type: <nil>',
  },
  {
    rule: 'shape',
    when: 'vLLM gets an empty list of tools',
    provider: 'vllm',
    body: body([user], { tools: [] }),
    message: '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.',
  },
  {
    rule: 'llama-messages',
    when: 'llama.cpp gets a message without content and calls',
    provider: 'llama.cpp',
    status: 500,
    body: body([user, { role: 'assistant' }]),
    message:
      "Failed to parse messages: Expected 'content' or 'tool_calls' (ref: https://github.com/ggml-org/llama.cpp/issues/8367 & https://github.com/ggml-org/llama.cpp/issues/12279)",
  },
  {
    rule: 'role-by-model',
    when: 'o1-mini gets a system message',
    body: body([{ role: 'system', content: 'Be kind.' }, user], { model: 'o1-mini' }),
    message: "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    code: 'unsupported_value',
  },
  {
    rule: 'media-by-model',
    when: 'sound goes to a model that does not hear',
    body: body([{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }] }], {
      model: 'gpt-5-mini',
    }),
    message: "Invalid 'messages[0]'. Content blocks are expected to be either text or image_url type.",
    code: 'invalid_value',
  },
  {
    rule: 'search-by-model',
    when: 'web search is asked of a model without it',
    body: body([user], { web_search_options: {} }),
    message: 'Web search options not supported with this model.',
    param: 'web_search_options',
    code: null,
  },
  {
    rule: 'shape',
    when: 'the body is no object',
    body: [],
    message: 'We could not parse the JSON body of your request.',
  },
  {
    rule: 'shape',
    when: 'there is no model',
    body: { messages: [user] },
    message: 'you must provide a model parameter',
  },
  {
    rule: 'shape',
    when: 'there is no list of messages',
    body: { model: 'gpt-4o' },
    message: "Missing required parameter: 'messages'.",
    code: 'missing_required_parameter',
  },
  {
    rule: 'shape',
    when: 'messages are no list',
    body: { model: 'gpt-4o', messages: 'hi' },
    message: "Invalid type for 'messages': expected an array of objects, but got a string instead.",
    code: 'invalid_type',
  },
  {
    rule: 'shape',
    when: 'a role is not known',
    body: body([{ role: 'bot', content: 'hi' }]),
    message:
      "Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    param: 'messages[0].role',
  },
  {
    rule: 'shape',
    when: 'a call has no type',
    body: body([
      user,
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'clock', arguments: '{}' } }] },
      result('a'),
    ]),
    message: "Missing required parameter: 'messages[1].tool_calls[0].type'.",
  },
  {
    rule: 'shape',
    when: 'arguments are an object',
    body: body([
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: {} } }],
      },
      result('a'),
    ]),
    message:
      "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
  },
  {
    rule: 'shape',
    when: 'there is an empty list of tools',
    body: body([user], { tools: [] }),
    message: "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
  },
  {
    rule: 'shape',
    when: 'a choice of tool comes without tools',
    body: body([user], { tool_choice: 'required' }),
    message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
  },
  {
    rule: 'shape',
    when: 'stream options come without a stream',
    body: body([user], { stream_options: { include_usage: true } }),
    message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
  },
]

for (const { rule, when, body: json, provider, status = 400, message, param, code } of refusals) {
  test(`${rule}: refused when ${when}`, () => {
    const [issue] = refused(json, provider)
    assert.deepEqual([issue?.rule, issue?.message], [rule, message])
    assert.equal(issue?.status, status)
    if (param !== undefined) assert.equal(issue?.param ?? null, param)
    if (code !== undefined) assert.equal(issue?.code ?? null, code)
  })
}

const taken: { what: string; body: Json; provider?: string }[] = [
  { what: 'the four messages of a tool turn', body: body([user, calling('call_a'), result('call_a'), user]) },
  {
    what: 'calls without content',
    body: body([user, { role: 'assistant', tool_calls: calling('a').tool_calls }, result('a')]),
  },
  {
    what: 'arguments that are no JSON, which OpenAI never reads',
    body: body([
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'clock', arguments: '{"z' } }],
      },
      result('a'),
    ]),
  },
  {
    what: 'an image in a result on GPT-5.2',
    body: body([user, calling('a'), result('a', [{ type: 'image_url', image_url: { url: 'x' } }])], {
      model: 'gpt-5.2',
    }),
  },
  {
    what: 'functions and effort none on GPT-5.6',
    body: body([user], { model: 'gpt-5.6', tools: [tool], reasoning_effort: 'none' }),
  },
  { what: 'functions without effort on GPT-5.4', body: body([user], { model: 'gpt-5.4', tools: [tool] }) },
  {
    what: 'a temperature on GPT-5.2 without reasoning',
    body: body([user], { model: 'gpt-5.2', temperature: 0, reasoning_effort: 'none' }),
  },
  { what: 'max_tokens on a model of the old kind', body: body([user], { max_tokens: 10, temperature: 0.3 }) },
  { what: 'max_tokens on gpt-5-chat-latest', body: body([user], { model: 'gpt-5-chat-latest', max_tokens: 10 }) },
  {
    what: 'a tool turn without reasoning on DeepSeek when it does not think',
    provider: 'deepseek',
    body: body([user, calling('a'), result('a')], { model: 'deepseek-v4-pro', thinking: { type: 'disabled' } }),
  },
  {
    what: 'empty reasoning on DeepSeek',
    provider: 'deepseek',
    body: body([user, { ...calling('a'), reasoning_content: '' }, result('a')], { model: 'deepseek-v4-pro' }),
  },
  { what: 'a result without a call on llama.cpp', provider: 'llama.cpp', body: body([user, result('a')]) },
  {
    what: 'reasoning_details on OpenRouter',
    provider: 'openrouter',
    body: body([user, { role: 'assistant', content: 'x', reasoning_details: [] }]),
  },
  {
    what: 'an image in a result on OpenRouter',
    provider: 'openrouter',
    body: body([user, calling('a'), result('a', [{ type: 'image_url', image_url: { url: 'x' } }])]),
  },
]

for (const { what, body: json, provider } of taken) {
  test(`accepted: ${what}`, () => {
    assert.deepEqual(refused(json, provider), [])
  })
}

test('issues come in the order in which the API finds them', () => {
  const broken = body([user, calling('x'.repeat(50)), user], {
    tools: [{ type: 'function', function: { name: 'a b' } }],
  })
  assert.deepEqual(
    refused(broken).map((issue) => issue.rule),
    ['C4', 'C9', 'C1'],
  )
})

test('without a model in the profile the one in the body is used', () => {
  assert.equal(openaiChat.refuse(body([user], { max_tokens: 1 }), { model: 'o3' })[0]?.rule, 'C15')
})

test('an issue is carried by the error body of the wire', () => {
  const [issue] = refused(body([]))
  assert.deepEqual(issue && openaiChat.errorBody(issue), {
    error: {
      message:
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'empty_array',
    },
  })
})
