// What the chosen model accepts besides text, for the files of the next message.

import { effect, signal } from '@preact/signals'
import { api } from '../api/routes.ts'
import { attachments, type Attachment } from './attachments.ts'
import { model } from './conversation.ts'

const known = signal<ReadonlyMap<string, readonly string[]>>(new Map())
const asking = new Set<string>()

effect(() => {
  const name = model.value
  if (attachments.value.length === 0 || name === '' || known.value.has(name) || asking.has(name)) return
  asking.add(name)
  void api
    .capabilities(name)
    .then(({ media }) => (known.value = new Map(known.value).set(name, media)))
    .catch(() => {})
    .finally(() => asking.delete(name))
})

/** Every model reads text; of the rest, only what the model accepts. False while that is unknown. */
export function isUnseen({ isText, part }: Attachment): boolean {
  const media = known.value.get(model.value)
  if (isText || !media) return false
  return !media.some((one) =>
    one.endsWith('/*') ? part.mediaType.startsWith(one.slice(0, -1)) : one === part.mediaType,
  )
}
