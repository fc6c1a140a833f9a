// What a server of Converse needs besides encoding and decoding.

import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'
import { effortWithThinking, readOptions, reasoningByEffort, type RequestOptions } from '../shared/request-options.ts'
import type { WireService } from '../service.ts'
import { listIn, textIn, valueAt } from '../shared/json-fields.ts'
import { withEnd, markOf, segment, type Prompt, type Segment } from '../shared/prompt.ts'
import { inside } from './types.ts'
import { decodedName } from '../shared/path.ts'

export const bedrockConverseService: WireService = {
  home: 'bedrock',
  route(method, path) {
    const [, name, action] = /\/model\/([^/]+)\/(converse|converse-stream|count-tokens)$/.exec(path) ?? []
    if (method !== 'POST' || name === undefined) return undefined
    const model = decodedName(name)
    return action === 'count-tokens'
      ? { do: 'count', model }
      : { do: 'reply', model, stream: action === 'converse-stream' }
  },
  listField: 'messages',
  // The model is in the path.
  request: (messages) => ({ messages }),
  options(body) {
    const fields = body.additionalModelRequestFields
    const thinking = valueAt(fields, 'thinking') ?? valueAt(fields, 'reasoningConfig')
    const type = valueAt(thinking, 'type')
    const level = valueAt(fields, 'reasoning_effort')
    const otherLevel = valueAt(fields, 'output_config', 'effort') ?? valueAt(thinking, 'maxReasoningEffort')
    const text = valueAt(body, 'outputConfig', 'textFormat', 'structure', 'jsonSchema', 'schema')
    const schema = typeof text === 'string' ? parseJson(text) : undefined
    return readOptions({
      toolChoice: toolChoiceOf(valueAt(body, 'toolConfig', 'toolChoice')),
      reasoning: type === undefined ? reasoningByEffort(level) : type === 'disabled' ? 'off' : 'on',
      answerSchema: isObject(schema) ? schema : undefined,
      maxOutput: [valueAt(body, 'inferenceConfig', 'maxTokens')],
      stop: valueAt(body, 'inferenceConfig', 'stopSequences'),
      temperature: valueAt(body, 'inferenceConfig', 'temperature'),
      topP: valueAt(body, 'inferenceConfig', 'topP'),
      effort: effortWithThinking(level ?? otherLevel, thinking),
    })
  },
  prompt: promptOf,
  counting: {
    request(body) {
      const inner = valueAt(body, 'input', 'converse')
      return isObject(inner) ? inner : body
    },
    answer: (tokens) => ({ inputTokens: tokens }),
    unknownField: (field) => ({ message: `Unknown field ${field}.`, code: null }),
  },
  callId: (letters) => `tooluse_${letters(22)}`,
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"metadata":/,
  overflow: () => ({
    rule: 'BC-19',
    status: 400,
    type: 'ValidationException',
    message: 'Input is too long for requested model.',
  }),
  errors: {
    429: { message: 'Too many requests, please wait before trying again.', type: 'ThrottlingException' },
    500: { message: 'The system encountered an unexpected error during processing.', type: 'InternalServerException' },
    503: { message: 'Bedrock is unable to process your request.', type: 'ServiceUnavailableException' },
  },
  errorEvent: {
    type: 'error',
    error: { type: 'serviceUnavailableException', message: 'Bedrock is unable to process your request.' },
  },
  keyErrors: {
    missing: [403, { message: 'Missing Authentication Token' }],
    wrong: [403, { Message: 'Authentication failed: Please make sure your API Key is valid.' }],
  },
}

function toolChoiceOf(choice: Json | undefined): RequestOptions['toolChoice'] {
  const name = valueAt(choice, 'tool', 'name')
  if (typeof name === 'string') return { tool: name }
  return valueAt(choice, 'any') === undefined ? 'auto' : 'required'
}

// What the model reads of a body of Converse.

function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...markSegments(inside(body, 'toolConfig')?.tools, (tool) => segment('tools', 'tools', tool)),
    ...markSegments(body.system, (block) => segment('system', 'system', block)),
  ]
  for (const message of listIn(body.messages)) {
    if (!isObject(message)) continue
    segments.push(
      ...withEnd(markSegments(message.content, (block) => segment('messages', textIn(message.role), block))),
    )
  }
  const fields = body.additionalModelRequestFields ?? null
  return {
    segments,
    settings: '',
    messageSettings: JSON.stringify([inside(body, 'toolConfig')?.toolChoice ?? null, fields]),
  }
}

/** A mark is a separate block here, after the one that it closes. */
function markSegments(list: Json | undefined, toSegment: (piece: Json) => Segment): Segment[] {
  const segments: Segment[] = []
  for (const piece of listIn(list)) {
    const point = inside(piece, 'cachePoint')
    const last = segments.at(-1)
    if (!point) segments.push(toSegment(piece))
    else if (last) last.mark = markOf(point) ?? {}
  }
  return segments
}
