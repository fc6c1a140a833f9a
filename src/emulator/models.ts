// Lists of models, in each provider's own form.

import type { Json } from '../core/json.ts'
import { modelsOf } from './known-providers.ts'
import { anthropicNotFound, openaiRefusal, Refusal } from '../wires/shared/refusal.ts'

/**
 * All models of a provider, or one, for a client of OpenAI if `compatible`. Throws a Refusal for one that does not
 * exist.
 */
export function modelsBody(provider: string, id: string | undefined, compatible: boolean): Json {
  const models = modelsOf(provider)
  const form = (compatible ? undefined : forms[provider]) ?? openaiForm
  if (id === undefined) return form.list(models.map((model) => form.one(model)))
  const bare = id.replace(/^models\//, '')
  const found = models.find((model) => model.id === bare)
  if (!found) throw form.missing(bare)
  return form.one(found)
}

type Model = ReturnType<typeof modelsOf>[number]

interface Form {
  one(model: Model): Json
  list(models: Json[]): Json
  missing(id: string): Refusal
}

/** The release date of a model is unknown here; an obvious placeholder. */
const epoch = '1970-01-01T00:00:00Z'

const openaiForm: Form = {
  one: ({ id, contextWindow }) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'synapse-emulator',
    ...(contextWindow !== undefined && { context_length: contextWindow }),
  }),
  list: (data) => ({ object: 'list', data }),
  missing: (id) =>
    openaiRefusal(404, `The model \`${id}\` does not exist or you do not have access to it.`, {
      code: 'model_not_found',
    }),
}

const forms: Record<string, Form> = {
  anthropic: {
    one: ({ id, contextWindow }) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: epoch,
      ...(contextWindow !== undefined && { max_input_tokens: contextWindow }),
    }),
    list: (data) => ({ data, has_more: false, first_id: idOf(data.at(0)), last_id: idOf(data.at(-1)) }),
    missing: (id) => anthropicNotFound(`model: ${id}`),
  },
  google: {
    one: ({ id, contextWindow }) => ({
      name: `models/${id}`,
      displayName: id,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      ...(contextWindow !== undefined && { inputTokenLimit: contextWindow }),
    }),
    list: (models) => ({ models }),
    missing: (id) => {
      const message = `models/${id} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`
      return new Refusal(404, { error: { code: 404, message, status: 'NOT_FOUND' } })
    },
  },
  ollama: {
    one: ({ id }) => ({ name: id, model: id, modified_at: epoch, size: 0, digest: '', details: {} }),
    list: (models) => ({ models }),
    missing: (id) => new Refusal(404, { error: `model '${id}' not found` }),
  },
}

function idOf(model: Json | undefined): Json {
  return typeof model === 'object' && model !== null && !Array.isArray(model) ? (model.id ?? null) : null
}
