// The answers of model makers.

import { anthropic, gemini, mistral, openai, type Case } from './bodies.ts'

export const makerCases: Record<string, Case[]> = {
  anthropic: [
    {
      status: 400,
      body: anthropic('invalid_request_error', 'prompt is too long: 209353 tokens > 199999 maximum'),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: anthropic(
        'invalid_request_error',
        'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-x',
      ),
      kind: 'invalid-request',
    },
    {
      status: 400,
      body: anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      kind: 'quota',
    },
    { status: 401, body: anthropic('authentication_error', 'invalid x-api-key'), kind: 'auth' },
    { status: 402, body: anthropic('billing_error', 'Pay.'), kind: 'quota' },
    { status: 403, body: anthropic('permission_error', 'No.'), kind: 'permission' },
    { status: 404, body: anthropic('not_found_error', 'model: claude-sonet-4-5'), kind: 'not-found' },
    {
      status: 404,
      body: anthropic('not_found_error', 'No such thread.', 'thread_not_found'),
      kind: 'state-lost',
      code: 'thread_not_found',
    },
    { status: 400, body: anthropic('invalid_request_error', 'Again.', 'thread_already_continued'), kind: 'state-lost' },
    {
      status: 400,
      body: anthropic('invalid_request_error', 'Changed.', 'thread_fingerprint_mismatch'),
      kind: 'state-lost',
    },
    { status: 400, body: anthropic('invalid_request_error', 'No.', 'thread_unsupported_request'), kind: 'state-lost' },
    { status: 409, body: anthropic('conflict_error', 'Busy.'), kind: 'overloaded' },
    { status: 413, body: anthropic('request_too_large', 'Request exceeds the maximum size'), kind: 'too-large' },
    {
      status: 429,
      body: anthropic('rate_limit_error', 'Slow.'),
      kind: 'rate-limit',
      headers: { 'retry-after': '12' },
      wait: 12_000,
    },
    { status: 500, body: anthropic('api_error', 'Internal server error'), kind: 'overloaded' },
    { status: 504, body: anthropic('timeout_error', 'Too slow.'), kind: 'timeout' },
    { status: 529, body: anthropic('overloaded_error', 'Overloaded'), kind: 'overloaded' },
    { status: 529, body: anthropic('overloaded_error', 'Later.', 'compaction_unavailable'), kind: 'overloaded' },
    { body: anthropic('overloaded_error', 'Overloaded'), kind: 'overloaded' },
    { body: anthropic('rate_limit_error', 'Slow.'), kind: 'rate-limit' },
  ],
  google: [
    {
      status: 400,
      body: gemini(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).',
      ),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: [gemini(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.')],
      kind: 'invalid-request',
      code: 'INVALID_ARGUMENT',
    },
    {
      status: 400,
      body: gemini(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
      ]),
      kind: 'auth',
      code: 'API_KEY_INVALID',
    },
    {
      status: 429,
      body: gemini(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details. Please retry in 8.268544852s.',
        [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '8s' }],
      ),
      kind: 'rate-limit',
      wait: 8000,
    },
    {
      status: 429,
      body: gemini(429, 'RESOURCE_EXHAUSTED', 'Quota. Please retry in 8.268544852s.'),
      kind: 'rate-limit',
      wait: 8269,
    },
    {
      status: 429,
      body: gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
        },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '31s' },
      ]),
      kind: 'quota',
    },
    {
      status: 503,
      body: gemini(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
      kind: 'overloaded',
    },
    { body: gemini(503, 'UNAVAILABLE', 'This model is currently experiencing high demand.'), kind: 'overloaded' },
    {
      body: {
        error: {
          message: JSON.stringify(gemini(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).')),
          code: 429,
          status: 'Too Many Requests',
        },
      },
      kind: 'rate-limit',
    },
    { status: 403, body: gemini(403, 'PERMISSION_DENIED', 'No.'), kind: 'permission' },
    { status: 504, body: gemini(504, 'DEADLINE_EXCEEDED', 'Slow.'), kind: 'timeout' },
    {
      status: 404,
      body: { error: { message: 'Interaction v1_abc not found.', code: 'not_found' } },
      kind: 'state-lost',
    },
    { status: 404, body: { error: { message: 'No such model.', code: 'model_not_found' } }, kind: 'not-found' },
    { status: 402, body: { error: { message: 'Pay.', code: 'payment_required' } }, kind: 'quota' },
    { status: 429, body: { error: { message: 'Wait.', code: 'too_many_requests' } }, kind: 'rate-limit' },
    { body: { event_type: 'error', error: { code: 'service_unavailable', message: 'Later.' } }, kind: 'overloaded' },
    { status: 401, body: { error: { message: 'Who?', code: 'authentication' } }, kind: 'auth' },
  ],
  mistral: [
    {
      status: 400,
      body: mistral("Unexpected role 'user' after role 'tool'", 'invalid_request_message_order', '3230'),
      kind: 'invalid-request',
      code: '3230',
    },
    {
      status: 400,
      body: mistral(
        'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
        'invalid_request_error',
        '3051',
      ),
      kind: 'context-overflow',
    },
    { status: 422, body: mistral('Too long.', 'invalid_request_error', 'prompt_too_long'), kind: 'context-overflow' },
    { status: 429, body: mistral('Rate limit exceeded', 'rate_limited', '1300'), kind: 'rate-limit' },
    { status: 429, body: { message: 'Requests rate limit exceeded' }, kind: 'rate-limit' },
    {
      status: 429,
      body: mistral('Service tier capacity exceeded for this model.', 'service_tier_capacity_exceeded', '3505'),
      kind: 'rate-limit',
    },
    {
      status: 422,
      body: {
        detail: [
          { type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted', input: 'secret' },
        ],
      },
      kind: 'invalid-request',
    },
    {
      status: 422,
      body: {
        object: 'error',
        message: { detail: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required' }] },
        type: 'invalid_request_error',
      },
      kind: 'invalid-request',
    },
    { status: 401, body: { detail: 'Unauthorized' }, kind: 'auth' },
  ],
  xai: [
    {
      status: 400,
      body: {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: xa***9. You can obtain an API key from https://console.x.ai.',
      },
      kind: 'auth',
    },
    {
      status: 400,
      body: {
        code: 'Client specified an invalid argument',
        error: 'Invalid request content: Each message must have at least one content element.',
      },
      kind: 'invalid-request',
    },
    {
      status: 422,
      body: {
        error:
          'Failed to deserialize the JSON body into the target type: data did not match any variant of untagged enum ModelInput',
      },
      kind: 'invalid-request',
    },
    {
      status: 400,
      body: openai("This model's maximum prompt length is 131072 but the request contains 136973 tokens."),
      kind: 'context-overflow',
    },
    { status: 429, body: { code: 'Some resource has been exhausted', error: 'Slow.' }, kind: 'rate-limit' },
  ],
  deepseek: [
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
        'invalid_request_error',
      ),
      kind: 'context-overflow',
    },
    { status: 402, body: openai('Insufficient Balance', 'invalid_request_error', 'unknown_error'), kind: 'quota' },
    {
      status: 401,
      body: openai(
        'Authentication Fails, Your api key: ****-key is invalid',
        'invalid_request_error',
        'authentication_error',
      ),
      kind: 'auth',
    },
    {
      status: 400,
      body: openai(
        'The `reasoning_content` in the thinking mode must be passed back to the API.',
        'invalid_request_error',
      ),
      kind: 'invalid-request',
    },
    { status: 503, body: openai('Busy', null, 'service_unavailable_error'), kind: 'overloaded' },
    { status: 500, body: openai('Server error', 'invalid_request_error'), kind: 'overloaded' },
  ],
}
