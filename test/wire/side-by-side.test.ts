// One history, every wire's messages side by side. A gap in the table would need a reason; there is none.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message, ToolMessage } from '../../src/core/message.ts'
import { prepare, refuse } from '../../src/index.ts'
import { messagesOf } from '../body.ts'
import { call, failure, onePixel, onePixelBase64, reply, result, user, whatTimeIsIt } from '../histories.ts'

const wires: Record<string, { provider: string; model: string }> = {
  'openai-chat': { provider: 'openai', model: 'gpt-4o' },
  'openai-responses': { provider: 'openai', model: 'gpt-4o' },
  'anthropic-messages': { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  'gemini-generate': { provider: 'google', model: 'gemini-3.8-flash' },
  'gemini-interactions': { provider: 'google', model: 'gemini-3.8-flash' },
  'mistral-chat': { provider: 'mistral', model: 'mistral-medium-latest' },
  'ollama-chat': { provider: 'ollama', model: 'llama3.3' },
}

const pixelUrl = `data:image/png;base64,${onePixelBase64}`
const shown: ToolMessage['parts'][number]['output'] = [{ type: 'text', text: 'here' }, onePixel]

const failedAndFine = [
  user('go'),
  reply(call('a', 'f', { x: 1 }), call('b', 'g')),
  failure('a', 'broke', 'f'),
  result('b', 'fine', 'g'),
]
const screenshot: Message[] = [
  user('look'),
  reply(call('a', 'shot')),
  { role: 'tool', parts: [{ type: 'tool-result', callId: 'a', name: 'shot', output: shown }] },
]
const orphan = [result('z', 'old', 'f'), user('continue')]
const unanswered = [user('go'), reply(call('a', 'f')), user('well?')]
const malformed = [
  user('go'),
  reply({ type: 'tool-call', callId: 'a', name: 'f', input: {}, malformed: '{"x": ' }),
  failure('a', 'not run', 'f'),
]
const foreignReasoning = [user('go'), reply({ type: 'reasoning', text: 'secret plan' }, 'said aloud'), user('on')]

sideBySide("one tool call and its result are written in each wire's own way", whatTimeIsIt, {
  'openai-chat': [
    { role: 'user', content: 'What time is it?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js',
          type: 'function',
          function: { name: 'clock', arguments: '{"zone":"UTC"}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', content: '12:00' },
    { role: 'assistant', content: 'It is noon.' },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: 'What time is it?' },
    { type: 'function_call', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'clock', arguments: '{"zone":"UTC"}' },
    { type: 'function_call_output', call_id: 'call_mYNgtxIxXlhy50ysmTzrQ0Js', output: '12:00' },
    { type: 'message', role: 'assistant', content: 'It is noon.' },
  ],
  'anthropic-messages': [
    { role: 'user', content: [{ type: 'text', text: 'What time is it?' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_mYNgtxIxXlhy50ysmTzrQ0Js', name: 'clock', input: { zone: 'UTC' } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_mYNgtxIxXlhy50ysmTzrQ0Js', content: '12:00' }],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'It is noon.' }] },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'What time is it?' }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'call_mYNgtxIxXlhy', name: 'clock', args: { zone: 'UTC' } },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'call_mYNgtxIxXlhy', name: 'clock', response: { output: '12:00' } } }],
    },
    { role: 'model', parts: [{ text: 'It is noon.' }] },
    { role: 'user', parts: [{ text: 'Continue.' }] },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: 'What time is it?' }] },
    { type: 'thought', signature: 'skip_thought_signature_validator' },
    { type: 'function_call', id: 'call_mYNgtxIxXlhy', name: 'clock', arguments: { zone: 'UTC' } },
    { type: 'function_result', call_id: 'call_mYNgtxIxXlhy', name: 'clock', result: '12:00' },
    { type: 'model_output', content: [{ type: 'text', text: 'It is noon.' }] },
    { type: 'user_input', content: [{ type: 'text', text: 'Continue.' }] },
  ],
  'mistral-chat': [
    { role: 'user', content: 'What time is it?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'mYNgtxIxX', type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }],
    },
    { role: 'tool', tool_call_id: 'mYNgtxIxX', name: 'clock', content: '12:00' },
    { role: 'assistant', content: 'It is noon.' },
    { role: 'user', content: 'Continue.' },
  ],
  'ollama-chat': [
    { role: 'user', content: 'What time is it?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_mYNgtxIx', function: { name: 'clock', arguments: { zone: 'UTC' } } }],
    },
    { role: 'tool', tool_name: 'clock', tool_call_id: 'call_mYNgtxIx', content: '12:00' },
    { role: 'assistant', content: 'It is noon.' },
  ],
})

