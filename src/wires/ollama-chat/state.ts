// Ollama's other endpoints: one prompt without roles, and information about a model.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { textIn } from '../shared/json-fields.ts'
import { Refusal } from '../shared/refusal.ts'
import { stateless, type Exchanged, type ServerState } from '../service.ts'

export function createOllamaState(): ServerState {
  return {
    ...stateless,
    async visit({ name }, { body, windowOf, reply }) {
      if (name === 'version') return { body: { version: '0.0.0-emulator' } }
      if (name === 'model') return { body: aboutModel(body, windowOf(textIn(body.model))) }
      const { exchanged, ...rest } = await reply(chatOf(body))
      return { exchanged: asGenerateReply(exchanged), ...rest }
    },
  }
}

/** The chat that is equivalent to `/api/generate`. */
function chatOf(body: JsonObject): JsonObject {
  const { prompt, system, images, suffix: _, template: __, raw: ___, context: ____, ...rest } = body
  const user = { role: 'user', content: textIn(prompt), ...(Array.isArray(images) && { images }) }
  return { ...rest, messages: [...(textIn(system) === '' ? [] : [{ role: 'system', content: textIn(system) }]), user] }
}

/** The reply of that chat, in the form of `/api/generate`. */
function asGenerateReply(exchanged: Exchanged): Exchanged {
  return {
    ...exchanged,
    whole: generatedFrom(exchanged.whole),
    chunks: (piece) => exchanged.chunks(piece).map((chunk) => (isObject(chunk) ? generatedFrom(chunk) : chunk)),
  }
}

function generatedFrom(chunk: JsonObject): JsonObject {
  const { model, created_at, message, ...rest } = chunk
  if (!isObject(message)) return chunk
  const thinking = textIn(message.thinking)
  return {
    model: model ?? '',
    created_at: created_at ?? '',
    response: textIn(message.content),
    ...(thinking !== '' && { thinking }),
    ...rest,
    // What a server would use to continue; nothing is continued here.
    ...(rest.done === true && { context: [] }),
  }
}

function aboutModel(body: JsonObject, contextWindow: number | undefined): Json {
  const model = textIn(body.model) || textIn(body.name)
  if (model === '') throw new Refusal(400, { error: 'model is required' })
  return {
    modelfile: `FROM ${model}`,
    parameters: '',
    template: '{{ .Prompt }}',
    details: { parent_model: '', format: 'gguf', family: 'emulator', families: ['emulator'], parameter_size: '0B' },
    model_info: { 'general.architecture': 'emulator', 'emulator.context_length': contextWindow ?? 4096 },
    capabilities: ['completion', 'tools', 'vision', 'thinking'],
    modified_at: '1970-01-01T00:00:00Z',
  }
}
