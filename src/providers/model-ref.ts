// `provider/model`, as people write it. The model itself may contain slashes.

import { badInput } from '../core/error.ts'

export interface ModelRef {
  provider: string
  /** Absent: the provider's default. */
  model?: string
}

/** Longer than the longest names, those of Bedrock, and short enough for every pattern that is tried on one. */
const longestName = 1000

export function parseModelRef(text: string): ModelRef {
  checkNameLength(text)
  const [, provider = '', model = ''] = /^([^/\s]*)\/?(.*)$/.exec(text.trim()) ?? []
  if (provider === '') {
    throw badInput(`"${text}" names no provider. Write provider/model, such as anthropic/claude-opus-5.`)
  }
  checkModelName(model)
  return { provider, ...(model !== '' && { model }) }
}

export function checkNameLength(name: string): void {
  if (name.length <= longestName) return
  throw badInput(`The name of a model has at most ${longestName} characters, not ${name.length}.`)
}

/** Some wires put the model into the URL path, which it must not escape. */
function checkModelName(model: string): void {
  if (model.split('/').some((segment) => segment === '.' || segment === '..'))
    throw badInput(`"${model}" is not the name of a model: "." and ".." cannot be parts of one.`)
}