sideBySide('a failed result says so, and parallel results stand together', failedAndFine, {
  'openai-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'call_0zKm0VrcPdhDCDRQf3Y0cqIc', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', content: 'Error: broke' },
    { role: 'tool', tool_call_id: 'call_0zKm0VrcPdhDCDRQf3Y0cqIc', content: 'fine' },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: 'go' },
    { type: 'function_call', call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', name: 'f', arguments: '{"x":1}' },
    { type: 'function_call', call_id: 'call_0zKm0VrcPdhDCDRQf3Y0cqIc', name: 'g', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', output: 'Error: broke' },
    { type: 'function_call_output', call_id: 'call_0zKm0VrcPdhDCDRQf3Y0cqIc', output: 'fine' },
  ],
  'anthropic-messages': [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'toolu_0zKm0VrcPdhDCDRQf3Y0cqIc', name: 'g', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ', content: 'broke', is_error: true },
        { type: 'tool_result', tool_use_id: 'toolu_0zKm0VrcPdhDCDRQf3Y0cqIc', content: 'fine' },
      ],
    },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'call_gr5igr3g28NT', name: 'f', args: { x: 1 } },
          thoughtSignature: 'skip_thought_signature_validator',
        },
        { functionCall: { id: 'call_0zKm0VrcPdhD', name: 'g', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'call_gr5igr3g28NT', name: 'f', response: { error: 'broke' } } },
        { functionResponse: { id: 'call_0zKm0VrcPdhD', name: 'g', response: { output: 'fine' } } },
      ],
    },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: 'go' }] },
    { type: 'thought', signature: 'skip_thought_signature_validator' },
    { type: 'function_call', id: 'call_gr5igr3g28NT', name: 'f', arguments: { x: 1 } },
    { type: 'function_call', id: 'call_0zKm0VrcPdhD', name: 'g', arguments: {} },
    { type: 'function_result', call_id: 'call_gr5igr3g28NT', name: 'f', result: 'broke', is_error: true },
    { type: 'function_result', call_id: 'call_0zKm0VrcPdhD', name: 'g', result: 'fine' },
  ],
  'mistral-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'gr5igr3g2', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: '0zKm0VrcP', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'gr5igr3g2', name: 'f', content: 'Error: broke' },
    { role: 'tool', tool_call_id: '0zKm0VrcP', name: 'g', content: 'fine' },
  ],
  'ollama-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_gr5igr3g', function: { name: 'f', arguments: { x: 1 } } }],
    },
    { role: 'tool', tool_name: 'f', tool_call_id: 'call_gr5igr3g', content: 'Error: broke' },
    // An unknown chat template may support one call at a time.
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_0zKm0Vrc', function: { name: 'g', arguments: {} } }] },
    { role: 'tool', tool_name: 'g', tool_call_id: 'call_0zKm0Vrc', content: 'fine' },
  ],
})

