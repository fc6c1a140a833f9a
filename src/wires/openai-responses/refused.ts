// Requests that the Responses API refuses, at OpenAI or at another host of it.

import type { Json, JsonObject } from '../../core/json.ts'
import { clockInput, longText, put, putIn, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: 'Say ok.' }

function tool(name: string, parameters: Json = clockInput): JsonObject {
  return { type: 'function', name, parameters, strict: false }
}

function functionCall(callId: string, fields: JsonObject = {}): JsonObject {
  return { type: 'function_call', call_id: callId, name: 'clock', arguments: '{"zone":"UTC"}', ...fields }
}

function output(callId: string): JsonObject {
  return { type: 'function_call_output', call_id: callId, output: '12:00' }
}

function input(...items: JsonObject[]): RefusedCheck['change'] {
  return put({ input: items, tools: [tool('clock')] })
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused('R1', 'a call without its output', input(user, functionCall('call_1'), user)),
  refused('R2', 'an output without its call', input(user, output('call_1'))),
  refused(
    'R9',
    'reasoning in plain words',
    input(user, { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Say it.' }] }, user),
  ),
  refused('R10', 'an item id of another type', input(user, functionCall('call_1', { id: 'msg_1' }), output('call_1'))),
  refused('R12', 'a call id of 65 characters', input(user, functionCall(longText), output(longText))),
  refused(
    'R13',
    'one item id twice',
    input(
      user,
      functionCall('call_1', { id: 'fc_1' }),
      functionCall('call_2', { id: 'fc_1' }),
      output('call_1'),
      output('call_2'),
    ),
  ),
  refused('R14', 'a role that does not exist', input({ role: 'robot', content: 'Say ok.' })),
  refused(
    'R15',
    'an input part of the assistant',
    input(user, { role: 'assistant', content: [{ type: 'input_text', text: 'Ok.' }] }, user),
  ),
  refused('R16', 'a field that items do not have', input({ ...user, mood: 'good' })),
  refused('R17', 'an item type that does not exist', input({ type: 'thought', text: 'Ok.' }, user)),
  refused('R18', 'nothing to answer', put({ input: [] })),
  refused(
    'C8',
    'a call of a tool whose name has a space',
    input(user, functionCall('call_1', { name: 'the clock' }), output('call_1')),
  ),
  refused('C9', 'a tool whose name has a space', put({ tools: [tool('the clock')] })),
  refused('C16', 'a temperature', (body) => putIn('reasoning', { effort: 'low' })({ ...body, temperature: 0.5 })),
  refused('C17', 'an effort that does not exist', putIn('reasoning', { effort: 'extreme' })),
  refused('C18', 'a cache key of 65 characters', put({ prompt_cache_key: longText })),
  refused('output-limit', 'one token of output', put({ max_output_tokens: 1 })),
  refused('tool-schema', 'a tool whose input is not an object', put({ tools: [tool('clock', { type: 'string' })] })),
  refused(
    'tool-choice',
    'the choice of a tool that is not offered',
    put({ tools: [tool('clock')], tool_choice: { type: 'function', name: 'other' } }),
  ),
  refused('shape', 'a field that does not exist', put({ mood: 'good' })),
  refused('xai-null', 'a field that is null', put({ input: [{ ...user, name: null }] })),
  refused('xai-empty', 'an empty message', put({ input: [{ role: 'user', content: '' }] })),
  refused('openrouter-state', 'a chain', put({ previous_response_id: 'resp_1' })),
  refused(
    'vllm-reasoning',
    'sealed reasoning',
    input(user, { type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' }, user),
  ),
  refused('llamacpp-state', 'a chain', put({ previous_response_id: 'resp_1' })),
]
