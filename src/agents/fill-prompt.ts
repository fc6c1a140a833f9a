// The text of a named prompt, with its variables filled in. The page does this by itself, so nothing here needs Node.

import { badInput } from '../core/error.ts'

export interface Prompt {
  name: string
  description?: string
  /** The required variables, in the order of the text, without `input`. */
  variables: { name: string; otherwise?: string }[]
  text: string
}

export const placeholder = /\{\{\s*([A-Za-z_]\w*)\s*(?::-([^}]*?)\s*)?\}\}/g

/** Throws if a variable is missing or unknown. */
export function filledPrompt(prompt: Prompt, values: Readonly<Record<string, string>>, input: string): string {
  const declared = prompt.variables.map(({ name }) => name)
  const unknown = Object.keys(values).find((name) => !declared.includes(name))
  if (unknown !== undefined) {
    throw badInput(`The prompt ${prompt.name} has no variable "${unknown}"; it has ${declared.join(', ') || 'none'}.`)
  }
  const missing = prompt.variables.filter(
    ({ name, otherwise }) => otherwise === undefined && !Object.hasOwn(values, name),
  )
  if (missing.length > 0) {
    const names = missing.map(({ name }) => `${name}=…`).join(' ')
    throw badInput(`The prompt ${prompt.name} needs ${names}`)
  }
  const takesInput = [...prompt.text.matchAll(placeholder)].some(([, name]) => name === 'input')
  const text = prompt.text.replaceAll(placeholder, (_, name: string, otherwise: string | undefined) =>
    name === 'input' ? input || (otherwise ?? '') : (values[name] ?? otherwise ?? ''),
  )
  return takesInput || input === '' ? text : `${text}\n\n${input}`
}
