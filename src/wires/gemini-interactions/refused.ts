// Requests that Gemini's Interactions API refuses.

import type { JsonObject } from '../../core/json.ts'
import { put, putIn, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { type: 'user_input', content: [{ type: 'text', text: 'Say ok.' }] }
const modelOutput: JsonObject = { type: 'model_output', content: [{ type: 'text', text: 'Ok.' }] }
const call: JsonObject = {
  type: 'function_call',
  id: 'call_1',
  name: 'clock',
  arguments: { zone: 'UTC' },
  signature: 'c2lnbmVk',
}
const result: JsonObject = {
  type: 'function_result',
  call_id: 'call_1',
  name: 'clock',
  result: [{ type: 'text', text: '12:00' }],
}

function input(...steps: JsonObject[]): RefusedCheck['change'] {
  return put({
    input: steps,
    tools: [
      { type: 'function', name: 'clock', parameters: { type: 'object', properties: { zone: { type: 'string' } } } },
    ],
  })
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused('I-1', 'no input', put({ input: undefined })),
  refused('I-2', 'a field that does not exist', put({ mood: 'good' })),
  refused('I-3', 'turns with roles', put({ input: [{ role: 'user', content: 'Say ok.' }] })),
  refused('I-4', 'a step type that does not exist', put({ input: [{ type: 'thinking_aloud' }] })),
  refused('I-5', 'in the background, and not stored', put({ background: true, store: false })),
  refused('G-2', 'a history that opens with a call', input(call, result)),
  refused('G-3', 'a result without its call', input(user, modelOutput, result)),
  refused('G-5', 'the model has the last turn', input(user, modelOutput)),
  refused(
    'G-6',
    'a call without its signature',
    input(user, { type: 'function_call', id: 'call_1', name: 'clock', arguments: {} }, result),
  ),
  refused('G-8', 'user input without content', put({ input: [{ type: 'user_input', content: [] }] })),
  refused(
    'G-14',
    'a thinking level that the model does not support',
    putIn('generation_config', { thinking_level: 'minimal' }),
  ),
]
