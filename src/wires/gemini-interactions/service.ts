// What a server of the Interactions API needs besides encoding and decoding.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { WireService } from '../service.ts'
import { listIn, objectIn, objectsIn, textIn, textsIn, valueAt } from '../shared/json-fields.ts'
import { googleModels } from '../shared/model-forms.ts'
import { blocksOf, withEnd, type Prompt, segment } from '../shared/prompt.ts'
import { effortIn, readOptions, invalidBackground, type GivenOptions, toolChoiceIn } from '../shared/request-options.ts'
import { cacheReference } from '../google/options.ts'
import { overloadedText } from '../shared/refusal.ts'
import { readServerTool } from './encode.ts'

export const geminiInteractionsService: WireService = {
  home: 'google',
  route(method, path) {
    if (method === 'POST' && path.endsWith('/interactions')) return { do: 'reply' }
    const [, id, part] = /\/interactions\/([^/]+)(?:\/(cancel))?$/.exec(path) ?? []
    return id ? { do: 'other', name: 'interactions', id, ...(part && { part }) } : undefined
  },
  listField: 'input',
  request: (input, model) => ({ model, input }),
  options: (body) =>
    readOptions({
      ...choiceIn(valueAt(body, 'generation_config', 'tool_choice')),
      reasoning: valueAt(body, 'generation_config', 'thinking_level') === undefined ? 'free' : 'on',
      answerSchema: schemaOf(body),
      maxOutput: [valueAt(body, 'generation_config', 'max_output_tokens')],
      stop: valueAt(body, 'generation_config', 'stop_sequences'),
      temperature: valueAt(body, 'generation_config', 'temperature'),
      topP: valueAt(body, 'generation_config', 'top_p'),
      seed: valueAt(body, 'generation_config', 'seed'),
      effort: effortIn(valueAt(body, 'generation_config', 'thinking_level')),
    }),
  readServerTool,
  prompt: promptOf,
  replyPrefix: 'v1_',
  door: {
    writer: async () => (await import('./write-stream.ts')).writer,
    models: googleModels,
    keyInQuery: true,
    unsupported: invalidBackground,
    unportable: [
      'response_modalities',
      'safety_settings',
      'generation_config.media_resolution',
      'generation_config.speech_config',
    ],
    reference: ({ cached_content: cache }) => cacheReference('cached_content', cache),
    stored: {
      keeps: ({ store }) => store !== false,
      fields: ({ previous_interaction_id: id }) => (typeof id === 'string' ? { previous_interaction_id: id } : {}),
      previousId: ({ previous_interaction_id: id }) => (typeof id === 'string' ? id : undefined),
      unknownPrevious: unknown,
      retrieval: {
        endpoint: 'interactions',
        unknown,
        deleted: () => ({}),
        unfinished: ({ usage: _usage, ...empty }, { status, failure }) => ({
          ...empty,
          status: status === 'queued' ? 'in_progress' : status,
          ...(failure && { error: { code: 'api_error', message: failure.message } }),
        }),
        notCancellable: 'Only interactions that run in the background can be cancelled.',
      },
    },
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"interaction\.completed"/,
  overflow: ({ tokens, window }) => ({
    rule: 'context',
    status: 400,
    message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
    code: 'invalid_request',
  }),
  errors: {
    429: { message: 'Too many requests.', code: 'too_many_requests' },
    500: { message: 'An internal error has occurred.', code: 'api_error' },
    503: { message: overloadedText, code: 'service_unavailable' },
  },
  errorEvent: { event_type: 'error', error: { code: 'service_unavailable', message: overloadedText } },
  keyErrors: {
    missing: [401, { error: { code: 'authentication', message: 'API key is missing.' } }],
    wrong: [401, { error: { code: 'authentication', message: 'API key not valid. Please pass a valid API key.' } }],
  },
  stateIds: ({ previous_interaction_id: id }) => [id],
  state: async () => (await import('./state.ts')).createInteractionsState(),
}

/** A forced tool is a list of allowed tools. */
function choiceIn(choice: Json | undefined): Pick<GivenOptions, 'toolChoice' | 'allowedTools'> {
  const allowedTools = textsIn(valueAt(choice, 'allowed_tools', 'tools'))
  const mode = valueAt(choice, 'allowed_tools', 'mode')
  const [only, ...others] = allowedTools ?? []
  if (only !== undefined && others.length === 0 && mode !== 'auto') return { toolChoice: { tool: only } }
  return { toolChoice: toolChoiceIn(mode ?? choice), allowedTools }
}

/** The format of the text, which may be one of several; Google's examples also give a schema without a format. */
function schemaOf({ response_format: format, response_mime_type: mediaType }: JsonObject): JsonObject | undefined {
  const formats = Array.isArray(format) ? objectsIn(format) : [objectIn(format)]
  const text = formats.find(({ type }) => !otherFormats.has(textIn(type)))
  if (text && text.type !== 'text' && Object.keys(text).length > 0) return text
  const isJson = (text?.mime_type ?? mediaType) === 'application/json'
  return isObject(text?.schema) ? text.schema : isJson ? {} : undefined
}

const otherFormats: ReadonlySet<string> = new Set(['audio', 'image', 'video'])

/** What the model reads of a body of the Interactions API. */
function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.system_instruction, 'text').map((block) => segment('system', 'system', block)),
  ]
  const input: Json[] = typeof body.input === 'string' ? [{ type: 'text', text: body.input }] : listIn(body.input)
  for (const step of input) {
    if (!isObject(step)) continue
    const content = step.type === 'user_input' || step.type === 'model_output' ? blocksOf(step.content, 'text') : [step]
    const role = step.type === 'function_result' ? 'tool' : isModelStep(step.type) ? 'assistant' : 'user'
    segments.push(...withEnd(content.map((piece) => segment('messages', role, piece))))
  }
  return { segments, settings: '', messageSettings: '' }
}

function isModelStep(type: Json | undefined): boolean {
  return type === 'model_output' || type === 'thought' || textIn(type).endsWith('_call')
}

function unknown(id: string): Failure {
  return { kind: 'not-found', message: `Interaction ${id} not found.` }
}
