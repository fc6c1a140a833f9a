// `provider/model`, as people write it. The model may have slashes of its own.

import { badInput } from '../core/error.ts'

export interface ModelRef {
  provider: string
  /** Absent: the provider's default. */
  model?: string
}

export function parseModelRef(text: string): ModelRef {
  const [, provider = '', model = ''] = /^\s*([^/\s]*)\/?(.*?)\s*$/.exec(text) ?? []
  if (provider === '') {
    throw badInput(`"${text}" names no provider. Write provider/model, such as anthropic/claude-opus-5.`)
  }
  return { provider, ...(model !== '' && { model }) }
}
