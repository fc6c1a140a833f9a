// What OpenAI and Azure answer, on both wires and inside streams.

import { openai, type Case } from './bodies.ts'

export const openaiCases: Record<string, Case[]> = {
  openai: [
    {
      status: 401,
      body: openai('Incorrect API key provided: sk-ab***yz.', 'invalid_api_key'),
      kind: 'auth',
      code: 'invalid_api_key',
    },
    {
      status: 403,
      body: openai('Country, region, or territory not supported', 'unsupported_country_region_territory'),
      kind: 'permission',
    },
    {
      status: 429,
      body: openai(
        'Rate limit reached for gpt-5 in organization org-1 on tokens per min. Please try again in 41.724s.',
        'rate_limit_exceeded',
        'tokens',
      ),
      kind: 'rate-limit',
      wait: 41_724,
    },
    {
      status: 429,
      body: openai('Please try again in 6m0s.', 'rate_limit_exceeded', 'requests'),
      kind: 'rate-limit',
      wait: 360_000,
    },
    {
      status: 429,
      body: openai('Please try again in 120ms.', 'rate_limit_exceeded', 'requests'),
      kind: 'rate-limit',
      wait: 120,
    },
    { status: 429, body: openai('Slow down.', 'slow_down', 'rate_limit_error'), kind: 'rate-limit' },
    {
      status: 429,
      body: openai(
        'You exceeded your current quota, please check your plan and billing details.',
        'insufficient_quota',
        'insufficient_quota',
      ),
      kind: 'quota',
    },
    { status: 429, body: openai('No credits.', 'credit_balance_exhausted'), kind: 'quota' },
    { status: 503, body: openai('Busy.', 'server_is_overloaded', 'service_unavailable_error'), kind: 'overloaded' },
    { status: 500, body: openai('The server had an error.', null, 'server_error'), kind: 'overloaded' },
    {
      status: 400,
      body: openai(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
        'context_length_exceeded',
        'invalid_request_error',
        'messages',
      ),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: openai(
        'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.',
      ),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: openai('Your input exceeds the context window of this model. Please adjust your input and try again.'),
      kind: 'context-overflow',
    },
    {
      status: 400,
      body: openai(
        "Previous response with id 'resp_1' not found.",
        'previous_response_not_found',
        'invalid_request_error',
        'previous_response_id',
      ),
      kind: 'state-lost',
    },
    {
      status: 400,
      body: openai(
        'Previous response cannot be used for this organization due to Zero Data Retention.',
        'unsupported_parameter',
        'invalid_request_error',
        'previous_response_id',
      ),
      kind: 'state-lost',
    },
    {
      status: 404,
      body: openai(
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
      ),
      kind: 'state-lost',
    },
    {
      status: 400,
      body: openai('Duplicate item found with id rs_1. Remove duplicate items from your input and try again.'),
      kind: 'state-lost',
    },
    {
      status: 400,
      body: openai(
        'Another process is currently operating on this conversation. Please retry in a few seconds.',
        'conversation_locked',
        'invalid_request_error',
        'conversation',
      ),
      kind: 'overloaded',
    },
    {
      status: 400,
      body: openai(
        'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: x',
        'invalid_prompt',
      ),
      kind: 'refused',
    },
    {
      status: 400,
      body: openai('The encrypted content gAAA could not be verified.', 'invalid_encrypted_content'),
      kind: 'invalid-request',
    },
    {
      status: 400,
      body: openai("Invalid 'messages': empty array.", 'empty_array'),
      kind: 'invalid-request',
      code: 'empty_array',
    },
    {
      status: 404,
      body: openai('The model `gpt-9` does not exist or you do not have access to it.', 'model_not_found'),
      kind: 'not-found',
    },
    {
      body: {
        type: 'error',
        code: 'rate_limit_exceeded',
        message: 'Please try again in 2s',
        param: null,
        sequence_number: 3,
      },
      kind: 'rate-limit',
      wait: 2000,
    },
    {
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long.', param: 'input' },
      },
      kind: 'context-overflow',
    },
    {
      body: {
        type: 'response.failed',
        response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'Sorry.' } },
      },
      kind: 'overloaded',
      code: 'server_error',
    },
    { body: { type: 'response.failed', response: { error: { code: 'bio_policy', message: 'No.' } } }, kind: 'refused' },
    {
      body: { type: 'response.failed', response: { error: { code: 'image_too_large', message: 'No.' } } },
      kind: 'too-large',
    },
    {
      body: { type: 'error', status: 400, error: { type: 'invalid_request_error', message: 'Bad.' } },
      kind: 'invalid-request',
    },
  ],
  'azure-openai': [
    {
      status: 400,
      body: openai(
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        'content_filter',
      ),
      kind: 'refused',
    },
    {
      status: 429,
      body: openai('Requests have exceeded the rate limit. Please retry after 7 seconds.', '429'),
      kind: 'rate-limit',
      wait: 7000,
    },
  ],
}
