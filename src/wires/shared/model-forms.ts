// Lists of models, in the formats that several wires share.

import type { ModelForm } from '../service.ts'

/** The release date of a model is unknown here; an obvious placeholder. */
export const noDate = '1970-01-01T00:00:00Z'

export const openaiModels: ModelForm = {
  one: (name, provider) => ({ id: name, object: 'model', created: 0, owned_by: ownerOf(name) ?? provider }),
  list: (data) => ({ object: 'list', data }),
}

export const googleModels: ModelForm = {
  one: (name) => ({
    name: `models/${name}`,
    displayName: name,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  }),
  list: (models) => ({ models }),
}

function ownerOf(name: string): string | undefined {
  return name.includes('/') ? name.split('/', 1)[0] : undefined
}
