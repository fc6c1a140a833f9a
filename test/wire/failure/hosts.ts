// What hosts, local servers and gateways answer.

import { openai, type Case } from './bodies.ts'

export const hostCases: Record<string, Case[]> = {
  bedrock: [
    {
      status: 403,
      body: { Message: 'Authentication failed: Please make sure your API Key is valid.' },
      kind: 'auth',
    },
    { status: 403, body: { message: 'The security token included in the request is invalid.' }, kind: 'auth' },
    {
      status: 400,
      body: { message: 'Signature expired.' },
      headers: { 'x-amzn-errortype': 'RequestExpired' },
      kind: 'auth',
      code: 'RequestExpired',
    },
    {
      status: 429,
      body: { message: 'Too many tokens, please wait before trying again.' },
      headers: { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/' },
      kind: 'rate-limit',
      code: 'ThrottlingException',
    },
    {
      body: { type: 'error', error: { type: 'throttlingException', message: 'Slow down.' } },
      kind: 'rate-limit',
      code: 'throttlingException',
    },
    {
      status: 429,
      body: { message: 'Too many tokens per day, please wait before trying again.' },
      kind: 'quota',
    },
    { status: 400, body: { message: 'Input is too long for requested model.' }, kind: 'context-overflow' },
    {
      status: 403,
      body: {
        message:
          'You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.',
      },
      headers: { 'x-amzn-errortype': 'AccessDeniedException' },
      kind: 'invalid-request',
      code: 'AccessDeniedException',
    },
    {
      status: 424,
      body: { message: 'The system encountered an unexpected error.' },
      headers: { 'x-amzn-errortype': 'ModelErrorException' },
      kind: 'overloaded',
      code: 'ModelErrorException',
    },
    {
      status: 400,
      body: { message: 'The provided model identifier is invalid.' },
      headers: { 'x-amzn-errortype': 'ValidationException' },
      kind: 'invalid-request',
      code: 'ValidationException',
    },
  ],
  vertex: [
    {
      status: 429,
      body: [
        { error: { code: 429, message: 'Resource exhausted. Please try again later.', status: 'RESOURCE_EXHAUSTED' } },
      ],
      kind: 'rate-limit',
      code: 'RESOURCE_EXHAUSTED',
    },
    {
      status: 429,
      body: {
        error: {
          code: 429,
          message:
            'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model with base model: x.',
          status: 'RESOURCE_EXHAUSTED',
        },
      },
      kind: 'quota',
      code: 'RESOURCE_EXHAUSTED',
    },
  ],
  foundry: [
    {
      status: 401,
      body: {
        error: {
          code: 'invalid_model_endpoint_authentication',
          message: 'Failed to authenticate to backend endpoint. RequestId = req_1',
        },
      },
      kind: 'overloaded',
      code: 'invalid_model_endpoint_authentication',
    },
  ],
  openrouter: [
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input).",
        },
      },
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: { error: { code: 'invalid_prompt', message: 'No.' }, error_type: 'context_length_exceeded' },
      kind: 'context-overflow',
    },
    { status: 402, body: { error: { code: 402, message: 'Insufficient credits. Add more.' } }, kind: 'quota' },
    {
      status: 403,
      body: {
        error: { code: 403, message: 'Your chosen model requires moderation on it and your input was flagged.' },
      },
      kind: 'refused',
    },
    {
      status: 404,
      body: { error: { code: 404, message: 'No endpoints found that support tool use. Try disabling "get_time".' } },
      kind: 'not-found',
    },
    { status: 408, body: { error: { code: 408, message: 'Slow.' } }, kind: 'timeout' },
    {
      status: 502,
      body: {
        error: {
          code: 502,
          message: 'Provider returned error',
          metadata: { raw: 'upstream died', provider_name: 'X' },
        },
      },
      kind: 'overloaded',
    },
    {
      body: {
        id: 'gen-1',
        object: 'chat.completion.chunk',
        choices: [],
        error: { code: 429, message: 'Slow.', metadata: { error_type: 'rate_limit_exceeded' } },
      },
      kind: 'rate-limit',
      code: 'rate_limit_exceeded',
    },
    {
      body: {
        id: 'gen-1',
        choices: [{ finish_reason: 'error' }],
        error: { code: 502, message: 'Provider disconnected' },
      },
      kind: 'overloaded',
    },
    { body: { error: { code: 401, message: 'No auth' } }, kind: 'auth' },
    {
      body: { error: { code: 400, message: 'No', metadata: { error_type: 'content_policy_violation' } } },
      kind: 'refused',
    },
  ],
  groq: [
    {
      status: 413,
      body: openai(
        'Request too large for model `x` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.',
        'rate_limit_exceeded',
        'tokens',
      ),
      kind: 'rate-limit',
    },
    {
      status: 400,
      body: openai(
        'Please reduce the length of the messages or completion.',
        'context_length_exceeded',
        'invalid_request_error',
        'messages',
      ),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: openai(
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        'tool_use_failed',
      ),
      kind: 'malformed-reply',
    },
    { status: 498, body: openai('Flex capacity is used up.', 'capacity_exceeded'), kind: 'overloaded' },
    {
      status: 429,
      body: openai(
        'Rate limit reached for model `x` on tokens per day (TPD): Limit 100000. Please try again in 7m12s.',
        'rate_limit_exceeded',
        'tokens',
      ),
      kind: 'rate-limit',
      wait: 432_000,
    },
    {
      body: {
        error: {
          message: 'Failed to call a function.',
          type: 'invalid_request_error',
          code: 'tool_use_failed',
          status_code: 400,
        },
      },
      kind: 'malformed-reply',
    },
  ],
  together: [
    {
      status: 422,
      body: openai('Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000', null),
      kind: 'context-overflow',
    },
  ],
  cerebras: [
    {
      status: 400,
      body: {
        message: "messages.2.assistant.reasoning_content: property 'reasoning_content' is unsupported",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'wrong_api_format',
      },
      kind: 'invalid-request',
    },
    {
      status: 401,
      body: { message: 'Wrong API Key', type: 'invalid_request_error', param: 'api_key', code: 'wrong_api_key' },
      kind: 'auth',
    },
  ],
  moonshot: [
    {
      status: 400,
      body: openai('Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)'),
      kind: 'context-overflow',
    },
  ],
  qwen: [
    {
      status: 400,
      body: openai(
        '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
        'invalid_parameter_error',
      ),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: openai('Input data may contain inappropriate content.', 'data_inspection_failed'),
      kind: 'refused',
    },
  ],
  ollama: [
    { status: 400, body: { error: 'the input length exceeds the context length' }, kind: 'context-overflow' },
    { status: 404, body: { error: 'model "qwen9" not found, try pulling it first' }, kind: 'not-found' },
    { body: { error: 'an error was encountered while running the model: unexpected EOF' }, kind: 'overloaded' },
    {
      status: 400,
      body: openai('image URLs are not currently supported, please use base64 encoded data instead'),
      kind: 'invalid-request',
    },
  ],
  vllm: [
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 4096 tokens. However, you requested 512 output tokens and your prompt contains at least 4000 input tokens, for a total of at least 4512 tokens.",
        null,
        'BadRequestError',
      ),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: openai(
        'The engine prompt length 5000 exceeds the max_model_len 4096. Please reduce prompt.',
        null,
        'BadRequestError',
      ),
      kind: 'context-overflow',
    },
    { status: 404, body: openai("Response with id 'resp_1' not found.", null, 'NotFoundError'), kind: 'state-lost' },
    {
      status: 400,
      body: openai('Conversation roles must alternate user/assistant/user/assistant/...', null, 'BadRequestError'),
      kind: 'invalid-request',
    },
  ],
  'llama.cpp': [
    {
      status: 400,
      body: {
        error: {
          code: 400,
          type: 'exceed_context_size_error',
          message: 'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it',
          n_prompt_tokens: 9000,
          n_ctx: 4096,
        },
      },
      kind: 'context-overflow',
    },
    {
      status: 503,
      body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      kind: 'overloaded',
    },
    {
      status: 500,
      body: {
        error: {
          code: 500,
          type: 'server_error',
          message:
            'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.',
        },
      },
      kind: 'invalid-request',
    },
    {
      status: 400,
      body: {
        error: {
          code: 400,
          type: 'invalid_request_error',
          message: "llama.cpp does not support 'previous_response_id'.",
        },
      },
      kind: 'state-lost',
    },
  ],
  lmstudio: [
    { status: 400, body: { error: 'Context size has been exceeded' }, kind: 'context-overflow' },
    {
      status: 400,
      body: {
        error:
          'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens.',
      },
      kind: 'context-overflow',
    },
    { status: 400, body: openai('Gone.', 'previous_response_not_found'), kind: 'state-lost' },
  ],
  'a gateway in between': [
    {
      status: 502,
      body: '<!doctype html><html><head><style>b{}</style><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>',
      kind: 'overloaded',
    },
    { status: 413, body: '<html><body>413 Request Entity Too Large</body></html>', kind: 'too-large' },
    { status: 404, body: 'not here', kind: 'not-found' },
    { status: 418, body: null, kind: 'invalid-request' },
    { status: 520, body: '', kind: 'overloaded' },
    { body: null, kind: 'malformed-reply' },
    { body: 'upstream connect error', kind: 'overloaded' },
  ],
}
