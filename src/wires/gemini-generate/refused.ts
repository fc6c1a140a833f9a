// Requests that Gemini's generateContent refuses.

import type { Json, JsonObject } from '../../core/json.ts'
import { put, putIn, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', parts: [{ text: 'Say ok.' }] }
const modelTurn: JsonObject = { role: 'model', parts: [{ text: 'Ok.' }] }
const call: JsonObject = { functionCall: { name: 'clock', args: { zone: 'UTC' } } }
const signed: JsonObject = { ...call, thoughtSignature: 'c2lnbmVk' }
const response: JsonObject = { functionResponse: { name: 'clock', response: { output: '12:00' } } }

function tools(parameters: Json): Json {
  return [{ functionDeclarations: [{ name: 'clock', description: 'Tells the time.', parameters }] }]
}

const clock = tools({ type: 'OBJECT', properties: { zone: { type: 'STRING' } } })

function contents(...list: JsonObject[]): RefusedCheck['change'] {
  return put({ contents: list, tools: clock })
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused('G-1', 'the role assistant', put({ contents: [{ ...user, role: 'assistant' }] })),
  refused(
    'G-2',
    'a history that opens with a call',
    contents({ role: 'model', parts: [signed] }, { role: 'user', parts: [response] }),
  ),
  refused('G-3', 'a response without its call', contents(user, modelTurn, { role: 'user', parts: [response] })),
  refused(
    'G-4',
    'one response to two calls',
    contents(user, { role: 'model', parts: [signed, call] }, { role: 'user', parts: [response] }),
  ),
  refused('G-5', 'the model has the last turn', contents(user, modelTurn)),
  refused(
    'G-6',
    'a call without its signature',
    contents(user, { role: 'model', parts: [call] }, { role: 'user', parts: [response] }),
  ),
  refused(
    'G-7',
    'a signature that is not base64',
    contents(user, { role: 'model', parts: [{ ...call, thoughtSignature: '%' }] }, { role: 'user', parts: [response] }),
  ),
  refused('G-8', 'a content without parts', put({ contents: [{ role: 'user', parts: [] }] })),
  refused('G-9', 'a part without data', put({ contents: [{ role: 'user', parts: [{}] }] })),
  refused('G-10', 'no contents', put({ contents: [] })),
  refused(
    'G-12',
    'a schema with a keyword that is not read',
    put({ tools: tools({ type: 'OBJECT', properties: {}, $comment: 'a note' }) }),
  ),
  refused(
    'G-14',
    'a level and a budget of thinking',
    putIn('generationConfig', { thinkingConfig: { thinkingLevel: 'low', thinkingBudget: 10 } }),
  ),
  refused('shape', 'a field that does not exist', put({ mood: 'good' })),
]
