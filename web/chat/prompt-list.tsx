// Named prompts above the composer, while one is being typed, and the dialog for its variables.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { filledPrompt } from '../../src/agents/fill-prompt.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { filling, offeredPrompts, takePrompt, type Filling } from '../state/prompts.ts'
import { draft } from '../state/surface.ts'

const marked = signal(0)

export function PromptList() {
  const all = offeredPrompts.value
  if (all.length === 0) return null
  return (
    <ul class="prompts" id="prompts" role="listbox" aria-label="Prompts">
      {all.map((prompt, i) => (
        <li
          key={prompt.name}
          id={`prompt-${i}`}
          role="option"
          aria-selected={i === place()}
          onClick={() => takePrompt(prompt)}
        >
          <strong>/{prompt.name}</strong>{' '}
          <small dir="auto">{prompt.description ?? prompt.variables.map(({ name }) => name).join(', ')}</small>
        </li>
      ))}
    </ul>
  )
}

/** The one that Enter selects, for the focused field. */
export function markedPrompt(): string | undefined {
  return offeredPrompts.value.length > 0 ? `prompt-${place()}` : undefined
}

function place(): number {
  return Math.min(marked.value, offeredPrompts.value.length - 1)
}

/** Whether the list handled the key. */
export function promptKey(key: string): boolean {
  const all = offeredPrompts.value
  const chosen = all[place()]
  if (!chosen) return false
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    marked.value = (place() + (key === 'ArrowDown' ? 1 : all.length - 1)) % all.length
    return true
  }
  if (key !== 'Enter' && key !== 'Tab') return false
  marked.value = 0
  takePrompt(chosen)
  return true
}

export function PromptDialog({ asked: { prompt, values: given, input: typed } }: { asked: Filling }) {
  const [values, setValues] = useState(given)
  const [input, setInput] = useState(typed)
  const close = () => (filling.value = undefined)
  return (
    <FormDialog
      title={`Prompt ${prompt.name}`}
      save="Use"
      onClose={close}
      onSave={() => {
        const filled = Object.entries(values).filter(([, value]) => value !== '')
        draft.value = filledPrompt(prompt, Object.fromEntries(filled), input)
        close()
      }}
    >
      {prompt.variables.map(({ name, otherwise }) => (
        <label key={name}>
          {name}
          <input
            dir="auto"
            required={otherwise === undefined}
            placeholder={otherwise}
            value={values[name] ?? ''}
            onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <label>
        Text
        <textarea rows={3} dir="auto" value={input} onInput={(event) => setInput(event.currentTarget.value)} />
      </label>
    </FormDialog>
  )
}