sideBySide('an image in a result goes where the wire has a place for it', screenshot, {
  'openai-chat': [
    { role: 'user', content: 'look' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', type: 'function', function: { name: 'shot', arguments: '{}' } },
      ],
    },
    {
      role: 'tool',
      tool_call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ',
      content: 'here\n[image/png, shown below the tool results]',
    },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: pixelUrl } }] },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: 'look' },
    { type: 'function_call', call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', name: 'shot', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ',
      output: [
        { type: 'input_text', text: 'here' },
        { type: 'input_image', image_url: pixelUrl, detail: 'auto' },
      ],
    },
  ],
  'anthropic-messages': [
    { role: 'user', content: [{ type: 'text', text: 'look' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ', name: 'shot', input: {} }],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ',
          content: [
            { type: 'text', text: 'here' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: onePixelBase64 } },
          ],
        },
      ],
    },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'look' }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'call_gr5igr3g28NT', name: 'shot', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'call_gr5igr3g28NT',
            name: 'shot',
            response: { output: 'here' },
            parts: [{ inlineData: { mimeType: 'image/png', data: onePixelBase64 } }],
          },
        },
      ],
    },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: 'look' }] },
    { type: 'thought', signature: 'skip_thought_signature_validator' },
    { type: 'function_call', id: 'call_gr5igr3g28NT', name: 'shot', arguments: {} },
    {
      type: 'function_result',
      call_id: 'call_gr5igr3g28NT',
      name: 'shot',
      result: [
        { type: 'text', text: 'here' },
        { type: 'image', mime_type: 'image/png', data: onePixelBase64 },
      ],
    },
  ],
  'mistral-chat': [
    { role: 'user', content: 'look' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'gr5igr3g2', type: 'function', function: { name: 'shot', arguments: '{}' } }],
    },
    {
      role: 'tool',
      tool_call_id: 'gr5igr3g2',
      name: 'shot',
      content: 'here\n[image/png, shown below the tool results]',
    },
    { role: 'assistant', content: 'OK.' },
    { role: 'user', content: [{ type: 'image_url', image_url: pixelUrl }] },
  ],
  'ollama-chat': [
    { role: 'user', content: 'look' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_gr5igr3g', function: { name: 'shot', arguments: {} } }],
    },
    { role: 'tool', tool_name: 'shot', tool_call_id: 'call_gr5igr3g', content: 'here', images: [onePixelBase64] },
  ],
})

sideBySide('a result whose call is gone becomes labelled text', orphan, {
  'openai-chat': [
    { role: 'user', content: '[Tool Result - Previous Context] f: old' },
    { role: 'user', content: 'continue' },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: '[Tool Result - Previous Context] f: old' },
    { type: 'message', role: 'user', content: 'continue' },
  ],
  'anthropic-messages': [
    {
      role: 'user',
      content: [
        { type: 'text', text: '[Tool Result - Previous Context] f: old' },
        { type: 'text', text: 'continue' },
      ],
    },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: '[Tool Result - Previous Context] f: old' }, { text: 'continue' }] },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: '[Tool Result - Previous Context] f: old' }] },
    { type: 'user_input', content: [{ type: 'text', text: 'continue' }] },
  ],
  'mistral-chat': [
    { role: 'user', content: '[Tool Result - Previous Context] f: old' },
    { role: 'user', content: 'continue' },
  ],
  'ollama-chat': [
    { role: 'user', content: '[Tool Result - Previous Context] f: old' },
    { role: 'user', content: 'continue' },
  ],
})

sideBySide('a call without a result gets one that says so', unanswered, {
  'openai-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    {
      role: 'tool',
      tool_call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ',
      content: 'Error: The call of f was interrupted before it gave a result.',
    },
    { role: 'user', content: 'well?' },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: 'go' },
    { type: 'function_call', call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', name: 'f', arguments: '{}' },
    {
      type: 'function_call_output',
      call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ',
      output: 'Error: The call of f was interrupted before it gave a result.',
    },
    { type: 'message', role: 'user', content: 'well?' },
  ],
  'anthropic-messages': [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ',
          content: 'The call of f was interrupted before it gave a result.',
          is_error: true,
        },
        { type: 'text', text: 'well?' },
      ],
    },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'call_gr5igr3g28NT', name: 'f', args: {} },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'call_gr5igr3g28NT',
            name: 'f',
            response: { error: 'The call of f was interrupted before it gave a result.' },
          },
        },
        { text: 'well?' },
      ],
    },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: 'go' }] },
    { type: 'thought', signature: 'skip_thought_signature_validator' },
    { type: 'function_call', id: 'call_gr5igr3g28NT', name: 'f', arguments: {} },
    {
      type: 'function_result',
      call_id: 'call_gr5igr3g28NT',
      name: 'f',
      result: 'The call of f was interrupted before it gave a result.',
      is_error: true,
    },
    { type: 'user_input', content: [{ type: 'text', text: 'well?' }] },
  ],
  'mistral-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'gr5igr3g2', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    {
      role: 'tool',
      tool_call_id: 'gr5igr3g2',
      name: 'f',
      content: 'Error: The call of f was interrupted before it gave a result.',
    },
    { role: 'assistant', content: 'OK.' },
    { role: 'user', content: 'well?' },
  ],
  'ollama-chat': [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_gr5igr3g', function: { name: 'f', arguments: {} } }] },
    {
      role: 'tool',
      tool_name: 'f',
      tool_call_id: 'call_gr5igr3g',
      content: 'Error: The call of f was interrupted before it gave a result.',
    },
    { role: 'user', content: 'well?' },
  ],
})

