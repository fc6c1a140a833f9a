// Named prompts: `/name` in the composer. Loaded when a message begins with a slash.

import { computed, signal } from '@preact/signals'
import { filledPrompt, type Prompt } from '../../src/agents/fill-prompt.ts'
import { api } from '../api/routes.ts'
import { attempt } from './session.ts'
import { draft } from './surface.ts'

export interface Filling {
  prompt: Prompt
  values: Record<string, string>
  input: string
}

const prompts = signal<Prompt[]>([])
/** The prompt whose variables are being filled in. */
export const filling = signal<Filling | undefined>(undefined)

draft.subscribe((text) => {
  if (text === '/') void attempt(async () => (prompts.value = await api.prompts()))
})

/** Those whose name begins with the typed text. */
export const offeredPrompts = computed(() => {
  const [, typed] = /^\/([\w-]*)$/.exec(draft.value) ?? []
  return typed === undefined ? [] : prompts.value.filter(({ name }) => name.startsWith(typed))
})

/** Puts a prompt into the composer, where it can be read before it is sent; asks for its variables first. */
export function takePrompt(prompt: Prompt): void {
  if (prompt.variables.length > 0) filling.value = { prompt, values: {}, input: '' }
  else draft.value = filledPrompt(prompt, {}, '')
}

/** `/name key=value … and the rest` as the text of the prompt. Undefined if a variable is missing: a dialog then asks for it. */
export function expanded(text: string): string | undefined {
  const [, name, rest = ''] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text) ?? []
  const prompt = prompts.value.find((one) => one.name === name)
  if (!prompt) return text
  const values: Record<string, string> = {}
  let input = rest
  for (;;) {
    const [all, key = '', quoted, word] = /^([A-Za-z_]\w*)=(?:"([^"]*)"|(\S*))\s*/.exec(input) ?? []
    if (all === undefined || !prompt.variables.some((one) => one.name === key)) break
    values[key] = quoted ?? word ?? ''
    input = input.slice(all.length)
  }
  try {
    return filledPrompt(prompt, values, input)
  } catch {
    filling.value = { prompt, values, input }
    return undefined
  }
}