sideBySide('arguments that are no JSON stay readable, and are an object on the wire', malformed, {
  'openai-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_gr5igr3g28NTuzyfHaR0k0gQ',
          type: 'function',
          function: { name: 'f', arguments: '{"INVALID_JSON":"{\\"x\\": "}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', content: 'Error: not run' },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: 'go' },
    {
      type: 'function_call',
      call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ',
      name: 'f',
      arguments: '{"INVALID_JSON":"{\\"x\\": "}',
    },
    { type: 'function_call_output', call_id: 'call_gr5igr3g28NTuzyfHaR0k0gQ', output: 'Error: not run' },
  ],
  'anthropic-messages': [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ', name: 'f', input: { INVALID_JSON: '{"x": ' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_gr5igr3g28NTuzyfHaR0k0gQ', content: 'not run', is_error: true },
      ],
    },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'model',
      parts: [
        {
          functionCall: { id: 'call_gr5igr3g28NT', name: 'f', args: { INVALID_JSON: '{"x": ' } },
          thoughtSignature: 'skip_thought_signature_validator',
        },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'call_gr5igr3g28NT', name: 'f', response: { error: 'not run' } } }],
    },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: 'go' }] },
    { type: 'thought', signature: 'skip_thought_signature_validator' },
    { type: 'function_call', id: 'call_gr5igr3g28NT', name: 'f', arguments: { INVALID_JSON: '{"x": ' } },
    { type: 'function_result', call_id: 'call_gr5igr3g28NT', name: 'f', result: 'not run', is_error: true },
  ],
  'mistral-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'gr5igr3g2', type: 'function', function: { name: 'f', arguments: '{"INVALID_JSON":"{\\"x\\": "}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'gr5igr3g2', name: 'f', content: 'Error: not run' },
  ],
  'ollama-chat': [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_gr5igr3g', function: { name: 'f', arguments: { INVALID_JSON: '{"x": ' } } }],
    },
    { role: 'tool', tool_name: 'f', tool_call_id: 'call_gr5igr3g', content: 'Error: not run' },
  ],
})

sideBySide('reasoning from elsewhere is not sent, and what was said is', foreignReasoning, {
  'openai-chat': [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'said aloud' },
    { role: 'user', content: 'on' },
  ],
  'openai-responses': [
    { type: 'message', role: 'user', content: 'go' },
    { type: 'message', role: 'assistant', content: 'said aloud' },
    { type: 'message', role: 'user', content: 'on' },
  ],
  'anthropic-messages': [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'said aloud' }] },
    { role: 'user', content: [{ type: 'text', text: 'on' }] },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'go' }] },
    { role: 'model', parts: [{ text: 'said aloud' }] },
    { role: 'user', parts: [{ text: 'on' }] },
  ],
  'gemini-interactions': [
    { type: 'user_input', content: [{ type: 'text', text: 'go' }] },
    { type: 'model_output', content: [{ type: 'text', text: 'said aloud' }] },
    { type: 'user_input', content: [{ type: 'text', text: 'on' }] },
  ],
  'mistral-chat': [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'said aloud' },
    { role: 'user', content: 'on' },
  ],
  'ollama-chat': [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'said aloud' },
    { role: 'user', content: 'on' },
  ],
})

function sideBySide(name: string, messages: Message[], expected: Record<string, Json>): void {
  assert.deepEqual(Object.keys(expected), Object.keys(wires))
  for (const [protocol, target] of Object.entries(wires)) {
    test(`${name} (${protocol})`, () => {
      const tools = [{ name: 'clock', input: { type: 'object' } }]
      const { body } = prepare({ ...target, protocol, messages, tools })
      assert.deepEqual(messagesOf(body), expected[protocol])
      assert.deepEqual(refuse(protocol, body, target), [])
    })
  }
}
